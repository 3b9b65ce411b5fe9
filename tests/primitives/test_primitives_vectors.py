"""Vectors: products, similarities and exact search, against fractions and a sort."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.primitive_calls import call, refused
from support.running import begun, error_of

from sexplang.machine import Done, Limits
from sexplang.terms.values.sequences import View

NUMBERS = st.one_of(st.integers(-50, 50), st.floats(-50, 50))


def vectors(least=0, most=8):
    """A length, a query of it, and a list of vectors of it."""
    return st.integers(1, 6).flatmap(
        lambda size: st.tuples(
            st.tuples(*[NUMBERS] * size),
            st.lists(st.tuples(*[NUMBERS] * size), min_size=least, max_size=most).map(tuple),
        )
    )


@given(vectors(least=1))
def test_a_dot_product_is_near_the_exact_one(drawn):
    """To the rounding of its sum."""
    a, (b, *_) = drawn
    exact = sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))

    assert math.isclose(call("vector-dot", a, b), exact, rel_tol=1e-9, abs_tol=1e-9)
    assert call("vector-dot", a, b) == call("vector-dot", b, a)


@given(vectors(least=1), st.integers(1, 1000))
def test_a_cosine_does_not_depend_on_lengths(drawn, factor):
    """It is from -1 to 1, and that of a vector with itself is 1."""
    a, (b, *_) = drawn
    longer = tuple(factor * x for x in a)

    assert -1 <= call("vector-cosine", a, b) <= 1
    assert math.isclose(call("vector-cosine", a, b), call("vector-cosine", longer, b), abs_tol=1e-9)
    assert math.isclose(call("vector-cosine", a, a), 1.0 if any(a) else 0.0)


@given(vectors(), st.integers(0, 10))
def test_the_nearest_are_the_first_of_all_in_the_order_of_their_cosines(drawn, count):
    """Equal ones keep the order of the list."""
    query, rows = drawn
    scores = [(at, call("vector-cosine", query, row)) for at, row in enumerate(rows)]
    expected = sorted(scores, key=lambda pair: -pair[1])[:count]

    assert tuple(expected) == call("vector-nearest", count, query, rows)


def test_a_long_list_of_any_shape_is_a_vector():
    numbers = tuple(range(300))
    view = call("rest", numbers)
    found = call("vector-nearest", 1, view, call("cons", view, (numbers[1:],)))

    assert View is type(view)
    assert sum(numbers) * 1.5 == call("vector-dot", view, (1.5,) * 299)
    assert (0, 1.0) == (found[0][0], round(found[0][1], 9))


@pytest.mark.parametrize(
    ("code", "name", "arguments"),
    [
        ("dimension-mismatch", "vector-dot", [(1,), (1, 2)]),
        ("dimension-mismatch", "vector-cosine", [(1,), ()]),
        ("dimension-mismatch", "vector-nearest", [1, (1,), ((2,), (1, 2))]),
        ("wrong-type", "vector-dot", [(True,), (1,)]),
        ("wrong-type", "vector-dot", ["12", (1, 2)]),
        ("wrong-type", "vector-cosine", [(1, None), (1, 2)]),
        ("wrong-type", "vector-nearest", [1, (1,), {"a": 1}]),
        ("wrong-type", "vector-nearest", [1, (1,), ((1,), ("a",))]),
        ("wrong-type", "vector-nearest", [1.0, (1,), ()]),
        ("out-of-range", "vector-nearest", [-1, (1,), ()]),
        ("out-of-range", "vector-dot", [(10**400,), (1,)]),
        ("out-of-range", "vector-cosine", [(math.nan,), (1,)]),
        ("out-of-range", "vector-cosine", [(math.inf,), (1,)]),
        ("out-of-range", "vector-nearest", [1, (1e200, 1e200), ((1e200, 1e200),)]),
    ],
)
def test_what_is_no_pair_of_vectors_is_named(code, name, arguments):
    assert code == refused(name, *arguments).code


def test_a_search_counts_its_products_as_steps():
    """So a search without end is none."""
    text = "(define row (make-list 1000 1)) (vector-nearest 1 row (make-list {} row))"

    assert isinstance(begun(text.format(10), limits=Limits(steps=5_000)), Done)
    assert "limit-steps" == error_of(begun(text.format(100), limits=Limits(steps=5_000)))["reason"]
