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
    failure,
    settled,
    unhandled,
)
from sexplang.runtime.events import Finished, Queued, Started, Withdrawn, task_of, turn_of
from sexplang.runtime.journal import Journal, Row, cancellation
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
                self._gone.discard(request.id)
            elif request.operation == "model" and len(self._flying) >= self.parallel:
                self._queue[request.id] = request
                if self.on_event is not None:
                    self.on_event(Queued(request.id, task_of(request)))
            else:
                return request
        return None

    def arrive(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        """An awaited reply is there."""
        self._arrived.append((id, value, failed, attempts))

    def abandon(self) -> None:
        """Cancel the run from outside: only its `finally` bodies are left to do."""
        self.abandoned = True
        cut = {id: each for id, each in self._open.items() if each.request.operation != "timer"}
        self.withdrawn.extend(self._open)
        for _, awaitable in self.waiting:
            _close(awaitable)
        self.waiting.clear()
        self._open.clear()
        self._flying.clear()
        self._queue.clear()
        self._fresh.clear()
        self._gone.clear()
        self._arrived.clear()
        if isinstance(self.outcome, Suspended):
            with suppress(Refusal):  # what is cleaned up matters more than its recording
                self.journal.append(cancellation())
            self.outcome = self.outcome.cancel()
            if self.trace is not None:
                self.trace.moved(self.outcome)
            self._open_all()
            self._fail_cut(cut)

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

    def _start(self, request: Request) -> bool:
        """Whether the request got its reply at once."""
        self._open[request.id] = _Open(request, time(), monotonic())
        if self.on_event is not None:
            event = Started(request.id, request.operation, task_of(request), turn_of(request))
            self.on_event(event)
        if self.trace is not None:
            self.trace.started(request)
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
        request = opened.request
        row = Row(
            id,
            request.operation,
            request.arguments,
            value,
            failed,
            attempts,
            opened.started,
            opened.started + monotonic() - opened.clock,
        )
        try:
            self.journal.append(row)
        except Refusal as refusal:
            self._stop(refusal.error)
            return
        if self.on_event is not None:
            self.on_event(_finished(row, request))
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

    def _withdraw(self, id: str) -> None:
        if self._queue.pop(id, None) is not None:
            if self.on_event is not None:
                self.on_event(Withdrawn(id, "model"))
            return
        opened = self._open.pop(id, None)
        if opened is None:
            self._gone.add(id)
            return
        self._flying.discard(id)
        self.withdrawn.append(id)
        for at, (request, awaitable) in enumerate(self.waiting):
            if request.id == id:
                _close(awaitable)
                del self.waiting[at]
                break
        if self.on_event is not None:
            self.on_event(Withdrawn(id, opened.request.operation))

    def _stop(self, error: Record) -> None:
        """A reply that cannot be recorded must not be delivered: the run ends here. Nothing of
        it runs any more, since that could not be recorded either."""
        self.withdrawn.extend(self._open)
        self._open.clear()
        self._queue.clear()
        self._arrived.clear()
        self.outcome = Failed(error)


def _finished(row: Row, request: Request) -> Finished:
    model = row.reply.get("model") if isinstance(row.reply, dict) else None
    return Finished(
        row.id,
        row.operation,
        task_of(request),
        turn_of(request),
        row.ended - row.started,
        model if row.operation == "model" and isinstance(model, str) else None,
        _counts(row.usage),
        row.reply if row.failed else None,
        row.attempts,
    )


def _counts(usage: dict[str, Value]) -> dict[str, int]:
    """Only what can be counted: a performer of the host may reply anything."""
    return {
        name: count
        for name, count in usage.items()
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0
    }


def _close(awaitable: Any) -> None:
    close = getattr(awaitable, "close", None)
    if close is not None:  # a coroutine that was never awaited would warn
        close()
