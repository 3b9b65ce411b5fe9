"""Cancellation: branches that end early by errors, clauses, broken scopes or from outside.

An error or a clause that ends an expression around a fork cancels the fork's branches. Each unwinds
its scopes, and may wait meanwhile. When the last one has ended, the branch that forked unwinds its
own segments down to that expression. An exit from a branch that is being cancelled stops there, and
the branch goes on unwinding.
"""

from typing import TYPE_CHECKING, Any

from sexplang.machine import exits
from sexplang.machine.positions.earlier_values import with_bound
from sexplang.machine.scheduler.branches import (
    Branch,
    Forked,
    child_paths,
    refusals_of,
    registers_of,
    request_id,
)
from sexplang.machine.scheduler.cut_short import report_cut
from sexplang.machine.scheduler.partial_results import (
    add_all_partial_results,
    add_partial_results,
    collect_from_branches,
    collect_partial_results,
    errors_of_cancelled,
)
from sexplang.machine.scheduler.plan_graphs import add_finished, is_graph, values_so_far
from sexplang.machine.scopes.budgets import Refused
from sexplang.machine.scopes.deadlines import find_form, is_cleaning, pending_error
from sexplang.machine.stack import Ctx, Segment, Step
from sexplang.machine.tasks.conversation import conversations
from sexplang.machine.unwind import (
    abandon,
    abandon_all,
    base_of,
    capture,
    environment,
    finish,
    raise_error,
)
from sexplang.terms.classes.node import evolve
from sexplang.terms.task import cut_off, error_record, with_part
from sexplang.terms.values.value import Record

if TYPE_CHECKING:
    from sexplang.machine.scheduler.scheduler import Scheduler


# -- Ends of branches ---------------------------------------------------------------------------


def cancel(scheduler: "Scheduler", error: Record | None = None) -> None:
    """Abandon the whole program: it fails with `error`, by default reason `cancelled`. A root or a
    branch that is ending already goes on with its own end."""
    if not scheduler.table.branches[()].leaving:
        _fail_program(scheduler, make_cancelled(scheduler, error))


def make_cancelled(scheduler: "Scheduler", error: Record | None = None) -> Record:
    """Return the error of an abandoned program, with all partial results."""
    words = "the run was cancelled"
    error = error or error_record("TASK_FAILURE", "cancelled", words)
    return add_all_partial_results(scheduler, error)


def fail_uncaught(scheduler: "Scheduler", branch: Branch, left: exits.Uncaught) -> None:
    """Let the program fail with an error that no handler takes."""
    if not _stop_on_way(scheduler, branch, 0, left):
        scheduler.park(branch, left)
        root = scheduler.table.branches[()]
        _fail_program(scheduler, add_partial_results(scheduler, left.error, root, None))
        scheduler.failure_site = left.failure_site


def abort_handler(scheduler: "Scheduler", branch: Branch, left: exits.AbortHandler) -> None:
    """End a handle expression of another branch, with all branches in it."""
    if not _stop_on_way(scheduler, branch, left.level + 1, left):
        scheduler.park(branch, left)
        target, then = scheduler.table.branches[branch.path[: 2 * left.level]], left.then
        if then[0] == "clause" and then[1] in left.node[0].clauses.get("error", ()):
            error, *others = then[2]
            error = add_partial_results(scheduler, error, target, left.node)
            then = (*then[:2], (error, *others))
        _cut_branch(scheduler, target, left.node, then)


def break_scope(
    scheduler: "Scheduler", branch: Branch, left: Any, scope: str, error: Record
) -> None:
    """Break a scope: at its form if that is on the branch's stack, else at the request."""
    table = scheduler.table
    part = scheduler.park(branch, left)
    error = error if part is None else cut_off(error, part)
    branch = table.branches[branch.path]
    node, level = find_form(scope, left.s, len(branch.path) // 2)
    if node is None:
        # The finalizers replace the work that was cut, and report its partial results.
        before = pending_error(left.s)
        error = error if before is None else with_part(error, before)
        table.schedule(branch, (raise_error, error, left.k, left.s))
        return
    told, form = conversations(left.s, node), node
    target, each = table.branches[branch.path[: 2 * level]], {}
    if isinstance(target, Forked):
        node, _ = find_form(scope, registers_of(target)[1], level)
        each = collect_from_branches(scheduler, target, {branch.path: part})
        if is_graph(target):
            error = add_finished(error, values_so_far(target, errors_of_cancelled(target, each)))
    had = collect_partial_results(target, node, each.values()).without(part)
    error = had.add_to(with_bound(error, left.k, left.s, form), left.s, told)
    _cut_branch(scheduler, target, node, report_cut(error, registers_of(target)[1], node), scope)


def refuse_request(scheduler: "Scheduler", branch: Branch, left: Any, refused: Refused) -> None:
    """Break the scope that has no time or no room for a request. In a finalizer inside the scope,
    and in one that runs after it broke, a refusal of money is an error of the request."""
    scope = refused.scope
    if scope in left.s[3].expired_scopes or (
        not scheduler.ledger.accounts[scope].fired and is_cleaning(left.s, scope)
    ):
        error = refused.error
        if error.fields["span"] is None and left.span is not None:
            error = Record(error.kind, {**error.fields, "span": left.span.plain()})
        scheduler.table.schedule(branch, (raise_error, error, left.k, left.s))
    else:
        break_scope(scheduler, branch, left, scope, refused.error)


def end_fork(scheduler: "Scheduler", branch: Branch, step: Step, scope: str | None = None) -> None:
    """Let the branch go on with `step` when its own branches, if any, are cancelled. A branch that
    is cleaning up already goes on with that, unless a scope broke."""
    table = scheduler.table
    if not isinstance(branch, Forked) or branch.alive == 0:
        table.schedule(branch, step)
        return
    table.branches[branch.path] = evolve(branch, cut=step)
    if branch.cut is None or scope is not None:
        for child, left in reversed(_cancel_children(scheduler, branch, scope)):
            table.schedule(child, left)


# -- Unwinding ----------------------------------------------------------------------------------


def _stop_on_way(scheduler: "Scheduler", branch: Branch, level: int, left: Any) -> bool:
    """Return whether the unwinding of branches down to `level` stops at a branch that is being
    cancelled. That branch goes on unwinding."""
    branches = scheduler.table.branches
    for depth in range(len(branch.path) // 2, level - 1, -1):
        stopped = branches[branch.path[: 2 * depth]]
        if stopped.leaving:
            scheduler.park(branch, left)
            _cut_branch(scheduler, branches[stopped.path], None, None)
            return True
    return False


def _fail_program(scheduler: "Scheduler", error: Record) -> None:
    """Let the program fail with its first error, once everything is unwound."""
    scheduler.failing = error
    root = evolve(scheduler.table.branches[()], leaving=True)
    scheduler.table.branches[()] = root
    _cut_branch(scheduler, root, None, None)


def _cut_branch(
    scheduler: "Scheduler", branch: Branch, node: Segment, then: Any, scope: str | None = None
) -> None:
    """Unwind the segments above `node` (None: all of the branch), and then do `then`."""
    branch, step = _unwind(scheduler, branch, node, then, scope, scope is not None)
    end_fork(scheduler, branch, step, scope)


def _cancel_children(
    scheduler: "Scheduler", branch: Forked, scope: str | None
) -> list[tuple[Branch, Step]]:
    """Mark all branches below a fork as cancelled. Return those that have registers, in order, each
    with the step that unwinds it."""
    standing = []
    work = child_paths(branch)
    while work:
        child = scheduler.table.branches.get(work.pop())
        if child is None or (child.leaving and scope is None):
            continue
        child, step = _unwind(scheduler, child, None, None, scope, not child.leaving)
        child = evolve(child, leaving=True)
        if isinstance(child, Forked):
            work.extend(child_paths(child))
            child = evolve(child, cut=step)
        else:
            standing.append((child, step))
        scheduler.table.branches[child.path] = child
    return standing


def _unwind(
    scheduler: "Scheduler",
    branch: Branch,
    node: Segment,
    then: Any,
    broken: str | None,
    graceful: bool,
) -> tuple[Branch, Step]:
    """Return the step that unwinds the segments above `node` and then does `then`. Finalizers run
    without the scope that broke. While other branches go on, they need no permit and have a time of
    grace: a deadline without a form."""
    scheduler.withdraw(branch)
    met = refusals_of(branch)
    k, s = registers_of(branch)
    continuation = capture(k, s, node)
    around: Ctx = (base_of(s) if node is None else node[2])[3]
    # While a fork's branches clean up, the scopes and handlers around it are still there.
    stays = continuation.cleanup or isinstance(branch, Forked)
    if stays and broken is not None:
        around = around.with_expired(broken)
    if stays and graceful:
        id = request_id(branch.path, branch.ordinal)
        scheduler.ledger.grant_grace(id, scheduler.steps)
        branch = evolve(branch, ordinal=branch.ordinal + 1)
        around = around.with_scope(id).replace(jobs=None)
    if node is None:
        return branch, abandon_all(k, s, around, met)
    if stays:
        return branch, abandon(continuation, node[1], node[2], then, around, met)
    return branch, finish(then, environment(node), node[1], node[2])
