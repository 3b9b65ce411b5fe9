"""The scheduler: many branches to one outcome. It is pure.

A delivery (a reply, a failure, a timer, a cancellation) readies a branch. Then everything runs
until every branch waits again. Branches start in the order of their index, and events are settled
in the order in which they happen, so an outcome follows from the order of the deliveries alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sexplang.machine import exits
from sexplang.machine.errors import all_failed, too_many_subtasks
from sexplang.machine.limits import Limits, too_many_branches, too_many_model_calls
from sexplang.machine.loop import STOPPED, look, run
from sexplang.machine.scheduler.branches import (
    Branch,
    BranchTable,
    Forked,
    Path,
    Queued,
    Ready,
    SchedulerState,
    Waiting,
    branch_id,
    make_fork,
    request_id,
)
from sexplang.machine.scheduler.cancellation import (
    abort_handler,
    break_scope,
    cancel,
    check_scope_depth,
    end_by_limit,
    end_fork,
    fail_uncaught,
    reach_limit,
    refuse_request,
)
from sexplang.machine.scheduler.partial_results import errors_of_nodes
from sexplang.machine.scheduler.permits import (
    PermitQueue,
    begin_job,
    grant_permits,
    wait_for_permit,
)
from sexplang.machine.scheduler.plan_graphs import judge, nodes_to_begin, start_of, values_so_far
from sexplang.machine.scheduler.shared_values import claim, pass_first_claim, put_value
from sexplang.machine.scopes.budgets import Meter
from sexplang.machine.scopes.deadlines import Ledger, Pause, Slice, Slicing, find_form
from sexplang.machine.stack import BASE, BOTTOM, BranchEnd, Exit, Parent, Segment, Step, give
from sexplang.machine.unwind import Unwinding, add_refusals, leave_scope, raise_error, suppress
from sexplang.terms.classes.node import evolve
from sexplang.terms.effect import UNMADE, Part, Request, SoFar, partial_usage, unknown
from sexplang.terms.task import error_of
from sexplang.terms.values.boundary import materialize
from sexplang.terms.values.value import Fault, Record, Value
from sexplang.terms.work import Begins, Ends, Work

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
    _begin_branches(scheduler, made, first)


def _begin_branches(scheduler: "Scheduler", branch: Forked, indexes: Sequence[int]) -> None:
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
        _begin_branches(scheduler, parent, nodes_to_begin(parent, branch.path[-1]))
    elif len(values) + parent.alive < parent.width:
        _begin_branches(scheduler, parent, (len(values) + parent.alive,))


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


# -- The scheduler --------------------------------------------------------------------------------


class Scheduler:
    """One delivery at work.

    Its parts own their state: `table` the branches, `ledger` the deadlines and budgets, `permits`
    the permits, `slicing` the slice of steps. The last three are made at their first use;
    `used_ledger` and `used_permits` tell whether they were. The functions of this folder that take
    a scheduler decide and change these.
    """

    broken: Record | None = None
    """The limit of the interpreter that has ended the run."""
    value: Value = None
    _slicing: Slicing | None = None

    def __init__(
        self,
        state: SchedulerState,
        limits: Limits,
        meter: Meter,
        so_far: SoFar = unknown,
        slice: Slice | None = None,
        failure_site: Any = None,
    ) -> None:
        # CPython 3.11 reads an attribute of an instance much faster than one of its class.
        self.ended = False
        self.slice = slice
        """The slice to compute in, if any."""
        self.pause: Pause | None = None
        """The end of this slice."""
        self.midway: Pause | None = None
        """The end of the slice before."""
        self.failure_site = failure_site
        """The place of the program's failure."""
        self.used_ledger: Ledger | None = None
        self.used_permits: PermitQueue | None = None
        self.state = state
        self.limits = limits
        self.meter = meter
        self.so_far = so_far
        self.table = BranchTable(state.branches)
        self.failing = state.failing
        self.steps = state.steps
        self.requested = state.requested
        self.called = state.called
        self.planned = state.planned
        self.begun = state.begun
        self.shares = state.shares
        self.opened: list[Request] = []
        self.withdrawn: list[str] = []
        self.events: list[Begins | Ends] = []
        """The work that began and ended, in a traced run."""
        self.late: dict[str, int] = {}
        """The steps taken in this delivery under each deadline that has passed."""
        self._taken: dict[Path, tuple[int, int]] = {}
        self._expired: list[tuple[Branch, str, Record]] = []

    @property
    def ledger(self) -> Ledger:
        """The deadlines and budgets."""
        if self.used_ledger is None:
            self.used_ledger = Ledger(self.state.times, self.meter)
        return self.used_ledger

    @property
    def permits(self) -> PermitQueue:
        """The permits, which may be granted at the end of the delivery."""
        if self.used_permits is None:
            self.used_permits = PermitQueue(self.state.permits, self.limits.places)
        return self.used_permits

    @property
    def slicing(self) -> Slicing | None:
        """The slice, if the run computes in slices."""
        if self._slicing is None and self.slice is not None:
            self._slicing = Slicing(self.slice, self.steps, self._taken)
        return self._slicing

    # -- Deliveries -----------------------------------------------------------------------------

    def start(self, step: Any) -> None:
        """Begin the root."""
        self.table.begin([((), step)])

    def answer(self, branch: Waiting, step: Any, reply: Value, failed: bool) -> None:
        """Let a branch go on with the reply to its request, or with the error that it `failed`
        with."""
        context = branch.s[3]
        if context.scopes or context.expired_scopes:
            self.ledger.settle_request(branch, reply, failed)
        if context.jobs:
            self.permits.count(context.jobs, -1)
        self.table.schedule(branch, step)

    def fire(self, id: str) -> None:
        """Let a deadline pass. Every branch under it that waits or computes ends there, one after
        the other, as soon as those that compute elsewhere wait."""
        found, error = self.ledger.expire(id, self.table, self.steps)
        self._expired[:0] = [(branch, id, error) for branch in found]

    def resume_slice(self, pause: Pause) -> None:
        """Begin the next slice at a pause."""
        self.midway, self._taken, self.late = pause, pause.taken, {**pause.late}
        self.table.ready, self._expired = [*pause.ready], [*pause.expired]
        if pause.touched is not None:
            self.permits.touch(pause.touched)

    def settle(self) -> None:
        """Run until every branch waits and no waiting branch can have a permit, or the program has
        ended, or a slice is over."""
        is_stopped, table = STOPPED.get(), self.table
        while not self.ended and self.pause is None:
            if table.ready:
                if is_stopped():
                    cancel(self)
                branch = table.branches.get(table.ready.pop())
                if isinstance(branch, Ready):
                    self._work(branch)
            elif self._expired:
                each, id, error = self._expired.pop(0)
                if table.branches.get(each.path) is each:
                    break_scope(self, each, each, id, error)
            elif self.used_permits is not None and grant_permits(self):
                continue
            elif not (self.shares.claims and pass_first_claim(self)):
                break

    def withdraw_all(self) -> list[str]:
        """Return the ids of the open requests of a run that ends without unwinding. They are
        withdrawn."""
        branches = self.table.snapshot().values()
        waiting = [branch for branch in branches if isinstance(branch, Waiting)]
        for branch in waiting:
            self._take_back(branch)
        return [branch.request.id for branch in waiting]

    def grace_left(self, late: str) -> int:
        """Return the steps that may still be taken in this delivery under a deadline that has
        passed."""
        return max(0, LATE_STEPS - self.late.get(late, 0))

    def cut_again(self, scope: str, s: Segment) -> None:
        """Count the form of a deadline that has passed, if it is on the stack again: a continuation
        that holds it was called. Each time leaves fewer steps to the code around it."""
        form, _ = find_form(scope, s, 0)
        if form is not None:
            times = f"{scope} again"
            self.late[times] = self.late.get(times, 0) + 1
            self.late[scope] = self.late[times] * LATE_STEPS // _MOST_AGAIN

    # -- Waiting no more ------------------------------------------------------------------------

    def park(self, branch: Branch, left: Any) -> Part | None:
        """Leave the branch where it is, to be cancelled like the others. Return the output so far
        of its model call."""
        part = self.withdraw(branch)
        step = (BOTTOM[0], None, left.k, left.s)
        self.table.branches[branch.path] = Ready(branch.path, branch.ordinal, branch.leaving, step)
        return part

    def withdraw(self, branch: Branch) -> Part | None:
        """Withdraw the request that the branch waits for, if there is one."""
        if isinstance(branch, Waiting):
            self.withdrawn.append(branch.request.id)
            part = self._take_back(branch)
            if branch.s[3].jobs:
                self.permits.count(branch.s[3].jobs, -1)
            return part
        if isinstance(branch, Queued) and branch.s[3].scopes:
            self.ledger.count(branch.s[3].scopes, -1)
        return None

    def _take_back(self, branch: Waiting) -> Part | None:
        """Withdraw a request and return the output so far of its model call. A request of this
        delivery was never made."""
        request, part = branch.request, None
        if request.operation == "model":
            before = self.table.before.get(branch.path)
            is_open = isinstance(before, Waiting) and before.request is request
            part = partial_usage(self.so_far, request.id) if is_open else UNMADE
        self.ledger.withdraw_request(branch, part)
        return part

    # -- The loop -------------------------------------------------------------------------------

    def _work(self, branch: Ready) -> None:
        """Let the branch go on until it leaves the loop."""
        step, before = branch.step, self.steps
        s = step[3]
        until = slicing = plan = rest = late = None
        midway = self.midway
        if midway is not None:
            rest = self._rest(branch, midway)
        if s[3].scopes:
            is_timed, late = (self.used_ledger or self.ledger).find_timed(s[3].scopes)
            if is_timed and self.slice is not None:
                slicing = self.slicing
                assert slicing is not None
                until = slicing.until(branch, before, midway)
                if until == before:
                    self._halt(slicing, branch, rest)
                    return
        if step[0] is leave_scope:  # other code does the next step
            step = give(step[1], s)
            s = step[3]
            _, late = self.ledger.find_timed(s[3].scopes)
        if s[3].plans:
            plan = self.ledger.allowance(s)
        used = before + _STRETCH if rest is None else before
        grace = 0
        if late is not None:
            grace = self.grace_left(late)
            until = before + grace if until is None else min(until, before + grace)
        left, self.steps = run(step, self.limits, used, plan, until, rest)
        if left.__class__ in _SPANS:
            left = self._pass_spans(branch, left, used, plan, until)
        if late is not None:
            while (
                slicing is None and isinstance(left, exits.SliceEnd) and self.steps < before + grace
            ):
                now = self.steps
                left, self.steps = run(left.step, self.limits, now, plan, until, left.rest)
                left = self._pass_spans(branch, left, now, plan, until)
            self.late[late] = LATE_STEPS - grace + self.steps - before
        if plan is not None:
            self.ledger.charge_steps(s, self.steps - before)
        if until is not None:
            if slicing is not None:
                slicing.count(branch, self.steps - before)
            if isinstance(left, exits.SliceEnd):
                branch = evolve(branch, step=left.step)
                if late is not None and self.grace_left(late) <= 0:
                    self.table.branches[branch.path] = branch
                    break_scope(self, branch, branch, late, self.ledger.accounts[late].expire())
                    self.cut_again(late, branch.s)
                elif slicing is not None:
                    self._halt(slicing, branch, left.rest)
                return
        if isinstance(left, exits.LimitReached):
            taken = self.steps - before
            spent = plan is not None and plan[1] <= taken and self.steps < self.limits.steps
            end_by_limit(self, branch, left, plan[0] if plan is not None and spent else None)
            return
        if before >> _LOOK != self.steps >> _LOOK:
            broken = look(self.limits)
            if broken is not None:
                reach_limit(self, branch, broken, left)
                return
        _AFTER[left.__class__](self, branch, left)

    def _pass_spans(
        self,
        branch: Branch,
        left: Exit,
        used: int,
        plan: tuple[str, int] | None,
        until: int | None,
    ) -> Exit:
        """Go on over begins and ends of traced work. That work is traced takes no steps. `used` and
        `plan` are those at the beginning of the run of steps."""
        while isinstance(left, (exits.BeginSpan, exits.EndSpan)):
            if isinstance(left, exits.BeginSpan):
                step = self._begin_span(branch, left)
            else:
                self.events.append(Ends(left.work.id, materialize(left.error)))
                step = left.step
            now = self.steps - left.extra
            allowed = None if plan is None else (plan[0], plan[1] - now + used)
            left, self.steps = run(step, self.limits, now, allowed, until)
        return left

    def _halt(self, slicing: Slicing, branch: Ready, rest: tuple[int, int] | None) -> None:
        """Let the branch go on in another slice."""
        table = self.table
        table.schedule(branch, branch.step)
        stands = table.branches, table.ready, self._expired
        touched = None if self.used_permits is None else self.used_permits.touched
        self.pause = slicing.pause(branch, self.ledger, rest, self.late, *stands, touched)

    def _rest(self, branch: Ready, midway: Pause) -> tuple[int, int] | None:
        """Return the rest of a branch that the end of a slice stopped."""
        self.midway = None
        is_same = self.table.before.get(midway.path) is branch
        return midway.rest if is_same else None

    def _look(self, branch: Branch, scope: str) -> None:
        """Look at a deadline that begins, or that may have passed."""
        if self.slice is not None and self.ledger.find_timed((scope,))[0]:
            slicing = self.slicing
            assert slicing is not None
            slicing.look(branch.path)

    # -- Exits of a branch ----------------------------------------------------------------------

    def _continue(self, branch: Branch, left: exits.StepInterrupt) -> None:
        self.table.schedule(branch, left.step)

    def _ask(self, branch: Branch, left: exits.AskHost) -> None:
        context, held = left.s[3], None
        if context.jobs and wait_for_permit(self, branch, left):
            return
        is_model = left.operation == "model"
        if is_model and self.called >= self.limits.model_calls:
            reach_limit(self, branch, too_many_model_calls(self.limits.model_calls), left)
            return
        if context.scopes or context.expired_scopes:
            try:
                refused, held = (self.used_ledger or self.ledger).admit_request(left)
            except Fault as fault:
                error = error_of(fault, left.span)
                self.table.schedule(branch, (raise_error, error, left.k, left.s))
                return
            if refused is not None:
                refuse_request(self, branch, left, refused)
                return
        self.called += is_model
        path, ordinal = branch.path, branch.ordinal
        id = request_id(path, ordinal)
        request = Request(id, left.operation, left.arguments, context.plain(), left.span)
        self.opened.append(request)
        waiting = Waiting(path, ordinal + 1, branch.leaving, request, left.k, left.s, held)
        self.table.branches[path] = waiting
        if context.jobs:
            self.permits.count(context.jobs, 1)

    def _enter_scope(self, branch: Branch, left: exits.EnterScope) -> None:
        error = check_scope_depth(left)
        if error is not None:
            reach_limit(self, branch, error, left)
            return
        id = request_id(branch.path, branch.ordinal)
        if "steps" in left.settings:
            most, given = self.limits.plan_steps, left.settings["steps"]
            left.settings = {**left.settings, "steps": most if given is None else min(given, most)}
        segment = self.ledger.open_scope(id, left, self.steps)
        changed = Branch(branch.path, branch.ordinal + 1, branch.leaving)
        self.table.schedule(changed, (left.body, left.env, BOTTOM, segment))
        self._look(branch, id)

    def _leave_scope(self, branch: Branch, left: exits.LeaveScope) -> None:
        self.table.schedule(branch, (leave_scope, left.value, BOTTOM, left.s))
        self._look(branch, left.s[4])

    def _tell_limits(self, branch: Branch, left: exits.ReadLimits) -> None:
        bounds = (self.limits.subagent_seconds, self.limits.subagent_calls)
        self.table.schedule(branch, (left.k[0], bounds, left.k, left.s))

    def _begin_span(self, branch: Branch, left: exits.BeginSpan) -> Step:
        work = Work(f"w{self.begun}", left.kind, left.name, left.s[3].work)
        self.begun += 1
        self.events.append(Begins(work, branch.path))
        return left.fn, (work, *left.data), left.k, left.s

    def _count_subtask(self, branch: Branch, left: exits.RequestSubtask) -> None:
        step = left.step
        if self.requested < self.limits.subtasks:
            self.requested += 1
        else:
            step = (raise_error, too_many_subtasks(self.limits.subtasks), *step[2:])
        self.table.schedule(branch, step)

    def _judge_plan(self, branch: Branch, left: exits.JudgePlan) -> None:
        """Judge a plan, and count its nodes in the same step."""
        branches = self.table.snapshot().values()
        count, told = judge(left, branches, self.ledger.accounts, self.planned, self.limits)
        self.planned += count
        self.table.schedule(branch, (left.k[0], told, left.k, left.s))


_AFTER: dict[type[Exit], Callable[[Scheduler, Branch, Any], None]] = {
    BranchEnd: end_branch,
    exits.AskHost: Scheduler._ask,
    exits.Fork: fork,
    exits.EnterScope: Scheduler._enter_scope,
    exits.LeaveScope: Scheduler._leave_scope,
    exits.AcquirePermit: begin_job,
    exits.ClaimShared: claim,
    exits.PutShared: put_value,
    exits.ReadLimits: Scheduler._tell_limits,
    exits.RequestSubtask: Scheduler._count_subtask,
    exits.JudgePlan: Scheduler._judge_plan,
    exits.AbortHandler: abort_handler,
    exits.Uncaught: fail_uncaught,
    exits.StepInterrupt: Scheduler._continue,
}
"""The action of the scheduler for each exit of the loop."""

_SPANS = frozenset([exits.BeginSpan, exits.EndSpan])

_LOOK = 17
"""The steps between two looks at memory, as a power of two."""

_STRETCH = 10
"""The steps that take about as long as to take up a branch and to leave it."""

_MOST_AGAIN = 10
"""How often the form of a deadline that has passed is entered again by calls of a continuation."""

LATE_STEPS = 10_000
"""The steps that may be taken in a delivery under a deadline that has passed, to clean up."""
