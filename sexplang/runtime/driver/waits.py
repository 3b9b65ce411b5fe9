"""Requests that wait for the world outside: for a person, or for a moment of the clock on the wall.

A run whose open requests all wait so is parked. Its driver returns the suspended run, and no
process is needed until an answer is there or the moment has come.
"""

from collections.abc import Callable, Iterable, Mapping
from time import time
from typing import Any

from sexplang.runtime.driver.deadlines import Deadlines, Performer
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.values.value import Value

PATIENCE = 60.0
"""Seconds for which a run waits for the clock on the wall in its process."""

LONGEST_SLEEP = 1e9
"""Seconds that event loops and systems still handle correctly."""

LATEST = 253_402_300_799
"""The end of the year 9999 in seconds since the epoch."""


UNANSWERED = object()
"""What a paused operation gives while there is no answer."""


@define(eq=False)
class Paused:
    """The performer of an operation that a person answers. A request without an answer parks the
    run."""

    find_answer: Callable[[Request], Any] = lambda request: None
    """Return the answered question of a request, or None."""
    find_earlier: Callable[[Request], Any] = lambda request: None
    """Return the row of an earlier run that answers a request, or None."""

    def __call__(self, request: Request) -> Any:
        """Return the answer, or UNANSWERED."""
        answered = self.find_answer(request)
        if answered is not None:
            return answered.answer
        row = self.find_earlier(request)
        return UNANSWERED if row is None or row.failed else row.reply


@define(eq=False)
class WallClock:
    """The performer of `sleep` and `wait-until`, which end at a moment of the clock on the wall."""

    wait: Callable[[float], Any]
    """Return an awaitable that ends after the given seconds."""
    passed_seconds: Mapping[str, float] = field(factory=dict)
    """For each sleep of a run that goes on, the seconds that had passed."""
    parks: bool = False
    """Whether a far moment parks the run."""
    now: Callable[[], float] = time
    """The clock of the store of a run that goes on: that of this process may be another."""
    until: dict[str, float] = field(factory=dict)
    """The ends of the waits, in seconds since the epoch."""

    def __call__(self, request: Request) -> Any:
        """Perform `(sleep seconds)` or `(wait-until time)`. Raises Refusal."""
        given = request.arguments[0] if request.arguments else None
        is_sleep, now = request.operation == "sleep", self.now()
        if is_sleep:
            until = now + _read_seconds(given) - self.passed_seconds.get(request.id, 0.0)
        else:
            until = _read_time(given)
        self.until[request.id] = until
        return self.wait(min(max(0.0, until - now), LONGEST_SLEEP))

    def is_far(self, id: str) -> bool:
        """Whether a wait goes on for longer than a process waits for it."""
        return id in self.until and self.until[id] - self.now() > PATIENCE


@define(eq=False)
class OutsideWaits:
    """The open requests of a run that wait for the world outside. `clock` is the performer of
    `wait-until`."""

    clock: Any
    asked: set[str] = field(factory=set)
    """Ids of the requests that a person answers."""

    def are_all(self, open: Iterable[Request]) -> bool:
        """Whether the open requests all wait outside, for an answer or a far moment. The deadlines
        of the run stand still meanwhile."""
        is_parked = False
        for each in open:
            if each.id in self.asked:
                is_parked = True
            elif isinstance(self.clock, WallClock) and self.clock.is_far(each.id):
                is_parked |= self.clock.parks and each.operation == "wait-until"
            elif each.operation != "timer":
                return False
        return is_parked

    def find(self, open: Iterable[Request]) -> tuple[list[Request], float | None]:
        """Return the questions, and the time at which the first wait is over."""
        until = self.clock.until if isinstance(self.clock, WallClock) else {}
        waiting = [*open]
        ends = [until[each.id] for each in waiting if each.id in until]
        return [each for each in waiting if each.id in self.asked], min(ends, default=None)


def _read_seconds(given: Value) -> float:
    if type(given) is not int and type(given) is not float:
        raise refuse("wrong-type", "seconds must be a number", hint="for example (sleep 0.5)")
    if not 0 <= given <= LONGEST_SLEEP:
        raise refuse(
            "wrong-type",
            f"`sleep` takes seconds, from 0 to {LONGEST_SLEEP:,.0f}",
            hint="for example (sleep 0.5)",
        )
    return float(given)


def _read_time(given: Value) -> float:
    is_number = type(given) is int or type(given) is float
    if not is_number or not 0 <= given <= LATEST:
        raise refuse(
            "wrong-type",
            "`wait-until` takes a time as `now` gives it, in seconds",
            hint="for example (wait-until (+ (now) 86400))",
        )
    return float(given)


def continue_waits(
    performers: Mapping[str, Performer],
    timers: Mapping[str, float],
    sleeps: Mapping[str, float],
    now: Callable[[], float] = time,
) -> None:
    """Let the open deadlines and sleeps of a run go on. By request id, they have waited for so many
    seconds. `now` is the clock of its store."""
    timer, clock = performers.get("timer"), performers.get("sleep")
    if isinstance(timer, Deadlines):
        timer.passed_seconds = timers
    if isinstance(clock, WallClock):
        clock.passed_seconds, clock.now = sleeps, now
