"""Many branches to one outcome: the only scheduler, and pure.

A delivery (a reply, a failure, a timer, a cancellation) readies a branch; then everything runs
until every branch waits again. Branches start in the order of their index, and what happens is
settled in the order in which it happens, so an outcome follows from the order of the deliveries
alone.
"""

from typing import Any

from attrs import evolve
from immutables import Map

from sexplang.machine import exits
from sexplang.machine.branch import (
    Branch,
    Forked,
    Ready,
    State,
    Waiting,
    Weave,
    identity,
)
from sexplang.machine.cutting import Cutting
from sexplang.machine.leaving import raise_error
from sexplang.machine.loop import (
    STOPPED,
    Limits,
    look,
    run,
    too_many_branches,
    too_many_scopes,
)
from sexplang.machine.scopes import Meter
from sexplang.machine.stack import BASE, BOTTOM, Ended, Exit, Parent
from sexplang.terms.effect import Request
from sexplang.terms.task import error_of, error_record
from sexplang.terms.value import Fault, Record, Value


class Turn(Cutting):
    """One delivery at work: the branches are changed here and nowhere else."""

    def __init__(self, weave: Weave, limits: Limits, meter: Meter) -> None:
        super().__init__(weave, meter)
        self.weave = weave
        self.limits = limits
        self.steps = weave.steps
        self.spawned = weave.spawned
        self.value: Value = None
        self.ended = False
        self.broken: Record | None = None
        self.opened: list[Request] = []

    # -- Deliveries -----------------------------------------------------------------------------

    def start(self, step: Any) -> None:
        """The root begins."""
        self._go(Branch((), 0, Ready(step)), step)

    def answer(self, branch: Branch, state: Waiting, step: Any, reply: Value) -> None:
        """A branch goes on with the reply to its request; None where the request failed."""
        self.timing.answered(state, reply)
        self._go(branch, step)

    def fire(self, id: str) -> None:
        """A deadline has passed: every branch that waits under it is ended there."""
        error = self.timing.fired(id)
        waiting = [
            branch
            for branch in self.weave.branches.values()
            if isinstance(branch.state, Waiting) and id in branch.state.s[3].scopes
        ]
        for branch in sorted(waiting, key=lambda branch: branch.path):
            now = self.branches.get(branch.path)
            if self.ended:
                break
            if now is not None and now.state is branch.state:
                assert isinstance(branch.state, Waiting)
                self._break(branch, branch.state, id, error)
                self.settle()

    def settle(self) -> None:
        """Runs until every branch waits, or the program has ended."""
        is_stopped = STOPPED.get()
        while self._ready and not self.ended:
            if is_stopped():
                self.cancel()
            branch = self.branches.get(self._ready.pop())
            if branch is not None and isinstance(branch.state, Ready):
                before = self.steps
                left, self.steps = run(branch.state.step, self.limits, before)
                if before >> _LOOK != self.steps >> _LOOK:
                    left = look(self.limits) or left
                self._settle(branch, left)

    def open_ids(self) -> list[str]:
        """The requests that are still open, where the run ends without leaving them."""
        states = [branch.state for branch in self.branches.finish().values()]
        return [state.request.id for state in states if isinstance(state, Waiting)]

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
        elif isinstance(left, exits.Spawned):
            self._spawn(branch, left)
        elif isinstance(left, exits.Aborted):
            self._abort(branch, left)
        elif isinstance(left, exits.Uncaught):
            self._uncaught(branch, left)
        elif isinstance(left, exits.Interrupted):
            self._go(branch, left.step)
        else:
            assert isinstance(left, exits.Broken)
            self.broken, self.ended = left.error, True

    def _put(self, branch: Branch, state: State) -> Branch:
        """A new state that takes an ordinal."""
        changed = Branch(branch.path, branch.ordinal + 1, state, branch.leaving)
        self.branches[branch.path] = changed
        return changed

    def _ask(self, branch: Branch, left: exits.Asked) -> None:
        try:
            refused, held = self.timing.asked(left)
        except Fault as fault:
            self._go(branch, (raise_error, error_of(fault, left.span), left.k, left.s))
            return
        if refused is not None:
            self._break(branch, left, refused.scope, refused.error)
            return
        request = left.request(identity(branch.path, branch.ordinal))
        self.opened.append(request)
        self._put(branch, Waiting(request, left.k, left.s, held))

    def _enter(self, branch: Branch, left: exits.Entered) -> None:
        if len(left.s[3].scopes) >= _DEEPEST:
            self.broken, self.ended = too_many_scopes(_DEEPEST), True
            return
        id = identity(branch.path, branch.ordinal)
        segment = self.timing.entered(id, left)
        changed = evolve(branch, ordinal=branch.ordinal + 1)
        self._go(changed, (left.body, left.env, BOTTOM, segment))

    def _spawn(self, branch: Branch, left: exits.Spawned) -> None:
        if self.spawned >= self.limits.subtasks:
            self._go(branch, (raise_error, _too_many(self.limits.subtasks), left.k, left.s))
        else:
            self.spawned += 1
            self._go(branch, left.step)

    def _fork(self, branch: Branch, left: exits.Forked) -> None:
        width = len(left.starts)
        deep = len(branch.path) // 2 >= _DEEPEST
        if deep or len(self.branches) + min(width, left.limit) > self.limits.branches:
            self.broken, self.ended = too_many_branches(self.limits), True
            return
        state = Forked(branch.ordinal, width, Map(), left.k, left.s, left.starts, 0, left.race)
        forked = self._put(branch, state)
        for index in reversed(range(min(width, left.limit))):
            forked = self._begin(forked, index)

    def _begin(self, branch: Branch, index: int) -> Branch:
        """Starts a branch of a fork."""
        state = branch.state
        assert isinstance(state, Forked)
        parent = Parent(state.s, len(branch.path) // 2)
        base = (BASE, BOTTOM, None, state.s[3], parent)
        step = (*state.starts[index], BOTTOM, base)
        changed = evolve(branch, state=evolve(state, alive=state.alive + 1))
        self.branches[branch.path] = changed
        self._go(Branch((*branch.path, state.fork, index), 0, Ready(step)), step)
        return changed

    def _end(self, branch: Branch, value: Value) -> None:
        """A branch is over: its value is its parent's, unless it was cancelled."""
        if not branch.path:
            self.ended, self.value = True, value
            return
        del self.branches[branch.path]
        parent = self.branches[branch.path[:-2]]
        state = parent.state
        assert isinstance(state, Forked)
        values = state.values.set(branch.path[-1], value)
        state = evolve(state, values=values, alive=state.alive - 1)
        parent = evolve(parent, state=state)
        self.branches[parent.path] = parent
        if state.cut is not None:
            if state.alive == 0:
                self._go(parent, state.cut)
        elif state.race and not isinstance(value, exits.Lost):
            self._end_with(parent, (state.k[0], value, state.k, state.s))
        elif len(values) == state.width:
            self._join(parent, state)
        elif len(values) + state.alive < state.width:
            self._begin(parent, len(values) + state.alive)

    def _join(self, parent: Branch, state: Forked) -> None:
        values = tuple([state.values[at] for at in range(state.width)])
        if state.race:
            self._go(parent, (raise_error, _all_failed(values), state.k, state.s))
        else:
            self._go(parent, (state.k[0], values, state.k, state.s))


_DEEPEST = 2_000
"""How deep branches may stand in branches, and deadlines in deadlines: each knows all around it."""

_LOOK = 17
"""Every how many steps (as a power of two) somebody looks how much the run holds."""


def _too_many(most: int) -> Record:
    return error_record(
        "TASK_FAILURE",
        "execution_halted",
        f"a run may begin at most {most} subtasks",
        details={"limit_kind": "subtasks", "limit": most},
    )


def _all_failed(values: tuple[Value, ...]) -> Record:
    errors = tuple([lost.error for lost in values])
    words = "; ".join(str(error.fields["message"]) for error in errors[:3])
    return error_record(
        "TASK_FAILURE",
        "all-failed",
        f"every branch of the race failed: {words}",
        details={"errors": errors},
    )
