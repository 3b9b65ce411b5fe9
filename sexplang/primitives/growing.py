"""Primitives that make lists, tables and strings to the same, charged to the run.

How much one call may make is bounded before it makes anything (`sizes`); the charge is what bounds
many calls together.
"""

from collections.abc import Callable

from sexplang.primitives.json_text import parse
from sexplang.terms.allowance import SMALL, charge
from sexplang.terms.value import Value

# fmt: off
GROWING = frozenset(
    (
        "str", "string-append", "substring", "string-split", "string-join", "string-trim",
        "string-upcase", "string-downcase", "string-replace", "format", "cons", "cdr", "rest",
        "append", "reverse", "range", "take", "drop", "zip", "flatten", "distinct", "put",
        "remove", "merge", "keys", "values", "json-parse", "json-string",
    )
)
# fmt: on
"""The primitives whose value may be larger than a few words."""


def charged(function: Callable[..., Value], most: int | None) -> Callable[..., Value]:
    """The same function; the usual numbers of arguments without a tuple for them."""
    if most == 1 and function is not parse:

        def one(value: Value) -> Value:
            made = function(value)
            if len(made) > SMALL:
                charge(len(made))
            return made

        return one
    if most == 2:

        def two(left: Value, right: Value) -> Value:
            made = function(left, right)
            if len(made) > SMALL:
                charge(len(made))
            return made

        # An optional second argument is rare enough to take the general way.
        return two if function.__defaults__ is None else _any(function)
    return _any(function)


def _any(function: Callable[..., Value]) -> Callable[..., Value]:
    def made(*values: Value) -> Value:
        value = function(*values)
        if isinstance(value, (tuple, str, dict)) and len(value) > SMALL:
            charge(len(value))
        return value

    return made
