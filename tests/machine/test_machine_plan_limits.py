"""A limit that a program from a model reaches ends that program, not the one that runs it."""

import pytest
from support.running import begun

from sexplang.machine import Done, Failed, Limits, Suspended

LIMITS = Limits(
    steps=2_000_000, plan_steps=100_000, plan_frames=10_000, allocation=2_000_000, branches=2_000
)


ASKING, NOW, BOTH = "allow: ['ask]", "allow: ['now]", "allow: ['ask 'note]"


def plan(text, more=""):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'(eval-plan "{escaped}" {more})'


def reason(value):
    assert value["status"] == "failed"
    return value["error"].fields["reason"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(define (f) (f)) (f)", "limit-steps"),
        ("(try (loop ((x 1)) (recur x)) (catch (e) 1) (finally (raise 1)))", "limit-steps"),
        ("(try (raise 1) (finally (loop ((x 1)) (recur x))))", "limit-steps"),
        ("(par (loop ((x 1)) (recur x)) 1)", "limit-steps"),
        ("(race (par (try (raise 1) (finally (loop ((x 1)) (recur x)))) 1) 2)", "limit-steps"),
        ("(map (lambda (x) (* x x)) (range 1000000))", "limit-steps"),
        ("(define (f) (+ 1 (f))) (f)", "limit-frames"),
        ("(define (f) (handle (f) ((a) k (k)))) (f)", "limit-frames"),
        ("(define (f) (with-timeout 1 (f))) (f)", "limit-frames"),
        ("(loop ((xs [])) (recur (cons 1 xs)))", "limit-steps"),
        ("(loop ((xs (range 1000))) (recur (reverse xs)))", "limit-allocation"),
        ("(define (f) (par (f) (f))) (f)", "limit-branches"),
        ("(loop ((x 3)) (recur (* x x)))", "limit-integer"),
        ("(range 1000000000)", "limit-list"),
        (plan("(define (f) (f)) (f)"), "limit-steps"),
        ('(loop ((x 1)) (begin (eval-plan "1") (recur x)))', "limit-steps"),
    ],
)
def test_a_limit_that_a_plan_reaches_is_the_plans(text, expected):
    """Whatever it is, and in whichever branch; what comes after the plan is done."""
    outcome = begun(f"(define x {plan(text)}) [x (fold + 0 (range 1000))]", LIMITS)

    assert isinstance(outcome, Done)
    assert reason(outcome.value[0]) == expected
    assert outcome.value[1] == 499_500


def test_a_plan_that_holds_too_much_fails():
    """What the process holds is looked at, and what the plan held is let go."""
    told = iter([0, 0, 11])
    limits = Limits(memory=10, held=lambda: next(told, 0))

    outcome = begun(plan("(loop ((x 1)) (recur x))"), limits)

    assert reason(outcome.value) == "limit-memory"


def test_plans_take_their_steps_from_the_runs():
    """Plan after plan, each within its own limit, comes to an end."""
    outcome = begun(f"(loop ((x 1)) (begin {plan('(define (f) (f)) (f)')} (recur x)))", LIMITS)

    assert isinstance(outcome, Failed) and outcome.reason == "limit-steps"


def test_a_plan_in_a_plan_takes_its_steps_from_both():
    """The one with fewer left is the one that fails."""
    inner = plan("(define (f) (f)) (f)", "budget: {steps: 5000}")

    outcome = begun(plan(f"[{inner} 2]"), LIMITS)

    assert outcome.value["status"] == "done"
    assert reason(outcome.value["value"][0]) == "limit-steps"


def test_the_steps_of_a_plan_are_counted_over_its_waits():
    """Asking in between does not give it new ones."""
    text = "(loop ((i 0)) (begin (perform ask) (recur (fold + 0 (range 1000)))))"
    outcome = begun(f"(define-effect (ask)) {plan(text, ASKING)}", LIMITS)
    turns = 0

    while isinstance(outcome, Suspended):
        outcome = outcome.resume(outcome.requests[0].id, None)
        turns += 1

    assert reason(outcome.value) == "limit-steps"
    assert 50 < turns < 110


def test_steps_after_a_plan_are_not_the_plans():
    """Nor are those of a handler of the caller, which is not on the plan's stack."""
    loop = "(loop ((i 0)) (if (< i 300000) (recur (+ i 1)) i))"
    handled = f"(handle {plan('(now)', NOW)} ((now) k (k {loop})))"

    outcome = begun(f"[{plan('1')} {loop} {handled}]", LIMITS)

    assert outcome.value[1:] == (300_000, {"status": "done", "value": 300_000})


def test_what_a_plan_asked_is_withdrawn_and_no_finally_runs():
    """A limit in one of its branches ends the others at once, and those inside of them."""
    text = """
    (par (try (perform ask 1) (finally (perform note 1))) (par (with-timeout 9 (perform ask 2)) 3)
         (begin (perform ask 4) (loop ((x 1)) (recur x))))
    """
    known = "(define-effect (ask x)) (define-effect (note x))"
    outcome = begun(f"{known} {plan(text, BOTH)}", LIMITS)
    asked = {request.arguments[:1]: request.id for request in outcome.requests}
    timer = next(request.id for request in outcome.requests if request.operation == "timer")

    outcome = outcome.resume(asked[4,], None)

    assert reason(outcome.value) == "limit-steps"
    assert set(outcome.withdrawn) == {asked[1,], asked[2,], timer}


def test_what_cancels_a_plan_goes_on_when_its_cleaning_up_does_not_end():
    """The plan is being left already, and nothing of it is left then."""
    text = "(try (perform ask 1) (finally (loop ((x 1)) (recur x))))"
    outcome = begun(f"(define-effect (ask x)) (race {plan(text, ASKING)} (ask 2))", LIMITS)

    outcome = outcome.resume(outcome.requests[1].id, "won")

    assert isinstance(outcome, Done) and outcome.value == "won"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("(define (f)\n (+ 1 (f)))\n(f)", 2),
        ("(define (f)\n (f))\n(f)", 2),
        ("(loop ((xs []))\n (recur (cons 1 xs)))", 2),
        ("1\n(fold + 0 (range 10000000))", 2),
        ("(define (f)\n (par (f) 2))\n(f)", 2),
    ],
)
def test_a_limit_knows_a_place(text, line):
    """The nearest one that the code at work knows, in the program's own source."""
    outcome = begun(text, Limits(steps=50_000, frames=20_000, allocation=500_000, branches=500))

    span = outcome.error.fields["span"]
    assert (span["source"], span["line"]) == ("program", line)
