"""Programs that never end, or want more than there is."""

import pytest
from support.bounded import assert_ends

from sexplang.machine import Limits
from sexplang.process import held

STEPS = Limits(steps=200_000)
FRAMES = Limits(frames=100_000)
WIDE = Limits(branches=5_000)
ALLOCATED = Limits(allocation=5_000_000)
KEPT = Limits(memory=150_000_000, held=held)

ENDLESS = {
    "a loop": "(loop ((x 1)) (recur x))",
    "a function": "(define (f) (f)) (f)",
    "two functions": "(define (f x) (g x)) (define (g x) (f x)) (f 1)",
    "a function of itself": "((lambda (x) (x x)) (lambda (x) (x x)))",
    "a count": "(loop 1000000000000 1)",
    "a comparison": "(sort (range 1000) (lambda (a b) (loop ((x 1)) (recur x))))",
    "a clause": "(define-effect (a)) (handle (loop ((i 0)) (begin (a) (recur 1))) ((a) k (k)))",
    "all futures": (
        "(define-effect (flip))"
        "(handle (loop ((i 0)) (if (< i 64) (recur (+ i (if (flip) 1 1))) i))"
        " ((flip) k (+ (k true) (k false))))"
    ),
    "a finally": "(try (raise 1) (finally (loop ((x 1)) (recur x))))",
    "finally after finally": "(define (f) (try (raise 1) (finally (f)))) (f)",
    "error after error": "(define (f) (handle (raise 1) ((error e) k (f)))) (f)",
    "attempts": "(loop ((x 1)) (recur (attempt (raise x))))",
    "one branch": "(par (loop ((x 1)) (recur x)) 1)",
    "every branch": "(par-map (lambda (x) (loop ((y 1)) (recur y))) (range 1000))",
    "a plan": '(eval-plan "(loop ((x 1)) (recur x))")',
    "plan after plan": '(define (f) (eval-plan "(+ 1 1)") (f)) (f)',
    "a list of itself": "(loop ((s [1])) (recur [s s s s s s s s]))",
    "errors in errors": "(loop ((x 1)) (recur (try (raise {reason: 'r v: x}) (catch (e) e))))",
}

DEEP = {
    "a function": "(define (f x) (+ 1 (f x))) (f 1)",
    "two functions": "(define (f x) (+ 1 (g x))) (define (g x) (+ 1 (f x))) (f 1)",
    "a function of itself": "((lambda (x) (+ 1 (x x))) (lambda (x) (+ 1 (x x))))",
    "Fibonacci": "(define (fib n) (+ (fib (- n 1)) (fib (- n 2)))) (fib 100)",
    "map": "(define (f x) (map f [1 2])) (f 1)",
    "handle": "(define-effect (a)) (define (f) (handle (begin (a) (f)) ((a) k (k)))) (f)",
    "try": "(define (f) (try (f) (finally 1))) (f)",
    "with-timeout": "(define (f) (with-timeout 1 (f))) (f)",
    "with-budget": "(define (f) (with-budget {calls: 1} (f))) (f)",
    "a chain of closures": (
        "(define (chain f i) (if (= i 0) f (chain (lambda (x) (+ 1 (f x))) (- i 1))))"
        "((chain identity 300000) 1)"
    ),
}

FORKING = {
    "a par in a par in a …": "(define (f) (par (f))) (f)",
    "twice as many each time": "(define (f) (par (f) (f))) (f)",
    "a race": "(define (f) (race (f) (f))) (f)",
    "as wide as a list": "(par-map (lambda (x) (ask-user x)) (range 100000))",
    "as wide as the text": "(par " + "(ask-user 1) " * 10_000 + ")",
}

COPYING = {
    "a list that grows in front": "(loop ((xs [])) (recur (cons 1 xs)))",
    "a list that grows at the end": "(loop ((xs [])) (recur (append xs [1])))",
    "a table that grows": "(loop ((t {}) (i 0)) (recur (put t (str i) i) (+ i 1)))",
    "a text that grows": '(loop ((s "")) (recur (str s "x")))',
    "captured lists": "(loop ((f 1)) (let ((xs (range 1000))) (recur (lambda () [f xs]))))",
    "mapped lists": "(loop ((i 0)) (begin (map (lambda (x) (* x x)) (range 1000)) (recur i)))",
}

KEEPING = {
    "lists": "(loop ((kept ())) (recur [(range 100000) kept]))",
    "texts": (
        '(define s (string-join (map str (range 100000)) "")) '
        "(loop ((kept ()) (i 0)) (recur [(str s i) kept] (+ i 1)))"
    ),
    "tables": "(loop ((t {}) (i 0)) (recur {a: t b: [i i i]} (+ i 1)))",
    "closures": "(loop ((f 1)) (recur (lambda () f)))",
    "what closures see": "(loop ((f 1)) (let ((xs (range 10000))) (recur (lambda () [f xs]))))",
    "continuations": (
        "(define-effect (a)) (loop ((kept ())) (recur [(handle (begin (a) 1) ((a) k k)) kept]))"
    ),
    "errors": "(loop ((x 1)) (recur (attempt (raise {reason: 'r details: {x: x}}))))",
    "a large list": "(map (lambda (x) [x x]) (range 10000000))",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_program_that_never_ends_is_ended(text):
    """By the limit of steps, which neither handlers nor finally see."""
    assert_ends(text, "limit-steps", STEPS)


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_a_recursion_that_never_ends_is_ended(text):
    """By the limit of frames, whatever it is that nests."""
    assert_ends(text, "limit-frames", FRAMES)


def test_a_recursion_that_never_ends_is_ended_by_default():
    """Two million calls deep."""
    assert_ends(DEEP["two functions"], "limit-frames", seconds=3)


@pytest.mark.parametrize("text", FORKING.values(), ids=FORKING)
def test_branches_without_end_are_ended(text):
    """In number, also where each waits for the next."""
    assert_ends(text, "limit-branches", WIDE)


@pytest.mark.parametrize("text", COPYING.values(), ids=COPYING)
def test_a_program_that_copies_without_end_is_ended(text):
    """Everything made is charged, whether or not it is kept."""
    assert_ends(text, "limit-allocation", ALLOCATED)


@pytest.mark.parametrize("text", KEEPING.values(), ids=KEEPING)
def test_a_program_that_keeps_without_end_is_ended(text):
    """By what the process holds, whatever it is that holds on to the rest."""
    assert_ends(text, "limit-memory", KEPT, seconds=3)
