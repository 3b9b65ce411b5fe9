"""A program's text to its meaning under a schedule: a value or an error, and what was asked.

What the host does is a schedule: which open request is answered next, which deadline passes, when
the run is cancelled. Between two such events everything goes on until it waits.
"""

import sys
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen
from support.computation import Computation, Pure, Request, Scope, Used, ask, refuse
from support.oracle import Evaluator

from sexplang.reader import read
from sexplang.terms.source import Source
from sexplang.terms.task import error_record
from sexplang.terms.text import plain
from sexplang.terms.value import Fault, Record

CANCELLED = error_record("TASK_FAILURE", "cancelled", "")

Asked = tuple[str, tuple[Any, ...]]


@frozen
class Meaning:
    """What a program means. `trace` holds what was answered, or passed, in order; `waits` what
    was open before each: operations and arguments, deadlines last."""

    value: Any
    error: Record | None
    trace: list[Asked]
    waits: list[list[Asked]]


def meaning(
    program: str,
    answer: Callable[[str, tuple[Any, ...]], Any],
    choose: Callable[[list[Asked], int], int] = lambda waits, requests: 0,
    cancel_after: int | None = None,
) -> Meaning:
    """`answer` is the host: an error record is a failure, raised where the request was made.

    `choose(waits, n)` says what happens next, by its place in `waits`: n open requests in the
    order of their branches, then deadlines, shortest first. After `cancel_after` events the run
    is cancelled from outside."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        forms = read(Source("program", program))
        run = Run(answer, choose, cancel_after)
        return run.end(Evaluator().body(list(forms), {}))
    finally:
        sys.setrecursionlimit(limit)


@define
class Run:
    """One run. Its scopes and this change; computations do not."""

    answer: Callable[[str, tuple[Any, ...]], Any]
    choose: Callable[[list[Asked], int], int]
    cancel_after: int | None
    error: Record | None = None
    trace: list[Asked] = field(factory=list)
    waits: list[list[Asked]] = field(factory=list)

    def end(self, c: Computation) -> Meaning:
        while not isinstance(c, Pure):
            if isinstance(c, Used):
                c = c.go()
                continue
            moving = [r for r in c.requests if r.operation != "host!" or fired(r) is not None]
            c = self.moved(moving[0], c.drop) if moving else self.event(c)
        return Meaning(None if self.error else c.value, self.error, self.trace, self.waits)

    def moved(self, r: Request, drop: Callable[[bool], Computation]) -> Computation:
        """What need not wait for anybody outside."""
        if r.operation == "start!":
            return r.plug(Pure(None))
        if r.operation != "error":
            return asked(r)
        if r.cut:
            return r.cut()
        self.error = self.error or r.arguments[0]
        return drop(False)

    def event(self, c: Computation) -> Computation:
        """Everything waits: something happens outside."""
        deadlines = timers(c.requests)
        passing = [("timer", (scope.seconds,)) for scope in deadlines]
        self.waits.append([*(r.arguments for r in c.requests), *passing])
        if self.cancel_after == len(self.trace):
            self.cancel_after = None
            if self.error is None:
                self.error = CANCELLED
                return c.drop(False)
        chosen = self.choose(self.waits[-1], len(c.requests))
        self.trace.append(self.waits[-1][chosen])
        if chosen >= len(c.requests):
            deadlines[chosen - len(c.requests)].fired = True
            return c
        reply = self.answer(*c.requests[chosen].arguments)
        replied = ask("error", reply) if isinstance(reply, Record) else Pure(reply)
        return c.requests[chosen].plug(replied)


def timers(requests: tuple[Request, ...]) -> list[Scope]:
    """The deadlines that something waits under, shortest first."""
    scopes = [scope for r in requests for scope in reversed(r.under) if scope.seconds is not None]
    return sorted(dict.fromkeys(scopes), key=lambda scope: scope.seconds)


def fired(r: Request) -> Scope | None:
    return next((scope for scope in reversed(r.under) if scope.fired), None)


def asked(r: Request) -> Computation:
    """A request that nobody in the program took: it waits for the host, unless a scope breaks.
    Nils at the end of its arguments were left out."""
    try:
        arguments = tuple(plain(argument) for argument in r.arguments)
    except Fault:
        return r.plug(refuse("not-data"))
    while arguments and arguments[-1] is None:
        arguments = arguments[:-1]
    late = fired(r)
    if late is not None:
        return broken(r, late, "seconds")
    if r.operation == "model":
        budgets = [scope for scope in reversed(r.under) if scope.calls is not None]
        spent = next((scope for scope in budgets if scope.is_spent), None)
        if spent is not None:
            return broken(r, spent, "calls")
        for scope in budgets:
            scope.spent += 1
    return r.plug(ask("host!", r.operation, arguments))


def broken(r: Request, scope: Scope, resource: str) -> Computation:
    """At the form, if that is on the way outward, else at the request."""
    error = scope.error(resource)
    at_form = r.breaks.get(scope)
    return at_form(error) if at_form else r.plug(ask("error", error, resumable=False))
