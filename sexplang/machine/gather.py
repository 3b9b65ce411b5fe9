"""Arguments from left to right: simple ones directly, the others with a frame each.

`gather(pieces, finish)` is code that evaluates the pieces and then does `finish(values, env, k,
s)`, where `values` is a tuple. A frame holds the values so far.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from sexplang.machine.generate import Piece
from sexplang.machine.stack import Frame, Run, Segment, Step
from sexplang.terms.value import Value

Finish: TypeAlias = Callable[[tuple[Value, ...], Any, Frame, Segment], Step]


def gather(pieces: list[Piece], finish: Finish) -> Run:
    """Code that evaluates the pieces in order and finishes with their values."""
    first = _general(pieces, 0)
    if first == len(pieces):
        return _direct(tuple([piece.simple for piece in pieces]), finish)
    before = tuple([piece.simple for piece in pieces[:first]])
    run = pieces[first].run
    back = _after(pieces, first + 1, finish)
    if not before:

        def start(env: Any, k: Frame, s: Segment) -> Step:
            return run(env, (back, k, env, ()), s)

        return start

    def start_after(env: Any, k: Frame, s: Segment) -> Step:
        return run(env, (back, k, env, tuple([simple(env) for simple in before])), s)

    return start_after


def _general(pieces: list[Piece], start: int) -> int:
    """Where the first piece from `start` on stands that is not simple, or the end."""
    for at in range(start, len(pieces)):
        if pieces[at].simple is None:
            return at
    return len(pieces)


def _direct(simples: tuple[Any, ...], finish: Finish) -> Run:
    if len(simples) == 1:
        (only,) = simples
        return lambda env, k, s: finish((only(env),), env, k, s)
    if len(simples) == 2:
        left, right = simples
        return lambda env, k, s: finish((left(env), right(env)), env, k, s)
    return lambda env, k, s: finish(tuple([simple(env) for simple in simples]), env, k, s)


def _after(pieces: list[Piece], start: int, finish: Finish) -> Run:
    """The resume of the frame that waits for the piece before `start`."""
    backs: list[Run] = []
    ends = [at for at in range(start, len(pieces)) if pieces[at].simple is None]
    end = len(pieces)
    for begin in reversed([start, *[at + 1 for at in ends]]):
        between = tuple([piece.simple for piece in pieces[begin:end]])
        if end == len(pieces):
            backs.append(_last(between, finish))
        else:
            backs.append(_next(between, pieces[end].run, backs[-1]))
        end = begin - 1
    return backs[-1]


def _last(between: tuple[Any, ...], finish: Finish) -> Run:
    if not between:

        def last(value: Value, k: Frame, s: Segment) -> Step:
            return finish((*k[3], value), k[2], k[1], s)

        return last

    def last_after(value: Value, k: Frame, s: Segment) -> Step:
        env = k[2]
        return finish((*k[3], value, *[simple(env) for simple in between]), env, k[1], s)

    return last_after


def _next(between: tuple[Any, ...], run: Run, back: Run) -> Run:
    def onward(value: Value, k: Frame, s: Segment) -> Step:
        env = k[2]
        values = (*k[3], value, *[simple(env) for simple in between])
        return run(env, (back, k[1], env, values), s)

    return onward
