"""Many branches to one outcome: the only scheduler, and pure.

A delivery (a reply, a failure, a timer, a cancellation) readies a branch; then everything runs
until every branch waits again. Branches start in the order of their index, and what happens is
settled in the order in which it happens, so an outcome follows from the order of the deliveries
alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sexplang.machine import exits
from sexplang.machine.branch import (
    Branch,
    Forked,
    Path,
    Queued,
    Ready,
    Waiting,
    branch_id,
    forking,
    identity,
)
from sexplang.machine.errors import all_failed, too_many_subtasks
from sexplang.machine.graphs import free, judged, so_far, start_of
from sexplang.machine.had import naming
from sexplang.machine.leaving import add_refusals, leave_scope, raise_error
from sexplang.machine.limiting import Limiting
from sexplang.machine.loop import STOPPED, look, run
from sexplang.machine.reached import too_many_branches, too_many_model_calls
from sexplang.machine.slicing import Pause, Slicing
from sexplang.machine.stack import BASE, BOTTOM, Ended, Exit, Parent, give
from sexplang.machine.suppressing import Unwinding, suppressing
from sexplang.terms.effect import Request
from sexplang.terms.node import evolve
from sexplang.terms.settling import settled
from sexplang.terms.task import error_of
from sexplang.terms.value import Fault, Record, Value
from sexplang.terms.work import Begins, Ends, Work


class Turn(Limiting):
    """One delivery at work: the branches are changed here and nowhere else."""

    # -- Deliveries -----------------------------------------------------------------------------

    def start(self, step: Any) -> None:
        """The root begins."""
        self._go(Branch((), 0, False), step)

    def answer(self, branch: Waiting, step: Any, reply: Value, failed: bool) -> None:
        """A branch goes on with the reply to its request, or the error that it `failed` with."""
        context = branch.s[3]
        if context.scopes or context.spared:
            self.timing.answered(branch, reply, failed)
        if context.jobs:
            self.placing.count(context.jobs, -1)
        self._go(branch, step)

    def fire(self, id: str) -> None:
        """A deadline has passed: every branch under it that waits or computes is ended there, one
        after the other, as soon as those that compute elsewhere wait."""
        found = [
            branch
            for branch in self.weave.branches.values()
            if isinstance(branch, (Waiting, Queued, Ready)) and id in branch.s[3].scopes
        ]
        found.sort(key=lambda branch: branch.path)
        stopped = {branch.path for branch in found if isinstance(branch, Ready)}
        self._ready = [path for path in self._ready if path not in stopped]
        scope = self.timing.fired(id)
        error = naming(scope.expired(self.steps - scope.began if stopped else None), found)
        self._expired[:0] = [(branch, id, error) for branch in found]

    def settle(self) -> None:
        """Runs until every branch waits, and nobody who waits for a place can have one, or the
        program has ended."""
        self._run()
        while self.placed is not None and not self.ended and self.pause is None and self._admit():
            self._run()

    def _run(self) -> None:
        """Runs until every branch waits, or a slice is over."""
        is_stopped = STOPPED.get()
        while not self.ended and self.pause is None:
            if self._ready:
                if is_stopped():
                    self.cancel()
                branch = self.branches.get(self._ready.pop())
                if isinstance(branch, Ready):
                    self._work(branch)
            elif self._expired:
                each, id, error = self._expired.pop(0)
                if self.branches.get(each.path) is each:
                    self._break(each, each, id, error)
            else:
                break

    def _work(self, branch: Ready) -> None:
        """The branch goes on until it leaves the loop."""
        step, before = branch.step, self.steps
        s = step[3]
        until = slicing = None
        midway = self.midway
        rest, grace = (None, _LATE) if midway is None else self._rest(branch, midway)
        if s[3].scopes and (slicing := self.slicing) is not None:
            until = slicing.until(branch, self.timing, before, midway)
            if until == before:
                self._halt(slicing, branch, rest, grace)
                return
        if step[0] is leave_scope:  # what comes next is done elsewhere
            step = give(step[1], s)
            s = step[3]
        plan = self.timing.allowance(s) if s[3].plans else None
        used = before + _STRETCH if rest is None else before
        late = self.timing.late(s[3].scopes) if s[3].scopes else None
        ends = [] if late is None else [before + grace]
        most = min(ends if until is None else [until, *ends], default=None)
        left, self.steps = run(step, self.limits, used, plan, most, rest)
        while until is None and isinstance(left, exits.Paused) and self.steps < ends[0]:
            left, self.steps = run(left.step, self.limits, self.steps, plan, most, left.rest)
        if plan is not None:
            self.timing.worked(s, self.steps - before)
        if slicing is not None and until is not None:
            slicing.worked(branch, self.steps - before)
        if isinstance(left, exits.Paused):
            branch = evolve(branch, step=left.step)
            grace -= 0 if late is None else self.steps - before
            if late is not None and grace <= 0:
                self.branches[branch.path] = branch
                self._break(branch, branch, late.scope, late.error)
            elif slicing is not None:
                self._halt(slicing, branch, left.rest, grace)
            return
        if isinstance(left, exits.Broken):
            taken = self.steps - before
            spent = plan is not None and plan[1] <= taken and self.steps < self.limits.steps
            self._broken(branch, left, plan[0] if plan is not None and spent else None)
            return
        if before >> _LOOK != self.steps >> _LOOK:
            broken = look(self.limits)
            if broken is not None:
                self._limit(branch, broken, left)
                return
        _AFTER[left.__class__](self, branch, left)

    def _halt(
        self, slicing: Slicing, branch: Ready, rest: tuple[int, int] | None, grace: int
    ) -> None:
        """The branch goes on another time."""
        self.branches[branch.path] = branch
        self._ready.append(branch.path)
        stands = self.branches, self._ready, self._expired
        touched = None if self.placed is None else self.placed.touched
        self.pause = slicing.pause(branch, self.timing, rest, grace, *stands, touched)

    def _rest(self, branch: Ready, midway: Pause) -> tuple[tuple[int, int] | None, int]:
        """What a branch has left that goes on where the end of a slice stopped it."""
        self.midway = None
        is_same = self.weave.branches.get(midway.path) is branch
        return (midway.rest, midway.grace) if is_same else (None, _LATE)

    def left_open(self) -> list[str]:
        """The requests that are still open, where the run ends without leaving them: they are
        withdrawn."""
        branches = self.branches.finish().values()
        waiting = [branch for branch in branches if isinstance(branch, Waiting)]
        for branch in waiting:
            self._taken_back(branch)
        return [branch.request.id for branch in waiting]

    # -- What a branch does when the loop is left ---------------------------------------------

    def _goes_on(self, branch: Branch, left: exits.Interrupted) -> None:
        self._go(branch, left.step)

    def _close(self, branch: Branch, left: exits.Closed) -> None:
        self.told.append(Ends(left.work.id, settled(left.error)))
        self._go(branch, left.step)

    def _tell_limits(self, branch: Branch, left: exits.Limited) -> None:
        bounds = (self.limits.subagent_seconds, self.limits.subagent_calls)
        self._go(branch, (left.k[0], bounds, left.k, left.s))

    def _ask(self, branch: Branch, left: exits.Asked) -> None:
        context, held = left.s[3], None
        if context.jobs and self._lacks_place(branch, left):
            return
        is_model = left.operation == "model"
        if is_model and self.called >= self.limits.model_calls:
            self._limit(branch, too_many_model_calls(self.limits.model_calls), left)
            return
        if context.scopes or context.spared:
            try:
                refused, held = self.timing.asked(left)
            except Fault as fault:
                self._go(branch, (raise_error, error_of(fault, left.span), left.k, left.s))
                return
            if refused is not None:
                self._refuse(branch, left, refused)
                return
        self.called += is_model
        path, ordinal = branch.path, branch.ordinal
        id = identity(path, ordinal)
        request = Request(id, left.operation, left.arguments, context.plain(), left.span)
        self.opened.append(request)
        waiting = Waiting(path, ordinal + 1, branch.leaving, request, left.k, left.s, held)
        self.branches[path] = waiting
        if context.jobs:
            self.placing.count(context.jobs, 1)

    def _enter(self, branch: Branch, left: exits.Entered) -> None:
        error = self._too_deep(left)
        if error is not None:
            self._limit(branch, error, left)
            return
        id = identity(branch.path, branch.ordinal)
        if "steps" in left.settings:
            most, given = self.limits.plan_steps, left.settings["steps"]
            left.settings = {**left.settings, "steps": most if given is None else min(given, most)}
        segment = self.timing.entered(id, left, self.steps)
        changed = Branch(branch.path, branch.ordinal + 1, branch.leaving)
        self._go(changed, (left.body, left.env, BOTTOM, segment))
        self._look(branch, id)

    def _leave(self, branch: Branch, left: exits.Left) -> None:
        self._go(branch, (leave_scope, left.value, BOTTOM, left.s))
        self._look(branch, left.s[4])

    def _look(self, branch: Branch, scope: str) -> None:
        """The clock of a deadline begins, or may have come to its end."""
        slicing = self.slicing
        if slicing is not None and self.timing.running((scope,)):
            slicing.look(branch.path)

    def _spawn(self, branch: Branch, left: exits.Spawned) -> None:
        work = Work(f"w{self.begun}", left.kind, left.name, left.s[3].work)
        self.begun += 1
        self.told.append(Begins(work, branch.path))
        self._go(branch, (left.fn, (work, *left.data), left.k, left.s))

    def _request(self, branch: Branch, left: exits.Requested) -> None:
        step = left.step
        if self.requested < self.limits.subtasks:
            self.requested += 1
        else:
            step = (raise_error, too_many_subtasks(self.limits.subtasks), *step[2:])
        self._go(branch, step)

    def _propose(self, branch: Branch, left: exits.Proposed) -> None:
        """Judges a plan, and counts its nodes in the same step."""
        branches = self.branches.finish()
        self.branches = branches.mutate()
        count, told = judged(
            left, branches.values(), self.timing.accounts, self.planned, self.limits
        )
        self.planned += count
        self._go(branch, (left.k[0], told, left.k, left.s))

    def _fork(self, branch: Branch, left: exits.Forked) -> None:
        width = len(left.starts)
        deep = len(branch.path) // 2 >= _DEEPEST
        if deep or len(self.branches) + min(width, left.limit) > self.limits.branches:
            depth = _DEEPEST if deep else None
            self._limit(branch, too_many_branches(self.limits.branches, depth), left)
            return
        forked = forking(branch, left)
        first = range(min(width, left.limit)) if left.after is None else free(forked, None)
        self._begin(forked, first)

    def _begin(self, branch: Forked, indexes: Sequence[int]) -> None:
        """Starts branches of a fork."""
        around = branch.s[4] if branch.s[0] is BASE else None
        onward = None if around is None else around.onward or around
        parent = Parent(branch.s, len(branch.path) // 2, branch.k, onward)
        context = branch.s[3]
        base = (BASE, BOTTOM, None, context, parent)
        for index in reversed(indexes):
            path = (*branch.path, branch.fork, index)
            if context.work is not None:
                work = self._part(branch, path)
                base = (BASE, BOTTOM, None, context.doing(work), parent)
            fn, a = branch.starts[index] if branch.after is None else start_of(branch, index)
            self.branches[path] = Ready(path, 0, False, (fn, a, BOTTOM, base))
            self._ready.append(path)
        self.branches[branch.path] = branch.counted(branch.values, len(indexes))

    def _part(self, branch: Forked, path: Path) -> Work:
        """What traces show a branch of a fork as."""
        kind = "race" if branch.race else "branch"
        before = () if branch.after is None else branch.after[path[-1]]
        after = tuple([branch_id((*path[:-1], each)) for each in before])
        work = Work(branch_id(path), kind, str(path[-1]), branch.s[3].work, after)
        self.told.append(Begins(work, branch.path))
        return work

    def _end(self, branch: Branch, left: Ended) -> None:
        """A branch is over: its value is its parent's, unless it was cancelled."""
        value = left.value
        refusals: tuple[Record, ...] = ()
        if isinstance(value, Unwinding):
            refusals, value = value.suppressed, None
        if not branch.path:
            if self.failing is not None:
                self.failing = suppressing(self.failing, refusals)
            self.ended, self.value = True, value
            return
        del self.branches[branch.path]
        forked = self.branches[branch.path[:-2]]
        assert isinstance(forked, Forked)
        if forked.s[3].work is not None:
            error = value.error if isinstance(value, exits.Lost) else None
            self.told.append(Ends(branch_id(branch.path), settled(error), branch.leaving))
        values = forked.values.set(branch.path[-1], value)
        parent = forked.counted(values, -1)
        self.branches[parent.path] = parent
        if parent.cut is not None:
            if refusals:
                parent = evolve(parent, cut=add_refusals(parent.cut, refusals))
                self.branches[parent.path] = parent
            if parent.alive == 0:
                self._go(parent, parent.cut)
        elif parent.race and not isinstance(value, exits.Lost):
            self._end_with(parent, (parent.k[0], value, parent.k, parent.s))
        elif isinstance(value, exits.Settled) and value.ends:
            results = so_far(parent, self._had(parent))
            self._end_with(parent, (parent.k[0], results, parent.k, parent.s))
        elif len(values) == parent.width:
            self._join(parent)
        elif parent.after is not None:
            self._begin(parent, free(parent, branch.path[-1]))
        elif len(values) + parent.alive < parent.width:
            self._begin(parent, (len(values) + parent.alive,))

    def _join(self, parent: Forked) -> None:
        k, s = parent.k, parent.s
        values = tuple([parent.values[at] for at in range(parent.width)])
        if parent.after is not None:
            self._go(parent, (k[0], so_far(parent, {}), k, s))
        elif parent.race:
            self._go(parent, (raise_error, all_failed(values), k, s))
        else:
            self._go(parent, (k[0], values, k, s))


_AFTER: dict[type[Exit], Callable[[Turn, Branch, Any], None]] = {
    Ended: Turn._end,
    exits.Asked: Turn._ask,
    exits.Forked: Turn._fork,
    exits.Entered: Turn._enter,
    exits.Left: Turn._leave,
    exits.Placed: Turn._place,
    exits.Limited: Turn._tell_limits,
    exits.Spawned: Turn._spawn,
    exits.Requested: Turn._request,
    exits.Proposed: Turn._propose,
    exits.Closed: Turn._close,
    exits.Aborted: Turn._abort,
    exits.Uncaught: Turn._uncaught,
    exits.Interrupted: Turn._goes_on,
}
"""What happens when a branch has left the loop."""

_DEEPEST = 2_000
"""How deep branches may stand in branches: each knows all around it."""

_LOOK = 17
"""Every how many steps (as a power of two) somebody looks how much the run holds."""

_STRETCH = 10
"""How many steps it takes about to take up a branch, and to leave it."""

_LATE = 10_000
"""Steps that a branch may take at a time under a deadline that has passed: enough to tidy up."""
