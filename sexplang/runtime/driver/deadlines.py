"""The deadlines of a run that is driven: when each has passed, and how often somebody looks.

Law: a deadline that passes while the run computes does so at a counted step, and its row says
which. A run that is repeated meets it there and not by the clock.
"""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Any

from sexplang.machine import Pause, Slice
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, evolve, field
from sexplang.terms.effect import Request

LOOK = 0.01
"""Seconds between two looks at the clock, about."""

LONGEST = 1e9
"""Seconds that nobody waits."""

_MOST = 5_000
"""Steps between two looks at most."""

Places = Mapping[str, tuple[str, int]]
"""By the scopes of deadlines, where they passed: as Pause has it."""


def stops(places: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Where a run is to come back that is repeated: after how many steps, by identities."""
    found: dict[str, list[int]] = {}
    for at, steps in places:
        found.setdefault(at, []).append(steps)
    return found


@define(eq=False)
class Deadlines:
    """What looks at the clock while a run computes, and a performer of `timer`."""

    wait: Callable[[float], Any]
    """An awaitable that is over after so many seconds."""
    recorded: Callable[[], Places] | None = None
    """In a run that repeats another one: where that one's deadlines passed while it computed."""
    slice: Slice = Slice()
    """How far the run may compute until the next look."""
    _due: dict[str, float] = field(factory=dict)
    """When they pass, by their scopes."""

    def __call__(self, request: Request) -> Any:
        """`timer`: waits until the deadline has passed. One that passed while the recorded run
        computed does not pass while this one waits."""
        if self.recorded is not None and request.id in self.recorded():
            return self.wait(LONGEST)
        (seconds,) = request.arguments
        now = monotonic()
        return self.wait(max(0.0, self._until(request.id, seconds, now) - now))

    def begin(self) -> None:
        """A run is about to be driven. What is no recording is refused where it is asked."""
        if self.recorded is not None:
            try:
                self.slice = Slice(_MOST, stops(self.recorded().values()))
            except Refusal:
                self.recorded = None

    def find_passed(self, pause: Pause) -> str | None:
        """The scope of the outermost deadline that has passed where the run computes."""
        if self.recorded is not None:
            known, here = self.recorded(), (pause.at, pause.steps)
            return next((each.id for each in pause.scopes if known.get(each.id) == here), None)
        now = monotonic()
        for scope in pause.scopes:
            assert scope.seconds is not None
            if self._until(scope.id, scope.seconds, now) <= now:
                return scope.id
        return None

    def adjust_slice(self, seconds: float) -> None:
        """A slice has taken so long: the next one takes about as long as a look."""
        if self.recorded is None:
            steps = self.slice.steps * LOOK / max(seconds, LOOK / 4)
            self.slice = evolve(self.slice, steps=max(1, min(_MOST, int(steps))))

    def _until(self, id: str, seconds: float, now: float) -> float:
        """When a deadline passes: its clock begins when somebody looks for the first time."""
        return self._due.setdefault(id, now + seconds)
