"""A frozen run with something else in it, and sealed again: a run, or `frozen-mismatch`."""

import json
from random import Random
from typing import Any

from support.running import begun, built

import sexplang
from sexplang.machine import Suspended
from sexplang.machine.frozen_runs import _seal, freeze
from sexplang.testing.program_writer import program

ODD = (
    None,
    True,
    0,
    1,
    7,
    99,
    -1,
    10**30,
    "x",
    "",
    "0",
    "tuple",
    "code",
    [0],
    [1],
    [3],
    [99],
    [[]],
    {},
    1.5,
)
MOST = 12
"""Deliveries to one run."""


def mutated(random: Random, data: Any) -> Any:
    """The same with one to three places exchanged, sealed as if nothing had happened."""
    for _ in range(random.randrange(1, 4)):
        node = random.choice(data["nodes"])
        kind = random.randrange(6)
        if kind == 0:
            data[random.choice(["limits", "opened", "nodes", "program"])] = random.choice(ODD)
            break
        if kind == 1:
            del node[random.randrange(len(node))]
            if not node:
                break
        elif kind == 2:
            node.insert(random.randrange(len(node) + 1), random.choice(ODD))
        elif kind == 3:
            node[:] = json.loads(json.dumps(random.choice(data["nodes"])))
        else:
            node[random.randrange(len(node))] = random.choice(ODD)
    data["seal"] = _seal({k: v for k, v in data.items() if k != "seal"}, None)
    return data


def resealed(seed: int) -> str | None:
    """Whatever is exchanged in it, nothing but Failed comes out of a thawed run."""
    random = Random(seed)
    text = program(random).text
    outcome = begun(text)
    for _ in range(random.randrange(4)):
        if isinstance(outcome, Suspended):
            outcome = outcome.resume(outcome.requests[0].id, 1)
    if not isinstance(outcome, Suspended):
        return None
    data = mutated(random, json.loads(json.dumps(freeze(outcome))))
    try:
        thawed: Any = sexplang.thaw(built(text), data)
        for _ in range(MOST):
            if not isinstance(thawed, Suspended) or not thawed.requests:
                break
            request = random.choice(thawed.requests)
            if request.operation != "timer" and random.random() < 0.2:
                thawed = thawed.fail(request.id, sexplang.error("odd", "no").error)
            elif random.random() < 0.1:
                thawed = thawed.cancel()
            else:
                thawed = thawed.resume(request.id, 1)
        if isinstance(thawed, Suspended):
            json.dumps(sexplang.freeze(thawed))
        else:
            sexplang.result(thawed)
    except sexplang.Failed:
        return None
    return None
