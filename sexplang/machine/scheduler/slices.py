"""Slices of computing, between which a host may let a deadline pass.

The machine has no clock. Under a timed form, a driver may have the run return every so many steps,
at the entry of the form, and before a value leaves it. A deadline can then pass though no branch
waits.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sexplang.machine.scheduler.branches import Branch, Path, Queued, Ready, request_id
from sexplang.machine.scheduler.permits import Job
from sexplang.machine.scopes.accounts import Scope
from sexplang.machine.scopes.deadlines import Ledger
from sexplang.terms.classes.node import field, frozen, node
from sexplang.terms.values.value import Record


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
    grace: int
    """The further steps that it may take under a deadline that has passed."""
    ready: tuple[Path, ...]
    """The branches that go on, the next one last."""
    expired: tuple[tuple[Branch, str, Record], ...]
    """The branches that a deadline ends when no other can go on, each with its scope and its
    error."""
    taken: dict[Path, tuple[int, int]]
    """The steps of branches that go on at once or have no permit yet, since they had this
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
        grace: int,
        branches: Any,
        ready: list[Path],
        expired: list[tuple[Branch, str, Record]],
        touched: tuple[Job, ...] | None,
    ) -> Pause:
        """End the slice; the branch goes on in another."""
        at, scopes = request_id(branch.path, branch.ordinal), ledger.running(branch.s[3].scopes)
        go_on = (Ready, Queued)
        taken = {x: steps for x, steps in self._taken.items() if isinstance(branches.get(x), go_on)}
        stands = at, self._of(branch), scopes, branch.path, rest, grace
        return Pause(*stands, (*ready,), (*expired,), taken, touched)

    def _of(self, branch: Ready) -> int:
        ordinal, steps = self._taken.get(branch.path, (-1, 0))
        return steps if ordinal == branch.ordinal else 0
