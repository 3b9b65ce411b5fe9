"""What ends branches before their time: errors, clauses, broken scopes, cancellation.

An error or a clause that ends an expression around a fork cancels the fork's branches: each
leaves its scopes, and may wait while it does. When the last one has ended, the branch that forked
leaves its own segments down to that expression. What tries to leave a branch that is being
cancelled stops there, and the branch goes on leaving.
"""

from typing import Any

from attrs import evolve

from sexplang.machine import exits
from sexplang.machine.branch import (
    HERE,
    Branch,
    Cut,
    Forked,
    Path,
    Ready,
    Waiting,
    Weave,
    identity,
)
from sexplang.machine.leaving import (
    Amend,
    abandon,
    abandon_all,
    capture,
    environment,
    finish,
    raise_error,
)
from sexplang.machine.scopes import Meter
from sexplang.machine.stack import BOTTOM, Ctx
from sexplang.machine.timing import Timing, form_of
from sexplang.terms.value import Record


class Cutting:
    """The branches of one delivery, and how they are cut short."""

    def __init__(self, weave: Weave, meter: Meter) -> None:
        self.branches = weave.branches.mutate()
        self.timing = Timing(weave, meter)
        self.failing = weave.failing
        self.withdrawn: list[str] = []
        self._ready: list[Path] = []

    def cancel(self, error: Record) -> None:
        """The whole program is abandoned and fails with `error`."""
        self._fail(error)

    def _go(self, branch: Branch, step: Any) -> None:
        """The branch goes on with `step` before any that became ready earlier."""
        self.branches[branch.path] = Branch(
            branch.path, branch.ordinal, Ready(step), branch.leaving
        )
        self._ready.append(branch.path)

    def _uncaught(self, branch: Branch, left: exits.Uncaught) -> None:
        if not self._stop(branch, 0, left):
            self._stand(branch, left)
            self._fail(left.error)

    def _abort(self, branch: Branch, left: exits.Aborted) -> None:
        if not self._stop(branch, left.level + 1, left):
            target = self.branches[branch.path[: 2 * left.level]]
            self._stand(branch, left)
            self._cut(target, Cut(left.node, left.then))

    def _break(self, branch: Branch, left: Any, scope: str, error: Record) -> None:
        """A scope breaks: at its form if that is on the branch's stack, else at the request."""
        self._stand(branch, left)
        branch = self.branches[branch.path]
        node, level = form_of(scope, left.s, len(branch.path) // 2)
        if node is None:
            self._go(branch, (raise_error, error, left.k, left.s))
            return
        target = self.branches[branch.path[: 2 * level]]
        self._cut(target, Cut(node, ("error", error), scope))

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
        if isinstance(branch.state, Waiting):
            self._withdraw(branch.state)
        step = (BOTTOM[0], None, left.k, left.s)
        self.branches[branch.path] = evolve(branch, state=Ready(step))

    def _withdraw(self, state: Waiting) -> None:
        self.withdrawn.append(state.request.id)
        self.timing.withdrawn(state)

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
        if state.cut is None or _is_outer(cut, state):
            branch = evolve(branch, state=evolve(state, cut=cut))
            self.branches[branch.path] = branch
        if state.cut is not None and cut.scope is None:
            return
        for child in reversed(self._cancelled(branch.path, state, cut.scope is not None)):
            self._leave(child, Cut(None, None, cut.scope))
        if state.alive == 0:
            self._leave(branch, cut)

    def _cancelled(self, path: Path, state: Forked, again: bool) -> list[Branch]:
        """Marks all branches below a fork; those that stand somewhere, in order. `again` takes
        those too that are cleaning up."""
        standing = []
        work = _children(path, state)
        while work:
            child = self.branches.get(work.pop())
            if child is None or (child.leaving and not again):
                continue
            if isinstance(child.state, Forked):
                work.extend(_children(child.path, child.state))
                cut = Cut(None, None)
                child = evolve(child, leaving=True, state=evolve(child.state, cut=cut))
            else:
                child = evolve(child, leaving=True)
                standing.append(child)
            self.branches[child.path] = child
        return standing

    def _leave(self, branch: Branch, cut: Cut) -> None:
        """The branch leaves what is above the cut's node and does what is then to be done."""
        state = branch.state
        if isinstance(state, Waiting):
            self._withdraw(state)
        k, s = state.step[2:] if isinstance(state, Ready) else (state.k, state.s)
        node = cut.node
        if node is HERE:
            self._go(branch, finish(cut.then, (), k, s))
            return
        continuation = capture(k, s, node)
        amend = None
        if continuation.cleanup and (cut.scope is not None or (branch.leaving and branch.path)):
            branch, amend = self._graceful(branch, cut.scope)
        if node is None:
            self._go(branch, abandon_all(k, s, amend))
        elif continuation.cleanup:
            self._go(branch, abandon(continuation, node[1], node[2], cut.then, amend))
        else:
            self._go(branch, finish(cut.then, environment(node), node[1], node[2]))

    def _graceful(self, branch: Branch, broken: str | None) -> tuple[Branch, Amend]:
        """What cleans up after others have gone on has a time of grace: a deadline of its own,
        in place of the scope that broke."""
        id = identity(branch.path, branch.ordinal)
        self.timing.grace(id)

        def amend(context: Ctx) -> Ctx:
            scopes = [scope for scope in context.scopes if scope != broken]
            return context.within((*scopes, id))

        return evolve(branch, ordinal=branch.ordinal + 1), amend


def _children(path: Path, state: Forked) -> list[Path]:
    """The places of a fork's branches, last first."""
    return [(*path, state.fork, index) for index in range(state.width - 1, -1, -1)]


def _is_outer(cut: Cut, state: Forked) -> bool:
    """Whether the cut ends an expression further out than the one that is ending already."""
    assert state.cut is not None
    if state.cut.node is None or cut.node is None:
        return state.cut.node is not None
    node = state.s
    while node is not None and node is not cut.node:
        if node is state.cut.node:
            return True
        node = node[2]
    return state.cut.node is HERE and node is not None
