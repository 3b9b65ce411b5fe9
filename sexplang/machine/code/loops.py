"""Makers of the two loops, of `recur`, and of the turns of loops."""

from typing import Any

from sexplang.machine.code.calls import gather
from sexplang.machine.code.maker import (
    LoopCode,
    Maker,
    Making,
    Piece,
    cap,
    every_one,
    height,
    makes,
)
from sexplang.machine.code.simple import locate
from sexplang.machine.stack import Frame, Run, Segment, Step
from sexplang.terms import core
from sexplang.terms.values.abbreviation import abbreviate, exact_twin
from sexplang.terms.values.value import Fault, Value


@makes(core.Repeat)
def _repeat(maker: Maker, node: core.Repeat, loop: LoopCode | None) -> Making:
    count, body = (yield node.count, None), (yield node.body, None)
    run, span = maker.run(node.body, body), node.span

    def again(value: Value, k: Frame, s: Segment) -> Step:
        left = k[3]
        if left == 0:
            below = k[1]
            return below[0], value, below, s
        return run, k[2], (again, k[1], k[2], left - 1), s

    def start(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        times = found[0]
        if type(times) is not int or times < 0:
            fault = Fault(
                "wrong-type",
                f"`loop` counts with an exact integer from 0 on, not {abbreviate(times)}",
                hint=exact_twin(times) or "write (loop ((x init) …) …) to loop with variables",
            )
            raise locate(fault, span, env)
        if times == 0:
            return k[0], (), k, s
        return run, env, (again, k, env, times - 1), s

    maker.enter(node, 1, again)
    return Piece(code=gather(maker, node, cap([count]), start), height=height([count]) + 1)


@makes(core.Loop)
def _loop(maker: Maker, node: core.Loop, loop: LoopCode | None) -> Making:
    inits = yield from every_one(maker, node.inits)
    code = LoopCode()
    body = yield node.body, code
    code.body = maker.run(node.body, body)

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        return code.body, (env, *found), k, s

    return Piece(code=gather(maker, node, cap(inits), finish), height=height(inits) + 1)


@makes(core.Recur)
def _recur(maker: Maker, node: core.Recur, loop: LoopCode | None) -> Making:
    assert loop is not None
    code, arguments = loop, cap((yield from every_one(maker, node.arguments)))
    if all(argument.simple is not None for argument in arguments):
        simples = [argument.simple for argument in arguments]
        piece = Piece(code=_recur_direct(code, simples))
        piece.jump = (code, simples)
        return piece

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        return code.body, (env[0], *found), k, s

    return Piece(code=gather(maker, node, arguments, finish), height=height(arguments) + 1)


def _recur_direct(code: LoopCode, simples: list[Any]) -> Run:
    if len(simples) == 1:
        (only,) = simples
        return lambda env, k, s: (code.body, (env[0], only(env)), k, s)
    if len(simples) == 2:
        left, right = simples
        return lambda env, k, s: (code.body, (env[0], left(env), right(env)), k, s)
    return lambda env, k, s: (
        code.body,
        (env[0], *[simple(env) for simple in simples]),
        k,
        s,
    )


# -- Turns of loops -------------------------------------------------------------------------------

# Each maker does the work of the separate pieces and saves a call a turn.


def turn(test: Any, value: Any, holder: Any, simples: list[Any]) -> Run | None:
    """Return code that ends with `value` or jumps, for one to three arguments; else None."""
    maker = _BY_COUNT.get(len(simples))
    made: Run | None = maker(test, value, holder, *simples) if maker is not None else None
    return made


def _one(test: Any, value: Any, holder: Any, first: Any) -> Run:
    def run(env: Any, k: Frame, s: Segment) -> Step:
        decided = test(env)
        if decided is not False and decided is not None:
            return k[0], value(env), k, s
        return holder.body, (env[0], first(env)), k, s

    return run


def _two(test: Any, value: Any, holder: Any, first: Any, second: Any) -> Run:
    def run(env: Any, k: Frame, s: Segment) -> Step:
        decided = test(env)
        if decided is not False and decided is not None:
            return k[0], value(env), k, s
        return holder.body, (env[0], first(env), second(env)), k, s

    return run


def _three(test: Any, value: Any, holder: Any, first: Any, second: Any, third: Any) -> Run:
    def run(env: Any, k: Frame, s: Segment) -> Step:
        decided = test(env)
        if decided is not False and decided is not None:
            return k[0], value(env), k, s
        return holder.body, (env[0], first(env), second(env), third(env)), k, s

    return run


_BY_COUNT: dict[int, Any] = {1: _one, 2: _two, 3: _three}
