"""Computations: what an expression denotes in the oracle, and how constructs wrap it.

A second definition of language.md §4 and §6, without stack, frames and marks. A computation is
a value, or one or more open requests, each with a hole to plug an answer into (`plug`), and with
what is left to run if nobody ever will (`drop`). A construct of the language is a function that
wraps computations. Where the machine unwinds, this drops; where it captures, this composes.
"""

from collections.abc import Callable
from typing import Any

from attrs import evolve, frozen

from sexplang.terms.task import error_record

Computation = Any  # Pure | Used | Open


class Undecided(Exception):
    """The documents do not say: whether a cancellation interrupts a finally that runs because of
    another one."""


@frozen(eq=False)
class Pure:
    value: Any


@frozen(eq=False)
class Used:
    """A notice to whoever owns a continuation: it has been called; go on with `go()`."""

    owner: object
    go: Callable[[], Computation]


@frozen(eq=False)
class Request:
    operation: str
    arguments: tuple[Any, ...]
    plug: Callable[[Computation], Computation]
    resumable: bool = True
    skip: object = None
    """Set while a clause runs in a branch: the search goes on beyond this handle."""
    within: Callable[[Computation], Computation] | None = None
    """Set beyond a par: everything, with the asking branch replaced."""
    local: tuple[Callable[..., Computation], Callable[[], Computation]] | None = None
    """Set beyond a par: plug and drop up to the base of the asking branch."""
    cut: Callable[[], Computation] | None = None
    """Set beyond a branch that is being cancelled: everything, with what it asked given up."""

    def outward(self, wrap: Callable[[Computation], Computation], **changes: Any) -> "Request":
        plug, within, cut = self.plug, self.within, self.cut
        return evolve(
            self,
            plug=lambda c: wrap(plug(c)),
            within=within and (lambda c: wrap(within(c))),
            cut=cut and (lambda: wrap(cut())),
            **changes,
        )


@frozen(eq=False)
class Open:
    """Waits: one request, or those of the branches of a par, in the order of the branches."""

    requests: tuple[Request, ...]
    drop: Callable[[], Computation]


Wrap = Callable[[Computation], Computation]


def lift(c: Computation, on_value: Wrap, again: Wrap, dropped: Wrap) -> Computation:
    if isinstance(c, Pure):
        return on_value(c.value)
    if isinstance(c, Used):
        return Used(c.owner, lambda: again(c.go()))
    return Open(tuple(r.outward(again) for r in c.requests), lambda: dropped(c.drop()))


def bind(c: Computation, then: Callable[[Any], Computation]) -> Computation:
    """A frame: what is left of it when nobody answers is nothing."""
    return lift(c, then, lambda c: bind(c, then), lambda c: c)


def guard(c: Computation, cleanup: Callable[[], Computation]) -> Computation:
    """`finally`: on the way out by a value, and no less when dropped."""
    again = lambda c: guard(c, cleanup)  # noqa: E731
    return lift(c, lambda v: bind(cleanup(), lambda _: Pure(v)), again, again)


def own(c: Computation, owner: object, give_up: Callable[..., Computation]) -> Computation:
    """A clause that only ever calls its continuation: if it ends without, that is given up."""
    if isinstance(c, Used) and c.owner is owner:
        return c.go()
    again = lambda c: own(c, owner, give_up)  # noqa: E731
    return lift(c, lambda v: give_up(lambda _: Pure(v)), again, again)


def ask(operation: str, *arguments: Any, resumable: bool = True) -> Open:
    return Open(
        (Request(operation, arguments, lambda c: c, resumable),),
        lambda: Pure(None),
    )


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
    plug: Callable[[Computation], Computation]
    give_up: Callable[..., Computation]
    owner: object = None
    resumable: bool = True
    beyond: object = None


def handle(c: Computation, clauses: list[Clause], returns: Any) -> Computation:
    return Handler(clauses).around(c, returns)


@frozen(eq=False)
class Handler:
    """One handle expression; the same in every future of its body."""

    clauses: list[Clause]

    def around(self, c: Computation, returns: Any) -> Computation:
        """Deep: what a continuation resumes stands inside the same handler again."""
        again: Wrap = lambda c: self.around(c, returns)  # noqa: E731
        if not isinstance(c, Open):
            return lift(c, returns or Pure, again, again)
        for r in c.requests:
            clause = next((clause for clause in self.clauses if clause.takes(r)), None)
            if clause is not None and not (refuses(clause, r) and is_refusal(r)):
                return self.taken(clause, r, c, again)
            if r.operation == "abort!" and r.arguments[1] is self:
                value = Pure(r.arguments[0])
                return self.ended(r, c, again, lambda _, value=value: value)
        passing = (r.outward(again, skip=None if r.skip is self else r.skip) for r in c.requests)
        return Open(tuple(passing), lambda: self.around(c.drop(), None))

    def taken(self, clause: Clause, r: Request, c: Open, again: Wrap) -> Computation:
        if refuses(clause, r):
            return again(r.plug(refuse("resume-across-par", resumable=True)))
        if clause.kind == "never":
            return self.ended(r, c, again, lambda _: clause.run(r.arguments, None))
        owner = None if clause.kind == "kept" else object()
        if r.within and r.local:
            plug, drop = r.local
            k = Continuation(plug, drop, owner, r.resumable, beyond=self)
            run = clause.run(r.arguments, k)
            abort: Wrap = lambda v: Open(ask("abort!", v, self).requests, drop)  # noqa: E731
            return again(r.within(cross(run, owner, self, abort, drop)))
        k = Continuation(lambda c: again(r.plug(c)), self.giving_up(c), owner, r.resumable)
        run = clause.run(r.arguments, k)
        return own(run, owner, k.give_up) if owner else run

    def ended(self, r: Request, c: Open, again: Wrap, then: Wrap) -> Computation:
        """The body is dropped, and `then` follows; but what a branch does that is being
        cancelled ends nothing but itself."""
        return again(r.cut()) if r.cut else self.giving_up(c)(then)

    def giving_up(self, c: Open) -> Callable[..., Computation]:
        """What is to follow waits as the return clause of what is dropped: whoever ends the
        expression otherwise replaces it."""
        return lambda pending: self.around(c.drop(), pending)


def refuses(clause: Clause, r: Request) -> bool:
    """A clause cannot hold a branch without its siblings."""
    return r.within is not None and clause.kind in ("calls", "kept")


def is_refusal(r: Request) -> bool:
    return r.operation == "error" and r.arguments[0].fields["reason"] == "resume-across-par"


def cross(c: Computation, owner: Any, mark: object, ended: Wrap, drop: Any) -> Computation:
    """A clause that runs in the asking branch, in place of what stood there (`drop`)."""
    if isinstance(c, Used) and c.owner is owner:
        return c.go()
    again = lambda c: cross(c, owner, mark, ended, drop)  # noqa: E731
    if not isinstance(c, Open):
        return lift(c, ended, again, again)
    outward = tuple(r.outward(again, skip=r.skip or mark) for r in c.requests)
    return Open(outward, lambda: cross(c.drop(), owner, mark, lambda _: drop(), drop))


def par(branches: list[Computation], cancelled: bool = False) -> Computation:
    for at, branch in enumerate(branches):
        while isinstance(branch, Used):
            branch = branch.go()
        branches[at] = branch
    if all(isinstance(branch, Pure) for branch in branches):
        return Pure(tuple(branch.value for branch in branches))

    def outward(at: int, r: Request, drop: Callable[[], Computation]) -> Request:
        put = lambda c: par([*branches[:at], c, *branches[at + 1 :]], cancelled)  # noqa: E731
        within = r.within or (lambda c: c)
        cut = r.cut or (drop if cancelled else None)
        return evolve(r, within=within, cut=cut, local=r.local or (r.plug, drop)).outward(put)

    def drop() -> Computation:
        if cancelled:
            raise Undecided
        return par([b.drop() if isinstance(b, Open) else b for b in branches], True)

    waiting = [(at, branch) for at, branch in enumerate(branches) if isinstance(branch, Open)]
    return Open(
        tuple(outward(at, r, branch.drop) for at, branch in waiting for r in branch.requests),
        drop,
    )
