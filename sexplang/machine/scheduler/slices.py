"""Computing in slices: where a branch is that computes, and what a host may decide there.

The machine has no clock. Where work stands in a timed form, whoever drives the run may have it come
back every so many steps, where the form is entered, and where a value is about to leave it: then a
deadline can pass though nothing waits.
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
    """How many steps are taken at a time. `stops` are places to come back at, as Pause has them."""

    steps: int = 1_000
    stops: Mapping[str, Sequence[int]] = field(factory=dict)


@node(eq=False)
class Pause:
    """A branch is about to go on: `at` is the identity that its next request would have, `steps`
    how many it has taken since it could have had that one. `scopes` are the deadlines that it
    stands under, outermost first."""

    at: str
    steps: int
    scopes: tuple[Scope, ...]
    path: Path
    rest: tuple[int, int] | None
    """Where nothing made it stop but the end of a slice: how many more frames there may be at
    least, and how many more elements."""
    grace: int
    """How many more steps it may take under a deadline that has passed."""
    ready: tuple[Path, ...]
    """The branches that go on, the next one last."""
    expired: tuple[tuple[Branch, str, Record], ...]
    """Those that a deadline ends when no other can go on, each with its scope and its error."""
    taken: dict[Path, tuple[int, int]]
    """How many steps those have taken that go on at once or have no place yet, since they had this
    ordinal."""
    touched: tuple[Job, ...] | None = None
    """The jobs that were concerned: their permits are given on when no branch can go on. None where
    no job was."""


class Slicing:
    """The slice of one delivery."""

    def __init__(self, given: Slice, steps: int, taken: dict[Path, tuple[int, int]]) -> None:
        self._end = steps + given.steps
        self._stops = given.stops
        self._taken = dict(taken)
        self._looks: Path | None = None

    def look(self, path: Path) -> None:
        """The slice ends before the branch goes on: it has entered a form, or is to leave it."""
        self._looks = path

    def until(self, branch: Ready, steps: int, midway: Pause | None) -> int:
        """Up to which step of the run a branch goes on that a deadline bounds. At a stop it comes
        back once."""
        if branch.path == self._looks:
            return steps
        end = max(self._end, steps)
        at, taken = request_id(branch.path, branch.ordinal), self._of(branch)
        is_seen = midway is not None and (midway.at, midway.steps) == (at, taken)
        stops = [stop - taken for stop in self._stops.get(at, ())]
        return min([end, *[steps + left for left in stops if left > (0 if is_seen else -1)]])

    def count(self, branch: Ready, steps: int) -> None:
        """The branch has taken so many steps."""
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
        """The slice is over, and the branch goes on another time."""
        at, scopes = request_id(branch.path, branch.ordinal), ledger.running(branch.s[3].scopes)
        go_on = (Ready, Queued)
        taken = {x: steps for x, steps in self._taken.items() if isinstance(branches.get(x), go_on)}
        stands = at, self._of(branch), scopes, branch.path, rest, grace
        return Pause(*stands, (*ready,), (*expired,), taken, touched)

    def _of(self, branch: Ready) -> int:
        ordinal, steps = self._taken.get(branch.path, (-1, 0))
        return steps if ordinal == branch.ordinal else 0
