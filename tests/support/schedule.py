"""A program's text to its meaning under a schedule: a value or an error, and what was asked.

What the host does is a schedule: which open request is answered next, which deadline passes, when
the run is cancelled. Between two such events everything goes on until it waits.
"""

import sys
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen
from support.computation import (
    Computation,
    Job,
    Left,
    Pure,
    Request,
    Scope,
    Used,
    added,
    ask,
    asked_for,
    refuse,
    under_way,
)
from support.oracle import Evaluator

from sexplang.reader import read
from sexplang.terms.source import Source
from sexplang.terms.task import error_record
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Record

CANCELLED = error_record("TASK_FAILURE", "cancelled", "")

Asked = tuple[str, tuple[Any, ...]]
Jobs = tuple[Job, ...]
"""A job behind those that it is a part of."""


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
    places: int = 3,
    tells: bool = False,
) -> Meaning:
    """`answer` is the host: an error record is a failure, raised where the request was made.

    `choose(waits, n)` says what happens next, by its place in `waits`: n open requests in the
    order of their branches, then deadlines, shortest first. After `cancel_after` events the run
    is cancelled from outside. Of jobs, so many `places` are done at a time. If it `tells`, the last
    argument of each request names the conversations that it is for."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        forms = read(Source("program", program))
        run = Run(answer, choose, cancel_after, Places(places), tells)
        return run.end(Evaluator().body(list(forms), {}))
    finally:
        sys.setrecursionlimit(limit)


@define
class Run:
    """One run. Its scopes and this change; computations do not."""

    answer: Callable[[str, tuple[Any, ...]], Any]
    choose: Callable[[list[Asked], int], int]
    cancel_after: int | None
    places: "Places"
    tells: bool = False
    """Whether the host sees for whom a request is made."""
    error: Record | None = None
    trace: list[Asked] = field(factory=list)
    waits: list[list[Asked]] = field(factory=list)
    unmade: dict[object, list[Scope]] = field(factory=dict)
    """Model calls that the host has not seen yet, and the budgets that they are charged to."""

    def end(self, c: Computation) -> Meaning:
        while not isinstance(c, Pure):
            if isinstance(c, Used):
                c = c.go()
                continue
            self.take_back(c)
            moving = [r for r in c.requests if self.moves(r)]
            if moving:
                c = self.moved(moving[0], c.drop)
            elif not self.places.admit(c.requests):
                c = self.event(c)
        if self.error is not None and isinstance(c.value, Left):
            self.error = added(self.error, c.value)
        return Meaning(None if self.error else c.value, self.error, self.trace, self.waits)

    def take_back(self, c: Computation) -> None:
        """A call that is given up before the host has seen it was never made."""
        if not self.unmade:
            return
        there = under_way(c)
        for call in [each for each in self.unmade if each not in there]:
            for scope in self.unmade.pop(call):
                scope.spent -= 1

    def moves(self, r: Request) -> bool:
        """Whether it waits for nobody: not outside, and not for a place."""
        if r.operation == "queue!" and r.arguments[0] in self.places.going:
            return True
        return r.operation not in ("host!", "queue!") or fired(r) is not None

    def moved(self, r: Request, drop: Callable[[bool], Computation]) -> Computation:
        if r.operation == "start!":
            return r.plug(Pure(None))
        if r.operation != "error":
            return self.asked(r)
        if r.cut:
            return r.cut()
        self.error = self.error or r.arguments[0]
        return drop(False)

    def event(self, c: Computation) -> Computation:
        """Everything waits: something happens outside."""
        deadlines = timers(c.requests)
        asking = [r for r in c.requests if r.operation == "host!"]
        passing = [("timer", (scope.seconds,)) for scope in deadlines]
        self.unmade.clear()
        self.waits.append([*(r.arguments[1:] for r in asking), *passing])
        if self.cancel_after == len(self.trace):
            self.cancel_after = None
            if self.error is None:
                self.error = CANCELLED
                return c.drop(False)
        chosen = self.choose(self.waits[-1], len(asking))
        self.trace.append(self.waits[-1][chosen])
        if chosen >= len(asking):
            deadlines[chosen - len(asking)].fired = True
            return c
        reply = self.answer(*asking[chosen].arguments[1:])
        r = asking[chosen]
        failed = isinstance(reply, Record)
        return r.plug(ask("error", reply, whom=r.whom) if failed else Pure(reply))

    def asked(self, r: Request) -> Computation:
        """A request that nobody in the program took: it waits for a place, if its job has none, and
        for the host, unless a scope breaks. Nils at the end of its arguments were left out."""
        late = fired(r)
        if r.operation in ("host!", "queue!"):
            operation, arguments = r.arguments[-2:]
        else:
            operation = r.operation
            try:
                arguments = tuple(plain(argument) for argument in r.arguments)
            except Fault:
                return r.plug(asked_for(refuse("not-data"), r.whom))
            while arguments and arguments[-1] is None:
                arguments = arguments[:-1]
            if r.jobs and not self.places.admits(r.jobs):
                if late is not None:
                    return broken(r, late, "seconds")
                self.places.queue(r.jobs)
                return r.plug(ask("queue!", object(), operation, arguments))
            if operation == "place!":
                return r.plug(Pure(None))
        if late is not None:
            return broken(r, late, "seconds")
        if operation == "place!":
            return r.plug(Pure(None))
        call = object()
        if operation == "model":
            scopes = [*reversed(r.under), *r.exempt]
            budgets = [scope for scope in scopes if scope.calls is not None]
            spent = next((scope for scope in budgets if scope.is_spent), None)
            if spent is not None and spent in {*r.exempt, *r.around}:
                return r.plug(ask("error", spent.error("calls"), resumable=False, whom=r.whom))
            if spent is not None:
                return broken(r, spent, "calls")
            for scope in budgets:
                scope.spent += 1
            self.unmade[call] = budgets
        if self.tells and r.operation != "host!":
            arguments = (*arguments, tuple(name for name, _ in r.whom))
        return r.plug(ask("host!", call, operation, arguments, whom=r.whom))


@define
class Places:
    """Who has a place: the leaves of the tree of jobs that are there."""

    most: int
    there: dict[Jobs, None] = field(factory=dict)
    line: list[tuple[Jobs, Jobs]] = field(factory=list)
    """Who waits, and the nearest job around it that was there when it came."""
    going: set[object] = field(factory=set)

    def is_leaf(self, jobs: Jobs) -> bool:
        return not any(jobs == other[: len(jobs)] != other for other in self.there)

    def around(self, jobs: Jobs) -> Jobs:
        return next((jobs[:n] for n in range(len(jobs) - 1, 0, -1) if jobs[:n] in self.there), ())

    def admits(self, jobs: Jobs) -> bool:
        held = self.around(jobs)
        is_more = not (held and self.is_leaf(held))
        if jobs not in self.there and is_more and sum(map(self.is_leaf, self.there)) >= self.most:
            return False
        self.there |= {jobs[:n]: None for n in range(1, len(jobs) + 1)}
        return True

    def queue(self, jobs: Jobs) -> None:
        if all(jobs != other for other, _ in self.line):
            self.line.append((jobs, self.around(jobs)))

    def admit(self, requests: tuple[Request, ...]) -> bool:
        """Nobody moves: places are free where nobody works, and who came first has them."""
        queued = [r for r in requests if r.operation == "queue!"]
        self.line = [each for each in self.line if any(r.jobs == each[0] for r in queued)]
        going: set[object] = set()

        def let(jobs: Jobs) -> None:
            self.line = [each for each in self.line if each[0] != jobs]
            going.update(r.arguments[0] for r in queued if r.jobs == jobs)
            assert self.admits(jobs)

        for jobs in sorted(self.there, key=len, reverse=True):
            if not self.is_leaf(jobs):
                continue
            children = [child for child, held in self.line if held == jobs]
            if children:
                let(children[0])
            elif all(r.jobs != jobs for r in requests if r.operation == "host!"):
                del self.there[jobs]
        while self.line and sum(map(self.is_leaf, self.there)) < self.most:
            let(self.line[0][0])
        self.going = going
        return bool(going)


def timers(requests: tuple[Request, ...]) -> list[Scope]:
    """The deadlines that something waits under, shortest first."""
    scopes = [scope for r in requests for scope in reversed(r.under) if scope.seconds is not None]
    return sorted(dict.fromkeys(scopes), key=lambda scope: scope.seconds)


def fired(r: Request) -> Scope | None:
    return next((scope for scope in reversed(r.under) if scope.fired), None)


def broken(r: Request, scope: Scope, resource: str) -> Computation:
    """At the form, if that is on the way outward, else at the request."""
    error = scope.error(resource)
    at_form = r.breaks.get(scope)
    if at_form:
        return at_form(error)
    return r.plug(ask("error", error, resumable=False, whom=r.whom))
