"""Places by hand: width, limits, and whatever a job can end with."""

import json
from collections import deque
from random import Random

import pytest
from support.laws import PLACES, schedule
from support.programs import program
from support.running import begun, built, end, in_order, limits, seen

from sexplang.machine import Done, Failed, Limits, Suspended, start, state_of
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.machine.scheduler.branches import Permits

ASK = "(define-effect (ask n)) (define (work n) (with-permit (lambda () (ask n))))\n"

ENDS = {
    "a value": "(work 0)",
    "an error": "(try (with-permit (lambda () (ask 0) (raise 1))) (catch (e) 2))",
    "an error of its request": "(try (work 4) (catch (e) 2))",
    "an escape": "(handle (with-permit (lambda () (ask 0) (out 1))) ((out x) _ x))",
    "a deadline inside": "(attempt (with-permit (lambda () (with-timeout 1 (ask 0)))))",
    "a deadline around": "(attempt (with-timeout 1 (work 0)))",
    "a budget": "(attempt (with-budget {calls: 0} (with-permit (lambda () (model 1)))))",
    "a race that is lost": "(race (ask 1) (work 0))",
    "a sibling that fails": "(attempt (par (work 0) (begin (ask 1) (raise 1))))",
    "a continuation that is kept": (
        "(handle (with-permit (lambda () (ask 0) (out 1) (ask 1))) ((out x) k k))"
    ),
    "one that is resumed twice": (
        "(let ((k (handle (with-permit (lambda () (out 1) (ask 1))) ((out x) k k))))"
        " (+ (k 1) (k 2)))"
    ),
}


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("name", ENDS)
def test_a_place_is_free_again(name, last):
    """However a job ends: the next one has the only place, and in the end nobody has one."""
    text = ASK + f"(define-effect (out x)) (list {ENDS[name]} (work 5))"
    left = []

    def look(outcome):
        left.append(state_of(outcome).scheduler.permits)
        return outcome

    choose = (lambda waits, asking: len(waits) - 1) if last else (lambda waits, asking: 0)
    run = seen(begun(text, limits(1)), choose=choose, pause=look)

    assert run.error is None
    assert ("ask", (5,)) == run.trace[-1]
    assert {0, 1} >= {each.used for each in left} | {len(each.active) for each in left}
    assert 1 == left[-1].used


def test_the_first_to_come_is_the_first_to_be_served():
    """Whatever the order of the replies."""
    outcome = begun(ASK + "(par-map work (range 20))", limits(2))
    begins = []
    while isinstance(outcome, Suspended):
        begins += [request.arguments[0] for request in state_of(outcome).opened]
        outcome = outcome.resume(in_order(outcome)[-1].id, 0)

    assert [*range(20)] == begins


def test_thousands_wait_in_line():
    """Ten thousand jobs with three places: three requests are open at a time."""
    outcome = begun(ASK + "(length (par-map work (range 10000)))")
    opened = deque(request.id for request in state_of(outcome).opened)
    most = 0
    while isinstance(outcome, Suspended):
        most = max(most, state_of(outcome).scheduler.count)
        outcome = outcome.resume(opened.popleft(), 0)
        if isinstance(outcome, Suspended):
            opened.extend(request.id for request in state_of(outcome).opened)

    assert Done(10_000) == outcome
    assert 3 == most


def test_jobs_in_jobs_need_no_more_places():
    """A thousand deep with one place; too deep ends the run with a limit."""
    nest = "(define (deep n) (with-permit (lambda () (if (= n 0) (ask 0) (deep (- n 1))))))"

    outcome = begun(ASK + nest + "(deep 1000)", limits(1))
    assert isinstance(outcome, Suspended)
    assert 1 == state_of(outcome).scheduler.permits.used
    assert Done(7) == outcome.resume(in_order(outcome)[0].id, 7)

    failed = begun(ASK + nest + "(deep 3000)", limits(1))
    assert isinstance(failed, Failed)
    assert "limit-frames" == failed.reason


def test_what_is_no_function_is_an_error():
    assert "not-a-function" == end(begun("(with-permit 3)"))[1][2]


@pytest.mark.parametrize(
    "start_at", [0, *[pytest.param(at, marks=pytest.mark.long) for at in range(40, 400, 40)]]
)
def test_a_run_with_jobs_is_the_same_when_it_was_frozen(start_at):
    """Cut at every wait, frozen, thawed and gone on with."""
    for seed in range(start_at, start_at + 40):
        text = program(Random(seed), PLACES).text
        made = built(text)
        bounds = limits(1 + seed % 3)

        def thawed(outcome, made=made):
            return thaw(made, json.loads(json.dumps(freeze(outcome))))

        whole = seen(start(made, {}, limits=bounds), choose=schedule(seed))
        parts = seen(start(made, {}, limits=bounds), choose=schedule(seed), pause=thawed)
        assert whole == parts, text


def test_the_limits_of_a_run_are_frozen_with_it():
    """Each by its name."""
    bounds = Limits(steps=5_000, frames=300, branches=20, subtasks=7, places=2)
    made = built(ASK + "(work 1)")

    outcome = start(made, {}, limits=bounds)
    again = thaw(made, json.loads(json.dumps(freeze(outcome))))

    assert bounds == state_of(again).setting.limits


def test_a_run_without_jobs_has_no_places():
    """Nothing is kept for what nobody uses."""
    outcome = begun(ASK + "(par (ask 1) (ask 2))")

    assert isinstance(outcome, Suspended)
    assert (0, {}) == (
        state_of(outcome).scheduler.permits.used,
        dict(state_of(outcome).scheduler.permits.active),
    )
    assert isinstance(state_of(outcome).scheduler.permits, Permits)
