"""Termination by limits of the interpreter: of the run, or of a program from a model in it.

Nothing is unwound: no `finally` runs and no handler gets an error. Open requests are withdrawn all
the same.
"""

from typing import TYPE_CHECKING, Any

from sexplang.machine import exits
from sexplang.machine.errors import limit
from sexplang.machine.limits import plan_too_long, too_many_scopes
from sexplang.machine.positions.error_positions import FailureSite, place_of
from sexplang.machine.scheduler.branches import (
    Branch,
    Forked,
    Ready,
    branch_id,
    child_paths,
    registers_of,
)
from sexplang.machine.scheduler.partial_results import add_all_partial_results
from sexplang.machine.scopes.deadlines import find_form, find_plan
from sexplang.machine.stack import Segment, Step
from sexplang.terms.values.value import Record
from sexplang.terms.work import Ends

if TYPE_CHECKING:
    from sexplang.machine.scheduler.scheduler import Scheduler

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
