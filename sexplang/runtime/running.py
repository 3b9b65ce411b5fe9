"""A suspended run and performers → its requests under way, and what their replies make of it.

Law: one reply at a time: its row is appended to the journal, then it is delivered, and the next
only when every branch waits again. So the journal is the schedule.
"""

from collections import OrderedDict, deque
from contextlib import suppress
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from sexplang.interrupt import Interrupt
from sexplang.machine import Done, Failed, Outcome, Suspended
from sexplang.runtime.answers import (
    FLAT,
    Performers,
    Watch,
    attempts_of,
    closed,
    failure,
    interrupted,
    settled,
    unhandled,
)
from sexplang.runtime.events import Queued, begun, finished, task_of, withdrawal
from sexplang.runtime.flights import Flights, Flown, Open
from sexplang.runtime.journal import Journal, Row, attempted, cancellation
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.node import define, field
from sexplang.terms.value import Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.traces.tree import Trace


@define(eq=False)
class Run:
    """Where a drive stands. Mutable, as everything that touches the world is; the outcome in it
    is not, so an interruption at any point leaves the last consistent one."""

    outcome: Outcome
    performers: Performers
    journal: Journal
    on_event: Watch | None = None
    interrupt: Interrupt = field(factory=Interrupt)
    parallel: int = 16
    """How many model calls are in flight at most."""
    single_flight: bool = False
    """Whether equal model calls that are open at the same time are sent once."""
    trace: "Trace | None" = None
    abandoned: bool = False
    """Whether the run has been cancelled from outside."""
    waiting: list[tuple[Request, Any]] = field(factory=list)
    """Awaitables that nobody awaits yet."""
    withdrawn: list[str] = field(factory=list)
    """Ids of requests whose awaitables shall end."""
    cleaning: list[Any] = field(factory=list)
    """Scopes of an event loop in which the run has some time to clean up."""
    flown: Flown = field(factory=Flown)
    """What model calls have got that are in flight."""
    _fresh: "deque[Request]" = field(factory=deque)
    """Requests that nobody has started yet."""
    _gone: set[str] = field(factory=set)
    """Those of them that were withdrawn before that."""
    _queue: "OrderedDict[str, Request]" = field(factory=OrderedDict)
    """Model calls for which there is no place yet: nothing of them exists but the request."""
    _open: dict[str, Open] = field(factory=dict)
    _arrived: "deque[tuple[str, Value, bool, int]]" = field(factory=deque)
    _flights: Flights = field(factory=Flights)

    def __attrs_post_init__(self) -> None:
        self._open_all()

    @property
    def ended(self) -> bool:
        return not isinstance(self.outcome, Suspended)

    @property
    def interrupted(self) -> bool:
        """Whether the run is to be abandoned before it goes on."""
        return self.interrupt.pressed and not self.abandoned

    def end(self) -> Done | Failed:
        """How the run ended, once it has."""
        assert not isinstance(self.outcome, Suspended)
        return self.outcome

    def step(self) -> bool:
        """Deliver one reply, or start what can be started; False when all that is open waits, or
        the run is to be abandoned."""
        if self.interrupt.pressed and self.interrupted:
            return False
        while self._arrived:
            id, value, failed, attempts = self._arrived.popleft()
            if id in self._open:
                self._deliver(id, value, failed, attempts)
                return True
        started = False
        while (request := self._next()) is not None:
            if self._start(request):
                return True
            started = True
        return started

    def _next(self) -> Request | None:
        """The next request to perform, those that wait for a place first and in their order."""
        if self._queue and len(self.flown.made) < self.parallel:
            return self._queue.popitem(last=False)[1]
        while self._fresh:
            request = self._fresh.popleft()
            if request.id in self._gone:
                self._told_gone(request)
            elif request.operation != "model":
                return request
            elif self.single_flight and self._flights.joins(request):
                self._opened(request)
            elif len(self.flown.made) >= self.parallel:
                self._queue[request.id] = request
                if self.on_event is not None:
                    self.on_event(Queued(request.id, task_of(request)))
            else:
                return request
        return None

    def _told_gone(self, request: Request, is_begun: bool = False) -> None:
        """Nobody wants the reply to a request any more."""
        if request.operation == "model" and not is_begun:
            self.journal.note({"withdrawn": request.id})
        self._gone.discard(request.id)
        row = self.flown.cut.pop(request.id, None)
        if self.on_event is not None:
            self.on_event(withdrawal(request, row))

    def arrive(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        """An awaited reply is there."""
        self._arrived.append((id, value, failed, attempts))

    def again(self, id: str, attempt: int, usage: dict[str, int]) -> bool:
        """Whether an attempt that took so much may be followed by another: budgets have to hold
        both. What they hold is a part of the schedule, so it stands in the journal. Raises a
        Refusal where it cannot."""
        if id not in self._open or not isinstance(self.outcome, Suspended):
            return False
        after = self.outcome.again(id, usage)
        if after is not None and after is not self.outcome:
            self.journal.append(attempted(id, attempt, usage))
            self.outcome = after
        return after is not None

    def abandon(self) -> None:
        """Cancel the run from outside: only its `finally` bodies are left to do."""
        self.abandoned = True
        cut = {id: each for id, each in self._open.items() if each.request.operation != "timer"}
        gone = {**self._queue, **{id: each.request for id, each in cut.items()}}
        self.withdrawn.extend(self._open)
        for _, awaitable in self.waiting:
            closed(awaitable)
        self.waiting.clear()
        self._open.clear()
        self._queue.clear()
        self._fresh.clear()
        self._gone.clear()
        self._arrived.clear()
        self._flights = Flights()
        if isinstance(self.outcome, Suspended):
            with suppress(Refusal):  # what is cleaned up matters more than its recording
                self.journal.append(cancellation())
            self.outcome = self.outcome.cancel(so_far=self.flown.so_far)
            with suppress(Refusal):
                self.journal.extend(self.flown.cut.values())
            if self.trace is not None:
                self.trace.moved(self.outcome, self.flown.cut)
            self.flown.made.clear()
            self._open_all()
            self._fail_cut(cut)
        for id, request in gone.items():
            if id not in self._open:
                self._told_gone(request, id in cut)

    def _open_all(self) -> None:
        if isinstance(self.outcome, Suspended):
            self._fresh.extend(self.outcome.requests)

    def _fail_cut(self, cut: dict[str, Open]) -> None:
        """What was cut short for somebody who goes on, who was ending already, has failed: it
        may have been done, and is not done again."""
        for request in [request for request in self._fresh if request.id in cut]:
            self._fresh.remove(request)
            self._open[request.id] = cut[request.id]
            error = interrupted(request, self.flown.over(request.id))
            self.arrive(request.id, error, True, 1)

    def _opened(self, request: Request) -> None:
        opened = self._open[request.id] = Open(request, time(), monotonic())
        if self.on_event is not None:
            opened.told = begun(request)
            self.on_event(opened.told)
        if self.trace is not None:
            self.trace.started(request)

    def _start(self, request: Request) -> bool:
        """Whether the request got its reply at once."""
        if request.id not in self._open:
            self._opened(request)
        performer = self.performers.get(request.operation)
        try:
            if performer is None:
                raise unhandled(request.operation, self.performers)
            reply = performer(request)
        # Performers may be a host's functions: what they raise fails the request, not the run.
        except Exception as error:
            self._deliver(request.id, failure(error, request.operation), True, attempts_of(error))
            return True
        if reply.__class__ not in FLAT and hasattr(reply, "__await__"):
            self.waiting.append((request, reply))
            if request.operation == "model":
                self.flown.made.add(request.id)
            return False
        value, failed, attempts = settled(reply, request.operation)
        self._deliver(request.id, value, failed, attempts)
        return True

    def _deliver(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        opened = self._open.pop(id)
        self.flown.over(id)
        if self.single_flight:
            for other, shared in self._flights.replies(id, value, failed):
                self.arrive(other, shared, failed, 1)
            self._landed(id)
        row = opened.answered(value, failed, attempts)
        if not self._recorded(row):
            return
        if self.on_event is not None and opened.told is not None:
            self.on_event(finished(row, opened.told))
        if self.trace is not None:
            self.trace.finished(row)
        before = self.outcome
        assert isinstance(before, Suspended)
        so_far = self.flown.so_far
        if failed:
            after = before.fail(id, value, so_far=so_far)
        else:
            after = before.resume(id, value, is_value=True, so_far=so_far)
        self.outcome = after
        if self.flown.cut and not self._recorded(*self.flown.cut.values()):
            return
        if self.trace is not None:
            self.trace.moved(after, self.flown.cut)
        for gone in after.withdrawn:
            self._withdraw(gone)
        if isinstance(after, Suspended):
            self._fresh.extend(after.opened)
        else:
            for request in self._fresh:
                self._told_gone(request)

    def _recorded(self, *rows: Row) -> bool:
        """Whether the journal has the rows; else the run has ended."""
        try:
            for row in rows:
                self.journal.append(row)
        except Refusal as refusal:
            self._stop(refusal.error)
            return False
        return True

    def _landed(self, id: str) -> None:
        """A model call is over; of equal ones that have waited for it, the next may be made."""
        if (heir := self._flights.left(id)) is not None:
            self._queue[heir.id] = heir
            self._queue.move_to_end(heir.id, last=False)

    def _withdraw(self, id: str) -> None:
        queued, opened = self._queue.pop(id, None), self._open.pop(id, None)
        self._landed(id)
        if opened is None:
            if queued is None:
                self._gone.add(id)
            else:
                self._told_gone(queued)
            return
        self.flown.made.discard(id)
        self.withdrawn.append(id)
        for at, (request, awaitable) in enumerate(self.waiting):
            if request.id == id:
                closed(awaitable)
                del self.waiting[at]
                break
        self._told_gone(opened.request, True)

    def _stop(self, error: Record) -> None:
        """A reply that cannot be recorded must not be delivered: the run ends here. Nothing of
        it runs any more, since that could not be recorded either."""
        self.withdrawn.extend(self._open)
        self._open.clear()
        self._queue.clear()
        self._arrived.clear()
        self.outcome = Failed(error)
