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
    Branch,
    Forked,
    Path,
    Queued,
    Ready,
    State,
    Waiting,
    Weave,
    identity,
)
from sexplang.machine.budgets import Meter
from sexplang.machine.graphs import with_finished
from sexplang.machine.leaving import (
    abandon,
    abandon_all,
    base_of,
    capture,
    cut_short,
    environment,
    finish,
    raise_error,
)
from sexplang.machine.loop import Limits
from sexplang.machine.places import Placing
from sexplang.machine.stack import BOTTOM, Ctx, Frame, Segment, Step
from sexplang.machine.timing import Timing, form_of
from sexplang.terms.effect import Request
from sexplang.terms.task import error_record
from sexplang.terms.value import Record, Value
from sexplang.terms.work import Begins, Ends


class Cutting:
    """The branches of one delivery, and how they are cut short."""

    ended = False
    broken: Record | None = None
    value: Value = None

    def __init__(self, weave: Weave, limits: Limits, meter: Meter) -> None:
        self.weave = weave
        self.limits = limits
        self.branches = weave.branches.mutate()
        self.timing = Timing(weave, meter)
        self.placed: Placing | None = None
        self.failing = weave.failing
        self.steps = weave.steps
        self.spawned = weave.spawned
        self.planned = weave.planned
        self.begun = weave.begun
        self.opened: list[Request] = []
        self.withdrawn: list[str] = []
        self.told: list[Begins | Ends] = []
        self._ready: list[Path] = []

    @property
    def placing(self) -> Placing:
        """The places, once a job is concerned: then somebody may get one in the end."""
        if self.placed is None:
            self.placed = Placing(self.weave.places, self.limits.places)
        return self.placed

    def cancel(self, error: Record | None = None) -> None:
        """The whole program is abandoned and fails with `error`, by default reason `cancelled`.
        What is ending already goes on with that, at the root as in a branch."""
        if not self.branches[()].leaving:
            words = "the run was cancelled"
            self._fail(error or error_record("TASK_FAILURE", "cancelled", words))

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
            self._stand(branch, left)
            self._cut(self.branches[branch.path[: 2 * left.level]], left.node, left.then)

    def _break(self, branch: Branch, left: Any, scope: str, error: Record) -> None:
        """A scope breaks: at its form if that is on the branch's stack, else at the request."""
        self._stand(branch, left)
        branch = self.branches[branch.path]
        node, level = form_of(scope, left.s, len(branch.path) // 2)
        if node is None:
            self._go(branch, (raise_error, error, left.k, left.s))
            return
        error = cut_short(error, left.s, node)
        target = self.branches[branch.path[: 2 * level]]
        if target is not branch:
            node, _ = form_of(scope, place(target.state)[1], level)
        self._cut(target, node, ("error", with_finished(error, target.state)), scope)

    def _stop(self, branch: Branch, level: int, left: Any) -> bool:
        """Whether something that is leaving branches down to `level` stops on its way, at one
        that is being cancelled; that one goes on leaving."""
        for depth in range(len(branch.path) // 2, level - 1, -1):
            stopped = self.branches[branch.path[: 2 * depth]]
            if stopped.leaving:
                self._stand(branch, left)
                self._cut(self.branches[stopped.path], None, None)
                return True
        return False

    def _stand(self, branch: Branch, left: Any) -> None:
        """The branch stands where it was left, to be cancelled like the others."""
        self._withdraw(branch.state)
        step = (BOTTOM[0], None, left.k, left.s)
        self.branches[branch.path] = evolve(branch, state=Ready(step))

    def _withdraw(self, state: State) -> None:
        """What the branch waited for, if it did, it does not wait for any more."""
        if isinstance(state, Waiting):
            self.withdrawn.append(state.request.id)
            self.timing.withdrawn(state)
            if state.s[3].jobs:
                self.placing.count(state.s[3].jobs, -1)
        elif isinstance(state, Queued):
            self.timing.count(state.s[3].scopes, -1)

    def _fail(self, error: Record) -> None:
        """The program fails with its first error, once everything has been left."""
        self.failing = error
        root = evolve(self.branches[()], leaving=True)
        self.branches[()] = root
        self._cut(root, None, None)

    def _cut(self, branch: Branch, node: Segment, then: Any, scope: str | None = None) -> None:
        """Leaves what is above `node` (None: all that the branch has), and then does `then`."""
        branch, step = self._leaving(branch, node, then, scope, scope is not None)
        self._end_with(branch, step, scope)

    def _end_with(self, branch: Branch, step: Step, scope: str | None = None) -> None:
        """The branch goes on with `step` when its own branches, if it has any, have been
        cancelled. Those that are cleaning up already go on with that, unless a scope broke."""
        state = branch.state
        if not isinstance(state, Forked) or state.alive == 0:
            self._go(branch, step)
            return
        self.branches[branch.path] = evolve(branch, state=evolve(state, cut=step))
        if state.cut is None or scope is not None:
            for child, left in reversed(self._cancelled(branch.path, state, scope)):
                self._go(child, left)

    def _cancelled(self, path: Path, state: Forked, scope: str | None) -> list[tuple[Branch, Step]]:
        """Marks all branches below a fork. Gives those that stand somewhere, in order, and how
        each leaves its scopes."""
        standing = []
        work = children(path, state)
        while work:
            child = self.branches.get(work.pop())
            if child is None or (child.leaving and scope is None):
                continue
            child, step = self._leaving(child, None, None, scope, not child.leaving)
            child = evolve(child, leaving=True)
            if isinstance(child.state, Forked):
                work.extend(children(child.path, child.state))
                child = evolve(child, state=evolve(child.state, cut=step))
            else:
                standing.append((child, step))
            self.branches[child.path] = child
        return standing

    def _leaving(
        self, branch: Branch, node: Segment, then: Any, broken: str | None, graceful: bool
    ) -> tuple[Branch, Step]:
        """The step that leaves what is above `node` and then does `then`. What cleans up does so
        without the scope that broke; where others go on meanwhile, it needs no place and has a
        time of grace: a deadline without a form."""
        self._withdraw(branch.state)
        k, s = place(branch.state)
        continuation = capture(k, s, node)
        around: Ctx = (base_of(s) if node is None else node[2])[3]
        # While a fork's branches clean up, the scopes and handlers around it are still there.
        stays = continuation.cleanup or isinstance(branch.state, Forked)
        if stays and broken is not None:
            around = around.sparing(broken)
        if stays and graceful:
            id = identity(branch.path, branch.ordinal)
            self.timing.grace(id)
            branch = evolve(branch, ordinal=branch.ordinal + 1)
            around = evolve(around.within(id), jobs=None)
        if node is None:
            return branch, abandon_all(k, s, around)
        if stays:
            return branch, abandon(continuation, node[1], node[2], then, around)
        return branch, finish(then, environment(node), node[1], node[2])


def place(state: State) -> tuple[Frame, Segment]:
    """Where a branch stands, or will stand when its own branches have been cancelled."""
    if isinstance(state, (Ready, Queued)):
        return state.step[2], state.step[3]
    if isinstance(state, Forked) and state.cut is not None:
        return state.cut[2], state.cut[3]
    return state.k, state.s


def children(path: Path, state: Forked) -> list[Path]:
    """The places of a fork's branches, last first."""
    return [(*path, state.fork, index) for index in range(state.width - 1, -1, -1)]
