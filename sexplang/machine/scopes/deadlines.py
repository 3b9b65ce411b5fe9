"""Deadlines and budgets of one delivery: which are counted down, spent, broken."""

from collections.abc import Iterator

from sexplang.machine.exits import AskHost, EnterScope
from sexplang.machine.scheduler.branches import Times, Waiting
from sexplang.machine.scheduler.cut_short import waiting_error
from sexplang.machine.scopes.accounts import Accounts, Bounds, Held, Scope
from sexplang.machine.scopes.budgets import Meter, Refused, refund, reserve, settle, take_back
from sexplang.machine.stack import Segment
from sexplang.machine.unwind import CLEANING, SCOPE, UNWINDING
from sexplang.terms.classes.node import evolve
from sexplang.terms.effect import Part, Request
from sexplang.terms.values.value import Record, Value

GRACE = 5
"""Seconds that a cancelled branch has for its `finally` bodies."""


def find_form(scope: str, s: Segment, level: int) -> tuple[Segment, int]:
    """The segment of a scope's form on a stack or on those it stands on, and the level in the
    tree of the branch that has it; (None, 0) if it is on none."""
    found = (place for id, *place in _iterate_forms(s, level) if id == scope)
    node, level = next(found, (None, 0))
    return node, level


def find_plan(s: Segment, accounts: Accounts) -> str | None:
    """The innermost plan that work on a stack is done in."""
    return next((id for id, _, _ in _iterate_forms(s, 0) if accounts[id].steps is not None), None)


def is_cleaning(s: Segment, scope: str) -> bool:
    """Whether work on a stack is done by the body of a `finally` that stands inside of a scope's
    form."""
    node = s
    while node is not None:
        kind = node[0]
        if kind in _CLEANING:
            return True
        if node[4] == scope if kind is SCOPE else kind is SCOPE.stripped and node[4][0] == scope:
            return False
        node = node[4].s if node[2] is None and node[4] is not None else node[2]
    return False


_CLEANING = (CLEANING, UNWINDING, UNWINDING.stripped)


def pending_error(s: Segment) -> Record | None:
    """The error that is raised when what cleans up on a stack has ended, if it is one."""
    node = s
    while node is not None:
        kind, data = node[0], node[4]
        if kind.pends and kind.stripped is kind and data[1] is not None:
            return waiting_error(data[1])
        node = node[2]
    return None


def _iterate_forms(s: Segment, level: int) -> Iterator[tuple[str, Segment, int]]:
    """The scopes whose forms are on a stack or on those it stands on, innermost first: each with
    its segment, and the level in the tree of the branch that has it."""
    node = s
    while node is not None:
        if node[0] is SCOPE:
            yield node[4], node, level
        elif node[0] is SCOPE.stripped:
            yield node[4][0], node, level
        if node[2] is None and node[4] is not None:
            node, level = node[4].s, node[4].level
        else:
            node = node[2]


class Ledger:
    """The accounts of one delivery. It is told of every branch that starts or stops waiting."""

    def __init__(self, times: Times, meter: Meter) -> None:
        self.accounts = times.accounts
        self.waiting = times.waiting
        self.timers = times.timers
        self.learned = times.learned
        self._meter = meter
        self._begun: dict[str, int] = {}
        """How many more branches wait under a scope than before the delivery."""

    @property
    def times(self) -> Times:
        """As they are, once the timers have moved."""
        return Times(self.accounts, self.waiting, self.timers, self.learned)

    def open_scope(self, id: str, left: EnterScope, steps: int) -> Segment:
        """Opens a scope when so many steps have been taken: the segment that stands for it."""
        scope = Scope(id, Bounds(left.span, **left.settings), began=steps)
        self.accounts = self.accounts.set(id, scope)
        context = left.s[3].with_scope(id, "steps" in left.settings)
        return (SCOPE, left.k, left.s, context, id)

    def grant_grace(self, id: str, steps: int) -> None:
        """A deadline for cleaning up, without a form of its own, when so many steps were taken."""
        more = (
            f"let `finally` bodies do less: where others wait for them, they have {GRACE} seconds"
        )
        self.accounts = self.accounts.set(
            id, Scope(id, Bounds(seconds=GRACE, more=more), began=steps)
        )

    def admit_request(self, left: AskHost) -> tuple[Refused | None, Held | None]:
        """A branch is about to wait: whether a scope breaks instead, and what is held. Raises
        Fault for a model call that no budget of tokens can hold."""
        context, accounts = left.s[3], self.accounts
        scopes = context.scopes
        is_timed = False
        budgets = []
        for id in scopes:
            scope = accounts[id]
            if scope.fired:
                return Refused(id, scope.expire()), None
            bounds = scope.bounds
            if bounds.seconds is not None:
                is_timed = True
            if bounds.calls is not None or bounds.tokens is not None or bounds.usd is not None:
                budgets.append(scope)
        held = None
        if left.operation == "model":
            budgets += [accounts[id] for id in context.expired_scopes if accounts[id].spending()]
            payload = left.arguments[0] if left.arguments else None
            fits = reserve(accounts, budgets, payload, self._meter, self.learned)
            if isinstance(fits, Refused):
                return fits, None
            self.accounts, fitting, held = fits
            if fitting is not payload:
                left.arguments = (fitting, *left.arguments[1:])
        if is_timed:
            self.count(scopes, 1)
        return None, held

    def find_late(self, scopes: tuple[str, ...]) -> Refused | None:
        """The outermost deadline that has passed already."""
        for id in scopes:
            if self.accounts[id].fired:
                return Refused(id, self.accounts[id].expire())
        return None

    def settle_request(self, branch: Waiting, reply: Value, failed: bool) -> None:
        """A branch has its reply, or the error that its request failed with."""
        self.count(branch.s[3].scopes, -1)
        if branch.held is not None:
            if failed:
                self.accounts = refund(self.accounts, branch.held, reply, self._meter)
            else:
                self.accounts, self.learned = settle(
                    self.accounts, branch.held, reply, self._meter, self.learned
                )

    def withdraw_request(self, branch: Waiting, part: Part | None) -> None:
        """A branch does not wait any more; `part` is what its call had got by then."""
        self.count(branch.s[3].scopes, -1)
        if branch.held is not None:
            self.accounts = take_back(self.accounts, branch.held, part, self._meter)

    def allowance(self, s: Segment) -> tuple[str, int] | None:
        """The plan on the stack that has fewest steps left, and how many; None outside of plans.
        One that has none left counts only where its form is."""
        found = None
        for id in s[3].plans:
            scope = self.accounts[id]
            assert scope.bounds.steps is not None
            left = scope.bounds.steps - scope.spent_steps
            if (left > 0 or find_form(id, s, 0)[0] is not None) and (
                found is None or left < found[1]
            ):
                found = id, left
        return found

    def charge_steps(self, s: Segment, steps: int) -> None:
        """Charges the steps that a branch took until the loop was left to the plans that it began
        them in."""
        for id in s[3].plans:
            scope = self.accounts[id]
            now = evolve(scope, spent_steps=scope.spent_steps + steps)
            self.accounts = self.accounts.set(id, now)

    def running(self, scopes: tuple[str, ...]) -> tuple[Scope, ...]:
        """Those of the scopes that are deadlines and have not passed."""
        known = [self.accounts[id] for id in scopes]
        return tuple([each for each in known if each.seconds is not None and not each.fired])

    def is_running(self, scopes: tuple[str, ...]) -> bool:
        """Whether there are such scopes: nothing is made to tell."""
        for id in scopes:
            scope = self.accounts[id]
            if scope.bounds.seconds is not None and not scope.fired:
                return True
        return False

    def fire(self, id: str) -> Scope:
        """A deadline has passed."""
        scope = evolve(self.accounts[id], fired=True)
        self.accounts = self.accounts.set(id, scope)
        if id in self.timers:
            self.timers = self.timers.delete(id)
        return scope

    def count(self, scopes: tuple[str, ...], by: int) -> None:
        """A branch begins or ends to wait under the scopes."""
        begun = self._begun
        for id in scopes:
            begun[id] = begun.get(id, 0) + by

    def move_timers(self) -> tuple[list[Request], list[str]]:
        """The timers to open and those to withdraw, now that every branch waits."""
        opened: list[Request] = []
        closed: list[str] = []
        for id in sorted(self._begun):
            scope = self.accounts[id]
            if scope.bounds.seconds is None:
                continue
            count = self.waiting.get(id, 0) + self._begun[id]
            self.waiting = self.waiting.set(id, count)
            wanted = count > 0 and not scope.fired
            if wanted and id not in self.timers:
                self.timers = self.timers.set(id, scope)
                opened.append(scope.timer())
            elif not wanted and id in self.timers:
                self.timers = self.timers.delete(id)
                closed.append(id)
        return opened, closed
