"""Unwinding: capturing continuations, leaving them, running finalizers."""

from collections.abc import Callable, Sequence
from typing import Any

from sexplang.machine.exits import LeaveScope
from sexplang.machine.scopes.suppression import NOTHING, Unwinding, is_other, suppress
from sexplang.machine.stack import (
    BOTTOM,
    Continuation,
    Ctx,
    Frame,
    Kind,
    Segment,
    Step,
    give,
)
from sexplang.terms.quota import charge, work
from sexplang.terms.values.value import Fault, Record, Value


class ClauseCode:
    """A clause as code. Its body's environment is the handler's, the parameters, k.

    It takes no error that it `spares`.
    """

    __slots__ = ("body", "count", "kind", "selects", "spares", "words")

    def __init__(
        self,
        body: Any,
        count: int,
        kind: str,
        words: tuple[str, ...],
        spares: Callable[[Value], bool] | None = None,
    ) -> None:
        self.body = body
        self.count = count
        self.kind = kind
        self.words = words
        self.spares = spares
        self.selects = spares is not None or bool(words)

    def takes(self, arguments: tuple[Value, ...]) -> bool:
        error = arguments[0]
        if self.spares is not None and self.spares(error):
            return False
        if not self.words:
            return True
        fields = error.fields if isinstance(error, Record) else {}
        return fields.get("type") in self.words or fields.get("reason") in self.words

    def bind(self, operation: str, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        """The parameters' values: what was left out is nil."""
        count = self.count
        if len(arguments) == count:
            return arguments
        if len(arguments) < count:
            return arguments + (None,) * (count - len(arguments))
        if operation != "error" and any(value is not None for value in arguments[count:]):
            raise Fault(
                "wrong-arity",
                f"`{operation}` is performed with {len(arguments)} arguments, and its handler "
                f"takes {count}",
            )
        return arguments[:count]


def capture(k: Frame, s: Segment, node: Segment, resumable: bool = True) -> Continuation:
    """The segments from the top down to `node`, that one too (None: down to the base, without)."""
    if s is node:
        kind = s[0]
        return Continuation(((kind, k, s[3], s[4]),), s[2][3], kind.cleanup, resumable)
    segments = []
    cleanup = False
    end = None if node is None else node[2]
    while s is not end and s[2] is not None:
        kind = s[0]
        segments.append((kind, k, s[3], s[4]))
        cleanup = cleanup or kind.cleanup
        k, s = s[1], s[2]
    charge_copied(len(segments))
    return Continuation(tuple(segments), s[3], cleanup, resumable)


def charge_copied(count: int) -> None:
    """Counts segments that are copied in one step, or put back: four of them in about the time
    that a step takes. Those of a deep stack also as what is made. May end the run."""
    if count > 4:
        work(count // 4)
        charge(count)


def rebase_segments(
    continuation: Continuation, around: Ctx
) -> Sequence[tuple[Kind, Frame, Ctx, Any]]:
    """The segments, outermost first, where the context is `around`: they hold the deadlines, the
    budgets and the jobs that were entered in them; what was in force around them then has been
    left."""
    origin = continuation.origin
    segments = continuation.segments
    if origin is around or _bounds(origin) == _bounds(around):
        return segments[::-1]
    inside = len(origin.jobs or ())
    left = {*origin.scopes, *origin.expired_scopes}
    moved = []
    for kind, frames, context, data in reversed(segments):
        left.discard(_scope_of(kind, data))
        moved.append((kind, frames, context.rebase(left, around, inside), data))
    return moved


def _bounds(context: Ctx) -> tuple[Any, ...]:
    return context.scopes, context.expired_scopes, context.jobs


def _scope_of(kind: Kind, data: Any) -> Any:
    return data if kind is SCOPE else data[0] if kind is SCOPE.stripped else None


def environment(node: Segment) -> tuple[Any, ...]:
    """The environment of a handle expression, from its segment or what is pending there."""
    env: tuple[Any, ...] = node[4][0] if node[0].stripped is node[0] else node[4]
    return env


def finish(then: Any, env: tuple[Any, ...], k: Frame, s: Segment) -> Step:
    """The end of a handle expression that was left: its clause's body, which works for those
    around the expression; a value, or an error.

    then: `("clause", clause, values)` | `("value", v)` | `("error", e)`
    """
    if then[0] == "value":
        return k[0], then[1], k, s
    if then[0] == "error":
        return raise_error, then[1], k, s
    _, clause, values = then
    return clause.body, (*env, *values, None), k, s


def raise_error(error: Record, k: Frame, s: Segment) -> Step:
    """A step of its own, so that the error belongs to the segments it is raised in."""
    raise Fault("raised", str(error.fields["message"]), error=error)


def base_of(s: Segment) -> Segment:
    """The segment that the branch's stack ends with."""
    while s[2] is not None:
        s = s[2]
    return s


def abandon_all(k: Frame, s: Segment, around: Ctx, passing: Unwinding = NOTHING) -> Step:
    """Leaves every scope down to the base of the branch, whose context is `around` from now on."""
    base = base_of(s)
    below = (*base[:3], around, base[4])
    return abandon(capture(k, s, None), BOTTOM, below, None, passing=passing)


def add_refusals(step: Step, refusals: tuple[Record, ...]) -> Step:
    """The step of whoever leaves scopes, with refusals of money that were met on the way; one that
    goes on with a value does not tell them."""
    fn, value, k, s = step
    more = value.combine_with(Unwinding(refusals)) if isinstance(value, Unwinding) else value
    return fn, more, k, s


def abandon(
    continuation: Continuation,
    k: Frame,
    s: Segment,
    then: Any,
    around: Ctx | None = None,
    passing: Unwinding = NOTHING,
) -> Step:
    """Leaves every scope of a continuation, innermost first, and then does `then`.

    `passing` goes through a copy of its segments without frames and return clauses: what cleans
    up does so on the ordinary way out, inside the handlers that served it. `then` waits in
    the outermost segment, a handler: whoever ends that expression otherwise replaces it. What
    cleans up does so under what it was captured under and what is `around`, else at `s`.
    """
    pending = then
    for kind, _, context, data in rebase_segments(continuation, s[3] if around is None else around):
        if kind is UNWINDING or kind is UNWINDING.stripped:
            passing = passing.combine_with(_refusals_met(data, kind, pending is not None))
        if kind.pends:
            own = data[0] if kind.stripped is kind else data
            s = (kind.stripped, k, s, context, (own, pending))
            pending = None
        else:
            s = (kind.stripped, k, s, context, data)
        k = _LEFT if isinstance(kind, FinallyKind) else BOTTOM
    if pending is not None:
        return finish(pending, (), k, s)
    return k[0], passing, k, s


class HandlerKind(Kind):
    """A handle expression. Data is its environment.

    Stripped, it still serves what cleans up inside it; data is then `(environment, then)`.
    """

    __slots__ = ("returns",)

    def __init__(self, clauses: dict[str, Any], returns: Any) -> None:
        super().__init__("handle", give if returns is None else self._returning, clauses)
        self.returns = returns
        self.stripped = _Pending(clauses)
        self.pends = True

    def _returning(self, value: Value, s: Segment) -> Step:
        return self.returns, (*s[4], value), s[1], s[2]


class _Pending(HandlerKind):
    __slots__ = ()

    def __init__(self, clauses: dict[str, Any]) -> None:
        Kind.__init__(self, "pending", _leave_pending, clauses)
        self.returns = None
        self.pends = True


def _leave_pending(value: Value, s: Segment) -> Step:
    env, then = s[4]
    if then is None:
        return give(value, s)
    if isinstance(value, Unwinding) and value.suppressed:
        then = _with_refusals(then, s[0], value.suppressed)
    return finish(then, env, s[1], s[2])


def _with_refusals(then: Any, kind: Kind, refusals: tuple[Record, ...]) -> Any:
    """What was to be done when all has been left, where money was refused on the way: the error
    that waits tells it; what waits for no error fails."""
    if then[0] == "error":
        return "error", suppress(then[1], refusals)
    if then[0] == "value" and isinstance(then[1], Unwinding):
        return "value", then[1].combine_with(Unwinding(refusals))
    if then[0] == "clause" and (kind is SCOPE.stripped or then[1] in kind.clauses.get("error", ())):
        error, *others = then[2]
        return "clause", then[1], (suppress(error, refusals), *others)
    return "error", suppress(refusals[0], refusals[1:])


def _leave_own(value: Value, s: Segment) -> Step:
    """The clause ended without calling its continuation, which is abandoned now."""
    return abandon(s[4], s[1], s[2], ("value", value))


def _leave_scope(value: Value, s: Segment) -> Step:
    raise LeaveScope(value, s)


def leave_scope(value: Value, k: Frame, s: Segment) -> Step:
    """The value leaves the form. A step by its name: whoever takes it decides whether it is in
    time, and then does this."""
    return give(value, s)


SCOPE = Kind("scope", _leave_scope)
"""A deadline or a budget: data is its identity."""

SCOPE.pends = True
SCOPE.stripped = Kind("scope that is left", _leave_pending)
SCOPE.stripped.pends = True

OWN = Kind("own", _leave_own, cleanup=True)
"""Below a clause that owns its continuation (data)."""

JOB = Kind("job", give)
"""A job: whatever waits above it needs a place."""

USED = Kind("used", give)
"""What is left of `OWN` once the continuation has been called."""


class FinallyKind(Kind):
    """A `finally`: runs its cleanup in data's environment, then passes the value on.

    What its body does stands above a segment that says so. Where the `try` is left for something
    else, a refusal of money ends the body alone.
    """

    __slots__ = ("body",)

    def __init__(self, body: Any) -> None:
        super().__init__("finally", self._clean, cleanup=True)
        self.body = body

    def _clean(self, value: Value, s: Segment) -> Step:
        kind = UNWINDING if isinstance(value, Unwinding) else CLEANING
        below = s[2]
        return (
            self.body,
            s[4],
            BOTTOM,
            (kind, (_end_finalizer, s[1], value), below, below[3], (value,)),
        )


def _end_finalizer(_: Value, k: Frame, s: Segment) -> Step:
    below = k[1]
    return below[0], k[2], below, s


def _leave_on(value: Value, k: Frame, s: Segment) -> Step:
    """What is inside a `finally` has been left, or has ended otherwise meanwhile."""
    below = k[1]
    return below[0], value if isinstance(value, Unwinding) else NOTHING, below, s


_LEFT = (_leave_on, BOTTOM)


def _suppress(env: Any, k: Frame, s: Segment) -> Step:
    """The body of a `finally` has been refused money: the unwinding goes on. So it does where that
    body is unwound itself, and a finalizer in it is at work."""
    refused = Unwinding((env[-2],))
    if k[0] is not _end_finalizer:
        return k[0], NOTHING.combine_with(refused), k, s
    below = k[1]
    return below[0], k[2].combine_with(refused), below, s


def _refusals_met(data: Any, kind: Kind, is_target: bool) -> Unwinding:
    """The refusals that a `finally` has met whose body is left. One whose own refusal is the end
    of all this has those before it still."""
    if kind is UNWINDING:
        return NOTHING if is_target else data[0]
    (before,), then = data
    if then is None:
        return NOTHING
    return Unwinding(then[2]) if is_target else before.combine_with(Unwinding(then[2]))


CLEANING = Kind("cleaning", give)
"""Around the body of a `finally`."""

UNWINDING = HandlerKind({"error": (ClauseCode(_suppress, 1, "never", (), spares=is_other),)}, None)
"""The same where its `try` is left for something else. Data is what passes there."""

UNWINDING.cleanup = True
