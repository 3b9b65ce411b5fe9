"""The calls of a program that fails and its variables there."""

import gc
import json
import weakref

import pytest

import sexplang
from sexplang import machine
from sexplang.machine.frozen_runs import freeze, thaw


def failed(text, **settings):
    outcome = machine.start(sexplang.build(text), **settings)
    assert isinstance(outcome, sexplang.Failed), outcome
    return outcome


def calls(text, **settings):
    """The names of the calls, and what stands at their places."""
    trail = failed(text, **settings).trail
    lines = text.split("\n")
    found = []
    for call in trail.calls:
        span = call["span"]
        line = lines[span["line"] - 1]
        found.append((call["function"], line[span["column"] - 1 : span["end_column"] - 1]))
    return found


FRAME = "(+ (if (= x 0) (raise x) 1) (f (- x 1)))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(/ 1 0)", []),
        ("(define (f x) (car x)) (f ())", [("f", "(car x)"), (None, "(f ())")]),
        (  # what cannot wait has no frames
            "(define (g y) (/ y 0)) (define (f x) (+ 1 (g x))) (f 3)",
            [("g", "(/ y 0)"), ("f", "(+ 1 (g x))"), (None, "(f 3)")],
        ),
        (  # what waits is the expression around the call, and of two in one another it is one call
            '(define (g y) (error "no" y))\n(define (f x) (list 0 (+ 1 (g x))))\n(str (f 3))',
            [("g", '(error "no" y)'), ("f", "(+ 1 (g x))"), (None, "(str (f 3))")],
        ),
        (
            "(define (f xs) (map (lambda (x) (/ 1 x)) xs))\n(length (f [1 0]))",
            [
                ("lambda", "(/ 1 x)"),
                ("f", "(map (lambda (x) (/ 1 x)) xs)"),
                (None, "(length (f [1 0]))"),
            ],
        ),
        (  # through the library
            '(define (f x) (retry (lambda () (error "no" x)) times: 2))\n(str (f 1))',
            [
                ("lambda", '(error "no" x)'),
                ("f", '(retry (lambda () (error "no" x)) times: 2)'),
                (None, "(str (f 1))"),
            ],
        ),
        (  # out of a branch
            "(define (h z) (raise z))\n(define (g y) (+ 1 (h y)))\n(list (par (g 1) 2))",
            [("h", "(raise z)"), ("g", "(+ 1 (h y))"), (None, "(list (par (g 1) 2))")],
        ),
        (  # in the place of a clause
            "(define (f x) (handle (perform op x) ((op a) k (+ 1 (k (/ a 0))))))\n(str (f 1))",
            [("f", "(/ a 0)"), (None, "(str (f 1))")],
        ),
        (  # in an argument, so the step has pushed a frame of the same call
            '(define (f x) (+ 1 (error "no" x)))\n(str (f 1))',
            [("f", '(error "no" x)'), (None, "(str (f 1))")],
        ),
        (
            "(define (f x) (let ((y 2)) (if (= x 1) (list 0 (+ y (raise x))) 0)))\n(str (f 1))",
            [("f", "(raise x)"), (None, "(str (f 1))")],
        ),
        (  # in the second argument, so the step has resumed a frame of the same call
            "(define (f x) (+ (first (par x 2)) (car x)))\n(str (f 1))",
            [("f", "(car x)"), (None, "(str (f 1))")],
        ),
        (  # behind a `bind` that waited
            "(define (f x) (bind y (first (par x 2))) (bind z (car y)) z)\n(str (f 1))",
            [("f", "(car y)"), (None, "(str (f 1))")],
        ),
        (  # in another clause of a `cond`
            "(define (f x) (cond ((= x 9) 1) (else [1 (raise x)])))\n(str (f 1))",
            [("f", "(raise x)"), (None, "(str (f 1))")],
        ),
        (  # behind a `bind` in an expression that waits
            "(define (f x) (+ 1 (begin (bind y (first (par x 2))) (car y))))\n(str (f 1))",
            [("f", "(car y)"), (None, "(str (f 1))")],
        ),
        (  # and beside a call that waits at the same place
            "(define (f x) (+ (if (= x 0) (raise x) 1) (f (- x 1))))\n(str (f 1))",
            [("f", "(raise x)"), ("f", FRAME), (None, "(str (f 1))")],
        ),
        (
            "(define (f x) (if (= x 0) (+ 1 (raise x)) (+ 1 (f (- x 1)))))\n(str (f 1))",
            [("f", "(raise x)"), ("f", "(+ 1 (f (- x 1)))"), (None, "(str (f 1))")],
        ),
    ],
)
def test_the_calls_of_a_failure_are_told_innermost_first(text, expected):
    assert expected == calls(text)


def test_a_call_whose_place_is_not_known_stands_at_its_function():
    """No call is without a place, and none stands in another function."""
    text = "\n".join(
        [
            "(define (a p) (+ (b p) 0))",
            "(define (c p) (+ (/ p 0) 0))",
            "(define (b p) (begin (bind k (+ p 2)) (* k (c p))))",
            "(+ 0 (a 5))",
        ]
    )
    lines = {call["function"]: call["span"]["line"] for call in failed(text).trail.calls}

    assert {"c": 2, "b": 3, "a": 1, None: 4} == lines


def test_a_call_is_not_at_a_bind_before_it():
    text = "(define (c p) (+ (/ p 0) 0))\n(define (b p)\n  (bind k p)\n  (* k (c p)))\n(+ 0 (b 5))"
    lines = [(call["function"], call["span"]["line"]) for call in failed(text).trail.calls]

    assert [("c", 1), ("b", 2), (None, 5)] == lines


def test_a_call_that_stands_in_itself_is_told_once():
    text = '(define (f n) (if (= n 0) (error "no") (+ 1 (f (- n 1)))))\n(str (f 5))'
    told = failed(text).trail.calls

    assert [("f", 1), ("f", 5), (None, 1)] == [(call["function"], call["times"]) for call in told]


def test_a_limit_has_a_trail():
    end = failed("(define (f n) (+ 1 (f n)))\n(f 7)", limits=sexplang.Limits(frames=5_000))

    assert [("f", 501)] == [(call["function"], call["times"]) for call in end.trail.calls]
    assert {"n": "7"} == end.trail.variables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(/ 1 0)", {}),
        ("(define q 2) (/ q 0)", {"q": "2"}),
        ("(import std/loops) (define q 2) (/ q 0)", {"q": "2"}),
        ("(define (f x) (let ((y (+ x 1))) (/ y 0))) (f 3)", {"y": "4", "x": "3"}),
        ("(define (f x (y 2) . z) (error x)) (str (f 1))", {"x": "1", "y": "2", "z": "[]"}),
        (  # a loop's, and what is around it
            "(define (f a) (loop ((i 0)) (if (= i 3) (car ()) (recur (+ i 1))))) (f 1)",
            {"i": "3", "a": "1"},
        ),
        (  # the innermost of a name
            "(define (f x) (map (lambda (x) (/ 1 x)) x)) (length (f [0]))",
            {"x": "0"},
        ),
        (  # a list with a table in front is no environment
            "(define (g) (nth [] 1)) (define (f x) (list x (g))) (str (f [{} 1]))",
            {},
        ),
        ("(define (f x) (try (car x) (catch (e) (/ 1 0)))) (f ())", {"x": "[]"}),
    ],
)
def test_the_variables_are_those_of_the_innermost_call(text, expected):
    variables = failed(text).trail.variables

    assert {name: variables.get(name) for name in expected} == expected
    assert len(variables) <= len(expected) + 1
    assert "_NOT_RUN" not in variables


def test_a_trail_is_bounded():
    defined = "".join([f"(define v{n} {n})\n" for n in range(40)])
    nested = "".join([f"(define (f{n} x) (+ 1 (f{n + 1} x)))\n" for n in range(40)])
    long = f'(define text "{"x" * 9_999}")\n'
    trail = failed(f"{defined}{long}{nested}(define (f40 x) (error x))\n(f0 text)").trail

    assert 16 == len(trail.calls)
    assert all(len(each) <= 60 for each in trail.variables.values())
    assert 12 == len(failed(f"{defined}(/ v0 0)").trail.variables)


def test_who_catches_an_error_sees_what_he_always_saw():
    text = "(define (g y) (/ y 0))\n(define (f x) (+ 1 (g x)))\n"
    caught = sexplang.run(f"{text}(try (f 1) (catch (e) e))")
    end = failed(f"{text}(f 1)")

    assert caught == {**sexplang.api.python_values.python(end.error)}
    assert {} == caught["details"]


def test_a_trail_outlasts_what_cleans_up():
    outcome = machine.start(sexplang.build("(define (f x) (/ x 0)) (try (f 1) (finally (now)))"))
    end = outcome.resume(outcome.requests[0].id, 3.0)

    assert ["f", None] == [call["function"] for call in end.trail.calls]


@pytest.mark.parametrize("is_failing", [True, False])
def test_a_trail_outlasts_a_frozen_run(is_failing):
    """Whether it had failed when it was frozen, or fails afterwards."""
    body = "(try (f 1) (finally (now)))" if is_failing else "(begin (now) (f 1))"
    program = sexplang.build(f"(define (f x) (+ 1 (/ x 0)))\n{body}")
    outcome = machine.start(program)
    thawed = thaw(program, json.loads(json.dumps(freeze(outcome))))
    kept, end = [each.resume(each.requests[0].id, 3.0).trail for each in (outcome, thawed)]

    assert ["f", None] == [call["function"] for call in end.calls]
    assert "1" == end.variables["x"]
    assert kept == end


def test_a_failure_behind_a_bind_at_the_top_level_has_its_variables():
    text = "(list (with-timeout 3 (begin (bind x 1) (bind y 2)) (apply procedure? [x y])))"
    outcome = machine.start(sexplang.build(text))
    while isinstance(outcome, sexplang.Suspended):  # its clock begins
        outcome = outcome.advance()

    assert {"x": "1", "y": "2"} == outcome.trail.variables


def test_a_failure_within_a_default_has_its_variables():
    """A default sees the parameters before it."""
    assert {"x": "1"} == failed("(define (f x (y (/ x 0))) y) (str (f 1))").trail.variables


def test_a_run_that_is_made_again_has_the_same_trail():
    text = '(define (f x) (error (read-file x))) (str (f "a"))'
    made = []
    for _ in range(2):
        outcome = machine.start(sexplang.build(text))
        made.append(outcome.resume(outcome.requests[0].id, "no").trail)

    assert made[0] == made[1]
    assert ("f", {"x": '"a"'}) == (made[0].calls[0]["function"], made[0].variables)


def test_nothing_is_kept_of_a_failure_that_is_over():
    """What is caught is gone, and so is the stack with the Failed."""
    end = failed("(define (f x) (+ 1 (car x))) (f ())")
    stood = weakref.ref(end._failure_site[0])
    del end
    gc.collect()

    assert stood() is None
