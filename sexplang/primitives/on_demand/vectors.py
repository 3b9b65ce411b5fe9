"""Vectors, which are lists of numbers: the dot product, the cosine similarity, exact search.

Each product of two vectors takes time linear in their length, and is counted as steps before it is
made.
"""

from collections.abc import Sequence
from heapq import nlargest
from math import hypot, isfinite
from operator import itemgetter, mul

from sexplang.primitives.arithmetic import real
from sexplang.primitives.sizes import out_of_range, whole, wrong_type
from sexplang.terms.quota import charge, work
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.sums import add_up_floats
from sexplang.terms.values.value import Fault, Value

PRODUCTS = 8
"""The products of two numbers that are made in about the time of a step."""

_FLOATS = {float}
_NUMBERS = {float, int}

_USAGES = {
    "dot": "write (dot [1 2] [3 4])",
    "cosine": "write (cosine [1 2] [3 4])",
    "nearest": "write (nearest k query vectors): a number, a vector, a list of vectors",
}


def dot(a: Value, b: Value) -> Value:
    """Return the dot product of two vectors, a float."""
    left, right = _read_pair("dot", a, b)
    return add_up_floats([*map(mul, left, right)])


def cosine(a: Value, b: Value) -> Value:
    """Return the cosine similarity of two vectors, from -1 to 1; 0 if one of them is all zeros."""
    left, right = _read_pair("cosine", a, b)
    return _similarity("cosine", left, right, hypot(*left), hypot(*right))


def nearest(count: Value, query: Value, vectors: Value) -> Value:
    """Return the indexes of the vectors most similar to a query, each with its cosine similarity:
    the best first, equal ones in the order of the list."""
    most = whole("nearest", "k", count)
    wanted = _read_vector("nearest", query, "the query")
    if type(vectors) not in LISTS:
        raise wrong_type("nearest", "a list of vectors last", vectors, _USAGES["nearest"])
    norm = hypot(*wanted)
    scores = []
    for at, vector in enumerate(vectors):
        what = f"vector {at}"
        found = _read_vector("nearest", vector, what)
        if len(found) != len(wanted):
            raise _mismatch("nearest", what, len(found), "the query", len(wanted))
        scores.append((at, _similarity("nearest", wanted, found, norm, hypot(*found))))
    best = nlargest(most, scores, key=itemgetter(1))
    charge(2 * len(best))
    return tuple(best)


def _read_pair(name: str, a: Value, b: Value) -> tuple[Sequence[float], Sequence[float]]:
    left = _read_vector(name, a, "the first vector")
    right = _read_vector(name, b, "the second vector")
    if len(left) != len(right):
        raise _mismatch(name, "the second vector", len(right), "the first", len(left))
    return left, right


def _read_vector(name: str, vector: Value, what: str) -> Sequence[float]:
    """Return a vector as floats. Raises Fault if it is none."""
    if type(vector) not in LISTS:
        raise wrong_type(name, f"a list of numbers as {what}", vector, _USAGES[name])
    work(len(vector) // PRODUCTS + 1)
    kinds = set(map(type, vector))
    if kinds <= _FLOATS:
        return vector  # type: ignore[no-any-return]
    if kinds <= _NUMBERS:
        return [real(number) for number in vector]
    other = next(each for each in vector if type(each) not in _NUMBERS)
    raise wrong_type(name, f"numbers in {what}", other, _USAGES[name])


def _similarity(
    name: str, a: Sequence[float], b: Sequence[float], a_norm: float, b_norm: float
) -> float:
    norms = a_norm * b_norm
    if norms == 0.0:
        return 0.0
    score = add_up_floats([*map(mul, a, b)]) / norms
    if not isfinite(score) or not isfinite(norms):
        raise out_of_range(name, "a vector holds numbers too large, or nan", _USAGES[name])
    return max(-1.0, min(1.0, score))


def _mismatch(name: str, one: str, its_length: int, other: str, length: int) -> Fault:
    return Fault(
        "dimension-mismatch",
        f"`{name}`: {one} has {its_length} numbers, and {other} has {length}",
        hint="compare vectors of one model: embed the query by the model that embedded the texts",
    )
