"""Makers of what handlers and branches are made of."""

from typing import Any

from sexplang.machine.budgets import allowed, timeout
from sexplang.machine.converse import ATTEMPT, LIBRARY_ATTEMPT
from sexplang.machine.exits import Entered, Forked, Lost
from sexplang.machine.finding import calling
from sexplang.machine.gather import gather
from sexplang.machine.generate import (
    LoopCode,
    Maker,
    Making,
    Piece,
    capped,
    every_one,
    height,
    makes,
)
from sexplang.machine.handlers import forward, perform
from sexplang.machine.simple import at
from sexplang.machine.stack import BOTTOM, Frame, Segment, Step
from sexplang.machine.unwinding import ClauseCode, FinallyKind, HandlerKind
from sexplang.terms import core
from sexplang.terms.task import is_refusal
from sexplang.terms.value import Fault, Value


@makes(core.PerformOp)
def _perform(maker: Maker, node: core.PerformOp, loop: LoopCode | None) -> Making:
    pieces = capped((yield from every_one(maker, node.arguments)))
    operation, span = node.operation, node.span

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            return perform(operation, found, k, s, span)
        except Fault as fault:
            raise at(fault, span) from None

    return Piece(code=gather(pieces, finish), height=height(pieces) + 1)


@makes(core.Forward)
def _forward(maker: Maker, node: core.Forward, loop: LoopCode | None) -> Making:
    pieces = capped((yield from every_one(maker, (node.continuation, *node.arguments))))
    operation, span = node.operation, node.span

    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            return forward(found[0], operation, found[1:], k, s, span)
        except Fault as fault:
            raise at(fault, span) from None

    return Piece(code=gather(pieces, finish), height=height(pieces) + 1)


@makes(core.Handle)
def _handle(maker: Maker, node: core.Handle, loop: LoopCode | None) -> Making:
    body = (yield node.body, None).run
    clauses: dict[str, tuple[ClauseCode, ...]] = {}
    for clause in node.clauses:
        code = (yield clause.body, None).run
        is_catch = clause.operation == "error" and clause.kind == "never"
        spares = is_refusal if is_catch and node.span.source.is_library else None
        taking = ClauseCode(code, len(clause.params), clause.kind, clause.words, spares)
        clauses[clause.operation] = (*clauses.get(clause.operation, ()), taking)
    returns = None if node.returns is None else (yield node.returns, None).run
    kind = HandlerKind(clauses, returns)

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return body, env, BOTTOM, (kind, k, s, s[3], env)

    return Piece(code=run)


@makes(core.Finally)
def _finally(maker: Maker, node: core.Finally, loop: LoopCode | None) -> Making:
    body, cleanup = (yield node.body, None).run, (yield node.cleanup, None).run
    kind = FinallyKind(cleanup)

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return body, env, BOTTOM, (kind, k, s, s[3], env)

    return Piece(code=run)


@makes(core.Attempt)
def _attempt(maker: Maker, node: core.Attempt, loop: LoopCode | None) -> Making:
    body = (yield node.body, None).run
    kind = LIBRARY_ATTEMPT if node.span.source.is_library else ATTEMPT

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return body, env, BOTTOM, (kind, k, s, s[3], ())

    return Piece(code=run)


def _lose(env: Any, k: Frame, s: Segment) -> Step:
    return k[0], Lost(env[-2]), k, s


LOSER = HandlerKind({"error": (ClauseCode(_lose, 1, "never", (), spares=is_refusal),)}, None)
"""Around each branch of a race: an error ends only that branch, unless the host refuses it."""


def _run(starter: tuple[Any, Any], k: Frame, s: Segment) -> Step:
    code, env = starter
    return code, env, BOTTOM, (LOSER, k, s, s[3], ())


@makes(core.Race)
def _race(maker: Maker, node: core.Race, loop: LoopCode | None) -> Making:
    codes = [piece.run for piece in (yield from every_one(maker, node.branches))]
    span = node.span

    def run(env: Any, k: Frame, s: Segment) -> Step:
        starts = tuple([(_run, (code, env)) for code in codes])
        raise Forked(starts, calling(span, k), s, race=True)

    return Piece(code=run)


@makes(core.Timed)
def _timed(maker: Maker, node: core.Timed, loop: LoopCode | None) -> Making:
    seconds, body = (yield node.seconds, None), (yield node.body, None).run
    return _entering(node.span, seconds, timeout, body)


@makes(core.Budgeted)
def _budgeted(maker: Maker, node: core.Budgeted, loop: LoopCode | None) -> Making:
    limits, body = (yield node.limits, None), (yield node.body, None).run
    return _entering(node.span, limits, allowed, body)


def _entering(span: Any, bound: Piece, check: Any, body: Any) -> Piece:
    def finish(found: tuple[Value, ...], env: Any, k: Frame, s: Segment) -> Step:
        try:
            settings = check(found[0])
        except Fault as fault:
            raise at(fault, span) from None
        raise Entered(settings, body, env, k, s, span)

    return Piece(code=gather(capped([bound]), finish), height=height([bound]) + 1)


@makes(core.Par)
def _par(maker: Maker, node: core.Par, loop: LoopCode | None) -> Making:
    codes = [piece.run for piece in (yield from every_one(maker, node.branches))]

    def run(env: Any, k: Frame, s: Segment) -> Step:
        if not codes:
            return k[0], (), k, s
        raise Forked(tuple([(code, env) for code in codes]), k, s)

    return Piece(code=run)
