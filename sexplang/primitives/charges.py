"""Primitives that charge the size of their result to the run.

`sizes` bounds the size of one result before it is made. The charge bounds the sum over many calls.

| a primitive that | does |
|---|---|
| reads a text in linear time | `scan(length)`, before it reads |
| takes more time | `work(steps)`, before it begins |
| makes a result of any size | stands in GROWING, or calls `charge(size)` itself |
| makes one longer than its arguments | also checks the limits of `sizes` itself |
"""

from collections.abc import Callable

from sexplang.primitives.json_text import parse
from sexplang.terms.quota import SMALL, charge, work
from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.value import Value

# fmt: off
GROWING = frozenset(
    (
        "substring", "string-split", "string-join", "string-trim", "string-replace", "format",
        "reverse", "range", "take", "zip", "flatten", "distinct", "remove",
        "merge", "keys", "values", "json-parse", "json-string",
    )
)
# fmt: on
"""The primitives with results of any size. The most frequent ones, such as `append` and `put`,
charge their results themselves."""


def with_charge(
    function: Callable[..., Value], least: int, most: int | None
) -> Callable[..., Value]:
    """Return the function with a charge. It avoids an argument tuple for the usual arities."""
    if function is parse:
        return _parse
    if least == most and most in _BY_COUNT:
        return _BY_COUNT[most](function)
    return _any(function)


def _one(function: Callable[..., Value]) -> Callable[..., Value]:
    def make(a: Value) -> Value:
        value = function(a)
        if len(value) > SMALL:
            charge(len(value))
        return value

    return make


def _two(function: Callable[..., Value]) -> Callable[..., Value]:
    def make(a: Value, b: Value) -> Value:
        value = function(a, b)
        if len(value) > SMALL:
            charge(len(value))
        return value

    return make


def _three(function: Callable[..., Value]) -> Callable[..., Value]:
    def make(a: Value, b: Value, c: Value) -> Value:
        value = function(a, b, c)
        if len(value) > SMALL:
            charge(len(value))
        return value

    return make


_BY_COUNT = {1: _one, 2: _two, 3: _three}


def _any(function: Callable[..., Value]) -> Callable[..., Value]:
    def make(*values: Value) -> Value:
        value = function(*values)
        if len(value) > SMALL:
            charge(len(value))
        return value

    return make


def _parse(text: Value) -> Value:
    """Parse JSON. The charge is by the length of the text: two characters are read in about the
    time of a step."""
    size = len(text) if type(text) in TEXTS else 0
    charge(size)
    if size > SMALL:
        work(size // 2)
    return parse(text)
