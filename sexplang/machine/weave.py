"""Many branches to one outcome: the only scheduler, and pure.

A delivery (a reply, a failure, a timer, a cancellation) readies a branch; then everything runs
until every branch waits again. Branches start in the order of their index, and what happens is
settled in the order in which it happens, so an outcome follows from the order of the deliveries
alone.
"""

from collections.abc import Sequence
from typing import Any

from attrs import evolve
from immutables import Map

from sexplang.machine import exits
from sexplang.machine.branch import (
    Branch,
    Forked,
    Path,
    Queued,
    Ready,
    State,
    Waiting,
    branch_id,
    identity,
)
from sexplang.machine.errors import all_failed, too_many_subtasks
from sexplang.machine.graphs import free, judged, so_far, start_of
from sexplang.machine.leaving import raise_error
from sexplang.machine.limiting import Limiting
from sexplang.machine.loop import (
    STOPPED,
    look,
    run,
    too_many_branches,
)
from sexplang.machine.stack import BASE, BOTTOM, Ended, Exit, Parent, Step
from sexplang.terms.effect import Request
from sexplang.terms.task import error_of
from sexplang.terms.value import Fault, Value
from sexplang.terms.work import Begins, Ends, Work


class Turn(Limiting):
    """One delivery at work: the branches are changed here and nowhere else."""

    # -- Deliveries -----------------------------------------------------------------------------

    def start(self, step: Any) -> None:
        """The root begins."""
        self._go(Branch((), 0, Ready(step)), step)

    def answer(self, branch: Branch, state: Waiting, step: Any, reply: Value, failed: bool) -> None:
        """A branch goes on with the reply to its request, or the error that it `failed` with."""
        self.timing.answered(state, reply, failed)
        if state.s[3].jobs:
            self.placing.count(state.s[3].jobs, -1)
        self._go(branch, step)

    def fire(self, id: str) -> None:
        """A deadline has passed: every branch that waits under it is ended there."""
        error = self.timing.fired(id)
        waiting = [
            branch
            for branch in self.weave.branches.values()
            if isinstance(branch.state, (Waiting, Queued)) and id in branch.state.s[3].scopes
        ]
        for branch in sorted(waiting, key=lambda branch: branch.path):
            now = self.branches.get(branch.path)
            if self.ended:
                break
            if now is not None and now.state is branch.state:
                assert isinstance(branch.state, (Waiting, Queued))
                self._break(branch, branch.state, id, error)
                self._run()

    def settle(self) -> None:
        """Runs until every branch waits, and nobody who waits for a place can have one, or the
        program has ended."""
        self._run()
        while self.placed is not None and not self.ended and self._admit():
            self._run()

    def _run(self) -> None:
        """Runs until every branch waits."""
        is_stopped = STOPPED.get()
        while self._ready and not self.ended:
            if is_stopped():
                self.cancel()
            branch = self.branches.get(self._ready.pop())
            if branch is not None and isinstance(branch.state, Ready):
                self._work(branch, branch.state.step)

    def _work(self, branch: Branch, step: Step) -> None:
        """The branch goes on until it leaves the loop."""
        before, s = self.steps, step[3]
        plan = self.timing.allowance(s) if s[3].scopes else None
        left, self.steps = run(step, self.limits, before + _STRETCH, plan)
        if plan is not None:
            self.timing.worked(s, self.steps - before)
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
        self._settle(branch, left)

    def left_open(self) -> list[str]:
        """The requests that are still open, where the run ends without leaving them: they are
        withdrawn."""
        states = [branch.state for branch in self.branches.finish().values()]
        waiting = [state for state in states if isinstance(state, Waiting)]
        for state in waiting:
            self.timing.withdrawn(state)
        return [state.request.id for state in waiting]

    # -- What a branch does when the loop is left ---------------------------------------------

    def _settle(self, branch: Branch, left: Exit) -> None:
        if isinstance(left, Ended):
            self._end(branch, left.value)
        elif isinstance(left, exits.Asked):
            self._ask(branch, left)
        elif isinstance(left, exits.Forked):
            self._fork(branch, left)
        elif isinstance(left, exits.Entered):
            self._enter(branch, left)
        elif isinstance(left, exits.Placed):
            self._place(branch, left)
        elif isinstance(left, exits.Limited):
            bounds = (self.limits.subagent_seconds, self.limits.subagent_calls)
            self._go(branch, (left.k[0], bounds, left.k, left.s))
        elif isinstance(left, exits.Spawned):
            self._spawn(branch, left)
        elif isinstance(left, exits.Proposed):
            self._propose(branch, left)
        elif isinstance(left, exits.Closed):
            self.told.append(Ends(left.work.id, left.error))
            self._go(branch, left.step)
        elif isinstance(left, exits.Aborted):
            self._abort(branch, left)
        elif isinstance(left, exits.Uncaught):
            self._uncaught(branch, left)
        else:
            assert isinstance(left, exits.Interrupted)
            self._go(branch, left.step)

    def _put(self, branch: Branch, state: State) -> Branch:
        """A new state that takes an ordinal."""
        changed = Branch(branch.path, branch.ordinal + 1, state, branch.leaving)
        self.branches[branch.path] = changed
        return changed

    def _ask(self, branch: Branch, left: exits.Asked) -> None:
        context, held = left.s[3], None
        if context.jobs and self._lacks_place(branch, left):
            return
        if context.scopes:
            try:
                refused, held = self.timing.asked(left)
            except Fault as fault:
                self._go(branch, (raise_error, error_of(fault, left.span), left.k, left.s))
                return
            if refused is not None:
                self._break(branch, left, refused.scope, refused.error)
                return
        id = identity(branch.path, branch.ordinal)
        request = Request(id, left.operation, left.arguments, context.plain(), left.span)
        self.opened.append(request)
        self._put(branch, Waiting(request, left.k, left.s, held))
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
        segment = self.timing.entered(id, left)
        changed = evolve(branch, ordinal=branch.ordinal + 1)
        self._go(changed, (left.body, left.env, BOTTOM, segment))

    def _spawn(self, branch: Branch, left: exits.Spawned) -> None:
        if left.counts and self.spawned >= self.limits.subtasks:
            self._go(branch, (raise_error, too_many_subtasks(self.limits.subtasks), left.k, left.s))
            return
        self.spawned += left.counts
        work = None
        if left.s[3].work is not None:
            work = Work(f"w{self.begun}", left.kind, left.name, left.s[3].work)
            self.begun += 1
            self.told.append(Begins(work, branch.path))
        self._go(branch, (left.fn, (work, *left.data), left.k, left.s))

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
            self._limit(branch, too_many_branches(self.limits), left)
            return
        state = Forked(branch.ordinal, width, Map(), left.k, left.s, left.starts, 0, left.race)
        state = evolve(state, after=left.after) if left.after is not None else state
        first = range(min(width, left.limit)) if left.after is None else free(state, None)
        self._begin(self._put(branch, state), state, first)

    def _begin(self, branch: Branch, state: Forked, indexes: Sequence[int]) -> None:
        """Starts branches of a fork."""
        parent = Parent(state.s, len(branch.path) // 2, state.k)
        context = state.s[3]
        base = (BASE, BOTTOM, None, context, parent)
        for index in reversed(indexes):
            path = (*branch.path, state.fork, index)
            if context.work is not None:
                work = self._part(branch, state, path)
                base = (BASE, BOTTOM, None, context.doing(work), parent)
            step = (*start_of(state, index), BOTTOM, base)
            self.branches[path] = Branch(path, 0, Ready(step))
            self._ready.append(path)
        state = state.counted(state.values, len(indexes))
        self.branches[branch.path] = Branch(branch.path, branch.ordinal, state, branch.leaving)

    def _part(self, branch: Branch, state: Forked, path: Path) -> Work:
        """What traces show a branch of a fork as."""
        kind = "race" if state.race else "branch"
        before = () if state.after is None else state.after[path[-1]]
        after = tuple([branch_id((*path[:-1], each)) for each in before])
        work = Work(branch_id(path), kind, str(path[-1]), state.s[3].work, after)
        self.told.append(Begins(work, branch.path))
        return work

    def _end(self, branch: Branch, value: Value) -> None:
        """A branch is over: its value is its parent's, unless it was cancelled."""
        if not branch.path:
            self.ended, self.value = True, value
            return
        del self.branches[branch.path]
        parent = self.branches[branch.path[:-2]]
        state = parent.state
        assert isinstance(state, Forked)
        if state.s[3].work is not None:
            error = value.error if isinstance(value, exits.Lost) else None
            self.told.append(Ends(branch_id(branch.path), error, branch.leaving))
        values = state.values.set(branch.path[-1], value)
        state = state.counted(values, -1)
        parent = Branch(parent.path, parent.ordinal, state, parent.leaving)
        self.branches[parent.path] = parent
        if state.cut is not None:
            if state.alive == 0:
                self._go(parent, state.cut)
        elif state.race and not isinstance(value, exits.Lost):
            self._end_with(parent, (state.k[0], value, state.k, state.s))
        elif isinstance(value, exits.Settled) and value.ends:
            self._end_with(parent, (state.k[0], so_far(state), state.k, state.s))
        elif len(values) == state.width:
            self._join(parent, state)
        elif state.after is not None:
            self._begin(parent, state, free(state, branch.path[-1]))
        elif len(values) + state.alive < state.width:
            self._begin(parent, state, (len(values) + state.alive,))

    def _join(self, parent: Branch, state: Forked) -> None:
        values = tuple([state.values[at] for at in range(state.width)])
        if state.after is not None:
            self._go(parent, (state.k[0], so_far(state), state.k, state.s))
        elif state.race:
            self._go(parent, (raise_error, all_failed(values), state.k, state.s))
        else:
            self._go(parent, (state.k[0], values, state.k, state.s))


_DEEPEST = 2_000
"""How deep branches may stand in branches: each knows all around it."""

_LOOK = 17
"""Every how many steps (as a power of two) somebody looks how much the run holds."""

_STRETCH = 10
"""How many steps it takes about to take up a branch, and to leave it."""
