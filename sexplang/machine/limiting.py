"""Limits of the interpreter: whom they end, the run or a program from a model that it runs.

Nothing is left in order: no `finally` runs and no handler hears of it. What was started outside is
withdrawn all the same.
"""

from typing import Any

from sexplang.machine import exits
from sexplang.machine.branch import Branch, Forked, Ready, branch_id, children, place
from sexplang.machine.error_positions import FailureSite, place_of
from sexplang.machine.errors import limit
from sexplang.machine.queueing import Queueing
from sexplang.machine.reached import plan_too_long, too_many_scopes
from sexplang.machine.stack import Segment, Step
from sexplang.machine.timing import form_of, plan_of
from sexplang.terms.value import Record
from sexplang.terms.work import Ends

_SCOPES, _PLANS = 2_000, 100
"""How deep deadlines and budgets may stand in one another, and programs from a model."""


class Limiting(Queueing):
    """The branches of one delivery, and what happens when one of them reaches a limit."""

    def _broken(self, branch: Branch, left: exits.Broken, spent: str | None) -> None:
        """The loop has found a limit reached: the steps of the plan `spent`, or one of the run's.
        Work that has left the plan meanwhile goes on."""
        assert left.step is not None
        if spent is None:
            self._end_at(branch, left.error, left.step)
        else:
            most = self.timing.accounts[spent].steps
            assert most is not None
            error = _placed(plan_too_long(most, self.limits.plan_steps), left.step)
            if not self._drop(branch, left.step[3], spent, error):
                self._go(branch, left.step)

    def _limit(self, branch: Branch, error: Record, left: Any) -> None:
        """A limit is reached where the loop was left."""
        if hasattr(left, "s"):
            work = left.starts[0][0] if isinstance(left, exits.Forked) else None
            self._end_at(branch, error, (work, None, left.k, left.s))
        else:
            self.broken, self.ended = error, True

    def _too_deep(self, left: exits.Entered) -> Record | None:
        """What ends whoever opens one scope more: each knows all around it."""
        if len(left.s[3].scopes) >= _SCOPES:
            return too_many_scopes(_SCOPES)
        if "steps" in left.settings and len(left.s[3].plans) >= _PLANS:
            words = f"plans are nested more than {_PLANS} deep"
            return limit("limit-frames", words, "a plan that needs another had better be a loop")
        return None

    def _end_at(self, branch: Branch, error: Record, step: Step) -> None:
        """The innermost plan that a step is done in fails; where there is none, the run does."""
        error, s = _placed(error, step), step[3]
        plan = plan_of(s, self.timing.accounts)
        if plan is None or not self._drop(branch, s, plan, error):
            self.branches[branch.path] = Ready(branch.path, branch.ordinal, branch.leaving, step)
            self.broken = self._telling_all(error)
            self.ended, self.stood = True, FailureSite(*step)

    def _drop(self, branch: Branch, s: Segment, plan: str, error: Record) -> bool:
        """The plan ends as failed, with all that stands on it and all branches in it. False where
        its form is not on the stack."""
        node, level = form_of(plan, s, len(branch.path) // 2)
        if node is None:
            return False
        target = self.branches[branch.path[: 2 * level]]
        if target is not branch:
            assert isinstance(target, Forked)
            self._discard(target)
            node, _ = form_of(plan, place(target)[1], level)
            if node is None:  # it is being left already, for something further outward
                self._go(target, target.cut)
                return True
        _, k, s, _, _ = node[2]
        self._go(target, (k[0], {"status": "failed", "error": error}, k, s))
        return True

    def _discard(self, branch: Forked) -> None:
        """Ends all branches of a branch at once."""
        work = children(branch)
        while work:
            child = self.branches.pop(work.pop(), None)
            if child is None:
                continue
            if isinstance(child, Forked):
                work.extend(children(child))
            self._withdraw(child)
            if branch.s[3].work is not None:
                self.told.append(Ends(branch_id(child.path), None, True))


def _placed(error: Record, step: Step) -> Record:
    span = place_of(step)
    return error if span is None else Record(error.kind, {**error.fields, "span": span.plain()})
