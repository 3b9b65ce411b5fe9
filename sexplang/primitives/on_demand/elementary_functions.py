"""Exponentials, logarithms and trigonometry. Angles are in radians; results are floats."""

import math
from collections.abc import Callable

from sexplang.primitives.arithmetic import MISSING, beyond, check, real
from sexplang.primitives.sizes import out_of_range
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Value


def exponential(x: Value) -> Value:
    check("exp", x)
    try:
        return math.exp(real(x))
    except OverflowError:
        raise beyond(f"`(exp {abbreviate(x)})`") from None


def _logarithm(name: str, function: Callable[[Value], float]) -> Callable[[Value], Value]:
    """Return a primitive for a logarithm, of integers beyond the floats too."""

    def logarithm(x: Value) -> Value:
        check(name, x)
        if x <= 0:
            raise out_of_range(name, f"{abbreviate(x)} has no logarithm: only numbers above 0 do")
        return function(x)

    return logarithm


natural_logarithm = _logarithm("ln", math.log)
binary_logarithm = _logarithm("log2", math.log2)
decimal_logarithm = _logarithm("log10", math.log10)


def _trigonometric(
    name: str, function: Callable[[float], float], takes: str
) -> Callable[[Value], Value]:
    def of_angle(x: Value) -> Value:
        check(name, x)
        try:
            return function(real(x))
        except ValueError:
            raise out_of_range(name, f"{abbreviate(x)} is no {takes}") from None

    return of_angle


sine = _trigonometric("sin", math.sin, "angle")
cosine = _trigonometric("cos", math.cos, "angle")
tangent = _trigonometric("tan", math.tan, "angle")
arc_sine = _trigonometric("asin", math.asin, "sine: it is not from -1 to 1")
arc_cosine = _trigonometric("acos", math.acos, "cosine: it is not from -1 to 1")


def arc_tangent(y: Value, x: Value = MISSING) -> Value:
    """Return the angle whose tangent is `y`, or that of the point `x`, `y`."""
    if x is MISSING:
        check("atan", y)
        return math.atan(real(y))
    check("atan", y, x)
    return math.atan2(real(y), real(x))
