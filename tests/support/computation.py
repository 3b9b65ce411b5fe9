"""Computations: what an expression denotes in the oracle, and how constructs wrap it.

A second definition of language.md §4 and §6, without stack, frames and marks. A computation is
a value, or one or more open requests, each with a hole to plug an answer into (`plug`), and with
what is left to run if nobody ever will (`drop`). A construct of the language is a function that
wraps computations. Where the machine unwinds, this drops; where it captures, this composes; what
the machine keeps as a context, requests gather on their way outward.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from attrs import define, evolve, field, frozen

from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record

Computation = Any  # Pure | Used | Open
GRACE = 5


@define(eq=False)
class Scope:
    """A deadline or a budget, by its entry: whoever comes back to it meets the same one."""

    seconds: float | None = None
    calls: int | None = None
    spent: int = 0
    fired: bool = False
    whom: tuple[Any, ...] = ()
    """The conversations that its form stands in."""

    @property
    def is_spent(self) -> bool:
        return self.calls is not None and self.spent >= self.calls

    def error(self, resource: str) -> Record:
        metrics = {"limit": getattr(self, resource)}
        return error_record("RESOURCE_EXHAUSTION", resource, "", details={"metrics": metrics})


@frozen(eq=False)
class Job:
    """What `with-permit` does, by its entry. They are numbered as they begin."""

    number: int = field(factory=count().__next__)


@frozen(eq=False)
class Pure:
    value: Any


@frozen(eq=False)
class Left:
    """What a computation ends with that was dropped: the refusals of money that have ended
    `finally` bodies meanwhile."""

    refusals: tuple[Record, ...] = ()


def added(error: Record, left: Any) -> Record:
    """The error that is cleaned up for, with those refusals and what they tell of."""
    if not (isinstance(left, Left) and left.refusals):
        return error
    flat = [each for one in left.refusals for each in (plainly(one), *suppressed_in(one))]
    details = {**error.fields["details"], "suppressed": (*suppressed_in(error), *flat)}
    return Record("error", {**error.fields, "details": details})


def plainly(error: Record) -> Record:
    """The error without what it tells of."""
    details = {k: v for k, v in error.fields["details"].items() if k != "suppressed"}
    return Record("error", {**error.fields, "details": details})


def suppressed_in(error: Record) -> tuple[Record, ...]:
    found: tuple[Record, ...] = error.fields["details"].get("suppressed", ())
    return found


def settled(value: Any, left: Any) -> Computation:
    """A value that was to follow when all has been left: it is no value if money was refused."""
    if not (isinstance(left, Left) and left.refusals):
        return Pure(value)
    if isinstance(value, Left):
        return Pure(Left((*value.refusals, *left.refusals)))
    return ask("error", added(left.refusals[0], Left(left.refusals[1:])), resumable=False)


@frozen(eq=False)
class Used:
    """A notice to whoever owns a continuation: it has been called; go on with `go()`."""

    owner: object
    go: Callable[[], Computation]
    last: bool = True
    """The call is the last thing that the clauses around do, so far outward."""


@frozen(eq=False, slots=False)
class Request:
    operation: str
    arguments: tuple[Any, ...]
    plug: Callable[[Computation], Computation]
    resumable: bool = True
    under: tuple[Scope, ...] = ()
    """The scopes that it was made for, innermost first."""
    exempt: tuple[Scope, ...] = ()
    """Scopes that broke, and for which it cleans up, outermost first: they bound what it costs."""
    cleans: bool = False
    """Set beyond the body of a `finally`."""
    around: frozenset[Scope] = frozenset()
    """The scopes whose forms stand around a `finally` that it is made in."""
    breaks: dict[Scope, Callable[[Record], Computation]] = field(factory=dict)
    """By scope, where its form is on the way: everything, with the form left and failing."""
    jobs: tuple[Job, ...] = ()
    """The jobs that it is a part of, outermost first."""
    free: bool = False
    """Set beyond what cleans up: that is part of no job around it."""
    forks: frozenset[object] = frozenset()
    """Those whose branches it comes from."""
    skip: object = None
    """Set while the search goes on beyond this handle."""
    away: bool = False
    """Set while a clause runs in a branch: what is within `skip` is not on its stack."""
    within: Callable[[Computation], Computation] | None = None
    """Set beyond a par: everything, with the asking branch replaced."""
    local: "tuple[Request, Drop] | None" = None
    """Set beyond a par: the request at the base of the asking branch, and that branch's drop."""
    whom: tuple[Any, ...] = ()
    """The conversations that it is made for, outermost first."""
    cut: Callable[[], Computation] | None = None
    """Set beyond a branch that is being cancelled: everything, with what it asked given up."""

    def but(self, **changes: Any) -> "Request":
        """`evolve`, which a law does a hundred thousand times: its attributes are a dict."""
        other = object.__new__(Request)
        other.__dict__.update(self.__dict__, **changes)
        return other

    def outward(self, wrap: Callable[[Computation], Computation]) -> "Request":
        plug, within, cut = self.plug, self.within, self.cut
        return self.but(
            plug=lambda c: wrap(plug(c)),
            breaks={s: (lambda e, b=b: wrap(b(e))) for s, b in self.breaks.items()},
            within=within and (lambda c: wrap(within(c))),
            cut=cut and (lambda: wrap(cut())),
        )

    def beneath(self, scopes: tuple[Scope, ...], exempt: tuple[Scope, ...]) -> "Request":
        """The request for these scopes too, which stand further out than its own."""
        under = [*(s for s in self.under if s not in scopes), *scopes]
        exempt = (*exempt, *(s for s in self.exempt if s not in exempt))
        return self.but(under=tuple(s for s in under if s not in exempt), exempt=exempt)

    def part_of(self, jobs: tuple[Job, ...], free: bool = False) -> "Request":
        """The request as a part of these jobs too, which stand further out than its own."""
        if self.free:
            return self
        inner = tuple(job for job in self.jobs if job not in jobs)
        return self.but(jobs=(*jobs, *inner), free=free)


@frozen(eq=False)
class Open:
    """Waits: one request, or those of the branches of a par, in the order of the branches."""

    requests: tuple[Request, ...]
    drop: "Drop"


Wrap = Callable[[Computation], Computation]
Drop = Callable[[bool], Computation]
"""What is left to run. What is being cancelled already goes on with that, unless the drop is
hard: a scope around it broke."""


def lift(
    c: Computation,
    on_value: Wrap,
    again: Wrap,
    dropped: Wrap,
    passing: Callable[[Request], Request] = lambda r: r,
    last: bool = False,
) -> Computation:
    if isinstance(c, Pure):
        return on_value(c.value)
    if isinstance(c, Used):
        return Used(c.owner, lambda: again(c.go()), last and c.last)
    requests = tuple(passing(r.outward(again)) for r in c.requests)
    return Open(requests, lambda hard: dropped(c.drop(hard)))


def bind(c: Computation, then: Callable[[Any], Computation], last: bool = False) -> Computation:
    """A frame: what is left of it when nobody answers is nothing."""
    return lift(c, then, lambda c: bind(c, then, last), lambda c: c, last=last)


def guard(c: Computation, cleanup: Callable[[], Computation]) -> Computation:
    """`finally`: on the way out by a value, and no less when dropped: then a refusal of money
    ends it alone."""
    again = lambda c: guard(c, cleanup)  # noqa: E731

    def left(v: Any) -> Computation:
        body = tidying(cleanup())
        if not isinstance(v, Left):
            return bind(body, lambda _: Pure(v))
        return unwinding(body, v)

    def dropped(c: Computation) -> Computation:
        return again(bind(c, lambda v: Pure(v if isinstance(v, Left) else Left())))

    return lift(c, left, again, dropped)


def unwinding(c: Computation, met: Left) -> Computation:
    """The body of a `finally` where its `try` is left for something else."""
    again = lambda c: unwinding(c, met)  # noqa: E731
    for r in c.requests if isinstance(c, Open) else ():
        if r.skip is None and is_refusal_of_money(r):
            refused = Left((*met.refusals, r.arguments[0]))
            return again(r.cut()) if r.cut else unwinding(c.drop(False), refused)
    ended = lambda v: Pure(met) if not isinstance(v, Left) else settled(met, v)  # noqa: E731
    return lift(c, ended, again, again)


def tidying(c: Computation) -> Computation:
    """The body of a `finally`."""
    return lift(c, Pure, tidying, tidying, lambda r: r if r.away else r.but(cleans=True))


def own(c: Computation, owner: object, give_up: Callable[..., Computation]) -> Computation:
    """A clause that only ever calls its continuation: if it ends without, that is given up."""
    if isinstance(c, Used) and c.owner is owner:
        return evolve(c, owner=None)
    again = lambda c: own(c, owner, give_up)  # noqa: E731
    return lift(c, lambda v: give_up(lambda met: settled(v, met)), again, again, last=True)


def on_behalf(c: Computation, performer: Request) -> Computation:
    """A clause works for what its performer works for, until a call that is its last leaves it."""
    if isinstance(c, Used) and c.last:
        return c
    again = lambda c: on_behalf(c, performer)  # noqa: E731

    def passing(r: Request) -> Request:
        r = r.part_of(performer.jobs, performer.free)
        return r.beneath(performer.under, performer.exempt)

    return lift(c, Pure, again, again, passing)


def scoped(c: Computation, scope: Scope) -> Computation:
    """`with-timeout`, `with-budget`: where the scope breaks, its form is left and fails."""

    def broken(error: Record) -> Computation:
        left = cleaned(c, True, scope)
        fail = lambda met: ask("error", added(error, met), resumable=False, whom=scope.whom)  # noqa: E731
        return bind(left, fail)

    def passing(r: Request) -> Request:
        r = r.beneath((scope,), ())
        if r.away:
            return r
        around = r.around | {scope} if r.cleans else r.around
        return r.but(breaks={scope: broken, **r.breaks}, around=around)

    again = lambda c: scoped(c, scope)  # noqa: E731
    return lift(c, Pure, again, again, passing)


def with_permit(c: Computation, job: Job) -> Computation:
    """`with-permit`: what waits in it needs a permit."""
    again = lambda c: with_permit(c, job)  # noqa: E731
    return lift(c, Pure, again, again, lambda r: r.part_of((job,)))


def cleaned(c: Open, hard: bool, *broke: Scope) -> Computation:
    """What is left to run of `c` where others have gone on: not for the scope that broke, and
    within a time of grace. The branches that it has already have one each."""
    forks = frozenset(fork for r in c.requests for fork in r.forks)
    return cleaning(leaving(c, hard), Scope(GRACE), broke, forks, Job())


def leaving(c: Open, hard: bool) -> Open:
    """It begins to clean up when what is before it waits. What it is waiting for in that already is
    under way meanwhile."""
    stays = under_way(c.drop(hard)) if under_way(c) else frozenset()
    return later(lambda: c.drop(hard), lambda harder: leaving(c, hard or harder), stays)


def under_way(c: Computation) -> frozenset[object]:
    """What the host is asked for, also by branches that have not gone on yet."""
    while isinstance(c, Used):
        c = c.go()
    found: set[object] = set()
    for r in c.requests if isinstance(c, Open) else ():
        found.update(r.arguments[:1] if r.operation == "host!" else ())
        found.update(r.arguments[0] if r.operation == "start!" else ())
    return frozenset(found)


def cleaning(
    c: Computation,
    grace: Scope,
    broke: tuple[Scope, ...],
    forks: frozenset[object],
    before: Job,
) -> Computation:
    """What is done so is part only of the jobs that began after `before`."""

    def passing(r: Request) -> Request:
        own = tuple(job for job in r.jobs if job.number > before.number)
        r = r.but(jobs=own, free=True)
        return r.beneath((grace,) if r.forks.isdisjoint(forks) else (), broke)

    again = lambda c: cleaning(c, grace, broke, forks, before)  # noqa: E731
    return lift(c, Pure, again, again, passing)


def ask(
    operation: str, *arguments: Any, resumable: bool = True, whom: tuple[Any, ...] = ()
) -> Open:
    request = Request(operation, arguments, lambda c: c, resumable, whom=whom)
    return Open((request,), lambda hard: Pure(Left()))


def asked_for(c: Computation, whom: tuple[Any, ...]) -> Computation:
    """What was just asked, for these conversations."""
    return evolve(c, requests=tuple(r.but(whom=whom) for r in c.requests))


def later(
    begin: Callable[[], Computation],
    drop: Drop = lambda hard: Pure(Left()),
    under_way: frozenset[object] = frozenset(),
) -> Open:
    """A branch that has not begun: it begins when those before it wait."""
    return Open((Request("start!", (under_way,), lambda _: begin()),), drop)


def refuse(reason: str, resumable: bool = False) -> Open:
    """An error of the interpreter: to be caught; to be resumed only at a perform."""
    return ask("error", error_record("PROGRAM_ERROR", reason, ""), resumable=resumable)


@frozen(eq=False)
class Clause:
    operation: str
    kind: str
    run: Callable[[tuple[Any, ...], Any], Computation]
    words: tuple[str, ...] = ()

    def takes(self, request: Request) -> bool:
        if request.skip is not None or request.operation != self.operation:
            return False
        fields = request.arguments[0].fields if self.words else {}
        return not self.words or fields["type"] in self.words or fields["reason"] in self.words


@frozen(eq=False)
class Continuation:
    request: Request
    """The one that it answers, as it stands at the handle expression."""
    give_up: Callable[..., Computation]
    owner: object = None
    beyond: object = None

    def call(self, go: Callable[[], Computation]) -> Used:
        return Used(self.owner, go)


def handle(c: Computation, clauses: list[Clause], returns: Any) -> Computation:
    return Handler(clauses).around(c, returns)


@frozen(eq=False)
class Handler:
    """One handle expression; the same in every future of its body."""

    clauses: list[Clause]

    def around(self, c: Computation, returns: Any) -> Computation:
        """Deep: what a continuation resumes stands inside the same handler again."""
        again: Wrap = lambda c: self.around(c, returns)  # noqa: E731
        for r in c.requests if isinstance(c, Open) else ():
            clause = next((clause for clause in self.clauses if clause.takes(r)), None)
            if clause is not None and not (refuses(clause, r) and is_refusal(r)):
                return self.taken(clause, r, c, again)
            if r.operation == "abort!" and r.arguments[1] is self:
                value = r.arguments[0]
                return self.ended(r, c, again, lambda met, value=value: settled(value, met))
        dropped: Wrap = lambda c: self.around(c, None)  # noqa: E731
        return lift(c, returns or Pure, again, dropped, self.passing)

    def passing(self, r: Request) -> Request:
        return r.but(skip=None, away=False) if r.skip is self else r

    def taken(self, clause: Clause, r: Request, c: Open, again: Wrap) -> Computation:
        if refuses(clause, r):
            refused = asked_for(refuse("resume-across-par", resumable=True), r.whom)
            return again(r.plug(refused))
        if clause.kind == "never":
            return self.ended(r, c, again, lambda met: self.follow(clause, r, met))
        owner = None if clause.kind == "kept" else object()
        if r.within and r.local:
            asked, drop = r.local
            k = Continuation(asked, lambda _, hard=False: drop(hard), owner, self)
            run = on_behalf(clause.run(r.arguments, k), r)
            abort: Wrap = lambda v: Open(ask("abort!", v, self).requests, drop)  # noqa: E731
            return again(r.within(cross(run, owner, self, abort, drop)))
        k = Continuation(r.outward(again), self.giving_up(c), owner)
        run = on_behalf(clause.run(r.arguments, k), r)
        return own(run, owner, k.give_up) if owner else run

    def follow(self, clause: Clause, r: Request, met: Any) -> Computation:
        """The clause, when all has been left."""
        if r.operation == "error":
            return clause.run((added(r.arguments[0], met),), None)
        if isinstance(met, Left) and met.refusals:
            return settled(None, met)
        return clause.run(r.arguments, None)

    def ended(self, r: Request, c: Open, again: Wrap, then: Wrap) -> Computation:
        """The body is dropped, and `then` follows; but what a branch does that is being
        cancelled ends nothing but itself."""
        return again(r.cut()) if r.cut else self.giving_up(c)(then)

    def giving_up(self, c: Open) -> Callable[..., Computation]:
        """What is to follow waits as the return clause of what is dropped: whoever ends the
        expression otherwise replaces it."""
        return lambda pending, hard=False: self.around(c.drop(hard), pending)


def refuses(clause: Clause, r: Request) -> bool:
    """A clause cannot hold a branch without its siblings."""
    return r.within is not None and clause.kind in ("calls", "kept")


def is_refusal_of_money(r: Request) -> bool:
    fields = r.arguments[0].fields if r.operation == "error" else {"type": None}
    return fields["type"] == "RESOURCE_EXHAUSTION" and fields["reason"] == "calls"


def is_refusal(r: Request) -> bool:
    return r.operation == "error" and r.arguments[0].fields["reason"] == "resume-across-par"


def cross(c: Computation, owner: Any, mark: object, ended: Wrap, drop: Drop) -> Computation:
    """A clause that runs in the asking branch, in place of what stood there (`drop`)."""
    if isinstance(c, Used) and c.owner is owner:
        return c.go()
    again = lambda c: cross(c, owner, mark, ended, drop)  # noqa: E731
    aside = lambda r: r if r.skip else r.but(skip=mark, away=True)  # noqa: E731
    crossed = lift(c, ended, again, again, aside)
    if not isinstance(c, Open):
        return crossed
    further = lambda hard, met: bind(drop(hard), lambda more: settled(met, more))  # noqa: E731
    left = lambda hard: cross(c.drop(hard), owner, mark, partial(further, hard), drop)  # noqa: E731
    return Open(crossed.requests, left)


@frozen(eq=False)
class Lost:
    """What a branch of a race ends with that failed."""

    error: Record


LOSES = Clause("error", "never", lambda values, _: Pure(Lost(values[0])))


def race(branches: list[Computation], whom: tuple[Any, ...] = ()) -> Computation:
    """Each branch stands under a boundary of its own that takes every error."""
    held = [handle(branch, [LOSES], None) for branch in branches]
    return Fork(len(branches), True, whom).of(held)


@frozen(eq=False)
class Fork:
    """A par, or a race; at most `limit` of its branches are under way."""

    limit: int
    race: bool = False
    whom: tuple[Any, ...] = ()

    def of(self, branches: list[Computation], cancelled: bool = False) -> Computation:
        for at, branch in enumerate(branches):
            while isinstance(branch, Used):
                branch = branch.go()
            branches[at] = branch
        values = tuple(branch.value for branch in branches if isinstance(branch, Pure))
        won = [value for value in values if not isinstance(value, Lost)]
        if self.race and won and not cancelled:
            return bind(self.cancel(branches, False), lambda _: Pure(won[0]))
        if len(values) == len(branches):
            met = [each.refusals for each in values if isinstance(each, Left)]
            return Pure(Left(sum(met, ()))) if cancelled else self.joined(values)

        def outward(at: int, r: Request, branch: Open) -> Request:
            put = lambda c: self.of([*branches[:at], c, *branches[at + 1 :]], cancelled)  # noqa: E731
            within = r.within or (lambda c: c)
            cut = r.cut or ((lambda: branch.drop(False)) if cancelled else None)
            local, forks = r.local or (r, branch.drop), r.forks | {self}
            return r.but(within=within, cut=cut, local=local, forks=forks).outward(put)

        def drop(hard: bool) -> Computation:
            if not cancelled:
                return self.cancel(branches, hard)
            left = [leaving(b, True) if hard and b in waiting else b for b in branches]
            return self.of(left, True)

        waiting = [branch for branch in branches if isinstance(branch, Open)]
        begun = [(at, b) for at, b in enumerate(branches) if b in waiting[: self.limit]]
        return Open(tuple(outward(at, r, b) for at, b in begun for r in b.requests), drop)

    def cancel(self, branches: list[Computation], hard: bool) -> Computation:
        return self.of([cleaned(b, hard) if isinstance(b, Open) else b for b in branches], True)

    def joined(self, values: tuple[Any, ...]) -> Computation:
        if not self.race:
            return Pure(values)
        errors = {"errors": tuple(lost.error for lost in values)}
        failed = error_record("TASK_FAILURE", "all-failed", "", details=errors)
        return ask("error", failed, resumable=False, whom=self.whom)
