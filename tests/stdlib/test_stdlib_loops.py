"""Loops of `stdlib/`: what they promise whatever their functions do."""

from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.playing import Exchange, play
from support.running import UNANSWERED, begun, built, delivered, seen

from sexplang.machine import Done, Failed, Suspended
from sexplang.pipeline.pipeline import inspect
from sexplang.terms.values.boundary import plain

LOOP = """
(define-effect (ask phase i))
(director-evaluator-loop max_iterations: {most} initial: "q" report: true
  director: (lambda (input i) (ask "director" i))
  executor: (lambda (plan i) (ask "executor" i))
  evaluator: (lambda (execution plan i) (ask "evaluator" i))
  controller: (lambda (evaluation plan execution i) (ask "controller" i)))
"""

ITERATIVE = """
(define-effect (ask phase i))
(iterative-loop max_iterations: {most} initial: "q" report: true test_command: "true"
  executor: (lambda (input i) (ask "executor" i))
  validator: (lambda (command i) (ask "validator" i))
  controller: (lambda (execution validation input i) (ask "controller" i)))
"""

SHAPES = {
    LOOP: ("director", "executor", "evaluator", "controller"),
    ITERATIVE: ("executor", "validator", "controller"),
}
PROTECTED = ("executor", "evaluator", "validator")

shapes = st.sampled_from(sorted(SHAPES))
counts = st.integers(0, 5)
fails = st.sets(st.tuples(st.sampled_from(["director", *PROTECTED, "controller"]), counts))


def played(shape, most, stop, failing):
    """A loop whose controller stops in iteration `stop`; the calls in `failing` fail. Its outcome,
    and the calls that were made."""
    outcome, calls = begun(shape.format(most=most)), []
    while isinstance(outcome, Suspended):
        (request,) = outcome.requests
        phase, i = request.arguments
        calls.append((phase, i))
        reply = f"{phase} {i}"
        if phase == "controller":
            reply = ("stop", "the end") if i == stop else ("continue", f"next {i}")
        outcome = delivered(outcome, request.id, UNANSWERED if (phase, i) in failing else reply)
    return outcome, calls


def expected(shape, most, stop, failing):
    """The calls that a loop makes, and whether the last of them ends it with an error."""
    calls = []
    for i in range(1, most + 1):
        for phase in SHAPES[shape]:
            calls.append((phase, i))
            if (phase, i) in failing and phase not in PROTECTED:
                return calls, True
        if i == stop:
            break
    return calls, False


@given(shapes, counts, counts, fails)
def test_each_function_is_called_in_its_turn(shape, most, stop, failing):
    """In order, once an iteration, and no more after the end, whatever fails."""
    outcome, calls = played(shape, most, stop, failing)

    assert expected(shape, most, stop, failing) == (calls, isinstance(outcome, Failed))


@given(shapes, counts, counts, fails)
def test_the_report_tells_every_iteration(shape, most, stop, failing):
    """As many as there were, at most `max_iterations`; the value is the controller's, or that of
    the last execution."""
    outcome, calls = played(shape, most, stop, failing)
    if isinstance(outcome, Failed):
        return
    report = plain(outcome.value)
    history = report["history"]
    count = report["iterations_completed"]

    assert len(history) == count == len(calls) // len(SHAPES[shape]) <= most
    assert [*range(1, count + 1)] == [each["iteration"] for each in history]
    assert ["q", *[f"next {i}" for i in range(1, count)]][:count] == [
        each["input"] for each in history
    ]
    assert report["success"] is (0 < stop <= most)
    last = history[-1]["execution"] if history else []
    assert report["value"] == ("the end" if report["success"] else last)


@given(shapes, counts, counts, fails)
def test_an_error_says_where_it_was(shape, most, stop, failing):
    """Its type and reason stay; its details hold the iterations before, and what was known of
    this one."""
    outcome, calls = played(shape, most, stop, failing)
    if isinstance(outcome, Done):
        return
    (phase, i), error = calls[-1], outcome.error.fields
    details = error["details"]
    before = SHAPES[shape][: SHAPES[shape].index(phase)]

    assert ("TASK_FAILURE", "odd") == (error["type"], error["reason"])
    assert (phase, i, i - 1) == (details["phase"], details["iteration"], len(details["history"]))
    assert {"iteration", "input"} | {_fruit(each) for each in before} == {*details["unfinished"]}
    assert f"error in the {phase} phase (iteration {i}): nobody knows" == error["message"]


def _fruit(phase):
    """What a phase adds to its iteration."""
    return {
        "director": "plan",
        "executor": "execution",
        "evaluator": "evaluation",
        "validator": "validation",
    }[phase]


@given(shapes, st.integers(1, 5))
def test_the_future_of_a_loop_may_be_resumed_twice(shape, most):
    """Two futures from inside an iteration know nothing of each other."""
    text = shape.replace("(ask phase i))", "(ask phase i))\n(define-effect (both))\n(handle ")
    text = text.replace('(ask "executor" i)', '(if (= i 1) (both) (ask "executor" i))')
    text += ' ((both) resume [(resume "left") (resume "right")]))'
    result = seen(
        begun(text.format(most=most)),
        lambda operation, arguments: (
            ("continue", 0) if arguments[0] == "controller" else str(arguments[1])
        ),
    )

    left, right = result.value

    assert ["'left'", "'right'"] == [each["history"][0]["execution"] for each in (left, right)]
    assert left["history"][1:] == right["history"][1:] and most == len(left["history"])


TASK = '(defatom ask (params phase i) (instructions "{{phase}} {{i}}"))\n'


def with_a_task(shape, most):
    """The same loop, whose functions ask a model."""
    return TASK + shape.replace("(define-effect (ask phase i))", "").format(most=most)


@examples(40, 200, shapes, st.integers(1, 50))
def test_the_bound_on_calls_is_exact(shape, most):
    """`check` counts what a loop that is never stopped asks for."""
    report = inspect(built(with_a_task(shape, most)))

    assert most * len(SHAPES[shape]) == report.calls.constant


@given(shapes, st.integers(0, 2))
def test_a_budget_that_is_spent_ends_a_loop_as_what_it_is(shape, calls):
    """No protection takes it; it says where the loop was, as any error does."""
    text = with_a_task(shape, 3).removeprefix(TASK)
    program = built(f"{TASK}(with-budget {{calls: {calls}}} {text})")
    outcome = play(program, [Exchange(None, '"yes"', "a reply")] * calls)

    assert isinstance(outcome, Failed)
    assert "calls" == outcome.error.fields["reason"]
    details, phases = outcome.error.fields["details"], SHAPES[shape]
    assert (phases[calls], 1, ()) == tuple(details[at] for at in ("phase", "iteration", "history"))
    done = {_fruit(each) for each in phases[:calls]}
    assert {"iteration", "input"} | done == {*details["unfinished"]}
