"""A suspended run and performers → its requests under way, and what their replies make of it.

Law: one reply at a time: its row is appended to the journal, then it is delivered, and the next
only when every branch waits again. So the journal is the schedule.
"""

from collections import OrderedDict, deque
from contextlib import suppress
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from attrs import field

from sexplang.interrupt import Interrupt
from sexplang.machine import Done, Failed, Outcome, Suspended
from sexplang.runtime.answers import (
    FLAT,
    Performers,
    Watch,
    attempts_of,
    closed,
    failure,
    settled,
    unhandled,
)
from sexplang.runtime.events import Queued, Started, Withdrawn, begun, finished, task_of
from sexplang.runtime.flights import Flights
from sexplang.runtime.journal import Journal, Row, attempted, cancellation
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.node import define
from sexplang.terms.task import error_record
from sexplang.terms.value import Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.traces.tree import Trace


@define(eq=False)
class _Open:
    """A request that is being performed."""

    request: Request
    started: float
    clock: float
    told: Started | None = None
    """What whoever watches was told of its beginning."""


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
    _fresh: "deque[Request]" = field(factory=deque)
    """Requests that nobody has started yet."""
    _gone: set[str] = field(factory=set)
    """Those of them that were withdrawn before that."""
    _queue: "OrderedDict[str, Request]" = field(factory=OrderedDict)
    """Model calls for which there is no place yet: nothing of them exists but the request."""
    _flying: set[str] = field(factory=set)
    """Model calls that are in flight."""
    _open: dict[str, _Open] = field(factory=dict)
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
        if self.interrupted:
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
        if self._queue and len(self._flying) < self.parallel:
            return self._queue.popitem(last=False)[1]
        while self._fresh:
            request = self._fresh.popleft()
            if request.id in self._gone:
                self._told_gone(request)
            elif request.operation != "model":
                return request
            elif self.single_flight and self._flights.joins(request):
                self._opened(request)
            elif len(self._flying) >= self.parallel:
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
        if self.on_event is not None:
            self.on_event(Withdrawn(request.id, request.operation))

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
        self._flying.clear()
        self._queue.clear()
        self._fresh.clear()
        self._gone.clear()
        self._arrived.clear()
        self._flights = Flights()
        if isinstance(self.outcome, Suspended):
            with suppress(Refusal):  # what is cleaned up matters more than its recording
                self.journal.append(cancellation())
            self.outcome = self.outcome.cancel()
            if self.trace is not None:
                self.trace.moved(self.outcome)
            self._open_all()
            self._fail_cut(cut)
        for id, request in gone.items():
            if id not in self._open:
                self._told_gone(request, id in cut)

    def _open_all(self) -> None:
        if isinstance(self.outcome, Suspended):
            self._fresh.extend(self.outcome.requests)

    def _fail_cut(self, cut: dict[str, _Open]) -> None:
        """What was cut short for somebody who goes on, who was ending already, has failed: it
        may have been done, and is not done again."""
        for request in [request for request in self._fresh if request.id in cut]:
            self._fresh.remove(request)
            self._open[request.id] = cut[request.id]
            words = f"`{request.operation}` was interrupted"
            self.arrive(request.id, error_record("TASK_FAILURE", "cancelled", words), True, 1)

    def _opened(self, request: Request) -> None:
        opened = self._open[request.id] = _Open(request, time(), monotonic())
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
                self._flying.add(request.id)
            return False
        self._deliver(request.id, *settled(reply, request.operation))
        return True

    def _deliver(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        opened = self._open.pop(id)
        self._flying.discard(id)
        if self.single_flight:
            for other, shared in self._flights.replies(id, value, failed):
                self.arrive(other, shared, failed, 1)
            self._landed(id)
        request = opened.request
        said = value, failed, attempts
        ended = opened.started + monotonic() - opened.clock
        row = Row(id, request.operation, request.arguments, *said, opened.started, ended)
        try:
            self.journal.append(row)
        except Refusal as refusal:
            self._stop(refusal.error)
            return
        if self.on_event is not None and opened.told is not None:
            self.on_event(finished(row, opened.told))
        if self.trace is not None:
            self.trace.finished(row)
        before = self.outcome
        assert isinstance(before, Suspended)
        after = before.fail(id, value) if failed else before.resume(id, value, is_value=True)
        self.outcome = after
        if self.trace is not None:
            self.trace.moved(after)
        for gone in after.withdrawn:
            self._withdraw(gone)
        if isinstance(after, Suspended):
            self._fresh.extend(after.opened)
        else:
            for request in self._fresh:
                self._told_gone(request)

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
        self._flying.discard(id)
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
