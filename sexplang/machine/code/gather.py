"""Arguments from left to right: simple ones directly, the others with a frame each.

`gather(maker, node, pieces, finish)` is code that evaluates the pieces and then does
`finish(values, env, k, s)`, where `values` is a tuple. A frame holds the values so far. `enter`
calls a function with them instead. The site table names each frame by the part of the node that it
waits for.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from sexplang.machine.code.maker import Maker, Piece
from sexplang.machine.code.simple import outer
from sexplang.machine.stack import Code, Frame, Run, Segment, Step
from sexplang.terms.core import Core
from sexplang.terms.values.value import Value

Finish: TypeAlias = Callable[[tuple[Value, ...], Any, Frame, Segment], Step]


def gather(maker: Maker, node: Core, pieces: list[Piece], finish: Finish) -> Run:
    """Return code that evaluates the pieces in order and finishes with their values."""
    first = _general(pieces, 0)
    if first == len(pieces):
        values = _values([piece.simple for piece in pieces])
        return lambda env, k, s: finish(values(env), env, k, s)
    before = _values([piece.simple for piece in pieces[:first]])
    run = pieces[first].run
    back = _after(maker, node, pieces, first, lambda between: _last(between, finish))
    return lambda env, k, s: run(env, (back, k, env, before(env)), s)


def enter(maker: Maker, node: Core, pieces: list[Piece], code: Code, depth: int) -> Run:
    """Return code that evaluates the pieces and calls `code`, which was made `depth` levels up. At
    least one piece needs a frame."""
    first = _general(pieces, 0)
    simples = [piece.simple for piece in pieces[:first]]
    run = pieces[first].run
    back = _after(maker, node, pieces, first, lambda between: _call(between, code))
    if depth == 1 and not simples:
        return lambda env, k, s: run(env, (back, k, env, (env[0],)), s)
    if depth == 1 and len(simples) == 1:
        (only,) = simples
        return lambda env, k, s: run(env, (back, k, env, (env[0], only(env))), s)
    if depth == 1 and len(simples) == 2:
        left, right = simples
        return lambda env, k, s: run(env, (back, k, env, (env[0], left(env), right(env))), s)
    before = _values([outer(depth), *simples])
    return lambda env, k, s: run(env, (back, k, env, before(env)), s)


def _general(pieces: list[Piece], start: int) -> int:
    """Return the index of the first piece from `start` on that is not simple, or the length."""
    for at in range(start, len(pieces)):
        if pieces[at].simple is None:
            return at
    return len(pieces)


def _values(simples: list[Any]) -> Callable[[Any], tuple[Value, ...]]:
    """Return a function of the environment that gives the values of simple pieces as a tuple."""
    if not simples:
        return lambda env: ()
    if len(simples) == 1:
        (only,) = simples
        return lambda env: (only(env),)
    if len(simples) == 2:
        left, right = simples
        return lambda env: (left(env), right(env))
    if len(simples) == 3:
        one, two, three = simples
        return lambda env: (one(env), two(env), three(env))
    return lambda env: tuple([simple(env) for simple in simples])


def _after(
    maker: Maker,
    node: Core,
    pieces: list[Piece],
    first: int,
    last: Callable[[list[Any]], Run],
) -> Run:
    """Return the resume of the frame that waits for the piece `first`."""
    waits = [at for at in range(first, len(pieces)) if pieces[at].simple is None]
    ends = [*waits[1:], len(pieces)]
    back: Any = None
    for at, end in reversed(list(zip(waits, ends, strict=True))):
        between = [piece.simple for piece in pieces[at + 1 : end]]
        back = last(between) if back is None else _next(between, pieces[end].run, back)
        maker.enter(node, at, back)
    return back  # type: ignore[no-any-return]


def _last(between: list[Any], finish: Finish) -> Run:
    if not between:
        return lambda value, k, s: finish(k[3] + (value,), k[2], k[1], s)
    values = _values(between)

    def last(value: Value, k: Frame, s: Segment) -> Step:
        env = k[2]
        return finish(k[3] + (value,) + values(env), env, k[1], s)

    return last


def _call(between: list[Any], code: Code) -> Run:
    if not between:
        return lambda value, k, s: (code.body, k[3] + (value,), k[1], s)
    values = _values(between)
    return lambda value, k, s: (code.body, k[3] + (value,) + values(k[2]), k[1], s)


def _next(between: list[Any], run: Run, back: Run) -> Run:
    if not between:

        def at_once(value: Value, k: Frame, s: Segment) -> Step:
            env = k[2]
            return run(env, (back, k[1], env, k[3] + (value,)), s)

        return at_once
    values = _values(between)

    def onward(value: Value, k: Frame, s: Segment) -> Step:
        env = k[2]
        return run(env, (back, k[1], env, k[3] + (value,) + values(env)), s)

    return onward
