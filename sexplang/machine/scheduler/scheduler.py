"""The scheduler: many branches to one outcome. It is pure.

A delivery (a reply, a failure, a timer, a cancellation) readies a branch. Then everything runs
until every branch waits again. Branches start in the order of their index, and events are settled
in the order in which they happen, so an outcome follows from the order of the deliveries alone.
"""

from collections.abc import Callable
from typing import Any

from sexplang.machine import exits
from sexplang.machine.errors import too_many_subtasks
from sexplang.machine.limits import Limits, too_many_model_calls
from sexplang.machine.loop import STOPPED, look, run
from sexplang.machine.scheduler.branches import (
    Branch,
    BranchTable,
    Path,
    Queued,
    Ready,
    SchedulerState,
    Waiting,
    request_id,
)
from sexplang.machine.scheduler.cancellation import (
    abort_handler,
    break_scope,
    cancel,
    fail_uncaught,
    refuse_request,
)
from sexplang.machine.scheduler.forks import end_branch, fork
from sexplang.machine.scheduler.jobs import begin_job, grant_permits, wait_for_permit
from sexplang.machine.scheduler.partial_results import describe_expired
from sexplang.machine.scheduler.permits import PermitQueue
from sexplang.machine.scheduler.plan_graphs import judge
from sexplang.machine.scheduler.slices import Pause, Slice, Slicing
from sexplang.machine.scheduler.termination import (
    check_scope_depth,
    end_by_limit,
    reach_limit,
)
from sexplang.machine.scopes.budgets import Meter
from sexplang.machine.scopes.deadlines import Ledger
from sexplang.machine.stack import BOTTOM, BranchEnd, Exit, give
from sexplang.machine.unwind import leave_scope, raise_error
from sexplang.terms.classes.node import evolve
from sexplang.terms.effect import UNMADE, Part, Request, SoFar, partial_usage, unknown
from sexplang.terms.task import error_of
from sexplang.terms.values.materialization import materialize
from sexplang.terms.values.value import Fault, Record, Value
from sexplang.terms.work import Begins, Ends, Work


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
        self.opened: list[Request] = []
        self.withdrawn: list[str] = []
        self.events: list[Begins | Ends] = []
        """The work that began and ended, in a traced run."""
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
        table = self.table
        found = [
            branch
            for branch in table.before.values()
            if isinstance(branch, (Waiting, Queued, Ready)) and id in branch.s[3].scopes
        ]
        found.sort(key=lambda branch: branch.path)
        stopped = {branch.path for branch in found if isinstance(branch, Ready)}
        table.ready = [path for path in table.ready if path not in stopped]
        scope = self.ledger.fire(id)
        error = scope.expire(self.steps - scope.began if stopped else None)
        error = describe_expired(error, found)
        self._expired[:0] = [(branch, id, error) for branch in found]

    def resume_slice(self, pause: Pause) -> None:
        """Begin the next slice at a pause."""
        self.midway, self._taken = pause, pause.taken
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
            elif self.used_permits is None or not grant_permits(self):
                break

    def withdraw_all(self) -> list[str]:
        """Return the ids of the open requests of a run that ends without unwinding. They are
        withdrawn."""
        branches = self.table.snapshot().values()
        waiting = [branch for branch in branches if isinstance(branch, Waiting)]
        for branch in waiting:
            self._take_back(branch)
        return [branch.request.id for branch in waiting]

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
        grace, midway = _LATE, self.midway
        if midway is not None:
            rest, grace = self._rest(branch, midway)
        if s[3].scopes:
            is_timed, late = (self.used_ledger or self.ledger).find_timed(s[3].scopes)
            if is_timed and self.slice is not None:
                slicing = self.slicing
                assert slicing is not None
                until = slicing.until(branch, before, midway)
                if until == before:
                    self._halt(slicing, branch, rest, grace)
                    return
        if step[0] is leave_scope:  # other code does the next step
            step = give(step[1], s)
            s = step[3]
            _, late = self.ledger.find_timed(s[3].scopes)
        if s[3].plans:
            plan = self.ledger.allowance(s)
        used = before + _STRETCH if rest is None else before
        if late is not None:
            until = before + grace if until is None else min(until, before + grace)
        left, self.steps = run(step, self.limits, used, plan, until, rest)
        if late is not None and slicing is None:
            while isinstance(left, exits.SliceEnd) and self.steps < before + grace:
                left, self.steps = run(left.step, self.limits, self.steps, plan, until, left.rest)
        if plan is not None:
            self.ledger.charge_steps(s, self.steps - before)
        if until is not None:
            if slicing is not None:
                slicing.count(branch, self.steps - before)
            if isinstance(left, exits.SliceEnd):
                branch = evolve(branch, step=left.step)
                grace -= 0 if late is None else self.steps - before
                if late is not None and grace <= 0:
                    self.table.branches[branch.path] = branch
                    break_scope(self, branch, branch, late, self.ledger.accounts[late].expire())
                elif slicing is not None:
                    self._halt(slicing, branch, left.rest, grace)
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

    def _halt(
        self, slicing: Slicing, branch: Ready, rest: tuple[int, int] | None, grace: int
    ) -> None:
        """Let the branch go on in another slice."""
        table = self.table
        table.schedule(branch, branch.step)
        stands = table.branches, table.ready, self._expired
        touched = None if self.used_permits is None else self.used_permits.touched
        self.pause = slicing.pause(branch, self.ledger, rest, grace, *stands, touched)

    def _rest(self, branch: Ready, midway: Pause) -> tuple[tuple[int, int] | None, int]:
        """Return the rest of a branch that the end of a slice stopped."""
        self.midway = None
        is_same = self.table.before.get(midway.path) is branch
        return (midway.rest, midway.grace) if is_same else (None, _LATE)

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

    def _begin_span(self, branch: Branch, left: exits.BeginSpan) -> None:
        work = Work(f"w{self.begun}", left.kind, left.name, left.s[3].work)
        self.begun += 1
        self.events.append(Begins(work, branch.path))
        self.table.schedule(branch, (left.fn, (work, *left.data), left.k, left.s))

    def _end_span(self, branch: Branch, left: exits.EndSpan) -> None:
        self.events.append(Ends(left.work.id, materialize(left.error)))
        self.table.schedule(branch, left.step)

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
    exits.ReadLimits: Scheduler._tell_limits,
    exits.BeginSpan: Scheduler._begin_span,
    exits.RequestSubtask: Scheduler._count_subtask,
    exits.JudgePlan: Scheduler._judge_plan,
    exits.EndSpan: Scheduler._end_span,
    exits.AbortHandler: abort_handler,
    exits.Uncaught: fail_uncaught,
    exits.StepInterrupt: Scheduler._continue,
}
"""The action of the scheduler for each exit of the loop."""

_LOOK = 17
"""The steps between two looks at memory, as a power of two."""

_STRETCH = 10
"""The steps that take about as long as to take up a branch and to leave it."""

_LATE = 10_000
"""The steps that a branch may take at a time under a deadline that has passed, to clean up."""
