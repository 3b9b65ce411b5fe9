"""Steps, attempts and votes of `stdlib/`, held against what Python makes of the same."""

from collections import Counter
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.running import UNANSWERED, begun, built, delivered, in_order

import sexplang
from sexplang.machine import Done, Failed, Suspended
from sexplang.pipeline.pipeline import inspect
from sexplang.terms.values.boundary import plain

STEPS = {
    "(lambda (x) (+ x 1))": lambda x: x + 1,
    "(lambda (x) (* x 2))": lambda x: x * 2,
    "abs": abs,
    '{id: "less" do: (lambda (x) (- x 3))}': lambda x: x - 3,
    "{do: -}": lambda x: -x,
}
BREAKING = '{id: "broken" do: (lambda (x) (raise {reason: "odd" message: "no"}))}'

chosen = st.lists(st.sampled_from(sorted(STEPS)), max_size=8)


def numbered(steps):
    """The steps as they are written: each id stands once."""
    return " ".join([step.replace("less", f"less{at}") for at, step in enumerate(steps)])


def value(text):
    """The value of a program that asks nobody, as plain data."""
    outcome = begun(text)
    assert isinstance(outcome, Done), outcome
    return plain(outcome.value)


@examples(40, 200, chosen, st.integers(-9, 9))
def test_a_sequence_is_nested_calls(steps, x):
    """(sequence [f g h] x) is (h (g (f x)))."""
    nested = reduce(lambda so_far, step: STEPS[step](so_far), steps, x)

    assert nested == value(f"(sequence [{numbered(steps)}] {x})")


@examples(40, 200, chosen, chosen, st.integers(-9, 9), st.integers(0, 4))
def test_a_sequence_that_fails_keeps_what_was_done(before, after, x, most):
    """The outputs of the steps before, the latest of them where there are many."""
    steps = numbered([*before, BREAKING, *after])
    tried = f"(try (sequence [{steps}] {x} history: {most}) (catch (e odd) [e.message e.details]))"
    message, details = value(tried)
    outputs = []
    for step in before:
        x = STEPS[step](x)
        outputs.append(x)
    left_out = max(0, len(outputs) - most)
    partial = details["partial_results"]
    if left_out:
        marker, *partial = partial
        assert f"[{left_out} earlier output" in marker["output"]
        assert {"omitted": left_out} == marker["notes"]

    at, total = len(before), len(before) + 1 + len(after)
    assert f"error in step {at + 1} of {total} (broken): no" == message
    assert (at, "broken", total) == tuple(
        details[key] for key in ("failed_step", "failed_step_id", "total_steps")
    )
    assert "odd" == details["step_error"]["reason"]
    assert [*enumerate(outputs)][left_out:] == [
        (each["step_index"], each["output"]) for each in partial
    ]


inputs = st.lists(st.integers(-3, 3), max_size=7)


@examples(40, 200, inputs)
def test_work_on_a_list_keeps_what_was_done(xs):
    """Like `map` and `fold` until an input fails; then its index and what came before."""
    work = '(lambda (x) (if (= x 0) (raise {reason: "odd"}) (* x x)))'
    words = " ".join(map(str, xs))
    program = f"""(import std/steps)
        (define (tried f) (try (f) (catch (e odd) e.details)))
        [(tried (lambda () (map-tasks {work} [{words}])))
         (tried (lambda () (reduce-tasks {work} (lambda (r acc x) (+ r acc x)) 100 [{words}])))]"""
    mapped, reduced = value(program)
    good = xs[: xs.index(0)] if 0 in xs else xs
    total = 100 + sum(x * x + x for x in good)
    if 0 not in xs:
        assert ([x * x for x in xs], total) == (mapped, reduced)
        return
    partial = [{"input_index": at, "result": x * x} for at, x in enumerate(good)]
    expected = {
        "failed_input_index": len(good),
        "total_inputs": len(xs),
        "processed_inputs": len(good),
        "partial_results": partial,
    }

    assert expected == mapped
    assert expected | {"current_accumulator": total} == reduced


def answered(text, replies):
    """The outcome of a program that asks, and what it asked for; None among the replies fails."""
    outcome, asked = begun(text), []
    while isinstance(outcome, Suspended):
        request = in_order(outcome)[0]
        asked.append((request.operation, *request.arguments))
        reply = replies.pop(0) if request.operation == "ask" else None
        failed = request.operation == "ask" and reply is None
        outcome = delivered(outcome, request.id, UNANSWERED if failed else reply)
    return outcome, asked


@given(st.integers(1, 6), st.integers(0, 8))
def test_retry_counts_its_attempts(times, failures):
    """One more than failures, at most `times`; between two of them it waits, twice as long each
    time."""
    text = f"(define-effect (ask)) (retry (lambda () (ask)) times: {times} backoff: 1)"
    outcome, asked = answered(text, [None] * failures + [7])
    attempts = min(times, failures + 1)

    assert attempts == asked.count(("ask",))
    assert [("sleep", 2**at) for at in range(attempts - 1)] == [a for a in asked if a != ("ask",)]
    assert isinstance(outcome, Done if failures < times else Failed)


@pytest.mark.parametrize(
    ("on", "attempts"),
    [
        ('"odd"', 2),
        ("'TASK_FAILURE", 2),
        ('["even" "odd"]', 2),
        ('["even"]', 1),
        ("[]", 1),
        ('(lambda (e) (equal? e.message "nobody knows"))', 2),
        ("(lambda (e) false)", 1),
    ],
)
def test_only_some_errors_are_tried_again(on, attempts):
    """By type or reason, or as a function says."""
    text = f"(define-effect (ask)) (retry (lambda () (ask)) on: {on})"
    outcome, asked = answered(text, [None, 7])

    assert attempts == len(asked)
    assert isinstance(outcome, Done if attempts == 2 else Failed)


def test_an_attempt_leaves_its_scopes_before_the_next_begins():
    """Its `finally` runs."""
    text = """(define-effect (ask)) (define-effect (close))
        (retry (lambda () (try (ask) (finally (close)))))"""
    _, asked = answered(text, [None, 7])

    assert [("ask",), ("close",), ("ask",), ("close",)] == asked


def test_what_is_not_tried_again_may_be_answered_where_it_was_raised():
    """The error goes on outward from there."""
    text = """(handle (retry (lambda () (+ 1 (raise "no"))) on: "other")
                ((error e) resume (resume 41)))"""

    assert 42 == value(text)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=7))
def test_a_vote_is_won_by_more_than_half(replies):
    """Of all, those that failed among them."""
    text = f"(define-effect (ask)) (vote (lambda () (ask)) n: {len(replies)})"
    outcome, asked = answered(text, [*replies])
    votes = Counter(reply for reply in replies if reply is not None)
    best, most = votes.most_common(1)[0] if votes else (None, 0)

    assert len(replies) == len(asked)
    if 2 * most > len(replies):
        assert best == outcome.value
    elif not votes:
        assert "odd" == outcome.error.fields["reason"]
    else:
        details = plain(outcome.error.fields["details"])
        assert "no-majority" == outcome.error.fields["reason"]
        assert votes == Counter({each["answer"]: each["count"] for each in details["votes"]})
        assert replies.count(None) == details["failed"]


TASKS = '(defatom say (params a) (instructions "{{a}}"))\n(define-input n type: integer)\n'


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("(sequence [say say say] 1)", "3"),
        ('(sequence [{id: "a" do: say} str] 1)', "2"),
        ("(import std/steps) (map-tasks say (range n))", "max(0, n)"),
        ("(import std/steps) (reduce-tasks say (lambda (r a x) (str r a)) 1 [1 2])", "2"),
        ("(retry (lambda () (say 1)) times: 4)", "4"),
        ("(retry (lambda () (say 1)))", "3"),
        ("(vote (lambda () (say 1)) n: n)", "max(0, n)"),
        ("(retry (lambda () (vote (lambda () (say 1)))) times: 2)", "6"),
    ],
)
def test_model_calls_are_bounded(text, bound):
    """`check` sees through them; of different steps it takes the most that one may ask."""
    assert bound == str(inspect(built(TASKS + text)).calls)


DRAFTS = """
(defatom draft (params text) (instructions "Go on: {{text}}")
  (context_management accumulate_data: true accumulation_format: full_output))
"""


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ('(sequence [draft draft draft draft] "a")', ["", "1", "1\n\n2", "1\n\n2\n\n3"]),
        (
            '(sequence [draft draft draft draft] "a" history: 1)',
            ["", "1", *[f"[{at} earlier output{'s' * (at > 1)} left out]\n\n{at + 1}"
                        for at in (1, 2)]],
        ),
        ('(draft (draft (draft "a")))', ["", "", ""]),
        ('(begin (draft "a") (draft "b"))', ["", ""]),
        ("(loop 2 (call-atomic-task 'draft inputs: {text: \"a\"} max_turns: 1))", ["", ""]),
    ],
)  # fmt: skip
def test_earlier_outputs_are_shown_by_a_sequence_alone(program, shown):
    """The latest of them, with a mark; tasks that are called one after another see nothing."""
    seen = []

    def model(payload):
        seen.append(payload["system"])
        return str(len(seen))

    sexplang.run(f"{DRAFTS} (str {program})", model=model)

    around = "<previous_outputs>\n{}\n</previous_outputs>"
    assert [around.format(text) if text else "" for text in shown] == seen
