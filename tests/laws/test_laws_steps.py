"""Laws of steps: work that takes longer takes more of them, however it is done."""

import pytest
from support.laws import LAWS, first_finding
from support.running import begun

from sexplang.machine import Limits, Suspended, state_of

FUNCTIONS = {
    "a primitive": "identity",
    "a simple function": "(lambda (x) (= x -1))",
    "one that calls": "(lambda (x) (stay x))",
    "one that performs": "(lambda (x) (note x))",
}
WALKS = {
    "map": "(map f xs)",
    "map on two lists": "(map (lambda (x y) (f y)) xs xs)",
    "for-each": "(for-each f xs)",
    "filter": "(filter f xs)",
    "fold": "(fold (lambda (a x) (f x)) 0 xs)",
    "reduce": "(reduce (lambda (a x) (f x)) 0 xs)",
    "any?": "(any? (lambda (x) (begin (f x) false)) xs)",
    "all?": "(all? (lambda (x) (begin (f x) true)) xs)",
    "sort": "(sort xs (lambda (a b) (begin (f a) (< a b))))",
    "sort-by": "(sort-by (lambda (x) (begin (f x) x)) xs)",
    "group-by": "(group-by f xs)",
    "distinct": "(distinct (map (lambda (x) (f x)) xs))",
    "member?": "(member? nil xs)",
    "index-of": "(index-of xs nil)",
    "assoc": "(assoc nil (map (lambda (x) [(f x)]) xs))",
    "equal?": "(equal? (map f xs) (map f xs))",
    "apply": "(apply list xs)",
}
LENGTHS = (128, 1_000, 4_096, 4_097, 10_000)


def steps(text: str) -> int:
    """How many steps a program takes until it asks."""
    outcome = begun(f"(define-effect (ask)) {text} (ask)", Limits())
    assert isinstance(outcome, Suspended), outcome
    return state_of(outcome).scheduler.steps


def of(walk: str, function: str, length: int) -> str:
    return f"""
    (define-effect (note x))
    (define (stay x) (handle (note x) ((note x) k (k x))))
    (define (f x) ({FUNCTIONS[function]} x))
    (define xs (range {length}))
    (handle {WALKS[walk]} ((note x) k (k x)))
    """


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("walk", WALKS)
def test_steps_grow_with_the_list(walk: str, function: str):
    """Each element is a step at least, and costs as many in a long list as in a short one."""
    empty = steps(of(walk, function, 0))
    taken = [steps(of(walk, function, length)) - empty for length in LENGTHS]
    most = 20 * taken[0] / LENGTHS[0]

    for length, count in zip(LENGTHS, taken, strict=True):
        assert length <= count <= most * length, (length, taken)


FEW = 20
"""Each planted bug is found within six programs."""


def test_no_optimisation_changes_the_steps():
    """Nor does it where a slice ends."""
    assert None is first_finding(LAWS["steps"], range(FEW))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_optimisation_changes_the_steps_many_times():
    assert None is first_finding(LAWS["steps"], range(FEW, 5_000))
