"""The deadlines of a driven run: their times, and the interval between two looks at the clock.

Law: a deadline that fires while the run computes fires at a counted step, and its row names the
step. A replay fires it at that step and not by the clock.
"""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Any

from sexplang.machine import Failed, Outcome, Pause, Slice, Suspended, state_of
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, evolve, field
from sexplang.terms.effect import Request

CLOCK_INTERVAL = 0.01
"""Seconds between two looks at the clock, about."""

LONGEST = 1e9
"""Seconds of a wait that never ends."""

_MAX_STEPS = 5_000
"""Maximum of steps between two looks at the clock."""

Performer = Callable[[Request], Any]

PassedDeadlines = Mapping[str, tuple[str, int]]
"""For each deadline scope, the branch and the step at which it fired, as in `Pause`."""


def group_stops(places: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return the steps at which a replay has to stop, grouped by request identity."""
    found: dict[str, list[int]] = {}
    for at, steps in places:
        found.setdefault(at, []).append(steps)
    return found


@define(eq=False)
class Deadlines:
    """The performer of `timer`; it also checks the clock while a run computes."""

    wait: Callable[[float], Any]
    """Return an awaitable that ends after the given seconds."""
    passed_deadlines: Callable[[], PassedDeadlines] | None = None
    """In a replay, the deadlines that fired while the recorded run computed."""
    check_end: Callable[[int], None] = lambda passed: None
    """In a replay, a function that raises Unrecorded if the recording lacks the rest of the run.
    Its argument is the number of deadlines that fired while the run computed."""
    passed_seconds: Mapping[str, float] = field(factory=dict)
    """For each scope of a run that goes on, the seconds that had passed."""
    slice: Slice = Slice()
    """The steps that the run may take before the next look at the clock."""
    _fired: set[str] = field(factory=set)
    """In a replay, the scopes that fired while the run computed."""
    _due: dict[str, float] = field(factory=dict)
    """The monotonic time at which each scope expires."""

    def __call__(self, request: Request) -> Any:
        """Perform `timer`: wait until the deadline expires. In a replay, a deadline that fired
        during computation does not fire during a wait."""
        if self.passed_deadlines is not None and request.id in self.passed_deadlines():
            return self.wait(LONGEST)
        (seconds,) = request.arguments
        now = monotonic()
        return self.wait(max(0.0, self._until(request.id, seconds, now) - now))

    def begin(self) -> None:
        """Prepare for a run. A file that is no recording is refused at the first request to it, not
        here."""
        if self.passed_deadlines is not None:
            try:
                self.slice = Slice(_MAX_STEPS, group_stops(self.passed_deadlines().values()))
            except Refusal:
                self.passed_deadlines = None

    def find_passed(self, pause: Pause) -> str | None:
        """Return the outermost expired scope of a paused computation, or None. Raises Unrecorded
        if a recording that is cut does not say."""
        if self.passed_deadlines is not None:
            known, here = self.passed_deadlines(), (pause.at, pause.steps)
            found = next((each.id for each in pause.scopes if known.get(each.id) == here), None)
            if found is not None:
                self._fired.add(found)
            else:
                self.check_end(len(self._fired))
            return found
        now = monotonic()
        for scope in pause.scopes:
            assert scope.seconds is not None
            if self._until(scope.id, scope.seconds, now) <= now:
                return scope.id
        return None

    def count_passed(self, request: Request) -> float:
        """Return the seconds since the scope of a `timer` began."""
        seconds: float = request.arguments[0]
        now = monotonic()
        return max(0.0, now + seconds - self._until(request.id, seconds, now))

    def adjust_slice(self, seconds: float) -> None:
        """Adapt the slice so that the next one takes about CLOCK_INTERVAL. `seconds` is the
        duration of the last one."""
        if self.passed_deadlines is None:
            steps = self.slice.steps * CLOCK_INTERVAL / max(seconds, CLOCK_INTERVAL / 4)
            self.slice = evolve(self.slice, steps=max(1, min(_MAX_STEPS, int(steps))))

    def _until(self, id: str, seconds: float, now: float) -> float:
        """Return the expiry time of a scope. The clock of a scope starts at the first call."""
        return self._due.setdefault(id, now + seconds - self.passed_seconds.get(id, 0.0))


def is_midway(outcome: Suspended) -> bool:
    """Whether only the end of its slice has stopped a run."""
    pause = state_of(outcome).pause
    return pause is not None and pause.rest is not None


def was_cancelled(outcome: Outcome) -> bool:
    """Whether a run ends because it was cancelled."""
    if isinstance(outcome, Suspended):
        error = state_of(outcome).scheduler.failing
    else:
        error = outcome.error if isinstance(outcome, Failed) else None
    return error is not None and error.fields.get("reason") == "cancelled"


# -- The clock of a preview -----------------------------------------------------------------------

# Its time passes only when nothing else is at work, so requests beside a `sleep` are shown before
# the sleep ends.

_QUIET = 5
"""Turns of the event loop without activity before time passes. A reply takes two turns to lead to
the next request."""


class VirtualClock:
    """The elapsed seconds and the wake-up times of sleepers."""

    def __init__(self) -> None:
        self._now = 0.0
        self._until: list[float] = []
        self._busy = 0
        self._quiet = 0

    async def sleep(self, seconds: float) -> None:
        """Sleep until all shorter sleeps are over and no performer is at work."""
        import anyio

        mine = self._now + seconds
        self._until.append(mine)
        self._quiet = 0
        try:
            while self._busy or mine > min(self._until) or self._quiet < _QUIET:
                await anyio.sleep(0.001 if self._busy else 0)
                if mine == min(self._until):
                    self._quiet += 1
            self._now = mine
        finally:
            self._until.remove(mine)
            self._quiet = 0

    async def perform_busy(self, performer: Callable[[Any], Any], request: Any) -> Any:
        """Call a performer and await its reply; time does not pass meanwhile."""
        from inspect import isawaitable

        self._busy += 1
        try:
            given = performer(request)
            return await given if isawaitable(given) else given
        finally:
            self._busy -= 1
            self._quiet = 0
