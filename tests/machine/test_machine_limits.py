"""What bounds a run from inside, and what no program can catch."""

import gc

import pytest
from support.running import begun, error_of

from sexplang.machine import Done, Limits, Suspended, state_of, stop_turn
from sexplang.machine.loop import Account
from sexplang.terms.quota import ACCOUNT
from sexplang.terms.task import error_record


def reason(outcome):
    return error_of(outcome)["reason"]


@pytest.mark.parametrize(
    "text",
    [
        "(loop ((i 0)) (recur (+ i 1)))",
        "(define (f n) (f (+ n 1))) (f 0)",
        "(try (loop ((i 0)) (recur i)) (catch (e) e) (finally (print 1)))",
        "(par (loop ((i 0)) (recur i)) 1)",
        "(define-effect (a)) (define (f) (handle (a) ((a) k (f)))) (f)",
    ],
)
def test_a_program_that_never_ends_is_ended(text):
    """The limit of steps counts all branches; neither catch nor finally sees it."""
    assert reason(begun(text, Limits(steps=30_000))) == "limit-steps"


@pytest.mark.parametrize(
    "text",
    [
        "(define (down n) (+ 1 (down n))) (down 0)",
        "(define (down n) (try (+ 1 (down n)) (catch (e) 0))) (down 0)",
        "(define (down n) (str (map down [n]))) (down 0)",
    ],
)
def test_a_recursion_that_never_ends_runs_into_the_limit_of_frames(text):
    """Frames and segments count, on every way of nesting calls."""
    assert reason(begun(text, Limits(frames=100_000))) == "limit-frames"


def test_work_within_the_limits_is_not_disturbed():
    """A program may use what it has."""
    text = "(define (down n) (if (= n 0) 0 (+ 1 (down (- n 1))))) (down 90000)"

    outcome = begun(text, Limits(frames=100_000, steps=200_000))

    assert outcome == Done(90_000)


def test_steps_are_counted_over_all_deliveries():
    """Waiting in between does not give a program new steps."""
    text = """
    (define-effect (ask))
    (loop ((i 0)) (begin (ask) (recur (loop ((j 0)) (if (= j 50) j (recur (+ j 1)))))))
    """
    outcome = begun(text, Limits(steps=10_000))
    turns = 0

    while isinstance(outcome, Suspended):
        outcome = outcome.resume(state_of(outcome).opened[0].id, None)
        turns += 1

    assert reason(outcome) == "limit-steps"
    assert 50 < turns < 200


def test_a_reply_to_a_request_that_is_not_open_is_a_lookup_error():
    """Whoever drives a run is told; the outcome stays as it was."""
    outcome = begun("(define-effect (ask)) (par (ask) (ask))")

    for id in ("0.7.0", "9", "x", "", "0.0.1"):
        with pytest.raises(LookupError):
            outcome.resume(id, 1)
    assert [request.id for request in outcome.requests] == ["0.0.0", "0.1.0"]


def test_cancelling_runs_every_cleanup_and_fails_with_the_error_given():
    """Nothing in the program catches it, not even an attempt."""
    text = """
    (define-effect (ask)) (define-effect (note x))
    (attempt (try (par (try (ask) (finally (note 1))) (ask)) (catch (e) 0) (finally (note 2))))
    """
    outcome = begun(text).cancel(error_record("TASK_FAILURE", "cancelled", "enough"))
    noted = []

    while isinstance(outcome, Suspended):
        request = next(each for each in outcome.requests if each.operation == "note")
        noted.extend(request.arguments)
        outcome = outcome.resume(request.id, None)

    assert noted == [1, 2]
    assert outcome.error.fields["message"] == "enough"


@pytest.mark.parametrize("form", ["{}", "(par {})", "(par (par {} 1) 2)"])
@pytest.mark.parametrize("begins", ["(ask)", "(raise 1)"], ids=["cancelled", "failing"])
def test_what_is_ending_already_goes_on_when_it_is_cancelled(form, begins):
    """At the root as in a branch: nothing is cut short, nothing begins again, and the first error
    is the one that counts."""
    text = f"(try {begins} (finally (note 1) (note 2)))"
    outcome = begun(f"(define-effect (ask)) (define-effect (note x)) {form.format(text)}")
    if begins == "(ask)":
        outcome = outcome.cancel()
    noted = []

    while isinstance(outcome, Suspended):
        outcome = outcome.cancel(error_record("TASK_FAILURE", "cancelled", "once more"))
        assert state_of(outcome).opened == outcome.withdrawn == ()
        request = next(each for each in outcome.requests if each.operation == "note")
        noted.extend(request.arguments)
        outcome = outcome.resume(request.id, None)

    assert noted == [1, 2]
    assert outcome.error.fields["message"] != "once more"


def test_what_a_cancelled_branch_asked_is_withdrawn():
    """The host is told which requests nobody waits for any more."""
    text = """
    (define-effect (ask x))
    (try (par (begin (ask 1) (raise 1)) (ask 2) (ask 3)) (catch (e) (ask 4)))
    """
    outcome = begun(text)

    outcome = outcome.resume("0.0.0", None)

    assert outcome.withdrawn == ("0.1.0", "0.2.0")
    assert [request.arguments for request in outcome.requests] == [(4,)]
    assert state_of(outcome).scheduler.count == 1


def test_a_value_that_is_no_data_is_refused_as_an_argument():
    """Functions and continuations do not leave the program."""
    outcome = begun("(define-effect (ask x)) (ask [1 {a: (lambda () 1)}])")

    assert reason(outcome) == "not-data"


def test_ten_thousand_nested_forms_run_at_the_default_recursion_limit():
    """However deep the text is, Python's own stack is not used up."""
    depth = 9_000
    for opening, inner, closing, value in [
        ("(+ 1 ", "0", ")", depth),
        ("(if true ", "7", " 0)", 7),
        ("(begin 1 ", "7", ")", 7),
        ("(let ((x 1)) ", "x", ")", 1),
        ("(first [", "3", "])", 3),
        ("(str ", '"a"', ")", "a"),
    ]:
        levels = depth // 2 if opening == "(first [" else depth

        assert begun(opening * levels + inner + closing * levels) == Done(value)


def test_a_par_that_forks_without_end_is_ended():
    """Branches that wait for their own branches count."""
    text = "(define (spread n) (par (spread n))) (spread 0)"

    assert reason(begun(text, Limits(branches=1_000))) == "limit-branches"


def test_what_the_run_holds_is_looked_at():
    """Whoever runs a program may say how much that is."""
    text = "(loop ((i 0)) (recur (+ i 1)))"

    assert reason(begun(text, Limits(memory=10, held=lambda: 11))) == "limit-memory"


@pytest.mark.parametrize(
    "text", ["(loop ((i 0)) (recur (+ i 1)))", "(loop 50 (range 100000))"], ids=["steps", "parts"]
)
def test_what_the_run_holds_is_looked_at_again_and_again(text):
    """After some ten thousand steps at most, and some hundred thousand parts."""
    looks = iter([*[0] * 5, 11])

    outcome = begun(text, Limits(steps=400_000, memory=10, held=lambda: next(looks)))

    assert reason(outcome) == "limit-memory"


def test_python_collects_no_garbage_in_a_turn():
    """Not once for each few hundred frames, all of which it would look through; and as before when
    the run is over."""
    text = "(define (down n) (if (= n 0) 0 (+ 1 (down (- n 1))))) (down 100000)"
    collected = []
    gc.callbacks.append(lambda phase, about: collected.append((phase, about)))
    try:
        outcome = begun(text)
    finally:
        gc.callbacks.pop()

    assert outcome == Done(100_000)
    assert len(collected) < 100
    assert gc.isenabled()


def test_large_values_are_charged_even_where_they_are_dropped():
    """What a program makes between two waits is bounded in all."""
    text = "(loop ((i 0)) (begin (range 1000) (recur (+ i 1))))"

    assert reason(begun(text, Limits(allocation=1_000_000))) == "limit-allocation"


def test_a_turn_may_be_stopped_before_it_begins():
    """Ctrl-C comes when there is an account and no turn yet."""
    outer = ACCOUNT.set(Account(Limits()))
    try:
        stop_turn()
    finally:
        ACCOUNT.reset(outer)
    assert begun("(+ 1 2)") == Done(3)
