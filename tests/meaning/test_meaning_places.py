"""The error of a task says where the task was called, and which one it was."""

import pytest
from support.failing_calls import TASK, error_of
from support.running import built

import sexplang
from sexplang.hosts.terminal.show import show_error
from sexplang.machine import start
from sexplang.terms.source import Source

WORK = """\
(defatom draft (params (topic string)) (instructions "Write about {{topic}}."))
(defatom polish (params (text string)) (instructions "Polish: {{text}}"))
(defatom judge (params (text string)) (instructions "Judge: {{text}}"))
(define (work topic)
  (let* ((a (draft topic))
         (b (polish "a bad draft"))
         (c (judge b)))
    (str a b c)))
(bind one (work "tea"))
one
"""


def placed(text):
    """The text at the place of the error that ends a program, and the task that it names."""
    error = error_of(text)
    span = error.fields["span"]
    line = text.split("\n")[span["line"] - 1]
    return line[span["column"] - 1 : span["end_column"] - 1], error.fields["details"]["task"]


@pytest.mark.parametrize(
    "text",
    [
        '(bind x (w "bad"))\nx',
        '(define x (w "bad"))\nx',
        '(define (f x) (w "bad"))\n(f 1)',
        '(define (f x) (str (w "bad")))\n(f 1)',
        '(let* ((a (w "a")) (b (w "bad"))) (str a b))',
        '(let ((a (w "a")) (b (w "bad"))) (str a b))',
        '(map (lambda (x) (w "bad")) ["a"])',
        '(str "a" (w "bad"))',
        '(if (nil? (w "bad")) 1 2)',
        '(par (w "a") (w "bad"))',
        '(begin (w "bad") 1)',
        '(try (w "bad") (finally 1))',
    ],
)
def test_an_error_stands_at_the_call_of_the_task_whatever_is_around_it(text):
    assert ('(w "bad")', "w") == placed(TASK + text)


@pytest.mark.parametrize(
    ("call", "place"),
    [
        *[
            (call, call)
            for call in (
                '(map w ["a" "bad"])',
                '(filter w ["a" "bad"])',
                '(apply w ["bad"])',
                '(par-map w ["a" "bad"])',
                '(call-atomic-task \'w inputs: {topic: "bad"})',
                '(sequence [w] "bad")',
            )
        ],
        ('(length (map w ["bad"]))', '(map w ["bad"])'),
        ('(retry (lambda () (par-map w ["bad"])) times: 2)', '(par-map w ["bad"])'),
        ('(vote (lambda () (w "bad")) n: 3)', '(w "bad")'),
    ],
)
def test_a_task_that_a_function_calls_fails_at_the_call_in_the_program(call, place):
    """A function that is given a task calls it: the place is that of the call of the function."""
    assert (place, "w") == placed(f"{TASK}(bind x {call})\nx")


def test_inputs_that_do_not_fit_stand_at_the_call():
    assert ('(w (json-parse "5"))', "w") == placed(f'{TASK}(bind x (w (json-parse "5")))\nx')


def test_a_caught_error_and_a_failed_result_have_both():
    caught = sexplang.run(
        TASK + '(bind r (attempt (w "bad")))\n'
        '(define e (try (w "bad") (catch (e) e)))\n'
        "[r.notes.error.details.task r.notes.error.span.column e.details.task e.span.column]",
        model=lambda payload: {"content": [], "stop_reason": "refusal"},
    )

    assert ["w", 18, "w", 16] == caught


def test_what_a_person_reads_shows_the_call_and_names_the_task():
    error = error_of(WORK)
    shown = show_error(error, lambda name: Source(name, WORK)).split("\n")

    assert [
        "  ┌─ program:6:13",
        '6 │          (b (polish "a bad draft"))',
        "  │             ^^^^^^^^^^^^^^^^^^^^^^",
        "  = detail: task: polish",
    ] == shown[1:5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WORK, [("work", 6), (None, 9)]),
        (  # a function that a prelude function calls
            TASK + '(define (f xs)\n  (map (lambda (x)\n    (w x)) xs))\n(length (f ["bad"]))',
            [("lambda", 4), ("f", 3), (None, 5)],
        ),
        (  # a task in tail position
            TASK + '(define (f x)\n  (w x))\n(str 1\n  (f "bad"))',
            [("f", 3), (None, 4)],
        ),
        (  # in a branch
            TASK + '(define (f x)\n  (w x))\n(list 1\n  (par 1 (f "bad")))',
            [("f", 3), (None, 4)],
        ),
    ],
)
def test_the_calls_of_a_failure_begin_at_the_call_of_the_task(text, expected):
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(text, model=refusing)

    calls = failed.value.trail.calls
    assert expected == [(call["function"], call["span"]["line"]) for call in calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('(bind a (w "one"))\n(bind b (w "two"))\n(bind c (w "bad"))\nc', {"a": 1, "b": 2}),
        ('(let* ((a (w "one")) (b (w "bad"))) (str a b))', {"a": 1}),
        ('(let ((a (w "one")) (b (w "bad"))) (str a b))', {"a": 1}),
        ('(define (f) (define a (w "one")) (w "bad"))\n(f)', {"a": 1}),
        (  # a function that waits for another
            '(define (g x) (bind b (w "two")) (str (w "bad")))\n'
            '(define (f) (bind a (w "one")) (bind c (g a)) c)\n(f)',
            {"a": 1, "b": 2},
        ),
        (  # parameters are no results, functions are none, and of one name the innermost counts
            '(define (g x) (bind a 3) (bind h car) (w "bad"))\n(bind a (w "one"))\n(str (g 7))',
            {"a": 3},
        ),
        (  # also in the default of a parameter
            '(define (f x (y (let* ((a (w "one")) (b (w "bad"))) (str a b)))) (str x y))\n'
            "(bind a 2)\n(str (f a))",
            {"a": 1},
        ),
        (  # what a closure sees
            '(let ((a (w "one"))) (map (lambda (x) (bind b x) (w "bad")) [2]))',
            {"a": 1, "b": 2},
        ),
        (
            '(let ((a (w "one"))) (par (w "two") (let ((b 2)) (w "bad"))))',
            {"a": 1, "b": 2, "finished": ("two",)},
        ),
    ],
)
def test_what_was_bound_before_is_kept(text, expected):
    numbers = {"one": 1, "two": 2}
    answers = {f"Write about {word}.": word for word in numbers}
    error = error_of(TASK + text, lambda prompt: next(w for a, w in answers.items() if a in prompt))

    kept = error.fields["details"]["partial_results"]
    assert expected == {name: numbers.get(value, value) for name, value in kept.items()}


def test_the_first_values_of_a_list_are_kept():
    """Also a table, which was taken for an environment."""
    error = error_of(TASK + '(define (f) {n: 1})\n[(f) (w "bad")]')

    assert {"list": ({"n": 1},)} == error.fields["details"]["partial_results"]


def test_nothing_is_kept_where_nothing_was_bound():
    assert "partial_results" not in error_of(TASK + '(str (w "bad"))').fields["details"]


def test_who_takes_the_error_sees_what_was_bound():
    text = """
    (bind a (w "one"))
    (try (let ((b 2)) (w "bad")) (catch (e) e.details.partial_results))"""

    assert {"a": "Fine.", "b": 2} == sexplang.run(TASK + text, model=refusing)


def test_a_sequence_tells_its_steps_and_the_step_what_it_had_bound():
    text = """
    (define (second x) (bind b 2) (w "bad"))
    (bind e (try (sequence [w second] "tea") (catch (e) e)))
    [e.details.partial_results e.details.step_error.details.partial_results]"""
    steps, inside = sexplang.run(TASK + text, model=refusing)

    assert [0] == [step["step_index"] for step in steps]
    assert {"b": 2} == inside


def test_what_was_bound_is_bounded():
    """So many values, and a few words of what is very long."""
    many = " ".join([f"(bind v{at} {at})" for at in range(40)])
    long = '(bind long (string-join (map (lambda (i) "0123456789") (range 20000)) ""))'
    text = f'(define (f) {many} {long} (w "bad"))\n(str (f))'
    kept = error_of(TASK + text).fields["details"]["partial_results"]

    assert ["v9", "v10", *[f"v{at}" for at in range(11, 40)], "long"] == [*kept]
    assert len(kept["long"]) <= 60


def test_a_deadline_keeps_what_was_bound():
    text = "(let* ((a 1) (b (ask-user a))) b)"
    outcome = start(built(f"(with-timeout 5 {text})"))
    timer = next(each for each in outcome.requests if each.operation == "timer")
    error = outcome.resume(timer.id).error

    assert {"a": 1} == error.fields["details"]["partial_results"]


def refusing(payload):
    """A model that fails where a prompt has the word `bad`."""
    bad = "bad" in str(payload["messages"])
    return {"content": [], "stop_reason": "refusal"} if bad else "Fine."
