"""Unwinding: capturing continuations, leaving them, running finalizers, suppressing refusals."""

from collections.abc import Callable, Sequence
from typing import Any

from sexplang.machine.exits import LeaveScope
from sexplang.machine.scopes.budgets import RESOURCES
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
from sexplang.terms.classes.node import node
from sexplang.terms.quota import charge, work
from sexplang.terms.values.value import Fault, Record, Value

_MOST_REFUSALS = 8
"""The greatest number of refusals in an error."""


def is_other(error: Value) -> bool:
    """Return whether an error is anything but a budget's refusal of a model call."""
    fields = error.fields if isinstance(error, Record) else {}
    return fields.get("type") != "RESOURCE_EXHAUSTION" or fields.get("reason") not in RESOURCES


def suppress(error: Record, refusals: tuple[Record, ...]) -> Record:
    """Return the error with the refusals in `details.suppressed`: the first of them, in one flat
    list."""
    details = error.fields["details"]
    if not refusals or not isinstance(details, dict):
        return error
    told = details.get("suppressed", ())
    if not isinstance(told, tuple):
        return error
    details = {**details, "suppressed": (*told[:_MOST_REFUSALS], *_flat(refusals))[:_MOST_REFUSALS]}
    return Record(error.kind, {**error.fields, "details": details})


@node
class Unwinding:
    """The value that passes segments which are unwound: the refusals that have ended `finally`
    bodies on the way, in order."""

    suppressed: tuple[Record, ...] = ()

    def append(self, other: "Unwinding") -> "Unwinding":
        """Return these refusals with later ones."""
        if not other.suppressed:
            return self
        return Unwinding((*self.suppressed, *_flat(other.suppressed))[:_MOST_REFUSALS])


NOTHING = Unwinding()


def _flat(refusals: tuple[Record, ...]) -> list[Record]:
    """Return each refusal, followed by those in its own details."""
    found = []
    for each in refusals:
        details = each.fields["details"]
        inner = details.get("suppressed") if isinstance(details, dict) else None
        if isinstance(inner, tuple):
            rest = {name: value for name, value in details.items() if name != "suppressed"}
            found += [Record(each.kind, {**each.fields, "details": rest}), *inner[:_MOST_REFUSALS]]
        else:
            found.append(each)
    return found


# -- Unwinding ------------------------------------------------------------------------------------


class ClauseCode:
    """The code of a clause. The environment of its body is the handler's, the parameters, k. It
    takes no error that it `spares`."""

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
        """Return the values of the parameters. A missing argument is nil."""
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
    """Return the segments from the top down to `node`, included (None: down to the base,
    excluded)."""
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
    charge_copied(segments)
    return Continuation(tuple(segments), s[3], cleanup, resumable)


def charge_copied(segments: Sequence[Any]) -> None:
    """Count segments that are copied or restored in one step. Four take about the time of a step.
    Those of a deep stack also count as made elements. May end the run."""
    count = len(segments)
    if count > 4:
        count -= sum([each[0].is_traced for each in segments])
    if count > 4:
        work(count // 4)
        charge(count)


def rebase_segments(
    continuation: Continuation, around: Ctx
) -> Sequence[tuple[Kind, Frame, Ctx, Any]]:
    """Return the segments, outermost first, in the context `around`. They keep the deadlines,
    budgets and jobs that were entered in them, and lose those that were in force around them."""
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
    """Return the environment of a handle expression, from its segment or its pending form."""
    env: tuple[Any, ...] = node[4][0] if node[0].stripped is node[0] else node[4]
    return env


def finish(then: Any, env: tuple[Any, ...], k: Frame, s: Segment) -> Step:
    """Return the step at the end of a handle expression that was unwound: the body of its clause,
    which works for the context around the expression; a value; or an error.

    `then` is `("clause", clause, values)`, `("value", v)` or `("error", e)`.
    """
    if then[0] == "value":
        return k[0], then[1], k, s
    if then[0] == "error":
        return raise_error, then[1], k, s
    _, clause, values = then
    return clause.body, (*env, *values, None), k, s


def raise_error(error: Record, k: Frame, s: Segment) -> Step:
    """Raise an error in a step of its own, so that it belongs to the segments it is raised in."""
    raise Fault("raised", str(error.fields["message"]), error=error)


def base_of(s: Segment) -> Segment:
    """Return the base segment of the branch's stack."""
    while s[2] is not None:
        s = s[2]
    return s


def abandon_all(k: Frame, s: Segment, around: Ctx, passing: Unwinding = NOTHING) -> Step:
    """Unwind every segment down to the base of the branch. Its context is `around` from now on."""
    base = base_of(s)
    below = (*base[:3], around, base[4])
    return abandon(capture(k, s, None), BOTTOM, below, None, passing=passing)


def add_refusals(step: Step, refusals: tuple[Record, ...]) -> Step:
    """Return the step of an unwinding branch with the refusals of money that were met. A step with
    a value does not report them."""
    fn, value, k, s = step
    more = value.append(Unwinding(refusals)) if isinstance(value, Unwinding) else value
    return fn, more, k, s


def abandon(
    continuation: Continuation,
    k: Frame,
    s: Segment,
    then: Any,
    around: Ctx | None = None,
    passing: Unwinding = NOTHING,
) -> Step:
    """Unwind every segment of a continuation, innermost first, and then do `then`.

    `passing` goes through a copy of the segments without frames and return clauses. Finalizers run
    on the ordinary way out, inside the handlers that served them. `then` waits in the outermost
    segment, a handler; a different end of that expression replaces it. Finalizers run in the
    context of their capture and of `around`, else of `s`.
    """
    pending = then
    for kind, _, context, data in rebase_segments(continuation, s[3] if around is None else around):
        if kind is UNWINDING or kind is UNWINDING.stripped:
            passing = passing.append(_refusals_met(data, kind, pending is not None))
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
    """The kind of handle expressions. Data is the environment. The stripped kind still serves
    finalizers inside it; its data is `(environment, then)`."""

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
    """Return `then` with the refusals of money met during the unwinding. A pending error reports
    them; a pending value becomes a failure."""
    if then[0] == "error":
        return "error", suppress(then[1], refusals)
    if then[0] == "value" and isinstance(then[1], Unwinding):
        return "value", then[1].append(Unwinding(refusals))
    if then[0] == "clause" and (kind is SCOPE.stripped or then[1] in kind.clauses.get("error", ())):
        error, *others = then[2]
        return "clause", then[1], (suppress(error, refusals), *others)
    return "error", suppress(refusals[0], refusals[1:])


def _leave_own(value: Value, s: Segment) -> Step:
    """Abandon the continuation of a clause that ended without calling it."""
    return abandon(s[4], s[1], s[2], ("value", value))


def _leave_scope(value: Value, s: Segment) -> Step:
    raise LeaveScope(value, s)


def leave_scope(value: Value, k: Frame, s: Segment) -> Step:
    """Let a value leave the form of a scope. The scheduler decides first whether it is in time."""
    return give(value, s)


SCOPE = Kind("scope", _leave_scope)
"""A deadline or a budget. Data is its identity."""

SCOPE.pends = True
SCOPE.stripped = Kind("scope that is left", _leave_pending)
SCOPE.stripped.pends = True

OWN = Kind("own", _leave_own, cleanup=True)
"""The segment below a clause that owns its continuation, which is the data."""

JOB = Kind("job", give)
"""A job. A request above it needs a permit."""

USED = Kind("used", give)
"""The segment that replaces `OWN` once the continuation has been called."""


class FinallyKind(Kind):
    """The kind of `finally`: it runs its cleanup in data's environment, then passes the value on.

    A segment around the body marks it. If the `try` is unwound, a refusal of money ends the body
    alone.
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
    """Go on after a `finally` whose inside is unwound, or has ended in another way."""
    below = k[1]
    return below[0], value if isinstance(value, Unwinding) else NOTHING, below, s


_LEFT = (_leave_on, BOTTOM)


def _suppress(env: Any, k: Frame, s: Segment) -> Step:
    """Go on unwinding after the body of a `finally` was refused money. So it does if that body is
    unwound itself and a finalizer in it is at work."""
    refused = Unwinding((env[-2],))
    if k[0] is not _end_finalizer:
        return k[0], NOTHING.append(refused), k, s
    below = k[1]
    return below[0], k[2].append(refused), below, s


def _refusals_met(data: Any, kind: Kind, is_target: bool) -> Unwinding:
    """Return the refusals of a `finally` whose body is unwound. If its own refusal is the end of
    the unwinding, return those before it."""
    if kind is UNWINDING:
        return NOTHING if is_target else data[0]
    (before,), then = data
    if then is None:
        return NOTHING
    return Unwinding(then[2]) if is_target else before.append(Unwinding(then[2]))


CLEANING = Kind("cleaning", give)
"""The segment around the body of a `finally`."""

UNWINDING = HandlerKind({"error": (ClauseCode(_suppress, 1, "never", (), spares=is_other),)}, None)
"""The same while its `try` is unwound. Data is the value that passes there."""

UNWINDING.cleanup = True
