"""Primitives of two arguments of which at least one needs a frame, as in `(+ (f x) (g x))`.

The first value waits in the frame of the second. An argument that calls a function with one simple
value, the shape of most recursion, saves a Python call.
"""

from typing import Any

from sexplang.machine.code.arithmetic import LEAST, MOST
from sexplang.machine.code.maker import Maker, Piece
from sexplang.machine.code.operands import with_span
from sexplang.machine.positions.sites import SECOND
from sexplang.machine.stack import Frame, Run, Segment, Step
from sexplang.terms.core import CallPrimitive
from sexplang.terms.values.value import Primitive, Value


def both(maker: Maker, node: CallPrimitive, primitive: Primitive, left: Piece, right: Piece) -> Run:
    """Return code that calls the primitive with both values."""
    two = with_span(primitive.function, node.span)
    if left.simple is None and right.simple is not None:
        return _under(maker.enter(node, 0, _first(two, right.simple)), left)
    second = maker.enter(node, SECOND, _add(two) if primitive.name == "+" else _second(two))
    if left.simple is not None:
        return _with(left, second, right)
    return _under(maker.enter(node, 0, _onward(second, right)), left)


def _under(back: Run, piece: Piece) -> Run:
    """Return the piece with a frame below it that holds the environment."""
    if piece.jump is not None and len(piece.jump[1]) == 1:
        code, (only,) = piece.jump
        return lambda env, k, s: (code.body, (env[0], only(env)), (back, k, env), s)
    run = piece.run
    return lambda env, k, s: run(env, (back, k, env), s)


def _with(left: Piece, back: Run, piece: Piece) -> Run:
    """Return the piece with a frame below it that holds a simple value."""
    simple = left.simple
    if piece.jump is not None and len(piece.jump[1]) == 1:
        code, (only,) = piece.jump
        if left.constant is not None:
            (value,) = left.constant
            return lambda env, k, s: (code.body, (env[0], only(env)), (back, k, value), s)

        def jump(env: Any, k: Frame, s: Segment) -> Step:
            frame = (back, k, simple(env))
            return code.body, (env[0], only(env)), frame, s

        return jump
    run = piece.run
    return lambda env, k, s: run(env, (back, k, simple(env)), s)


def _first(two: Any, last: Any) -> Run:
    """Return the resume that takes the first value. The second is simple."""

    def back(value: Value, k: Frame, s: Segment) -> Step:
        below, env = k[1], k[2]
        return below[0], two(value, last(env), env), below, s

    return back


def _onward(back: Run, piece: Piece) -> Run:
    """Return the resume that takes the first value and evaluates the second."""
    if piece.jump is not None and len(piece.jump[1]) == 1:
        code, (only,) = piece.jump

        def jump(value: Value, k: Frame, s: Segment) -> Step:
            env = k[2]
            return code.body, (env[0], only(env)), (back, k[1], value), s

        return jump
    run = piece.run

    def onward(value: Value, k: Frame, s: Segment) -> Step:
        return run(k[2], (back, k[1], value), s)

    return onward


def _second(two: Any) -> Run:
    """Return the resume that takes the second value."""

    def back(value: Value, k: Frame, s: Segment) -> Step:
        below = k[1]
        return below[0], two(k[2], value, None), below, s

    return back


def _add(two: Any) -> Run:
    """Return the resume that takes the second value of `+`. It adds integers without a call."""

    def back(value: Value, k: Frame, s: Segment) -> Step:
        below, first = k[1], k[2]
        if first.__class__ is int and value.__class__ is int:
            made = first + value
            if -0x3FFFFFFF < made < 0x3FFFFFFF or LEAST < made < MOST:
                return below[0], made, below, s
        return below[0], two(first, value, None), below, s

    return back
