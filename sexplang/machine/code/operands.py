"""Calls of primitives, specialised by the shape of their operands.

A variable of this activation and a constant are read without a call: `near` is the slot of the one,
`constant` the value of the other. Any other operand is simple code. Each call is simple itself. A
Fault without a span gets that of the call.
"""

from collections.abc import Callable
from typing import Any

from sexplang.machine.code import arithmetic, lists
from sexplang.machine.code.maker import Piece
from sexplang.machine.code.simple import Env, Simple, listing, locate
from sexplang.terms.quota import SMALL
from sexplang.terms.source import Span
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Fault, Primitive, Value

Function = Callable[..., Value]
Slow = arithmetic.Slow

QUICK: dict[str, dict[str, Any]] = {**arithmetic.SHAPES, **arithmetic.COMPARISONS, **lists.ON_TWO}
"""The makers of primitives on two integers or on two lists, by name and shape."""


def call(primitive: Primitive, pieces: list[Piece], span: Span) -> Simple:
    """Return a call whose operands are simple."""
    simples = [piece.simple for piece in pieces]
    if len(pieces) == 2:
        return _on_two(primitive, pieces[0], pieces[1], span)
    if primitive.name == "list":
        return listing(tuple(simples))
    if len(pieces) == 1:
        return _on_one(primitive, pieces[0], span)
    if len(pieces) == 3:
        maker = _put if primitive.name == "put" else _three
        return maker(primitive.function, simples[0], simples[1], simples[2], span)
    return _many(primitive.function, tuple(simples), span)


def with_span(function: Function, span: Span) -> Function:
    """Return the function of two values and an environment. It locates its faults at `span`."""

    def two(a: Value, b: Value, env: Env | None) -> Value:
        try:
            return function(a, b)
        except Fault as fault:
            raise locate(fault, span, env) from None

    return two


def _on_one(primitive: Primitive, piece: Piece, span: Span) -> Simple:
    function, i = primitive.function, piece.near
    if i and primitive.name == "list?":
        return lambda env: env[i].__class__ in LISTS
    if i and primitive.name in lists.ON_ONE:
        return lists.ON_ONE[primitive.name](i, _near(function, i, span))
    if i and primitive.name == "length":
        return _length(i, _near(function, i, span))
    return _near(function, i, span) if i else _any(function, piece.simple, span)


def _on_two(primitive: Primitive, left: Piece, right: Piece, span: Span) -> Simple:
    shape, a, b = _shape(left, right)
    made: Simple
    quick = QUICK.get(primitive.name)
    if quick is not None and (right.constant is None or type(b) is int):
        if shape not in quick and "any constant" in quick and right.constant is not None:
            shape, a = "any constant", left.simple
        elif shape not in quick:
            shape, a, b = "any any", left.simple, right.simple
        made = quick[shape](a, b, with_span(primitive.function, span))
    elif primitive.name == "equal?" and right.constant is not None and type(b) is int:
        made = arithmetic.is_integer(left.simple, b, with_span(primitive.function, span))
    elif primitive.name == "get" and shape == "near constant" and type(b) is str:
        made = _field(a, b, with_span(primitive.function, span))
    elif primitive.name == "nth" and shape == "near constant" and type(b) is int and b >= 0:
        made = _item_there(a, b, with_span(primitive.function, span))
    elif primitive.name == "nth":
        made = _item(left.simple, right.simple, with_span(primitive.function, span))
    elif primitive.name == "list":
        made = listing((left.simple, right.simple))
    else:
        made = _TWO[shape](primitive.function, a, b, span)
    return made


def _shape(left: Piece, right: Piece) -> tuple[str, Any, Any]:
    """Return the shape of two operands and how each is read in it."""
    if right.constant is not None:
        (value,) = right.constant
        if left.near:
            return "near constant", left.near, value
        return "any constant", left.simple, value
    if left.near and right.near:
        return "near near", left.near, right.near
    if left.near:
        return "near any", left.near, right.simple
    return "any any", left.simple, right.simple


def _near(function: Function, i: int, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(env[i])
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _any(function: Function, item: Simple, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(item(env))
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _near_constant(function: Function, i: int, c: Value, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(env[i], c)
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _any_constant(function: Function, left: Simple, c: Value, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(left(env), c)
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _near_near(function: Function, i: int, j: int, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(env[i], env[j])
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _near_any(function: Function, i: int, right: Simple, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(env[i], right(env))
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _any_any(function: Function, left: Simple, right: Simple, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(left(env), right(env))
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


_TWO: dict[str, Any] = {
    "near constant": _near_constant,
    "any constant": _any_constant,
    "near near": _near_near,
    "near any": _near_any,
    "any any": _any_any,
}


def _three(function: Function, one: Simple, two: Simple, three: Simple, span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(one(env), two(env), three(env))
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _put(function: Function, table: Simple, key: Simple, item: Simple, span: Span) -> Simple:
    """`(put t "key" x)`; a table that is charged for is the primitive's business."""

    def run(env: Env) -> Value:
        made, name, value = table(env), key(env), item(env)
        if made.__class__ is dict and name.__class__ is str and len(made) < SMALL:
            made = made.copy()
            made[name] = value
            return made
        try:
            return function(made, name, value)
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _many(function: Function, items: tuple[Simple, ...], span: Span) -> Simple:
    def run(env: Env) -> Value:
        try:
            return function(*[item(env) for item in items])
        except Fault as fault:
            raise locate(fault, span, env) from None

    return run


def _field(i: int, key: Value, slow: Slow) -> Simple:
    """`(get t "key")`: what a table has there, or nil."""

    def run(env: Env) -> Value:
        table = env[i]
        return table.get(key) if table.__class__ is dict else slow(table, key, env)

    return run


def _length(i: int, slow: Simple) -> Simple:
    """`(length xs)` of a list."""

    def run(env: Env) -> Value:
        items = env[i]
        return len(items) if items.__class__ is tuple else slow(env)

    return run


def _item_there(slot: int, i: int, slow: Slow) -> Simple:
    """`(nth xs 1)`, where there is such an item."""

    def run(env: Env) -> Value:
        found = env[slot]
        return found[i] if found.__class__ is tuple and i < len(found) else slow(found, i, env)

    return run


def _item(items: Simple, index: Simple, slow: Slow) -> Simple:
    """`(nth xs i)`, where there is such an item."""

    def run(env: Env) -> Value:
        found, i = items(env), index(env)
        if found.__class__ is tuple and i.__class__ is int and 0 <= i < len(found):
            return found[i]
        return slow(found, i, env)

    return run
