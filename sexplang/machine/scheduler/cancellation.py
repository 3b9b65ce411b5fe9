"""Cancellation: branches that end early by errors, clauses, broken scopes or from outside.

An error or a clause that ends an expression around a fork cancels the fork's branches. Each unwinds
its scopes, and may wait meanwhile. When the last one has ended, the branch that forked unwinds its
own segments down to that expression. An exit from a branch that is being cancelled stops there, and
the branch goes on unwinding.
"""

from typing import TYPE_CHECKING, Any

from sexplang.machine import exits
from sexplang.machine.errors import FailureSite, limit, place_of, with_bound
from sexplang.machine.limits import plan_too_long, too_many_scopes
from sexplang.machine.scheduler.branches import (
    Branch,
    Forked,
    Ready,
    branch_id,
    child_paths,
    is_graph,
    refusals_of,
    registers_of,
    request_id,
)
from sexplang.machine.scheduler.partial_results import (
    add_all_partial_results,
    add_partial_results,
    collect_from_branches,
    collect_partial_results,
    conversations,
    errors_of_cancelled,
    report_cut,
)
from sexplang.machine.scheduler.plan_graphs import add_finished, values_so_far
from sexplang.machine.scopes.budgets import Refused
from sexplang.machine.scopes.deadlines import find_form, find_plan, is_cleaning, pending_error
from sexplang.machine.stack import BOTTOM, Ctx, Segment, Step
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
from sexplang.terms.work import Ends

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
        if scheduler.grace_left(scope):
            table.schedule(branch, (raise_error, error, left.k, left.s))
        else:
            discard_late(scheduler, branch, scope, error)
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


# -- Termination by limits of the interpreter -----------------------------------------------------

# Nothing is unwound: no `finally` runs and no handler gets an error. Open requests are withdrawn
# all the same.

_SCOPES, _PLANS = 2_000, 100
"""The greatest depth of deadlines and budgets in one another, and of programs from a model."""


def end_by_limit(
    scheduler: "Scheduler", branch: Branch, left: exits.LimitReached, spent: str | None
) -> None:
    """End the plan whose steps are `spent`, or the run, at a limit of steps. Work that has left the
    plan meanwhile goes on."""
    assert left.step is not None
    if spent is None:
        _end_innermost(scheduler, branch, left.error, left.step)
        return
    most = scheduler.ledger.accounts[spent].steps
    assert most is not None
    error = _locate(plan_too_long(most, scheduler.limits.plan_steps), left.step)
    if not _fail_plan(scheduler, branch, left.step[3], spent, error):
        scheduler.table.schedule(branch, left.step)


def reach_limit(scheduler: "Scheduler", branch: Branch, error: Record, left: Any) -> None:
    """End the plan or the run at a limit that was reached where the loop was left."""
    if hasattr(left, "s"):
        work = left.starts[0][0] if isinstance(left, exits.Fork) else None
        _end_innermost(scheduler, branch, error, (work, None, left.k, left.s))
    else:
        scheduler.broken, scheduler.ended = error, True


def discard_late(scheduler: "Scheduler", branch: Branch, scope: str, error: Record) -> None:
    """Discard all segments and branches under a deadline that has passed, whose form is left. The
    error is raised below them; a branch that was cancelled ends."""
    table, base, level = scheduler.table, base_of(registers_of(branch)[1]), len(branch.path) // 2
    while scope in base[3].scopes and base[4] is not None and scope in base[4].s[3].scopes:
        base, level = base_of(base[4].s), base[4].level
    target = table.branches[branch.path[: 2 * level]]
    if target is not branch:
        assert isinstance(target, Forked)
        _discard_branches(scheduler, target)
    k, s = registers_of(target)
    if isinstance(target, Forked) and scope not in s[3].scopes:  # it is being unwound already
        assert target.cut is not None
        table.schedule(target, target.cut)
        return
    while s[2] is not None and scope in s[3].scopes:
        k, s = s[1], s[2]
    if scope in s[3].scopes:
        context = s[3].replace(scopes=tuple([id for id in s[3].scopes if id != scope]))
        table.schedule(target, (BOTTOM[0], None, BOTTOM, (*s[:3], context, s[4])))
    else:
        table.schedule(target, (raise_error, error, k, s))


def check_scope_depth(left: exits.EnterScope) -> Record | None:
    """Return the error of one scope too many, if it is. Each scope knows all around it."""
    if len(left.s[3].scopes) >= _SCOPES:
        return too_many_scopes(_SCOPES)
    if "steps" in left.settings and len(left.s[3].plans) >= _PLANS:
        words = f"plans are nested more than {_PLANS} deep"
        return limit("limit-frames", words, "a plan that needs another had better be a loop")
    return None


def _end_innermost(scheduler: "Scheduler", branch: Branch, error: Record, step: Step) -> None:
    """End the innermost plan around a step, or the run if there is none."""
    error, s = _locate(error, step), step[3]
    plan = find_plan(s, scheduler.ledger.accounts)
    if plan is None or not _fail_plan(scheduler, branch, s, plan, error):
        ready = Ready(branch.path, branch.ordinal, branch.leaving, step)
        scheduler.table.branches[branch.path] = ready
        scheduler.broken = add_all_partial_results(scheduler, error)
        scheduler.ended, scheduler.failure_site = True, FailureSite(*step)


def _fail_plan(
    scheduler: "Scheduler", branch: Branch, s: Segment, plan: str, error: Record
) -> bool:
    """End the plan as failed, with all segments and branches in it. Return False if its form is not
    on the stack."""
    table = scheduler.table
    node, level = find_form(plan, s, len(branch.path) // 2)
    if node is None:
        return False
    target = table.branches[branch.path[: 2 * level]]
    if target is not branch:
        assert isinstance(target, Forked)
        _discard_branches(scheduler, target)
        node, _ = find_form(plan, registers_of(target)[1], level)
        if node is None:  # it is being unwound already, for an outer form
            assert target.cut is not None
            table.schedule(target, target.cut)
            return True
    _, k, s, _, _ = node[2]
    table.schedule(target, (k[0], {"status": "failed", "error": error}, k, s))
    return True


def _discard_branches(scheduler: "Scheduler", branch: Forked) -> None:
    """End all branches of a branch at once."""
    work = child_paths(branch)
    while work:
        child = scheduler.table.branches.pop(work.pop(), None)
        if child is None:
            continue
        if isinstance(child, Forked):
            work.extend(child_paths(child))
        scheduler.withdraw(child)
        if branch.s[3].work is not None:
            scheduler.events.append(Ends(branch_id(child.path), None, True))


def _locate(error: Record, step: Step) -> Record:
    """Return the error at the place of a step, if that is known."""
    span = place_of(step)
    return error if span is None else Record(error.kind, {**error.fields, "span": span.plain()})
