"""Makers of handlers, effects and branches."""

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
from sexplang.machine.errors import call_frame
from sexplang.machine.exits import ERRORS, EnterScope, Fork, Lost
from sexplang.machine.handlers import forward, perform
from sexplang.machine.positions.sites import CLAUSE, KIND, STRIPPED
from sexplang.machine.scopes.budgets import check_budget, timeout
from sexplang.machine.stack import BOTTOM, Frame, Segment, Step
from sexplang.machine.tasks.conversation import ATTEMPT, LIBRARY_ATTEMPT
from sexplang.machine.unwind import ClauseCode, FinallyKind, HandlerKind
from sexplang.terms import core
from sexplang.terms.task import is_refusal
from sexplang.terms.values.value import Fault, Value


@makes(core.PerformOp)
def _perform(maker: Maker, node: core.PerformOp, loop: LoopCode | None) -> Making:
    pieces = cap((yield from every_one(maker, node.arguments)))
    operation, span = node.operation, node.span

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            return perform(operation, found, k, s, span)
        except ERRORS as error:
            raise locate(error, span, env) from None

    return Piece(code=gather(maker, node, pieces, finish), height=height(pieces) + 1)


@makes(core.Forward)
def _forward(maker: Maker, node: core.Forward, loop: LoopCode | None) -> Making:
    pieces = cap((yield from every_one(maker, (node.continuation, *node.arguments))))
    operation, span, fails = node.operation, node.span, node.fails

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            return forward(found[0], operation, found[1:], k, s, span, fails)
        except ERRORS as error:
            raise locate(error, span, env) from None

    return Piece(code=gather(maker, node, pieces, finish), height=height(pieces) + 1)


@makes(core.Handle)
def _handle(maker: Maker, node: core.Handle, loop: LoopCode | None) -> Making:
    body = maker.run(node.body, (yield node.body, None))
    clauses: dict[str, tuple[ClauseCode, ...]] = {}
    for number, clause in enumerate(node.clauses):
        code = maker.run(clause.body, (yield clause.body, None))
        is_catch = clause.operation == "error" and clause.kind == "never"
        spares = is_refusal if is_catch and node.span.source.is_library else None
        taking = ClauseCode(code, len(clause.params), clause.kind, clause.words, spares)
        maker.enter(node, CLAUSE - number, taking)
        clauses[clause.operation] = (*clauses.get(clause.operation, ()), taking)
    returns = None
    if node.returns is not None:
        returns = maker.run(node.returns, (yield node.returns, None))
    kind = HandlerKind(clauses, returns)
    maker.enter(node, KIND, kind)
    maker.enter(node, STRIPPED, kind.stripped)

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return body, env, BOTTOM, (kind, k, s, s[3], env)

    return Piece(code=run)


@makes(core.Finally)
def _finally(maker: Maker, node: core.Finally, loop: LoopCode | None) -> Making:
    body = maker.run(node.body, (yield node.body, None))
    kind = FinallyKind(maker.run(node.cleanup, (yield node.cleanup, None)))
    maker.enter(node, KIND, kind)

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return body, env, BOTTOM, (kind, k, s, s[3], env)

    return Piece(code=run)


@makes(core.Attempt)
def _attempt(maker: Maker, node: core.Attempt, loop: LoopCode | None) -> Making:
    body = maker.run(node.body, (yield node.body, None))
    kind = LIBRARY_ATTEMPT if node.span.source.is_library else ATTEMPT

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return body, env, BOTTOM, (kind, k, s, s[3], ())

    return Piece(code=run)


def _lose(env: Any, k: Frame, s: Segment) -> Step:
    return k[0], Lost(env[-2]), k, s


LOSER = HandlerKind({"error": (ClauseCode(_lose, 1, "never", (), spares=is_refusal),)}, None)
"""The handler around each branch of a race. An error ends only that branch, unless the host refuses
it."""


def _run(starter: tuple[Any, Any], k: Frame, s: Segment) -> Step:
    code, env = starter
    return code, env, BOTTOM, (LOSER, k, s, s[3], ())


def _branches(maker: Maker, node: core.Par | core.Race) -> Any:
    pieces = yield from every_one(maker, node.branches)
    parts = zip(node.branches, pieces, strict=True)
    return [maker.run(branch, piece) for branch, piece in parts]


@makes(core.Race)
def _race(maker: Maker, node: core.Race, loop: LoopCode | None) -> Making:
    codes = yield from _branches(maker, node)
    span = node.span

    def run(env: Any, k: Frame, s: Segment) -> Step:
        starts = tuple([(_run, (code, env)) for code in codes])
        raise Fork(starts, call_frame(span, k), s, race=True)

    return Piece(code=run)


@makes(core.Timed)
def _make_timed(maker: Maker, node: core.Timed, loop: LoopCode | None) -> Making:
    seconds, body = (yield node.seconds, None), (yield node.body, None)
    return _entering(maker, node, seconds, timeout, body)


@makes(core.Budgeted)
def _make_budget(maker: Maker, node: core.Budgeted, loop: LoopCode | None) -> Making:
    limits, body = (yield node.limits, None), (yield node.body, None)
    return _entering(maker, node, limits, check_budget, body)


def _entering(
    maker: Maker, node: core.Timed | core.Budgeted, bound: Piece, check: Any, body: Piece
) -> Piece:
    run, span = maker.run(node.body, body), node.span

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            settings = check(found[0])
        except Fault as fault:
            raise locate(fault, span, env) from None
        raise EnterScope(settings, run, env, k, s, span)

    return Piece(code=gather(maker, node, cap([bound]), finish), height=height([bound]) + 1)


@makes(core.Par)
def _par(maker: Maker, node: core.Par, loop: LoopCode | None) -> Making:
    codes = yield from _branches(maker, node)

    def run(env: Any, k: Frame, s: Segment) -> Step:
        if not codes:
            return k[0], (), k, s
        raise Fork(tuple([(code, env) for code in codes]), k, s)

    return Piece(code=run)
