"""Makers of calls: of primitives, of named functions, of whatever the head turns out to be."""

from operator import attrgetter
from typing import Any

from sexplang.machine import arithmetic
from sexplang.machine import simple as pure
from sexplang.machine.apply import apply, apply_labelled
from sexplang.machine.gather import gather
from sexplang.machine.generate import (
    HEAVIEST,
    TALL,
    Maker,
    Piece,
    capped,
    combines,
    height,
    low,
    simply,
)
from sexplang.machine.stack import Closure, Code, Frame, Run, Segment, Step
from sexplang.terms import core
from sexplang.terms.source import Span
from sexplang.terms.value import Fault, Primitive, Value


@combines(core.CallPrimitive, attrgetter("arguments"))
def _primitive(maker: Maker, node: core.CallPrimitive, pieces: list[Piece]) -> Piece:
    primitive, span = node.primitive, node.span
    if low(pieces):
        quick = _quick(primitive, node.arguments, pieces, span)
        return simply(quick or _plain(primitive, pieces, span), pieces)
    pieces = capped(pieces)
    apply_two = _two(primitive, span)
    if len(pieces) == 2:
        return Piece(code=_binary(apply_two, *pieces), height=height(pieces))
    function = primitive.function

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            return k[0], function(*found), k, s
        except Fault as fault:
            raise at(fault, span) from None

    return Piece(code=gather(pieces, finish), height=height(pieces) + 1)


def _plain(primitive: Primitive, pieces: list[Piece], span: Span) -> pure.Simple:
    simples = tuple([piece.simple for piece in pieces])
    if primitive.name == "list":
        return pure.listing(simples)
    return pure.primitive(primitive.function, simples, span)


def _quick(
    primitive: Primitive, arguments: tuple[Any, ...], pieces: list[Piece], span: Span
) -> pure.Simple | None:
    """Binary arithmetic in the shape that fits."""
    if len(pieces) != 2 or primitive.name not in arithmetic.ANY:
        return None
    left, right = arguments
    two = _two(primitive, span)

    def slow(env: Any, a: Value, b: Value) -> Value:
        return two(a, b)

    near = isinstance(left, core.Local) and left.depth == 0
    if near and isinstance(right, core.Const) and type(right.value) is int:
        made = arithmetic.CONSTANT[primitive.name](left.index, right.value, slow)
    elif near and isinstance(right, core.Local) and right.depth == 0:
        made = arithmetic.LOCALS[primitive.name](left.index, right.index, slow)
    else:
        made = arithmetic.ANY[primitive.name](pieces[0].simple, pieces[1].simple, slow)
    quick: pure.Simple = made
    return quick


def _two(primitive: Primitive, span: Span) -> Any:
    """The primitive on two values; addition, the commonest, without a call on integers."""
    function = primitive.function

    def two(a: Value, b: Value) -> Value:
        try:
            return function(a, b)
        except Fault as fault:
            raise at(fault, span) from None

    if primitive.name != "+":
        return two

    least, most = arithmetic.LEAST, arithmetic.MOST

    def added(a: Value, b: Value) -> Value:
        if a.__class__ is int and b.__class__ is int:
            made = a + b
            if least < made < most:
                return made
        return two(a, b)

    return added


def _binary(two: Any, left: Piece, right: Piece) -> Run:
    """Two arguments of which at least one needs a frame; the first value waits in it."""

    def both(value: Value, k: Frame, s: Segment) -> Step:
        below = k[1]
        return below[0], two(k[2], value), below, s

    if left.simple is not None:
        first, second = left.simple, right.run
        return lambda env, k, s: second(env, (both, k, first(env)), s)
    run = left.run
    if right.simple is not None:
        last = right.simple

        def end(value: Value, k: Frame, s: Segment) -> Step:
            below = k[1]
            return below[0], two(value, last(k[2])), below, s

        return lambda env, k, s: run(env, (end, k, env), s)
    other = right.run

    def onward(value: Value, k: Frame, s: Segment) -> Step:
        return other(k[2], (both, k[1], value), s)

    return lambda env, k, s: run(env, (onward, k, env), s)


def at(fault: Fault, span: Span) -> Fault:
    """The fault, placed at `span` unless it has its place already."""
    if fault.span is None:
        fault.span = span
    return fault


@combines(core.CallKnown, attrgetter("arguments"))
def _known(maker: Maker, node: core.CallKnown, pieces: list[Piece]) -> Piece:
    code, depth = maker.codes[node.function], node.depth
    body = maker.pure(node.function)
    if body is not None and low([*pieces, body]):
        call = _pure_call(body.simple, pure.outer(depth), [piece.simple for piece in pieces])
        made = simply(call, [*pieces, body])
        if made.weight <= HEAVIEST:
            made.height = sum(piece.height for piece in [*pieces, body]) + 1
            if made.height < TALL:
                return made
    pieces = capped(pieces)
    if all(piece.simple is not None for piece in pieces):
        simples = [piece.simple for piece in pieces]
        made = Piece(code=_known_direct(code, depth, simples))
        made.jump = (code, simples) if depth == 1 else None
        return made

    def finish(entered: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        return code.body, entered, k, s

    return Piece(code=gather(pieces, finish, pure.outer(depth)), height=height(pieces) + 1)


def _pure_call(body: pure.Simple, outer: Any, simples: list[Any]) -> pure.Simple:
    """A call of a function that cannot call back, suspend or capture is no call at all."""
    if len(simples) == 1:
        (only,) = simples
        return lambda env: body((outer(env), only(env)))
    return lambda env: body((outer(env), *[simple(env) for simple in simples]))


def _known_direct(code: Code, depth: int, simples: list[Any]) -> Run:
    """The recursive call of a function defined one level up is the one that has to be fast."""
    if depth == 1 and len(simples) == 1:
        (only,) = simples
        return lambda env, k, s: (code.body, (env[0], only(env)), k, s)
    if depth == 1 and len(simples) == 2:
        left, right = simples
        return lambda env, k, s: (code.body, (env[0], left(env), right(env)), k, s)
    if depth == 1 and len(simples) == 3:
        one, two, three = simples
        return lambda env, k, s: (code.body, (env[0], one(env), two(env), three(env)), k, s)
    outer = pure.outer(depth)
    return lambda env, k, s: (
        code.body,
        (outer(env), *[simple(env) for simple in simples]),
        k,
        s,
    )


@combines(core.Call, lambda node: (node.callee, *node.arguments))
def _call(maker: Maker, node: core.Call, pieces: list[Piece]) -> Piece:
    pieces = capped(pieces)
    labels, span = node.labels, node.span
    if not labels and all(piece.simple is not None for piece in pieces):
        return Piece(code=_call_direct([piece.simple for piece in pieces], span))

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            if labels:
                return apply_labelled(found[0], found[1:], labels, k, s, span)
            return apply(found[0], found[1:], k, s, span)
        except Fault as fault:
            raise at(fault, span) from None

    return Piece(code=gather(pieces, finish), height=height(pieces) + 1)


def _call_direct(simples: list[Any], span: Span) -> Run:
    callee, *arguments = simples
    size = len(arguments)
    if size == 1:
        (only,) = arguments

        def one(env: Any, k: Frame, s: Segment) -> Step:
            function = callee(env)
            if function.__class__ is Closure:
                code = function.code
                if code.simple and code.size == 1:
                    return code.body, (function.env, only(env)), k, s
            try:
                return apply(function, (only(env),), k, s, span)
            except Fault as fault:
                raise at(fault, span) from None

        return one

    def many(env: Any, k: Frame, s: Segment) -> Step:
        function = callee(env)
        values = tuple([argument(env) for argument in arguments])
        if function.__class__ is Closure:
            code = function.code
            if code.simple and code.size == size:
                return code.body, (function.env, *values), k, s
        try:
            return apply(function, values, k, s, span)
        except Fault as fault:
            raise at(fault, span) from None

    return many
