"""Partial results of branches that are cut short: they are collected, and errors report them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sexplang.machine.errors import with_bound
from sexplang.machine.exits import Lost, Settled, Uncaught
from sexplang.machine.handlers import CROSS, perform
from sexplang.machine.limits import Limits
from sexplang.machine.loop import STOPPED, run
from sexplang.machine.scheduler.branches import (
    Branch,
    Forked,
    Path,
    Ready,
    Waiting,
    child_paths,
    is_graph,
    registers_of,
)
from sexplang.machine.stack import (
    BASE,
    BOTTOM,
    Continuation,
    Ctx,
    Frame,
    Segment,
    Step,
)
from sexplang.machine.tasks.conversation import CONVERSATION
from sexplang.machine.unwind import ClauseCode, HandlerKind
from sexplang.terms.classes.node import node
from sexplang.terms.effect import Part
from sexplang.terms.task import (
    Cut,
    Session,
    cut_off,
    error_record,
    sum_parts,
)
from sexplang.terms.values.value import Record, Value

if TYPE_CHECKING:
    from sexplang.machine.scheduler.scheduler import Scheduler


@node(eq=False)
class PartialResults:
    """The partial results of a branch that is cut off, and the output of its unfinished model
    calls."""

    cut: Cut
    parts: tuple[Part, ...] = ()

    def without(self, part: Part | None) -> "PartialResults":
        """Return the same without a part that is reported already."""
        return PartialResults(self.cut, tuple([each for each in self.parts if each is not part]))

    def add_to(self, error: Record, s: Segment, told: Sequence[Session] = ()) -> Record:
        """Return the error with these results and all usage. The conversations `told`, innermost
        first, are the error's own."""
        if not isinstance(error.fields["details"], dict):
            return error
        if self.parts:
            before = {"usage": error.fields["details"].get("usage", {}), "text": ""}
            error = cut_off(error, {**sum_parts([before, *self.parts]), "text": ""})
        linked, cut = s[3].linked, self.cut
        if linked.tasks is None or not linked.known or not (cut.sessions or cut.inside or cut.done):
            return error
        return linked.tasks.cut_short(error, tuple(told), cut)  # type: ignore[no-any-return]


def errors_of_cancelled(graph: Forked, had: Mapping[int, PartialResults]) -> dict[int, Record]:
    """Return the errors of cancelled nodes of a graph, by index; none for nodes without a
    conversation."""
    found = {}
    for at, each in had.items():
        if each.cut.sessions or each.cut.inside:
            error = error_record("TASK_FAILURE", "cancelled", "the node was cancelled")
            if each.parts:
                error = cut_off(error, sum_parts(each.parts))
            cut_short = graph.s[3].linked.tasks.cut_short
            found[at] = cut_short(error, each.cut.sessions, each.cut)
    return found


def collect_partial_results(
    branch: Branch, node: Segment, inside: Iterable[PartialResults], part: Part | None = None
) -> PartialResults:
    """Return the partial results of a branch down to `node` (None: to its base) and of the branches
    `inside`. Nested branches are flattened."""
    cuts: list[Cut] = []
    parts = [] if part is None else [part]
    values = values_so_far(branch) if isinstance(branch, Forked) else []
    for had in inside:
        cuts += (had.cut,) if had.cut.sessions else had.cut.inside
        values += () if had.cut.sessions else had.cut.done
        parts += had.parts
    sessions = sessions_in(registers_of(branch)[1], node)
    return PartialResults(
        Cut(tuple(sessions), tuple(cuts), tuple(values), is_graph(branch)), tuple(parts)
    )


def sessions_in(s: Segment, node: Segment) -> list[Session]:
    """Return the sessions of the conversations from `s` down to `node`, or to the base, innermost
    first: those on the stack, and those in a continuation that a clause there holds."""
    found: list[Session] = []
    while s is not node and s is not None:
        kind, data = s[0], s[4]
        if kind is CONVERSATION:
            found.append(data[0])
        elif data.__class__ is Continuation:
            found += [each[3][0] for each in data.segments if each[0] is CONVERSATION]
        s = data.s if kind is CROSS else s[2]
    return found


def add_held_sessions(error: Record, s: Segment, node: Segment) -> Record:
    """Return the error of a clause with the partial results of conversations that it holds and has
    not resumed."""
    sessions = sessions_in(s, node) if s[3].conversations else []
    return PartialResults(Cut(tuple(sessions))).add_to(error, s) if sessions else error


def values_so_far(fork: Forked) -> list[Value]:
    """Return the values of a fork's ended branches, in order."""
    found = [fork.values[at] for at in range(fork.width) if at in fork.values]
    return [
        each.value if isinstance(each, Settled) else each
        for each in found
        if not isinstance(each, Lost)
    ]


def describe_expired(error: Record, waiting: Sequence[Branch]) -> Record:
    """Return the error of a deadline that ends several branches, with their number and the
    commonest things they wait for."""
    if len(waiting) < 2:
        return error
    computing = sum(isinstance(branch, Ready) for branch in waiting)
    things = Counter(map(_describe_wait, waiting)).most_common()
    listed = [f"{many} for {what}" for what, many in things[:_NAMED]]
    if len(things) > _NAMED:
        listed.append(f"{sum([many for _, many in things[_NAMED:]])} for others")
    count, words = len(waiting), error.fields["message"]
    how = "were at work" if computing else "waited"
    words = f"{words}, and {count} branches {how}: {', '.join(listed)}"
    details = {**error.fields["details"], "waiting": count}
    return Record(error.kind, {**error.fields, "message": words, "details": details})


_NAMED = 3
"""The number of things named as waited for."""


def _describe_wait(branch: Branch) -> str:
    if isinstance(branch, Ready):
        return "computing"
    if not isinstance(branch, Waiting):
        return "a permit"
    payload = branch.request.arguments[0] if branch.request.arguments else None
    task = payload.get("task") if isinstance(payload, dict) else None
    return f"`{branch.request.operation}`" + (f" of task `{task}`" if task else "")


# -- Results of a scheduler's branches ------------------------------------------------------------


def errors_of_nodes(scheduler: "Scheduler", graph: Forked) -> dict[int, Record]:
    """Return the errors of a graph's nodes that are about to be cancelled, by index, with the words
    and usage of their conversations."""
    return errors_of_cancelled(graph, collect_from_branches(scheduler, graph, {}))


def collect_from_branches(
    scheduler: "Scheduler", fork: Forked, known: dict[Path, Part | None]
) -> dict[int, PartialResults]:
    """Return the partial results of a fork's branches that are about to be cancelled, by index.
    Those of branches that have stopped are in `known`."""
    branches = scheduler.table.branches
    there = [branches[path] for path in reversed(child_paths(fork)) if path in branches]
    return {
        each.path[-1]: _collect_inside(scheduler, each, None, known)
        for each in there
        if not each.leaving
    }


def _collect_inside(
    scheduler: "Scheduler", branch: Branch, node: Segment, known: dict[Path, Part | None]
) -> PartialResults:
    """Return the partial results of a branch down to `node`, with all branches inside, before it is
    unwound."""
    found: list[tuple[Branch, Part | None]] = []
    work = [branch.path]
    while work:
        each = scheduler.table.branches.get(work.pop())
        if each is None or (each.leaving and each is not branch):
            continue
        if isinstance(each, Forked):
            work.extend(child_paths(each))
        is_asked = isinstance(each, Waiting)
        found.append((each, scheduler.park(each, each) if is_asked else known.get(each.path)))
    inside: dict[Path, list[PartialResults]] = {}
    for each, part in reversed(found):
        down_to = node if each is branch else None
        had = collect_partial_results(each, down_to, inside.pop(each.path, ())[::-1], part)
        inside.setdefault(each.path[:-2], []).append(had)
    return had


def add_partial_results(
    scheduler: "Scheduler", error: Record, branch: Branch, node: Segment
) -> Record:
    """Return an error that leaves a branch down to `node`, with the results that are cut off."""
    had = _collect_inside(scheduler, branch, node, {})
    return had.add_to(error, registers_of(branch)[1])


def add_all_partial_results(scheduler: "Scheduler", error: Record) -> Record:
    """Return an error that ends the run from outside, with all partial results."""
    root = scheduler.table.branches[()]
    k, s = registers_of(root)
    if s[3].linked.tasks is None:
        return error
    error = add_partial_results(scheduler, with_bound(error, k, s), root, None)
    return report_cut_now(error, s)


# -- Hooks of the library -------------------------------------------------------------------------

# The library's loops and sequences stand in handle expressions with a clause for `std:cut-short`,
# which is never performed. When the scope around them breaks and everything is unwound, the clauses
# get the error at the scope's form, the innermost first. Each returns the error that goes on. If
# the whole run is ended, the clauses run before the unwinding.

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


def conversations(s: Segment, node: Segment) -> list[Session]:
    """Return the sessions of the conversations between `s` and `node`, innermost first."""
    sessions = []
    while s is not node and s is not None:
        if s[0] is CONVERSATION:
            sessions.append(s[4][0])
        below = s[2]
        s = below if below is not None or s[4] is None else s[4].s
    return sessions
