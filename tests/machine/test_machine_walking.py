"""Going through lists: the same values, errors and places however long the list is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.running import begun

from sexplang.machine import Done, Failed, Limits

LONG = 10_000
FUNCTIONS = {
    "a simple function": "(lambda (x) (* x 3))",
    "one that needs frames": "(lambda (x) (f x))",
}
XS = range(LONG)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(map g xs)", tuple([x * 3 for x in XS])),
        ("(map (lambda (x y) (+ (g x) y)) xs (rest xs))", tuple([x * 4 + 1 for x in XS[:-1]])),
        ("(map + xs xs)", tuple([x * 2 for x in XS])),
        ("(for-each g xs)", None),
        ("(filter (lambda (x) (= (remainder (g x) 2) 0)) xs)", tuple(XS[::2])),
        ("(fold (lambda (a x) (+ a (g x))) 1 xs)", 1 + 3 * sum(XS)),
        ("(reduce + 0 xs)", sum(XS)),
        ("(any? (lambda (x) (= (g x) 29997)) xs)", True),
        ("(any? (lambda (x) (= (g x) -1)) xs)", False),
        ("(all? (lambda (x) (< (g x) 29997)) xs)", False),
        ("(all? (lambda (x) (< (g x) 30000)) xs)", True),
        ("(length (group-by (lambda (x) (remainder (g x) 7)) xs))", 7),
        ("(first (sort-by (lambda (x) (- 0 (g x))) xs))", LONG - 1),
        ("(sort xs (lambda (a b) (< (g (remainder b 7)) (g (remainder a 7)))))",
         tuple(sorted(XS, key=lambda x: -(x % 7)))),
    ],
)  # fmt: skip
def test_a_long_list_gives_what_a_short_one_gives(text, value, function):
    """In chunks or with a frame for each element."""
    program = f"""
    (define-effect (note x))
    (define (f x) (if (= x -1) (note x) (* x 3)))
    (define g {function})
    (define xs (range {LONG}))
    {text}
    """
    assert begun(program) == Done(value)


@pytest.mark.parametrize("length", [3, LONG])
@pytest.mark.parametrize(
    "call",
    [
        "(map rest xs)",
        "(map + xs xs)",
        "(filter rest xs)",
        "(fold + 0 xs)",
        "(any? car xs)",
        "(all? (lambda (x) (list? (rest x))) xs)",
        "(sort xs <)",
    ],
)
def test_an_error_has_its_place_wherever_in_the_list_it_is(call, length):
    """That of the call, or of the call in the function."""
    element = "0" if call in ("(map + xs xs)", "(fold + 0 xs)", "(sort xs <)") else "[nil]"
    text = f"(define xs (append (map (lambda (x) {element}) (range {length})) [nil]))\n{call}"

    outcome = begun(text)

    assert isinstance(outcome, Failed)
    assert outcome.error.fields["reason"] == "wrong-type"
    assert outcome.error.fields["span"]["line"] == 2


@given(items=st.lists(st.integers(0, 9), max_size=30), bound=st.integers(0, 20))
def test_a_sort_makes_the_same_comparisons_in_the_same_order(items, bound):
    """Also where the function is no order at all."""
    xs = f"[{' '.join(map(str, items))}]"
    less = f"(lambda (a b) (< (+ (* 3 a) b) {bound}))"

    asked = begun(f"(define-effect (q)) (define (f x) (if (= x -1) (q) x)) "
                  f"(sort {xs} (lambda (a b) (< (+ (* 3 (f a)) b) {bound})))")  # fmt: skip

    assert asked == begun(f"(sort {xs} {less})")


@pytest.mark.parametrize("call", ["(map f (range 1000000))", "(sort (range 1000000) after?)"])
def test_a_limit_ends_a_walk_in_its_midst(call):
    """Long before it has come to the end."""
    text = f"(define (f x) (* x x)) (define (after? x y) (< y x)) {call} (f 1)"

    outcome = begun(text, Limits(steps=50_000))

    assert isinstance(outcome, Failed)
    assert outcome.error.fields["reason"] == "limit-steps"
