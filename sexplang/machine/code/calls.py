"""Makers of calls: of primitives, of named functions, and of heads that are computed.

Arguments are evaluated from left to right: simple ones directly, the others with a frame each.
`gather(maker, node, pieces, finish)` is code that evaluates the pieces and then does
`finish(values, env, k, s)`, where `values` is a tuple. A frame holds the values so far. `enter`
calls a function with them instead. The site table names each frame by the part of the node that it
waits for.
"""

from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from typing import Any, TypeAlias

from sexplang.machine.code import operands
from sexplang.machine.code import simple as pure
from sexplang.machine.code.application import apply, apply_labelled, inputs_order
from sexplang.machine.code.arithmetic import LEAST, MOST
from sexplang.machine.code.maker import (
    HEAVIEST,
    MAX_NESTING,
    Maker,
    Piece,
    cap,
    combine_simple,
    combines,
    fits_inline,
    height,
)
from sexplang.machine.code.operands import with_span
from sexplang.machine.code.simple import add_call, locate, outer
from sexplang.machine.errors import call_frame, misfit, name_tasks, return_value, tasks_of
from sexplang.machine.exits import ERRORS, Uncaught
from sexplang.machine.handlers import perform, resume
from sexplang.machine.positions.sites import SECOND
from sexplang.machine.stack import Closure, Code, Continuation, Frame, Run, Segment, Step
from sexplang.machine.tasks.conversation import Wants, call_task
from sexplang.terms import core
from sexplang.terms.core import Core
from sexplang.terms.quota import account, work
from sexplang.terms.source import Span
from sexplang.terms.values.value import Fault, Higher, Operation, Primitive, Task, Value

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
    back = _after(maker, node, pieces, first, lambda between: _call_code(between, code))
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


def _call_code(between: list[Any], code: Code) -> Run:
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


# -- Makers of calls ------------------------------------------------------------------------------


@combines(core.CallPrimitive, attrgetter("arguments"))
def _primitive(maker: Maker, node: core.CallPrimitive, pieces: list[Piece]) -> Piece:
    primitive, span = node.primitive, node.span
    if tasks := tasks_of(node.arguments):
        primitive = name_tasks(primitive, tasks)
    if fits_inline(pieces):
        return combine_simple(operands.call(primitive, pieces, span), pieces)
    pieces = cap(pieces)
    if len(pieces) == 2:
        return Piece(code=both(maker, node, primitive, *pieces), height=height(pieces))
    function = primitive.function

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            return k[0], function(*found), k, s
        except Fault as fault:
            raise locate(fault, span, env) from None

    return Piece(code=gather(maker, node, pieces, finish), height=height(pieces) + 1)


@combines(core.CallKnown, attrgetter("arguments"))
def _make_known(maker: Maker, node: core.CallKnown, pieces: list[Piece]) -> Piece:
    code, depth = maker.codes[node.function], node.depth
    if _leads_into_library(code, node.span):
        return _into_library(_make_entering(maker, node, code, pieces), node.span)
    body = maker.pure(node.function)
    if body is not None and fits_inline([*pieces, body]):
        call = _pure_call(code, body.simple, depth, [piece.simple for piece in pieces])
        made = combine_simple(call, [*pieces, body])
        if made.weight <= HEAVIEST:
            made.height = sum(piece.height for piece in [*pieces, body]) + 1
            if made.height < MAX_NESTING:
                return made
    return _make_entering(maker, node, code, pieces)


def _make_entering(maker: Maker, node: core.CallKnown, code: Code, pieces: list[Piece]) -> Piece:
    depth, pieces = node.depth, cap(pieces)
    if all(piece.simple is not None for piece in pieces):
        simples = [piece.simple for piece in pieces]
        made = Piece(code=_make_direct(code, depth, simples))
        made.jump = (code, simples) if depth == 1 else None
        return made
    return Piece(code=enter(maker, node, pieces, code, depth), height=height(pieces) + 1)


def _leads_into_library(code: Code, span: Span) -> bool:
    return code.is_library and not span.source.is_library


def _into_library(call: Piece, span: Span) -> Piece:
    """Return a call of a library function from the program."""
    run = call.run
    return Piece(
        code=lambda env, k, s: run(env, call_frame(span, k, env), s), height=call.height + 1
    )


def _pure_call(code: Code, body: pure.Simple, depth: int, simples: list[Any]) -> pure.Simple:
    """Return a call, without a frame, of a function that cannot call back, suspend or capture. It
    counts as a step."""
    if depth == 1 and len(simples) == 1:
        (only,) = simples

        def one(env: Any) -> Value:
            inner = env[0], only(env)
            try:
                next(account().ticks)
            except StopIteration:
                work(1)
            try:
                return body(inner)
            except Fault as fault:
                raise add_call(fault, code) from None

        return one
    outer = pure.outer(depth)

    def call(env: Any) -> Value:
        inner = (outer(env), *[simple(env) for simple in simples])
        try:
            next(account().ticks)
        except StopIteration:
            work(1)
        try:
            return body(inner)
        except Fault as fault:
            raise add_call(fault, code) from None

    return call


def _make_direct(code: Code, depth: int, simples: list[Any]) -> Run:
    """Return a call whose arguments are simple. The recursive call of a function one level up is
    the fastest."""
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
    made, callee = _make_applying(maker, node, pieces), node.callee
    if type(callee) is core.Known and _leads_into_library(maker.codes[callee.function], node.span):
        return _into_library(made, node.span)
    return made


def _make_applying(maker: Maker, node: core.Call, pieces: list[Piece]) -> Piece:
    pieces = cap(pieces)
    labels, span = node.labels, node.span
    wants: Wants = "result" if _is_call_task(pieces[0]) else "answer"
    given = pieces[1:] if wants == "result" else pieces
    if given and (task := _task_of(given[0])) is not None:
        with suppress(Fault):  # the call itself reports arguments that do not fit
            order = inputs_order(task, len(given) - 1, labels)
            return _task_call(maker, node, task, order, given[1:], wants)
    if not labels and all(piece.simple is not None for piece in pieces):
        simples = [piece.simple for piece in pieces]
        known = pieces[0].constant
        if known is not None and _asks(known[0], len(simples) - 1):
            return Piece(code=_perform_direct(known[0].name, simples[1:], span))
        return Piece(code=_call_direct(simples, span))

    tasks = tasks_of(node.arguments)

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            if labels:
                return apply_labelled(found[0], found[1:], labels, k, s, span, env)
            return apply(found[0], found[1:], k, s, span, env)
        except Fault as fault:
            raise locate(misfit(fault, tasks, found[1:]), span, env) from None
        except Uncaught as error:
            raise locate(error, span, env) from None

    return Piece(code=gather(maker, node, pieces, finish), height=height(pieces) + 1)


def _task_of(callee: Piece) -> Task | None:
    """Return the task that a callee is, if that is known."""
    known = callee.constant
    return known[0] if known is not None and type(known[0]) is Task else None


def _is_call_task(callee: Piece) -> bool:
    known = callee.constant
    return known is not None and type(known[0]) is Higher and known[0].name == "call-task"


def _task_call(
    maker: Maker,
    node: core.Call,
    task: Task,
    order: tuple[str, ...],
    pieces: list[Piece],
    wants: Wants,
) -> Piece:
    """Return a call of a known task. `order` names the parameter of each argument."""
    span = node.span
    is_library = span.source.is_library

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            inputs = dict(zip(order, found, strict=True))
            below = k if is_library else (return_value, k, span, env)
            return call_task(task, inputs, {}, below, s, wants)
        except Fault as fault:
            raise locate(fault, span, env) from None

    return Piece(code=gather(maker, node, pieces, finish), height=height(pieces) + 1)


def _asks(callee: Value, count: int) -> bool:
    """Return whether a call with `count` arguments performs an operation with exactly these."""
    return type(callee) is Operation and not callee.text and len(callee.params) == count


def _perform_direct(operation: str, simples: list[Any], span: Span) -> Run:
    def run(env: Any, k: Frame, s: Segment) -> Step:
        try:
            return perform(operation, tuple([simple(env) for simple in simples]), k, s, span)
        except ERRORS as error:
            raise locate(error, span, env) from None

    return run


def _call_direct(simples: list[Any], span: Span) -> Run:
    callee, *arguments = simples
    size = len(arguments)
    if size == 1:
        (only,) = arguments

        def one(env: Any, k: Frame, s: Segment) -> Step:
            function = callee(env)
            if function.__class__ is Closure:
                code = function.code
                if code.quick and code.size == 1:
                    inner, body = (function.env, only(env)), code.pure
                    if body is None:
                        return code.body, inner, k, s
                    try:
                        next(account().ticks)
                    except StopIteration:
                        work(1)
                    try:
                        return k[0], body(inner), k, s
                    except Fault as fault:
                        raise locate(add_call(fault, code), span, env) from None
            try:
                if function.__class__ is Continuation:
                    return resume(function, only(env), k, s)
                return apply(function, (only(env),), k, s, span, env)
            except ERRORS as error:
                raise locate(error, span, env) from None

        return one

    def none(env: Any, k: Frame, s: Segment) -> Step:
        function = callee(env)
        if function.__class__ is Closure:
            code = function.code
            if code.quick and code.size == 0:
                return code.body, (function.env,), k, s
        try:
            if function.__class__ is Continuation:
                return resume(function, None, k, s)
            return apply(function, (), k, s, span, env)
        except ERRORS as error:
            raise locate(error, span, env) from None

    def many(env: Any, k: Frame, s: Segment) -> Step:
        function = callee(env)
        values = tuple([argument(env) for argument in arguments])
        if function.__class__ is Closure:
            code = function.code
            if code.quick and code.size == size:
                return code.body, (function.env,) + values, k, s
        try:
            return apply(function, values, k, s, span, env)
        except ERRORS as error:
            raise locate(error, span, env) from None

    return many if size else none


# -- Primitives of two arguments ------------------------------------------------------------------

# At least one needs a frame, as in `(+ (f x) (g x))`. The first value waits in the frame of the
# second. An argument that calls a function with one simple value, the shape of most recursion,
# saves a Python call.


def both(
    maker: Maker, node: core.CallPrimitive, primitive: Primitive, left: Piece, right: Piece
) -> Run:
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
