"""The bytes of a frozen run follow from its program and what it was told, and from nothing else."""

import json

import pytest
from support.running import no_files

import sexplang
from sexplang.machine import Slice, Suspended, advance, start, state_of
from sexplang.machine.frozen_runs import freeze
from sexplang.pipeline.pipeline import build, tasks
from sexplang.terms.source import Source

COMPUTES = """
(define-effect (act n))
(define (count n) (if (= n 0) 0 (count (- n 1))))
(with-timeout 60
  (par (act 1)
       (begin (count 3000) (act 2))
       (begin (with-timeout 50 (act 3)) (count 900) (with-timeout 50 (act 4)))))
"""

PLANS = """
(define-effect (act n))
(define (run n) (eval-plan "(perform act 1)" allow: ['act]))
[(run 1) (eval-plan "(eval-plan \\"(perform act 1)\\" allow: ['act])" allow: ['act]) (run 2)]
"""


def made(text):
    """Return a program that has not run."""
    return build(Source("program", text), no_files)


def states(program, slice=None):
    """Return the bytes of a run at each of its waits."""
    outcome, seen = start(program, {}, tasks(), slice=slice), []
    while isinstance(outcome, Suspended):
        while isinstance(outcome, Suspended) and state_of(outcome).pause is not None:
            outcome = advance(outcome, slice)
        if isinstance(outcome, Suspended):
            seen.append(json.dumps(freeze(outcome), sort_keys=True))
            request = next(each for each in outcome.requests if each.operation == "act")
            outcome = outcome.resume(request.id, 0, slice=slice)
    return seen


@pytest.mark.parametrize("steps", [20, 100, 700])
def test_the_slices_of_a_computation_leave_no_mark(steps):
    """Where a driver looks at the clock is no part of the run."""
    program = made(COMPUTES)

    assert states(program) == states(program, Slice(steps))
    assert 4 == len(states(program))


def test_a_plan_that_ran_before_leaves_no_mark():
    """In this run, or in another run of the same program."""
    program = made(PLANS)
    first = states(program)

    assert 3 == len(first)
    assert first == states(program) == states(made(PLANS))


def test_equal_texts_and_floats_are_one_node():
    """Whether they are one object is a matter of the version of Python."""
    long = "long " * 300
    text = """(define-input a) (define-input b) (define-effect (act n))
              (define x [1.5 (/ 3 2) -0.0 0.0]) [(act 1) x (string=? a b)]"""
    program = sexplang.build(text)
    frozen = sexplang.freeze(sexplang.start(program, inputs={"a": long, "b": "".join([*long])}))
    nodes = frozen["nodes"]

    assert 1 == nodes.count(["text", long]) == nodes.count(["float", "1.5"])
    value = sexplang.result(sexplang.thaw(program, frozen).resume("0", 0))
    assert "[0, [1.5, 1.5, -0.0, 0.0], True]" == str(value)
