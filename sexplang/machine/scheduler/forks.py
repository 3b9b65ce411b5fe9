"""Forks: branches start, end, and give their values to the branch that forked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sexplang.machine import exits
from sexplang.machine.errors import all_failed
from sexplang.machine.limits import too_many_branches
from sexplang.machine.scheduler.branches import Branch, Forked, Path, branch_id, make_fork
from sexplang.machine.scheduler.cancellation import end_fork
from sexplang.machine.scheduler.partial_results import errors_of_nodes
from sexplang.machine.scheduler.plan_graphs import nodes_to_begin, start_of, values_so_far
from sexplang.machine.scheduler.termination import reach_limit
from sexplang.machine.scopes.suppression import Unwinding, suppress
from sexplang.machine.stack import BASE, BOTTOM, BranchEnd, Parent, Step
from sexplang.machine.unwind import add_refusals, raise_error
from sexplang.terms.classes.node import evolve
from sexplang.terms.values.materialization import materialize
from sexplang.terms.values.value import Record
from sexplang.terms.work import Begins, Ends, Work

if TYPE_CHECKING:
    from sexplang.machine.scheduler.scheduler import Scheduler

_DEEPEST = 2_000
"""The greatest depth of branches in branches. Each knows all around it."""


def fork(scheduler: "Scheduler", branch: Branch, left: exits.Fork) -> None:
    """Fork a branch, unless there would be too many branches."""
    width, most = len(left.starts), scheduler.limits.branches
    deep = len(branch.path) // 2 >= _DEEPEST
    if deep or len(scheduler.table.branches) + min(width, left.limit) > most:
        depth = _DEEPEST if deep else None
        reach_limit(scheduler, branch, too_many_branches(most, depth), left)
        return
    made = make_fork(branch, left)
    first = range(min(width, left.limit)) if left.after is None else nodes_to_begin(made, None)
    _begin(scheduler, made, first)


def _begin(scheduler: "Scheduler", branch: Forked, indexes: Sequence[int]) -> None:
    """Start branches of a fork."""
    around = branch.s[4] if branch.s[0] is BASE else None
    onward = None if around is None else around.onward or around
    parent = Parent(branch.s, len(branch.path) // 2, branch.k, onward)
    context = branch.s[3]
    base = (BASE, BOTTOM, None, context, parent)
    steps = []
    for index in reversed(indexes):
        path = (*branch.path, branch.fork, index)
        if context.work is not None:
            work = _begin_span(scheduler, branch, path)
            base = (BASE, BOTTOM, None, context.with_work(work), parent)
        fn, a = branch.starts[index] if branch.after is None else start_of(branch, index)
        steps.append((path, (fn, a, BOTTOM, base)))
    scheduler.table.begin(steps)
    scheduler.table.branches[branch.path] = branch.with_values(branch.values, len(indexes))


def _begin_span(scheduler: "Scheduler", branch: Forked, path: Path) -> Work:
    """Begin the traced work of a branch."""
    kind = "race" if branch.race else "branch"
    before = () if branch.after is None else branch.after[path[-1]]
    after = tuple([branch_id((*path[:-1], each)) for each in before])
    work = Work(branch_id(path), kind, str(path[-1]), branch.s[3].work, after)
    scheduler.events.append(Begins(work, branch.path))
    return work


def end_branch(scheduler: "Scheduler", branch: Branch, left: BranchEnd) -> None:
    """End a branch. Its parent gets its value, unless it was cancelled."""
    value, table = left.value, scheduler.table
    refusals: tuple[Record, ...] = ()
    if isinstance(value, Unwinding):
        refusals, value = value.suppressed, None
    if not branch.path:
        if scheduler.failing is not None:
            scheduler.failing = suppress(scheduler.failing, refusals)
        scheduler.ended, scheduler.value = True, value
        return
    del table.branches[branch.path]
    forked = table.branches[branch.path[:-2]]
    assert isinstance(forked, Forked)
    if forked.s[3].work is not None:
        error = value.error if isinstance(value, exits.Lost) else None
        scheduler.events.append(Ends(branch_id(branch.path), materialize(error), branch.leaving))
    values = forked.values.set(branch.path[-1], value)
    parent = forked.with_values(values, -1)
    if parent.cut is not None and refusals:
        parent = evolve(parent, cut=add_refusals(parent.cut, refusals))
    table.branches[parent.path] = parent
    if parent.cut is not None:
        if parent.alive == 0:
            table.schedule(parent, parent.cut)
    elif parent.race and not isinstance(value, exits.Lost):
        end_fork(scheduler, parent, (parent.k[0], value, parent.k, parent.s))
    elif isinstance(value, exits.Settled) and value.ends:
        results = values_so_far(parent, errors_of_nodes(scheduler, parent))
        end_fork(scheduler, parent, (parent.k[0], results, parent.k, parent.s))
    elif len(values) == parent.width:
        _join(scheduler, parent)
    elif parent.after is not None:
        _begin(scheduler, parent, nodes_to_begin(parent, branch.path[-1]))
    elif len(values) + parent.alive < parent.width:
        _begin(scheduler, parent, (len(values) + parent.alive,))


def _join(scheduler: "Scheduler", parent: Forked) -> None:
    """Let the fork go on with the values of its branches, which have all ended."""
    k, s = parent.k, parent.s
    values = tuple([parent.values[at] for at in range(parent.width)])
    step: Step
    if parent.after is not None:
        step = k[0], values_so_far(parent, {}), k, s
    elif parent.race:
        step = raise_error, all_failed(values), k, s
    else:
        step = k[0], values, k, s
    scheduler.table.schedule(parent, step)
