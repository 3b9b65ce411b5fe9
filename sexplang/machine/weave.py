"""Many branches to one outcome: the only scheduler, and pure.

A delivery (a reply, a failure, a cancellation) readies one branch; then everything runs until
every branch waits again. Branches start in the order of their index, and what happens is settled
in the order in which it happens, so an outcome follows from the order of the deliveries alone.

Cutting. An error or a clause that ends a handle expression around a fork cancels the fork's
branches: each leaves its scopes, and may wait while it does. When the last one has ended, the
branch that forked leaves its own segments down to that expression. What tries to leave a branch
that is being cancelled stops there, and the branch goes on leaving.
"""

from typing import Any

from attrs import evolve
from immutables import Map, MapMutation

from sexplang.machine import stack
from sexplang.machine.branch import (
    Branch,
    Cut,
    Forked,
    Path,
    Ready,
    State,
    Waiting,
    identity,
)
from sexplang.machine.leaving import abandon, abandon_all, capture, environment, finish
from sexplang.machine.loop import Limits, run
from sexplang.machine.stack import BASE, BOTTOM, Exit, Parent
from sexplang.terms.effect import Request
from sexplang.terms.value import Record, Value


class Turn:
    """One delivery at work: the branches are changed here and nowhere else."""

    def __init__(
        self, branches: Map[Path, Branch], failing: Record | None, used: int, count: int
    ) -> None:
        self.branches: MapMutation[Path, Branch] = branches.mutate()
        self.failing = failing
        """The error that ends the run, once the root has left its scopes."""
        self.used = used
        self.count = count
        """How many requests were open before."""
        self.value: Value = None
        self.ended = False
        self.broken: Record | None = None
        self.opened: list[Request] = []
        self.withdrawn: list[str] = []
        self._ready: list[Path] = []

    def ready(self, branch: Branch, step: Any) -> None:
        """The branch goes on with `step` before any that became ready earlier."""
        self.branches[branch.path] = Branch(
            branch.path, branch.ordinal, Ready(step), branch.leaving
        )
        self._ready.append(branch.path)

    def settle(self, limits: Limits) -> None:
        """Runs until every branch waits, or the program has ended."""
        while self._ready and not self.ended:
            branch = self.branches.get(self._ready.pop())
            if branch is None or not isinstance(branch.state, Ready):
                continue
            left, self.used = run(branch.state.step, limits, self.used)
            self._settle(branch, left)

    def cancel(self, error: Record) -> None:
        """The whole program is abandoned and fails with `error`."""
        self._fail(error)

    def open_ids(self) -> tuple[str, ...]:
        """The requests that are still open, where the run ends without leaving them."""
        states = [branch.state for branch in self.branches.finish().values()]
        waiting = [state.request.id for state in states if isinstance(state, Waiting)]
        return (*self.withdrawn, *sorted(waiting))

    # -- What a branch does when the loop is left ---------------------------------------------

    def _settle(self, branch: Branch, left: Exit) -> None:
        if isinstance(left, stack.Ended):
            self._end(branch, left.value)
        elif isinstance(left, stack.Asked):
            request = left.request(identity(branch.path, branch.ordinal))
            self.opened.append(request)
            self._put(branch, Waiting(request, left.k, left.s))
        elif isinstance(left, stack.Forked):
            self._fork(branch, left)
        elif isinstance(left, stack.Aborted):
            self._abort(branch, left)
        elif isinstance(left, stack.Uncaught):
            self._uncaught(branch, left)
        else:
            assert isinstance(left, stack.Broken)
            self.broken, self.ended = left.error, True

    def _put(self, branch: Branch, state: State) -> Branch:
        """A new state that takes an ordinal."""
        changed = Branch(branch.path, branch.ordinal + 1, state, branch.leaving)
        self.branches[branch.path] = changed
        return changed

    def _fork(self, branch: Branch, left: stack.Forked) -> None:
        width = len(left.starts)
        fork = branch.ordinal
        self._put(branch, Forked(fork, width, Map(), left.k, left.s))
        parent = Parent(left.s, len(branch.path) // 2)
        base = (BASE, BOTTOM, None, left.s[3], parent)
        for index in reversed(range(width)):
            step = (*left.starts[index], BOTTOM, base)
            self.ready(Branch((*branch.path, fork, index), 0, Ready(step)), step)

    def _end(self, branch: Branch, value: Value) -> None:
        """A branch is over: its value is its parent's, unless it was cancelled."""
        if not branch.path:
            self.ended, self.value = True, value
            return
        del self.branches[branch.path]
        fork, index = branch.path[-2:]
        parent = self.branches[branch.path[:-2]]
        state = parent.state
        assert isinstance(state, Forked) and state.fork == fork
        state = evolve(state, values=state.values.set(index, value))
        if len(state.values) < state.width:
            self.branches[parent.path] = evolve(parent, state=state)
        elif state.cut is not None:
            self._leave(evolve(parent, state=state), state.cut)
        else:
            values = tuple([state.values[at] for at in range(state.width)])
            self.ready(parent, (state.k[0], values, state.k, state.s))

    # -- Cutting --------------------------------------------------------------------------------

    def _uncaught(self, branch: Branch, left: stack.Uncaught) -> None:
        if not self._stop(branch, 0, left):
            self._stand(branch, left)
            self._fail(left.error)

    def _abort(self, branch: Branch, left: stack.Aborted) -> None:
        if not self._stop(branch, left.level + 1, left):
            target = self.branches[branch.path[: 2 * left.level]]
            self._stand(branch, left)
            self._cut(target, Cut(left.node, left.then))

    def _stop(self, branch: Branch, level: int, left: Any) -> bool:
        """Whether something that is leaving branches down to `level` stops on its way, at one
        that is being cancelled; that one goes on leaving."""
        for depth in range(len(branch.path) // 2, level - 1, -1):
            stopped = self.branches[branch.path[: 2 * depth]]
            if stopped.leaving:
                self._stand(branch, left)
                self._cut(self.branches[stopped.path], Cut(None, None))
                return True
        return False

    def _stand(self, branch: Branch, left: Any) -> None:
        """The branch stands where it was left, to be cancelled like the others."""
        step = (BOTTOM[0], None, left.k, left.s)
        self.branches[branch.path] = evolve(branch, state=Ready(step))

    def _fail(self, error: Record) -> None:
        """The program fails with its first error, once everything has been left."""
        self.failing = error
        root = evolve(self.branches[()], leaving=True)
        self.branches[()] = root
        self._cut(root, Cut(None, None))

    def _cut(self, branch: Branch, cut: Cut) -> None:
        """Cancels the branches of a fork, and leaves the segments above the cut's node."""
        state = branch.state
        if not isinstance(state, Forked):
            self._leave(branch, cut)
            return
        self.branches[branch.path] = evolve(branch, state=evolve(state, cut=cut))
        if state.cut is None:
            for child in reversed(self._cancelled(branch.path, state)):
                self._leave(child, Cut(None, None))

    def _cancelled(self, path: Path, state: Forked) -> list[Branch]:
        """Marks all branches below a fork; those that stand somewhere, in order."""
        standing = []
        work = _children(path, state)
        while work:
            child = self.branches.get(work.pop())
            if child is None or child.leaving:
                continue
            child = evolve(child, leaving=True)
            if isinstance(child.state, Forked):
                work.extend(_children(child.path, child.state))
                child = evolve(child, state=evolve(child.state, cut=Cut(None, None)))
            else:
                standing.append(child)
            self.branches[child.path] = child
        return standing

    def _leave(self, branch: Branch, cut: Cut) -> None:
        """The branch leaves what is above the cut's node and does what is then to be done."""
        state = branch.state
        if isinstance(state, Waiting):
            self.withdrawn.append(state.request.id)
        k, s = state.step[2:] if isinstance(state, Ready) else (state.k, state.s)
        node = cut.node
        if node is None:
            self.ready(branch, abandon_all(k, s))
            return
        continuation = capture(k, s, node)
        if continuation.cleanup:
            self.ready(branch, abandon(continuation, node[1], node[2], cut.then))
        else:
            self.ready(branch, finish(cut.then, environment(node), node[1], node[2]))


def _children(path: Path, state: Forked) -> list[Path]:
    """The places of a fork's branches, last first."""
    return [(*path, state.fork, index) for index in range(state.width - 1, -1, -1)]
