"""Numeric primitives: signs, extremes, rounding, exactness, powers, roots and text."""

import re
from collections.abc import Callable
from functools import cache
from math import ceil, copysign, floor, isinf, isnan, isqrt, pow, sqrt, trunc

from sexplang.primitives.arithmetic import (
    MISSING,
    check,
    division_by_zero,
    integral,
    not_a_number,
    real,
    within,
)
from sexplang.primitives.sizes import (
    LIGHT,
    PRODUCT,
    out_of_range,
    too_large,
    weigh,
    wrong_type,
)
from sexplang.terms.quota import scan, work
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import INTEGER_BITS
from sexplang.terms.values.rope import Rope, whole_text
from sexplang.terms.values.text import number as number_text
from sexplang.terms.values.value import Record, Value

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST_DIGITS = 4_215  # an integer with more digits is above INTEGER_BITS


def absolute(a: Value) -> Value:
    check("abs", a)
    return abs(a)


def _extreme(name: str, choose: Callable[..., Value]) -> Callable[..., Value]:
    """Return a primitive for an extreme of numbers. One float makes the result a float, as in
    R7RS."""

    def extreme(a: Value, *rest: Value) -> Value:
        values = (a, *rest)
        check(name, *values)
        if not any(type(value) is float for value in values):
            return choose(values)
        if any(value != value for value in values):
            return float("nan")
        return real(choose(values))

    return extreme


lowest = _extreme("min", min)
highest = _extreme("max", max)


def _make_rounding(name: str, to_integer: Callable[[float], int]) -> Callable[[Value], Value]:
    def round_number(a: Value) -> Value:
        if type(a) is int:
            return a
        check(name, a)
        # copysign: R7RS keeps the sign of a number that rounds to zero.
        return a if isnan(a) or isinf(a) else copysign(real(to_integer(a)), a)

    return round_number


_round = _make_rounding("round", round)


def round_even(a: Value, digits: Value = 0) -> Value:
    """Return the number with as many digits behind the point, or rounded before it if below 0."""
    if digits == 0 and type(digits) is int:
        return _round(a)
    check("round", a)
    if type(digits) is not int:
        raise wrong_type("round", "an exact integer as its digits", digits)
    if not -400 <= digits <= 400 or (type(a) is float and (isnan(a) or isinf(a))):
        return a if digits > 0 or type(a) is float else 0
    return round(a, digits)


round_down = _make_rounding("floor", floor)
round_up = _make_rounding("ceiling", ceil)
cut = _make_rounding("truncate", trunc)


def exact(a: Value) -> Value:
    check("exact", a)
    if type(a) is float and (isnan(a) or isinf(a) or a != int(a)):
        raise out_of_range(
            "exact", f"{abbreviate(a)} is not an integer", "`(exact (round x))` rounds it first"
        )
    return int(a)


def inexact(a: Value) -> Value:
    check("inexact", a)
    return real(a)


def square_root(a: Value) -> Value:
    check("sqrt", a)
    if a < 0:
        raise out_of_range("sqrt", f"{abbreviate(a)} is below 0, and there are no complex numbers")
    if type(a) is float:
        return sqrt(a)
    weigh(a, a)
    root = isqrt(a)
    if root * root == a:
        return root
    return sqrt(a) if a.bit_length() < 1000 else real(root)


def power(a: Value, b: Value) -> Value:
    check("expt", a, b)
    if type(a) is int and type(b) is int:
        if b >= 0:
            return _exact_power(a, b)
        if a in (1, -1):
            return a if b % 2 else 1
    if a == 0 and b < 0:
        raise division_by_zero(f"(expt {abbreviate(a)} {abbreviate(b)})")
    return _float_power(a, b)


def _exact_power(a: int, b: int) -> int:
    if a in (0, 1, -1):
        return int(b == 0 or a != 0) * (a if b % 2 else 1)
    # The power has at least this many bits, and at most twice the limit if it passes.
    if (a.bit_length() - 1) * b >= INTEGER_BITS:
        raise too_large("expt")
    half = a.bit_length() * b // 2
    if half > 1_000:
        work(half * half // PRODUCT)  # the last product is most of the work
    made: int = within("expt", a**b)
    return made


def _float_power(a: int | float, b: int | float) -> float:
    base, exponent = real(a), real(b)
    try:
        return pow(base, exponent)
    except OverflowError:
        odd = base < 0 and exponent % 2 == 1
        return float("-inf") if odd else float("inf")
    except ValueError:
        raise out_of_range(
            "expt", f"{abbreviate(a)} to the power {abbreviate(b)} is not a real number"
        ) from None


def to_text(a: Value, radix: Value = MISSING) -> Value:
    if radix is MISSING and type(a) is int and -0x3FFFFFFF < a < 0x3FFFFFFF:
        return repr(a)
    check("number->string", a)
    if type(a) is float and type(radix) is int and radix != 10:
        call = f'`(format "~,{radix}f" x)`'
        hint = f"{call} writes {radix} digits behind the point; {radix} is a radix here"
        integral("number->string", a, hint)
    base = 10 if radix is MISSING else _radix("number->string", radix)
    if base == 10:
        if type(a) is int:
            weigh(a, a)
        return number_text(within("number->string", a))
    whole = integral("number->string", a)
    sign, whole = ("-", -whole) if whole < 0 else ("", whole)
    if whole > LIGHT:
        work(whole.bit_length() // 4)  # about the number of digits, each a division
    digits = []
    while True:
        whole, digit = divmod(whole, base)
        digits.append(DIGITS[digit])
        if not whole:
            return sign + "".join(reversed(digits))


def from_text(text: Value, radix: Value = 10) -> Value:
    """Return the number that Scheme reads from a decimal (other radixes: digits with an optional
    sign), else false."""
    if isinstance(text, Record) and text.kind == "TaskResult":
        text = text.fields.get("content")
    if type(text) is Rope:
        text = whole_text(text)
    if type(text) is not str:
        raise wrong_type("string->number", "a string", text)
    base = _radix("string->number", radix)
    scan(len(text))
    if 300 < len(text) <= _MOST_DIGITS:
        work(len(text) ** 2 * 11 // PRODUCT)  # a pair of digits has eleven pairs of bits
    if base == 10:
        match = _decimal_pattern().fullmatch(text)
        return number_of("string->number", text, match) if match else False
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not digits or not digits.isascii() or not set(digits.lower()) <= set(DIGITS[:base]):
        return False
    if len(digits) > INTEGER_BITS:
        raise too_large("string->number")
    work(len(digits))
    return within("string->number", _digits_value(text, base))


def _digits_value(text: str, base: int) -> int:
    value = 0
    for digit in text.lower().lstrip("+-"):
        value = value * base + DIGITS.index(digit)
    return -value if text[0] == "-" else value


@cache
def _decimal_pattern() -> re.Pattern[str]:
    """Return the pattern of Scheme's decimals: a sign, leading zeros and digits on one side of the
    point are allowed. A group that matched makes it a float."""
    return re.compile(r"[+-]?(?:[0-9]+(\.[0-9]*)?|(\.[0-9]+))([eE][+-]?[0-9]+)?")


def number_of(name: str, text: str, match: re.Match[str]) -> int | float | bool:
    """Return the number that `match` found in `text`, for the primitive `name`; false for one
    beyond the floats."""
    if match.lastindex:
        value = float(text)
        return False if isinf(value) else value
    if len(text) > _MOST_DIGITS:
        raise too_large(name)
    made: int = within(name, int(text))
    return made


def _radix(name: str, radix: Value) -> int:
    if type(radix) is not int:
        raise (
            not_a_number(name, radix)
            if type(radix) is not float
            else wrong_type(name, "an integer from 2 to 36 as its radix", radix)
        )
    if not 2 <= radix <= 36:
        raise out_of_range(name, f"the radix {abbreviate(radix)} is not from 2 to 36")
    return radix


def _parity(name: str, rest: int) -> Callable[[Value], Value]:
    def test(a: Value) -> Value:
        return integral(name, a) % 2 == rest

    return test


is_even, is_odd = _parity("even?", 0), _parity("odd?", 1)


def is_zero(a: Value) -> Value:
    check("zero?", a)
    return a == 0


def is_positive(a: Value) -> Value:
    check("positive?", a)
    return a > 0


def is_negative(a: Value) -> Value:
    check("negative?", a)
    return a < 0
