"""Arithmetic: `+ - * /`, the comparisons and integer division.

Exact integers stay exact; their bits are checked against the limit before a computation. A float
argument makes the result a float. Booleans are not numbers. Each function tests first for two exact
integers, the most frequent case.
"""

from collections.abc import Callable
from math import copysign, isinf, isnan
from typing import Any

from sexplang.primitives.sizes import LEAST, LIGHT, too_large, weigh, wrong_type
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import INTEGER_BITS
from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Fault, Value

MISSING: Any = object()  # an argument that was left out; nil is one that was given

_HINTS = {
    "=": "`(equal? a b)` compares values of every kind",
    "!=": "`(not (equal? a b))` compares values of every kind",
}


def not_a_number(name: str, value: Value) -> Fault:
    """Return the fault for `value` where `name` takes a number."""
    hint = _HINTS.get(name)
    if type(value) in TEXTS and hint is None:
        hint = "`(str a b)` joins text" if name == "+" else "`(string->number s)` reads a number"
        if name in ("<", ">", "<=", ">="):
            hint = f"`string{name}?` compares texts; {hint}"
    if type(value) in LISTS and hint is None:
        hint = f"`(apply {name} xs)` calls it with the items of a list"
        if name == "+":
            hint = "`(append xs ys)` joins lists, `(sum xs)` adds the numbers of one"
        elif name == "-":
            hint = "`(filter (lambda (x) (not (member? x ys))) xs)` leaves items out"
        elif name == "*":
            hint = (
                "`(map (lambda (x) (* n x)) xs)` multiplies each, `(product xs)` all; "
                "`(flat-map (lambda (_) xs) (range n))` repeats them, `(make-list n x)` an item"
            )
    if type(value) in TEXTS and name in ("*", "-"):
        hint = f"`(string-repeat s n)` repeats a text; {hint}"
        if name == "-":
            hint = "`(date-diff from to)` is for dates; `(string->number s)` reads a number"
    if type(value) is bool and name == "+":
        hint = "`(count p xs)` counts the items for which a predicate holds"
    return wrong_type(name, "numbers", value, hint)


def check(name: str, *values: Value) -> None:
    """Raise Fault unless all `values` are numbers."""
    for value in values:
        if type(value) is not int and type(value) is not float:
            raise not_a_number(name, value)


def real(number: Any) -> float:
    """Return a number as a float. Raises Fault for an integer beyond the floats: an infinity would
    be a silent error."""
    try:
        return float(number)
    except OverflowError:
        raise beyond(f"an integer of {number.bit_length()} bits") from None


def beyond(what: str) -> Fault:
    """Return the fault for a float result beyond the floats."""
    return Fault(
        "out-of-range",
        f"{what} is larger than any float, which ends at about 1.8e308",
        hint="stay with exact integers: `quotient` and `modulo` divide them",
    )


def within(name: str, number: Value) -> Value:
    """Return the number. Raises Fault for an integer above the limit."""
    if type(number) is int and number.bit_length() > INTEGER_BITS:
        raise too_large(name)
    return number


def add(a: Value = 0, b: Value = 0, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        total = a + b
        if total.bit_length() <= INTEGER_BITS:
            return total
    if type(a) is float and type(b) is float and not rest:
        return a + b
    return _fold("+", _plus, a, b, rest)


def subtract(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        total = a - b
        if total.bit_length() <= INTEGER_BITS:
            return total
    if type(a) is float and type(b) is float and not rest:
        return a - b
    if b is MISSING:
        check("-", a)
        return -a
    return _fold("-", _minus, a, b, rest)


def multiply(a: Value = 1, b: Value = 1, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        if LEAST < a < LIGHT and LEAST < b < LIGHT:
            return a * b
    elif type(a) is float and type(b) is float and not rest:
        return a * b
    return _fold("*", _times, a, b, rest)


def divide(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    return (
        _fold("/", _divide_two, 1, a, ()) if b is MISSING else _fold("/", _divide_two, a, b, rest)
    )


def _fold(
    name: str, step: Callable[[Any, Any], Any], a: Value, b: Value, rest: tuple[Value, ...]
) -> Value:
    check(name, a, b, *rest)
    result = within(name, step(a, b))
    for number in rest:
        result = within(name, step(result, number))
    return result


def _plus(a: Any, b: Any) -> Any:
    return a + b if type(a) is type(b) else real(a) + real(b)


def _minus(a: Any, b: Any) -> Any:
    return a - b if type(a) is type(b) else real(a) - real(b)


def _times(a: Any, b: Any) -> Any:
    if type(a) is not type(b):
        return real(a) * real(b)
    # The product has the sum of the bits, or one bit less.
    if type(a) is int and a.bit_length() + b.bit_length() > INTEGER_BITS + 1:
        raise too_large("*")
    if type(a) is int:
        weigh(a, b)
    return a * b


def _divide_two(a: Any, b: Any) -> Any:
    if type(b) is int:
        if b == 0:
            raise division_by_zero(f"(/ {abbreviate(a)} 0)")
        if type(a) is int:
            return _ratio(a, b)
    return ieee_divide(real(a), real(b))


def _ratio(a: int, b: int) -> int | float:
    weigh(a, b)
    if a % b == 0:
        return a // b
    try:
        return a / b
    except OverflowError:
        raise beyond("a quotient") from None


def ieee_divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or isnan(a):
        return float("nan")
    return copysign(float("inf"), a) * copysign(1.0, b)


def division_by_zero(call: str) -> Fault:
    return Fault(
        "division-by-zero", f"`{call}` divides by zero", hint="test for 0 with `(= x 0)` first"
    )


def _comparison(name: str, holds: Callable[[Any, Any], bool]) -> Callable[..., Value]:
    """Return the primitive for a chain `(< a b c)`. Every argument is checked, also after the first
    false pair."""

    def compare(a: Value, *rest: Value) -> Value:
        check(name, a, *rest)
        result = True
        for b in rest:
            result = result and holds(a, b)
            a = b
        return result

    return compare


_less = _comparison("<", lambda a, b: a < b)
_more = _comparison(">", lambda a, b: a > b)
_at_most = _comparison("<=", lambda a, b: a <= b)
_at_least = _comparison(">=", lambda a, b: a >= b)
_alike = _comparison("=", lambda a, b: a == b)


def less(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        return a < b
    return _less(*_operands(a, b, rest))


def more(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        return a > b
    return _more(*_operands(a, b, rest))


def at_most(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        return a <= b
    return _at_most(*_operands(a, b, rest))


def at_least(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        return a >= b
    return _at_least(*_operands(a, b, rest))


def alike(a: Value, b: Value = MISSING, *rest: Value) -> Value:
    if type(a) is int and type(b) is int and not rest:
        return a == b
    return _alike(*_operands(a, b, rest))


def unlike(a: Value, b: Value) -> Value:
    check("!=", a, b)
    return a != b


def _operands(a: Value, b: Value, rest: tuple[Value, ...]) -> tuple[Value, ...]:
    return (a,) if b is MISSING else (a, b, *rest)


def _division(name: str, divide: Callable[[int, int], int]) -> Callable[[Value, Value], Value]:
    """Return a primitive for integer division as in R7RS. Floats that are integers count, and make
    the result a float."""

    def divide_values(a: Value, b: Value) -> Value:
        if type(a) is int and type(b) is int:
            if b == 0:
                raise division_by_zero(f"({name} {abbreviate(a)} {abbreviate(b)})")
            weigh(a, b)
            return divide(a, b)
        n, m = integral(name, a), integral(name, b)
        if m == 0:
            raise division_by_zero(f"({name} {abbreviate(a)} {abbreviate(b)})")
        return real(divide(n, m))

    return divide_values


def integral(
    name: str, value: Value, hint: str = "`(floor x)` and `(round x)` drop the fraction"
) -> int:
    """Return `value` as an integer: an exact one, or a float without a fraction."""
    if type(value) is int:
        return value
    if type(value) is float and not isnan(value) and not isinf(value) and value == int(value):
        return int(value)
    check(name, value)
    raise wrong_type(name, "integers", value, hint)


def _quotient(a: int, b: int) -> int:
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def _remainder(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


quotient = _division("quotient", _quotient)
remainder = _division("remainder", _remainder)
_modulo = _division("modulo", lambda a, b: a % b)


def modulo(a: Value, b: Value) -> Value:
    if type(a) is int and type(b) is int and b != 0 and LEAST < a < LIGHT:
        return a % b
    return _modulo(a, b)
