"""Makers of the plain nodes: values, choices, sequences, bindings, loops."""

from operator import attrgetter
from typing import Any

from sexplang.machine.code import simple as pure
from sexplang.machine.code.calls import gather
from sexplang.machine.code.loops import turn
from sexplang.machine.code.maker import (
    LoopCode,
    Maker,
    Making,
    Piece,
    cap,
    combine_simple,
    combines,
    every_one,
    fits_inline,
    height,
    makes,
)
from sexplang.machine.stack import Closure, Frame, Run, Segment, Step, make_closure
from sexplang.terms import core
from sexplang.terms.values.value import Fault, Value


@makes(core.Const)
def _const(maker: Maker, node: core.Const, loop: LoopCode | None) -> Piece:
    piece = Piece(pure.constant(node.value))
    piece.constant = (node.value,)
    return piece


@makes(core.Local)
def _local(maker: Maker, node: core.Local, loop: LoopCode | None) -> Piece:
    piece = Piece(pure.local(node.depth, node.index))
    piece.near = node.index if node.depth == 0 else 0
    return piece


@makes(core.Known)
def _make_known(maker: Maker, node: core.Known, loop: LoopCode | None) -> Piece:
    code, outer = maker.codes[node.function], pure.outer(node.depth)
    return Piece(lambda env: make_closure(code, outer(env)))


@makes(core.Lambda)
def _lambda(maker: Maker, node: core.Lambda, loop: LoopCode | None) -> Piece:
    code = maker.codes[node.function]

    def run(env: Any) -> Value:
        made = Closure()
        made.code, made.env = code, env
        return made

    return Piece(run)


@makes(core.InputValue)
def _input(maker: Maker, node: core.InputValue, loop: LoopCode | None) -> Making:
    name, span = node.name, node.span
    if node.default is None:
        return Piece(lambda env: _read_input(env[0], name, span, env))
    default = yield node.default, None
    run = default.run

    def read(env: Any, k: Frame, s: Segment) -> Step:
        if name in env[0]:
            return k[0], env[0][name], k, s
        return run(env, k, s)

    return Piece(code=read, height=height([default]))


def _read_input(inputs: dict[str, Value], name: str, span: Any, env: Any) -> Value:
    if name in inputs:
        return inputs[name]
    fault = Fault("missing-input", f"the program needs the input `{name}`", hint=f"give {name}=…")
    raise pure.locate(fault, span, env)


@makes(core.If)
def _if(maker: Maker, node: core.If, loop: LoopCode | None) -> Making:
    test = yield node.test, None
    then = yield node.then, loop
    otherwise = yield node.otherwise, loop
    pieces = [test, then, otherwise]
    if fits_inline(pieces):
        return combine_simple(pure.choose(test.simple, then.simple, otherwise.simple), pieces)
    (test,) = cap([test])
    if test.simple is None:
        run = _if_waiting(maker, node, test.run, then.run, otherwise.run)
        return Piece(code=run, height=height([test]))
    return Piece(code=_if_code(test.simple, then, otherwise), height=height([then, otherwise]))


def _if_code(test: Any, then: Piece, otherwise: Piece) -> Run:
    """Return the code of a choice. A branch that is simple ends here without a call."""
    if then.simple is not None and otherwise.jump is not None:
        turning = turn(test, then.simple, *otherwise.jump)
        if turning is not None:
            return turning
    if then.simple is not None and otherwise.simple is None:
        value, onward = then.simple, otherwise.run

        def ending(env: Any, k: Frame, s: Segment) -> Step:
            decided = test(env)
            if decided is not False and decided is not None:
                return k[0], value(env), k, s
            return onward(env, k, s)

        return ending
    if otherwise.simple is not None:
        value, onward = otherwise.simple, then.run

        def going(env: Any, k: Frame, s: Segment) -> Step:
            decided = test(env)
            if decided is not False and decided is not None:
                return onward(env, k, s)
            return k[0], value(env), k, s

        return going
    first, second = then.run, otherwise.run

    def run(env: Any, k: Frame, s: Segment) -> Step:
        decided = test(env)
        if decided is not False and decided is not None:
            return first(env, k, s)
        return second(env, k, s)

    return run


def _if_waiting(maker: Maker, node: core.If, test: Run, then: Run, otherwise: Run) -> Run:
    def back(value: Value, k: Frame, s: Segment) -> Step:
        if value is not False and value is not None:
            return then(k[2], k[1], s)
        return otherwise(k[2], k[1], s)

    maker.enter(node, 0, back)
    return lambda env, k, s: test(env, (back, k, env), s)


@makes(core.And)
def _and(maker: Maker, node: core.And, loop: LoopCode | None) -> Making:
    return (yield from _short_circuit(maker, node, loop, pure.every, True))


@makes(core.Or)
def _or(maker: Maker, node: core.Or, loop: LoopCode | None) -> Making:
    return (yield from _short_circuit(maker, node, loop, pure.some, False))


def _short_circuit(
    maker: Maker, node: core.And | core.Or, loop: LoopCode | None, make: Any, onward: bool
) -> Making:
    pieces = yield from _items(node.items, loop)
    if fits_inline(pieces):
        return combine_simple(make(tuple([piece.simple for piece in pieces])), pieces)
    pieces = cap(pieces)
    run = pieces[-1].run
    for part in reversed(range(len(pieces) - 1)):
        run = _decide(maker, node, part, pieces[part], run, onward)
    return Piece(code=run, height=len(pieces) + height(pieces))


def _decide(
    maker: Maker, node: core.And | core.Or, part: int, piece: Piece, rest: Run, onward: bool
) -> Run:
    if piece.simple is not None:
        simple = piece.simple

        def at_once(env: Any, k: Frame, s: Segment) -> Step:
            value = simple(env)
            if (value is not False and value is not None) is onward:
                return rest(env, k, s)
            return k[0], value, k, s

        return at_once

    def back(value: Value, k: Frame, s: Segment) -> Step:
        if (value is not False and value is not None) is onward:
            return rest(k[2], k[1], s)
        below = k[1]
        return below[0], value, below, s

    maker.enter(node, part, back)
    run = piece.run
    return lambda env, k, s: run(env, (back, k, env), s)


@makes(core.Seq)
def _seq(maker: Maker, node: core.Seq, loop: LoopCode | None) -> Making:
    pieces = yield from _items(node.items, loop)
    if fits_inline(pieces):
        return combine_simple(pure.sequence(tuple([piece.simple for piece in pieces])), pieces)
    pieces = cap(pieces)
    run, tall = pieces[-1].run, pieces[-1].height
    for part in reversed(range(len(pieces) - 1)):
        rest, piece = Piece(code=run, height=tall), pieces[part]
        run = _then(maker, node, part, piece, rest.run)
        tall = max(rest.height, piece.height) + 1
    return Piece(code=run, height=tall)


def _then(maker: Maker, node: core.Seq, part: int, piece: Piece, rest: Run) -> Run:
    if piece.simple is not None:
        simple = piece.simple

        def at_once(env: Any, k: Frame, s: Segment) -> Step:
            simple(env)
            return rest(env, k, s)

        return at_once

    def back(value: Value, k: Frame, s: Segment) -> Step:
        return rest(k[2], k[1], s)

    maker.enter(node, part, back)
    run = piece.run
    return lambda env, k, s: run(env, (back, k, env), s)


def _items(items: tuple[Any, ...], loop: LoopCode | None) -> Any:
    """Yield items to the maker's driver, and return their pieces. Only the last is in tail
    position."""
    pieces = []
    for item in items[:-1]:
        pieces.append((yield item, None))
    pieces.append((yield items[-1], loop))
    return pieces


@makes(core.Let)
def _let(maker: Maker, node: core.Let, loop: LoopCode | None) -> Making:
    values = yield from every_one(maker, node.values)
    body = yield node.body, loop
    if fits_inline([*values, body]):
        made = pure.binding(tuple([value.simple for value in values]), body.simple)
        return combine_simple(made, [*values, body])
    run = body.run
    values = cap(values)
    if len(values) == 1:
        return Piece(code=_let_one(maker, node, values[0], run), height=height([values[0], body]))
    if all(value.simple is not None for value in values):
        made = pure.listing(tuple([value.simple for value in values]))
        return Piece(
            code=lambda env, k, s: run(env + made(env), k, s), height=height([*values, body])
        )

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        return run(env + found, k, s)

    return Piece(code=gather(maker, node, values, finish), height=height([*values, body]) + 1)


def _let_one(maker: Maker, node: core.Let, value: Piece, body: Run) -> Run:
    if value.simple is not None:
        simple = value.simple
        return lambda env, k, s: body(env + (simple(env),), k, s)

    def back(found: Value, k: Frame, s: Segment) -> Step:
        return body(k[2] + (found,), k[1], s)

    maker.enter(node, 0, back)
    run = value.run
    return lambda env, k, s: run(env, (back, k, env), s)


@combines(core.MakeTable, attrgetter("values"))
def _table(maker: Maker, node: core.MakeTable, values: list[Piece]) -> Piece:
    keys = node.keys
    if fits_inline(values):
        made = pure.table(keys, tuple([value.simple for value in values]))
        return combine_simple(made, values)

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        return k[0], dict(zip(keys, found, strict=True)), k, s

    return Piece(code=gather(maker, node, cap(values), finish), height=height(values) + 1)


@makes(core.Path)
def _path(maker: Maker, node: core.Path, loop: LoopCode | None) -> Making:
    fields, span, needed, base = node.fields, node.span, node.needed, (yield node.base, None)
    if fits_inline([base]):
        return combine_simple(pure.path(base.simple, fields, span, needed), [base])

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        return k[0], pure.follow(found[0], fields, span, needed, env), k, s

    return Piece(code=gather(maker, node, cap([base]), finish), height=height([base]) + 1)
