"""What a deadline or a budget cuts off tells how far it had come."""

import json

import pytest
from support.running import begun, error_of

from sexplang.machine import Done, Failed, state_of
from sexplang.machine.frozen_runs import freeze, thaw

EFFECTS = "(define-effect (ask n)) (define-effect (note n)) (import std/steps)"
SPENT = "(sequence [(lambda (n) (+ n 1)) (lambda (n) (ask n))] n)"


def started(text):
    return begun(EFFECTS + text)


def fired(outcome):
    """The outcome after the first deadline has passed."""
    timer = next(each for each in outcome.requests if each.operation == "timer")
    return outcome.resume(timer.id, None)


def test_the_innermost_tells_first():
    """What is around it adds its own; reason and place are those of the deadline."""
    text = f"(with-timeout 5 (map-tasks (lambda (n) {SPENT}) [1 2]))"
    outcome = started(text)
    (first,) = [each for each in outcome.requests if each.operation == "ask"]
    found = error_of(fired(outcome.resume(first.id, "one")))

    assert "seconds" == found["reason"]
    assert found["message"].startswith(
        "error at input 2 of 2: error in step 2 of 2: the time is up"
    )
    told = found["details"]
    assert (1, 1) == (told["failed_step"], told["failed_input_index"])
    assert ({"input_index": 0, "result": "one"},) == told["partial_results"]
    assert "the time is up: 5 seconds were allowed" == told["step_error"].fields["message"]


def test_it_tells_when_all_has_been_left():
    """Also in another process, where what cleans up had to wait."""
    steps = "(lambda (n) (+ n 1)) (lambda (n) (try (ask n) (finally (note n))))"
    text = f"(with-timeout 5 (sequence [{steps}] 1))"
    outcome = fired(started(text))
    (waiting,) = [each for each in outcome.requests if each.operation == "note"]
    again = thaw(state_of(outcome).setting.program, json.loads(json.dumps(freeze(outcome))))
    ended = [error_of(each.resume(waiting.id, None)) for each in (outcome, again)]

    for found in ended:
        assert ({"step_index": 0, "output": 2, "notes": {}},) == found["details"]["partial_results"]


def test_what_is_around_a_fork_tells_and_what_is_in_a_branch_does_not():
    """The others were cut off beside it."""
    text = f"(with-timeout 5 (map-tasks (lambda (xs) (par-map (lambda (n) {SPENT}) xs)) [[1 2]]))"
    told = error_of(fired(started(text)))["details"]

    assert 0 == told["failed_input_index"]
    assert "failed_step" not in told and () == told["partial_results"]


def test_a_deadline_inside_of_a_step_is_an_error_like_others():
    """It is told once, by the handler that it passes."""
    text = "(sequence [(lambda (n) (with-timeout 5 (ask n)))] 1)"
    found = error_of(fired(started(text)))

    assert found["message"].startswith("error in step 1 of 1: the time is up")


@pytest.mark.parametrize(
    "body", ["err", "5", '(raise {reason: "odd"})', '(put err "reason" "odd")']
)
def test_such_a_clause_gives_the_error_that_goes_on(body):
    """Whatever it gives is raised at the form, as `raise` does."""
    text = f"(with-timeout 5 (handle (ask 1) ((std:cut-short err) _ {body})))"
    text = f"(try {text} (catch (e) e.reason))"
    outcome = fired(started(text))

    assert isinstance(outcome, Done)
    assert outcome.value == {"err": "seconds", "5": "raised"}.get(body, "odd")


def test_what_is_being_left_already_is_not_asked():
    """An inner deadline has broken, and its cleaning up is cut off by an outer one."""
    step = "(lambda (n) (try (ask n) (finally (note n))))"
    text = f"(with-timeout 9 (with-timeout 5 (sequence [{step}] 1)))"
    outcome = started(text)
    inner, outer = sorted(
        [each for each in outcome.requests if each.operation == "timer"],
        key=lambda each: each.arguments[0],
    )
    outcome = outcome.resume(inner.id, None)
    outcome = outcome.resume(outer.id, None)
    while not isinstance(outcome, Failed):
        waiting = next(each for each in outcome.requests if each.operation == "note")
        outcome = outcome.resume(waiting.id, None)

    assert "9 seconds" in error_of(outcome)["message"]
