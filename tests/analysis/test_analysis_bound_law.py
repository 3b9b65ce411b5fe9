"""The law of the bound: no run asks a model more often than `check` said."""

from random import Random

import pytest
from support.calling import asked, inputs, program
from support.running import built

from sexplang.pipeline import inspect

SEEDS = 2_400
PARTS = 8


def held(seeds):
    """Programs whose bound was tried, and those where a run reached it."""
    bounded = reached = 0
    for seed in seeds:
        random = Random(seed)
        text = program(random)
        made = built(text)
        report = inspect(made)
        if not report.calls.is_bounded:
            continue
        bounded += 1
        most = 0
        for _ in range(3):
            given = inputs(random)
            count = asked(made, given, random)
            promised = report.most(given)

            assert count <= promised, f"seed {seed}: {count} > {promised}, {report.says()}\n{text}"
            most = max(most, count == promised)
        reached += most
    return bounded, reached


@pytest.mark.parametrize("part", range(PARTS))
def test_no_run_passes_its_bound(part):
    """Whatever the model replies: tools to the last turn, bad JSON, pauses, subtasks, failures."""
    seeds = range(part * SEEDS // PARTS, (part + 1) * SEEDS // PARTS)
    bounded, reached = held(seeds)

    assert bounded * 10 > len(seeds) * 4, "most programs should have a bound"
    assert reached * 3 > bounded, "a bound should often be met exactly"
