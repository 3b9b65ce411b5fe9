"""Numbers that may count something: how great they are at most, and what is made of them."""

from sexplang.analysis.domain.bounds import (
    GREATEST,
    ZERO,
    Bound,
    atom,
    most,
    no_bound,
    number,
    plus,
    times,
)
from sexplang.analysis.domain.values import DATA, Abstract, Exact, Free, Upper, Values, number_of
from sexplang.terms.source import Span

NO_COUNT = "nothing bounds this count"


def count_of(value: Abstract, span: Span) -> Bound:
    """How great a number is at most; nothing below zero counts."""
    if isinstance(value, Exact):
        found = value.value
        if isinstance(found, float) and not abs(found) < GREATEST:
            return no_bound(NO_COUNT, span)
        return number(int(-(-found // 1))) if isinstance(found, (int, float)) else ZERO
    if isinstance(value, Upper):
        return value.most
    if isinstance(value, Free):
        return atom(number_of(value), span)
    return no_bound(NO_COUNT, span)


def shorter(one: Bound, other: Bound) -> Bound:
    """The lesser of two, as far as it can be told: a number beats what an input decides."""
    if not one.is_bounded or not other.is_bounded:
        return one if one.is_bounded else other
    if one.constant is None or other.constant is None:
        return one if one.constant is not None else other
    return one if one.constant <= other.constant else other


def upper(values: Values, bound: Bound) -> Abstract:
    """A number of at most so much."""
    return values.make(Upper, bound) if bound.is_bounded else DATA


def _add(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    exact = [one.value for one in arguments if isinstance(one, Exact)]
    if len(exact) == len(arguments) and all(type(one) is int for one in exact):
        return values.exact(sum(exact))
    total = ZERO
    for one in arguments:
        total = plus(total, count_of(one, span))
    return upper(values, total)


def _subtract(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    exact = [one.value for one in arguments if isinstance(one, Exact)]
    if all(type(one) is int for one in exact) and len(arguments) == 2:
        if len(exact) == 2:
            return values.exact(exact[0] - exact[1])
        if isinstance(arguments[1], Exact) and exact[0] >= 0:
            return upper(values, count_of(arguments[0], span))
    return DATA


def _multiply(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    if len(arguments) != 2:
        return DATA
    left, right = arguments
    if isinstance(right, Exact):
        left, right = right, left
    if not isinstance(left, Exact) or type(left.value) is not int:
        return DATA
    if isinstance(right, Exact):
        return values.exact(left.value * right.value) if type(right.value) is int else DATA
    if left.value < 0:
        return DATA
    return upper(values, times(count_of(right, span), number(left.value)))


def _divide(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """`(quotient a b)`: no more than a, where b is above zero."""
    if len(arguments) != 2:
        return DATA
    left, right = arguments
    if not isinstance(right, Exact) or type(right.value) is not int or right.value == 0:
        return DATA
    if isinstance(left, Exact) and type(left.value) is int:
        size = abs(left.value) // abs(right.value)
        return values.exact(size if (left.value < 0) == (right.value < 0) else -size)
    return upper(values, count_of(left, span)) if right.value > 0 else DATA


def _least(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    bound = no_bound(NO_COUNT, span)
    for one in arguments:
        bound = shorter(bound, count_of(one, span))
    return upper(values, bound)


def _greatest(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    bound = ZERO
    for one in arguments:
        bound = most(bound, count_of(one, span))
    return upper(values, bound)


SUMS = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "quotient": _divide,
    "min": _least,
    "max": _greatest,
}
"""What a call of a primitive gives, by name."""
