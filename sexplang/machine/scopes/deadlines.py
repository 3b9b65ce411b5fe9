"""Deadlines: the ledger of those that are counted down, spent or broken, and the slices of time.

The machine has no clock. Under a timed form, a driver may have the run return every so many steps,
at the entry of the form, and before a value leaves it. A deadline can then pass though no branch
waits.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sexplang.machine.exits import AskHost, EnterScope
from sexplang.machine.scheduler.branches import (
    Branch,
    BranchTable,
    Job,
    Path,
    Queued,
    Ready,
    Times,
    Waiting,
    request_id,
)
from sexplang.machine.scheduler.partial_results import describe_expired, waiting_error
from sexplang.machine.scopes.budgets import (
    Accounts,
    Bounds,
    Held,
    Meter,
    Refused,
    Scope,
    refund,
    reserve,
    settle,
    take_back,
)
from sexplang.machine.stack import Segment
from sexplang.machine.unwind import CLEANING, SCOPE, UNWINDING
from sexplang.terms.classes.node import evolve, field, frozen, node
from sexplang.terms.effect import Part, Request
from sexplang.terms.values.value import Record, Value

GRACE = 5
"""The seconds that a cancelled branch has for its `finally` bodies."""


def find_form(scope: str, s: Segment, level: int) -> tuple[Segment, int]:
    """Return the segment of a scope's form on a stack or on those below it, and the level in the
    tree of its branch; (None, 0) if there is none."""
    found = (place for id, *place in _iterate_forms(s, level) if id == scope)
    node, level = next(found, (None, 0))
    return node, level


def find_plan(s: Segment, accounts: Accounts) -> str | None:
    """Return the innermost plan around a stack."""
    return next((id for id, _, _ in _iterate_forms(s, 0) if accounts[id].steps is not None), None)


def is_cleaning(s: Segment, scope: str) -> bool:
    """Return whether a stack is in the body of a `finally` inside a scope's form."""
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
    """Return the error that is raised when the finalizers on a stack have ended, if any."""
    node = s
    while node is not None:
        kind, data = node[0], node[4]
        if kind.pends and kind.stripped is kind and data[1] is not None:
            return waiting_error(data[1])
        node = node[2]
    return None


def _iterate_forms(s: Segment, level: int) -> Iterator[tuple[str, Segment, int]]:
    """Yield the scopes whose forms are on a stack or on those below it, innermost first, each with
    its segment and the level in the tree of its branch."""
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
    """The accounts of one delivery. It must be called for every branch that starts or stops
    waiting."""

    def __init__(self, times: Times, meter: Meter) -> None:
        self.accounts = times.accounts
        self.waiting = times.waiting
        self.timers = times.timers
        self.learned = times.learned
        self._meter = meter
        self._begun: dict[str, int] = {}
        """The change of the number of branches that wait under each deadline."""

    @property
    def times(self) -> Times:
        """The deadlines and budgets, once the timers have moved."""
        return Times(self.accounts, self.waiting, self.timers, self.learned)

    def open_scope(self, id: str, left: EnterScope, steps: int) -> Segment:
        """Open a scope after `steps` steps of the run. Return its segment."""
        scope = Scope(id, Bounds(left.span, **left.settings), began=steps)
        self.accounts = self.accounts.set(id, scope)
        context = left.s[3].with_scope(id, "steps" in left.settings)
        return (SCOPE, left.k, left.s, context, id)

    def grant_grace(self, id: str, steps: int) -> None:
        """Open a deadline for cleaning up, without a form, after `steps` steps of the run."""
        more = (
            f"let `finally` bodies do less: where others wait for them, they have {GRACE} seconds"
        )
        self.accounts = self.accounts.set(
            id, Scope(id, Bounds(seconds=GRACE, more=more), began=steps)
        )

    def admit_request(self, left: AskHost) -> tuple[Refused | None, Held | None]:
        """Admit the request of a branch. Return the scope that breaks instead, and the reservation.
        Raises Fault for a model call that no budget of tokens can reserve."""
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
            for id in context.expired_scopes:
                if accounts[id].spending():
                    budgets.append(accounts[id])
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

    def find_timed(self, scopes: tuple[str, ...]) -> tuple[bool, str | None]:
        """Return whether a deadline among the scopes runs, and the outermost that has passed."""
        is_running, late, accounts = False, None, self.accounts
        for id in scopes:
            scope = accounts[id]
            if scope.fired:
                late = late or id
            elif scope.bounds.seconds is not None:
                is_running = True
        return is_running, late

    def settle_request(self, branch: Waiting, reply: Value, failed: bool) -> None:
        """Settle the request of a branch with its reply, or with the error that it `failed`
        with."""
        self.count(branch.s[3].scopes, -1)
        if branch.held is not None:
            if failed:
                self.accounts = refund(self.accounts, branch.held, reply, self._meter)
            else:
                self.accounts, self.learned = settle(
                    self.accounts, branch.held, reply, self._meter, self.learned
                )

    def withdraw_request(self, branch: Waiting, part: Part | None) -> None:
        """Settle the request of a branch that no longer waits; `part` is its output so far."""
        self.count(branch.s[3].scopes, -1)
        if branch.held is not None:
            self.accounts = take_back(self.accounts, branch.held, part, self._meter)

    def allowance(self, s: Segment) -> tuple[str, int] | None:
        """Return the plan on the stack with the fewest steps left, and these; None outside plans. A
        plan without steps counts only where its form is."""
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
        """Charge the steps of a branch to the plans around their begin."""
        for id in s[3].plans:
            scope = self.accounts[id]
            now = evolve(scope, spent_steps=scope.spent_steps + steps)
            self.accounts = self.accounts.set(id, now)

    def running(self, scopes: tuple[str, ...]) -> tuple[Scope, ...]:
        """Return the deadlines among the scopes that have not passed."""
        known = [self.accounts[id] for id in scopes]
        return tuple([each for each in known if each.seconds is not None and not each.fired])

    def expire(self, id: str, table: BranchTable, steps: int) -> tuple[list[Branch], Record]:
        """Let a deadline pass. Return the branches under it that wait or compute, which are to end
        in this order, and the error for them. Those that compute are no longer ready."""
        found: list[Branch] = [
            branch
            for branch in table.before.values()
            if isinstance(branch, (Waiting, Queued, Ready)) and id in branch.s[3].scopes
        ]
        found.sort(key=lambda branch: branch.path)
        stopped = {branch.path for branch in found if isinstance(branch, Ready)}
        table.ready = [path for path in table.ready if path not in stopped]
        scope = evolve(self.accounts[id], fired=True)
        self.accounts = self.accounts.set(id, scope)
        if id in self.timers:
            self.timers = self.timers.delete(id)
        error = scope.expire(steps - scope.began if stopped else None)
        return found, describe_expired(error, found)

    def count(self, scopes: tuple[str, ...], by: int) -> None:
        """Count a branch that begins or ends to wait under the deadlines among the scopes."""
        for id in scopes:
            if self.accounts[id].bounds.seconds is not None:
                self._begun[id] = self._begun.get(id, 0) + by

    def move_timers(self) -> tuple[list[Request], list[str]]:
        """Return the timers to open and those to withdraw, now that every branch waits."""
        opened: list[Request] = []
        closed: list[str] = []
        for id in sorted(self._begun):
            scope = self.accounts[id]
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


# -- Slices ---------------------------------------------------------------------------------------


@frozen
class Slice:
    """The number of steps at a time. `stops` are places to return at, as Pause has them."""

    steps: int = 1_000
    stops: Mapping[str, Sequence[int]] = field(factory=dict)


@node(eq=False)
class Pause:
    """The state of a run between two slices.

    `at` is the identity of the next request of the branch that goes on; `steps` counts its steps
    since it could have made that request. `scopes` are the deadlines around it, outermost first.
    """

    at: str
    steps: int
    scopes: tuple[Scope, ...]
    path: Path
    rest: tuple[int, int] | None
    """The least number of further frames and of further elements, if only the end of the slice
    stopped the branch."""
    late: dict[str, int]
    """The steps taken in this delivery under each deadline that has passed."""
    ready: tuple[Path, ...]
    """The branches that go on, the next one last."""
    expired: tuple[tuple[Branch, str, Record], ...]
    """The branches that a deadline ends when no other can go on, each with its scope and its
    error."""
    taken: dict[Path, tuple[int, int]]
    """The steps of branches that go on at once or have no place yet, since they had this
    ordinal."""
    touched: tuple[Job, ...] | None = None
    """The jobs whose permits are granted again when no branch can go on. None without jobs."""


class Slicing:
    """The slice of one delivery."""

    def __init__(self, given: Slice, steps: int, taken: dict[Path, tuple[int, int]]) -> None:
        self._end = steps + given.steps
        self._stops = given.stops
        self._taken = dict(taken)
        self._looks: Path | None = None

    def look(self, path: Path) -> None:
        """End the slice before the branch goes on: it has entered a form, or is to leave it."""
        self._looks = path

    def until(self, branch: Ready, steps: int, midway: Pause | None) -> int:
        """Return the step of the run up to which a branch under a deadline goes on. It returns once
        at each stop."""
        if branch.path == self._looks:
            return steps
        end = max(self._end, steps)
        at, taken = request_id(branch.path, branch.ordinal), self._of(branch)
        is_seen = midway is not None and (midway.at, midway.steps) == (at, taken)
        stops = [stop - taken for stop in self._stops.get(at, ())]
        return min([end, *[steps + left for left in stops if left > (0 if is_seen else -1)]])

    def count(self, branch: Ready, steps: int) -> None:
        """Count steps of the branch."""
        self._taken[branch.path] = branch.ordinal, self._of(branch) + steps

    def pause(
        self,
        branch: Ready,
        ledger: Ledger,
        rest: tuple[int, int] | None,
        late: dict[str, int],
        branches: Any,
        ready: list[Path],
        expired: list[tuple[Branch, str, Record]],
        touched: tuple[Job, ...] | None,
    ) -> Pause:
        """End the slice; the branch goes on in another."""
        at, scopes = request_id(branch.path, branch.ordinal), ledger.running(branch.s[3].scopes)
        go_on = (Ready, Queued)
        taken = {x: steps for x, steps in self._taken.items() if isinstance(branches.get(x), go_on)}
        stands = at, self._of(branch), scopes, branch.path, rest, {**late}
        return Pause(*stands, (*ready,), (*expired,), taken, touched)

    def _of(self, branch: Ready) -> int:
        ordinal, steps = self._taken.get(branch.path, (-1, 0))
        return steps if ordinal == branch.ordinal else 0
