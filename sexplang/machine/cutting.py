"""What ends branches before their time: errors, clauses, broken scopes, cancellation.

An error or a clause that ends an expression around a fork cancels the fork's branches: each
leaves its scopes, and may wait while it does. When the last one has ended, the branch that forked
leaves its own segments down to that expression. What tries to leave a branch that is being
cancelled stops there, and the branch goes on leaving.
"""

from typing import Any

from sexplang.machine import exits
from sexplang.machine.bound import with_bound
from sexplang.machine.branch import (
    Branch,
    Forked,
    Path,
    Queued,
    Ready,
    Waiting,
    Weave,
    children,
    identity,
    place,
    refusals,
)
from sexplang.machine.budgets import Meter, Refused
from sexplang.machine.converse import conversations
from sexplang.machine.graphs import is_graph, so_far, with_finished
from sexplang.machine.had import Had, ended, had_of
from sexplang.machine.leaving import (
    abandon,
    abandon_all,
    base_of,
    capture,
    environment,
    finish,
    raise_error,
)
from sexplang.machine.loop import Limits
from sexplang.machine.places import Placing
from sexplang.machine.slicing import Pause, Slice, Slicing
from sexplang.machine.stack import BOTTOM, Ctx, Segment, Step
from sexplang.machine.stood import Stood
from sexplang.machine.telling import tell_now, telling
from sexplang.machine.timing import Timing, form_of, is_cleaning, pending
from sexplang.terms.effect import UNMADE, Part, Request, SoFar, known, unknown
from sexplang.terms.node import evolve
from sexplang.terms.task import cut_off, error_record, with_part
from sexplang.terms.value import Record, Value
from sexplang.terms.work import Begins, Ends


class Cutting:
    """The branches of one delivery, and how they are cut short."""

    ended = False
    broken: Record | None = None
    stood: Stood | None = None
    """Where the program failed."""
    value: Value = None
    timed: Timing | None = None
    placed: Placing | None = None
    slice: Slice | None = None
    """How far it computes at a time, if it is not as far as it can."""
    sliced: Slicing | None = None
    pause: Pause | None = None
    """Where a slice is over."""
    midway: Pause | None = None
    """Where the one before was over."""

    def __init__(self, weave: Weave, limits: Limits, meter: Meter, so_far: SoFar = unknown) -> None:
        self.weave = weave
        self.limits = limits
        self.meter = meter
        self.so_far = so_far
        self.branches = weave.branches.mutate()
        self.failing = weave.failing
        self.steps = weave.steps
        self.requested = weave.requested
        self.called = weave.called
        self.planned = weave.planned
        self.begun = weave.begun
        self.opened: list[Request] = []
        self.withdrawn: list[str] = []
        self.told: list[Begins | Ends] = []
        self._taken: dict[Path, tuple[int, int]] = {}
        self._ready: list[Path] = []
        self._expired: list[tuple[Branch, str, Record]] = []

    def go_on(self, pause: Pause) -> None:
        """A slice was over there."""
        self.midway, self._taken = pause, pause.taken
        self._ready, self._expired = [*pause.ready], [*pause.expired]
        if pause.touched is not None:
            self.placing.touch(pause.touched)

    @property
    def timing(self) -> Timing:
        """The deadlines and budgets, once one of them is concerned."""
        if self.timed is None:
            self.timed = Timing(self.weave.times, self.meter)
        return self.timed

    @property
    def slicing(self) -> Slicing | None:
        """The slice, once a deadline or a budget is concerned."""
        if self.sliced is None and self.slice is not None:
            self.sliced = Slicing(self.slice, self.steps, self._taken)
        return self.sliced

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
            self._fail(self.cancelled(error))

    def cancelled(self, error: Record | None = None) -> Record:
        """The error of a program that is abandoned, with all that it had by then."""
        words = "the run was cancelled"
        error = error or error_record("TASK_FAILURE", "cancelled", words)
        return self._telling_all(error)

    def _go(self, branch: Branch, step: Any) -> None:
        """The branch goes on with `step` before any that became ready earlier."""
        self.branches[branch.path] = Ready(branch.path, branch.ordinal, branch.leaving, step)
        self._ready.append(branch.path)

    def _uncaught(self, branch: Branch, left: exits.Uncaught) -> None:
        if not self._stop(branch, 0, left):
            self._stand(branch, left)
            self._fail(self._telling(left.error, self.branches[()], None))
            self.stood = left.stood

    def _abort(self, branch: Branch, left: exits.Aborted) -> None:
        if not self._stop(branch, left.level + 1, left):
            self._stand(branch, left)
            target, then = self.branches[branch.path[: 2 * left.level]], left.then
            if then[0] == "clause" and then[1] in left.node[0].clauses.get("error", ()):
                error, *others = then[2]
                then = (*then[:2], (self._telling(error, target, left.node), *others))
            self._cut(target, left.node, then)

    def _break(self, branch: Branch, left: Any, scope: str, error: Record) -> None:
        """A scope breaks: at its form if that is on the branch's stack, else at the request."""
        part = self._stand(branch, left)
        error = error if part is None else cut_off(error, part)
        branch = self.branches[branch.path]
        node, level = form_of(scope, left.s, len(branch.path) // 2)
        if node is None:
            # What cleans up takes the place of what was cut, and tells what that had got.
            before = pending(left.s)
            error = error if before is None else with_part(error, before)
            self._go(branch, (raise_error, error, left.k, left.s))
            return
        told, form = conversations(left.s, node), node
        target, each = self.branches[branch.path[: 2 * level]], {}
        if isinstance(target, Forked):
            node, _ = form_of(scope, place(target)[1], level)
            each = self._each(target, {branch.path: part})
            if is_graph(target):
                error = with_finished(error, so_far(target, ended(target, each)))
        had = had_of(target, node, each.values()).beside(part)
        error = had.telling(with_bound(error, left.k, left.s, form), left.s, told)
        self._cut(target, node, telling(error, place(target)[1], node), scope)

    def _refuse(self, branch: Branch, left: Any, refused: Refused) -> None:
        """A scope has no time or no room for a request: it breaks. In a `finally` inside of it, and
        in what cleans up when it has broken, a refusal of money is an error of the request."""
        scope = refused.scope
        if scope in left.s[3].spared or (
            not self.timing.accounts[scope].fired and is_cleaning(left.s, scope)
        ):
            error = refused.error
            if error.fields["span"] is None and left.span is not None:
                error = Record(error.kind, {**error.fields, "span": left.span.plain()})
            self._go(branch, (raise_error, error, left.k, left.s))
        else:
            self._break(branch, left, scope, refused.error)

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

    def _stand(self, branch: Branch, left: Any) -> Part | None:
        """The branch stands where it was left, to be cancelled like the others. Gives what a model
        call had got by then."""
        part = self._withdraw(branch)
        step = (BOTTOM[0], None, left.k, left.s)
        self.branches[branch.path] = Ready(branch.path, branch.ordinal, branch.leaving, step)
        return part

    def _withdraw(self, branch: Branch) -> Part | None:
        """What the branch waited for, if it did, it does not wait for any more."""
        if isinstance(branch, Waiting):
            self.withdrawn.append(branch.request.id)
            part = self._taken_back(branch)
            if branch.s[3].jobs:
                self.placing.count(branch.s[3].jobs, -1)
            return part
        if isinstance(branch, Queued) and branch.s[3].scopes:
            self.timing.count(branch.s[3].scopes, -1)
        return None

    def _taken_back(self, branch: Waiting) -> Part | None:
        """Nobody wants the reply to a request any more: what a model call had got by then. One
        that this delivery had asked for was never made."""
        request, part = branch.request, None
        if request.operation == "model":
            before = self.weave.branches.get(branch.path)
            is_open = isinstance(before, Waiting) and before.request is request
            part = known(self.so_far, request.id) if is_open else UNMADE
        self.timing.withdrawn(branch, part)
        return part

    def _had(self, graph: Forked) -> dict[int, Record]:
        """What the nodes of a graph that are about to be cancelled have said and taken, where
        there are conversations in them: the errors that these end with, by index."""
        return ended(graph, self._each(graph, {}))

    def _each(self, fork: Forked, known: dict[Path, Part | None]) -> dict[int, Had]:
        """What the branches of a fork have come to that are about to be cancelled, by index. Those
        that stand already had what is `known`."""
        paths = [path for path in reversed(children(fork)) if path in self.branches]
        there = [self.branches[path] for path in paths]
        return {each.path[-1]: self._below(each, None, known) for each in there if not each.leaving}

    def _below(self, branch: Branch, node: Segment, known: dict[Path, Part | None]) -> Had:
        """What a branch has come to down to `node`, with all inside of it, before it is left."""
        found: list[tuple[Branch, Part | None]] = []
        work = [branch.path]
        while work:
            each = self.branches.get(work.pop())
            if each is None or (each.leaving and each is not branch):
                continue
            if isinstance(each, Forked):
                work.extend(children(each))
            is_asked = isinstance(each, Waiting)
            found.append((each, self._stand(each, each) if is_asked else known.get(each.path)))
        inside: dict[Path, list[Had]] = {}
        for each, part in reversed(found):
            had = had_of(
                each, node if each is branch else None, inside.pop(each.path, ())[::-1], part
            )
            inside.setdefault(each.path[:-2], []).append(had)
        return had

    def _telling(self, error: Record, branch: Branch, node: Segment) -> Record:
        """An error that leaves a branch down to `node`, with what is cut off."""
        return self._below(branch, node, {}).telling(error, place(branch)[1])

    def _telling_all(self, error: Record) -> Record:
        """An error that ends the run from outside, with all that the program had by then."""
        root = self.branches[()]
        k, s = place(root)
        if s[3].linked.tasks is None:
            return error
        return tell_now(self._telling(with_bound(error, k, s), root, None), s)

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
        if not isinstance(branch, Forked) or branch.alive == 0:
            self._go(branch, step)
            return
        self.branches[branch.path] = evolve(branch, cut=step)
        if branch.cut is None or scope is not None:
            for child, left in reversed(self._cancelled(branch, scope)):
                self._go(child, left)

    def _cancelled(self, branch: Forked, scope: str | None) -> list[tuple[Branch, Step]]:
        """Marks all branches below a fork. Gives those that stand somewhere, in order, and how
        each leaves its scopes."""
        standing = []
        work = children(branch)
        while work:
            child = self.branches.get(work.pop())
            if child is None or (child.leaving and scope is None):
                continue
            child, step = self._leaving(child, None, None, scope, not child.leaving)
            child = evolve(child, leaving=True)
            if isinstance(child, Forked):
                work.extend(children(child))
                child = evolve(child, cut=step)
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
        self._withdraw(branch)
        met = refusals(branch)
        k, s = place(branch)
        continuation = capture(k, s, node)
        around: Ctx = (base_of(s) if node is None else node[2])[3]
        # While a fork's branches clean up, the scopes and handlers around it are still there.
        stays = continuation.cleanup or isinstance(branch, Forked)
        if stays and broken is not None:
            around = around.sparing(broken)
        if stays and graceful:
            id = identity(branch.path, branch.ordinal)
            self.timing.grace(id, self.steps)
            branch = evolve(branch, ordinal=branch.ordinal + 1)
            around = around.within(id).but(jobs=None)
        if node is None:
            return branch, abandon_all(k, s, around, met)
        if stays:
            return branch, abandon(continuation, node[1], node[2], then, around, met)
        return branch, finish(then, environment(node), node[1], node[2])
