"""Hooks of the library (`std:cut-short`) that add partial results to the error that cuts them off.

The library's loops and sequences stand in handle expressions with a clause for `std:cut-short`,
which is never performed. When the scope around them breaks and everything is unwound, the clauses
get the error at the scope's form, the innermost first. Each returns the error that goes on. If the
whole run is ended, the clauses run before the unwinding.
"""

from typing import Any

from sexplang.machine.exits import Uncaught
from sexplang.machine.handlers import perform
from sexplang.machine.limits import Limits
from sexplang.machine.loop import STOPPED, run
from sexplang.machine.stack import BASE, BOTTOM, Ctx, Frame, Segment, Step
from sexplang.machine.unwind import ClauseCode, HandlerKind
from sexplang.terms.values.value import Record, Value

_CUT_SHORT = "std:cut-short"

_STEPS = 1_000_000
"""The steps that the clauses may take to report."""


def report_cut(error: Record, s: Segment, node: Segment) -> tuple[Any, ...]:
    """Return the `then` at the form `node` of a scope that breaks with an error. It replaces
    the stack down to `node`. Without a node the form is left already, and no clause runs."""
    found = () if node is None else _clauses(s, node)
    return ("clause", _REPORT, (error, found)) if found else ("error", error)


def report_cut_now(error: Record, s: Segment) -> Record:
    """Return the error that ends a run from outside, as all these clauses on its stack report it:
    before the unwinding, in a run of their own."""
    found = _clauses(s, None)
    if not found:
        return error
    bottom = (BASE, BOTTOM, None, Ctx(s[3].linked), None)
    is_stopped = STOPPED.set(lambda: False)
    try:
        left, _ = run((_report, error, (_report, BOTTOM, found), bottom), Limits(steps=_STEPS), 0)
    finally:
        STOPPED.reset(is_stopped)
    told = left.error if isinstance(left, Uncaught) else error
    return told if told.fields["reason"] == error.fields["reason"] else error


def _clauses(s: Segment, node: Segment) -> tuple[tuple[ClauseCode, Any], ...]:
    """Return the reporting clauses with their environments, from `s` down to `node`, innermost
    first."""
    found = []
    while s is not node:
        kind = s[0]
        if kind.clauses and kind.stripped is not kind:
            clauses = kind.clauses.get(_CUT_SHORT, ())
            found += [(clause, s[4]) for clause in clauses if clause.kind == "never"]
        s = s[2]
    return tuple(found)


def waiting_error(then: tuple[Any, ...]) -> Record | None:
    """Return the error that waits to be raised, if `then` raises one."""
    if then[0] == "error":
        return then[1]  # type: ignore[no-any-return]
    return then[2][0] if then[1] is _REPORT else None


def _begin_report(env: Any, k: Frame, s: Segment) -> Step:
    return _report, env[-3], (_report, k, env[-2]), s


def _report(error: Value, k: Frame, s: Segment) -> Step:
    """Give the current error to the next clause."""
    _, below, clauses = k
    if not clauses:
        return perform("error", (error,), below, s, resumable=False)
    (clause, env), *further = clauses
    values = clause.bind(_CUT_SHORT, (error,))
    return clause.body, (*env, *values, None), (_report, below, tuple(further)), s


CUT_SHORT = HandlerKind({"error": (ClauseCode(_begin_report, 2, "never", ()),)}, None)
"""A kind that is never on a stack: it names the clause, so that a run can be frozen meanwhile."""

(_REPORT,) = CUT_SHORT.clauses["error"]
