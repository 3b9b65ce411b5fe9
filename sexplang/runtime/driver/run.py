"""A suspended run and performers → its requests under way, and what their replies make of it.

Law: one reply at a time: its row is appended to the journal, then it is delivered, and the next
only when every branch waits again. So the journal is the schedule.
"""

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from sexplang.guards.interrupt import Interrupt
from sexplang.machine import Done, Failed, Outcome, Suspended, advance, halt, hold_attempt, state_of
from sexplang.runtime.driver.answers import (
    FLAT,
    DeferredReply,
    Performers,
    Watch,
    attempts_of,
    close_awaitable,
    failure,
    make_interruption,
    read_reply,
    refuse_unhandled,
)
from sexplang.runtime.driver.deadlines import Deadlines
from sexplang.runtime.driver.events import Finished, Queued, Started, Withdrawn
from sexplang.runtime.driver.request_queue import RequestQueue
from sexplang.runtime.driver.single_flight import InFlight, SingleFlight
from sexplang.runtime.journal.journal import (
    ATTEMPT,
    Journal,
    Row,
    digest,
    make_attempt_row,
    make_cancellation_row,
    make_deadline_row,
    make_withdrawal_row,
)
from sexplang.runtime.refusal import Refusal, Unrecorded
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Part, Request
from sexplang.terms.values.value import Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal.replay_order import ReplayOrder
    from sexplang.runtime.traces.tree import Trace


def no_timer(seconds: float) -> None:
    """Where a host answers timers itself, nothing waits."""


@define(eq=False)
class Run:
    """A run that is driven. Mutable, as everything that touches the world is; the outcome in it
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
    deadlines: Deadlines = field(factory=lambda: Deadlines(no_timer))
    abandoned: bool = False
    """Whether the run has been cancelled from outside."""
    waiting: list[tuple[Request, Any]] = field(factory=list)
    """Awaitables that nobody awaits yet."""
    withdrawn: list[str] = field(factory=list)
    """Ids of requests whose awaitables shall end."""
    cleaning: list[Any] = field(factory=list)
    """Scopes of an event loop in which the run has some time to clean up."""
    flown: InFlight = field(factory=InFlight)
    """What model calls have got that are in flight."""
    _queue: RequestQueue = field(factory=RequestQueue)
    """Requests that nobody has started yet."""
    _open: dict[str, Started] = field(factory=dict)
    _arrived: "deque[tuple[str, Value, bool, int]]" = field(factory=deque)
    _flights: SingleFlight = field(factory=SingleFlight)
    _delivered_row: Row | None = None
    """The reply that is being delivered."""
    _since: float = field(factory=monotonic)
    """Where the run's clock began."""
    _order: "ReplayOrder | None" = None
    """What the run waits for that is in recordings, once it asks one."""

    def __attrs_post_init__(self) -> None:
        timer = self.performers.get("timer")
        if isinstance(timer, Deadlines):
            self.deadlines = timer
        self.deadlines.begin()
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

    def arrive(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        """An awaited reply is there."""
        self._arrived.append((id, value, failed, attempts))

    def step(self) -> bool:
        """Deliver one reply, or start what can be started; False when all that is open waits, or
        the run is to be abandoned."""
        if self.interrupt.pressed and self.interrupted:
            return False
        if self._compute():
            return True
        while self._arrived:
            id, value, failed, attempts = self._arrived.popleft()
            if id in self._open and self._accept(id, value, failed, attempts):
                return True
        started = False
        while True:
            if self._order is not None and self._is_asked() and self._tell(exactly=True):
                return True
            if (request := self._next()) is None:
                break
            if self._start(request):
                return True
            started = True
        return started or (self._order is not None and self._go_on())

    def _accept(self, id: str, value: Value, failed: bool, attempts: int) -> bool:
        """A reply is there: whether it is delivered, and not held until its turn."""
        if self._order is not None and self._order.holds(id, value, failed, attempts):
            return False
        self._deliver(id, value, failed, attempts)
        return True

    def _is_asked(self) -> bool:
        """Whether all model calls have been started: what follows in a recording was told when
        they had been. They come first, since nothing of the world shows their order."""
        return not self._queue.is_at_model()

    def _tell(self, *, exactly: bool) -> bool:
        """Deliver what comes next in a recording, if that can be delivered now."""
        assert self._order is not None
        found = self._order.next(exactly=exactly)
        if found is None:
            return False
        row, (id, value, failed, attempts) = found
        if row.operation == ATTEMPT:
            self.again(id, attempts, value)
        else:
            self._deliver(id, value, failed, attempts)
        return True

    def _go_on(self) -> bool:
        """Nothing can be started: what is recorded goes on, or does not fit."""
        assert self._order is not None
        if self._tell(exactly=False):
            return True
        misfit = self._order.stuck([each.request for each in self._open.values()])
        if misfit is not None:
            self._stop(misfit.error)
        return misfit is not None

    def _recall(self, request: Request, later: DeferredReply) -> bool:
        """A recording is asked, which says when its reply is due: whether the run ends, because it
        does not hold one."""
        try:
            self.flown.follow(request, self._follow_recording(later).asks(request, later))
        except Refusal as refusal:
            self._stop(refusal.error)
            return True
        return False

    def _follow_recording(self, later: DeferredReply) -> "ReplayOrder":
        """The order of the recordings that are asked, with this one."""
        if self._order is None:
            from sexplang.runtime.journal.replay_order import ReplayOrder

            self._order = ReplayOrder()
            self._queue.put_models_first()
        self._order.follow(later.recorded, [each.request for each in self._open.values()])
        return self._order

    def _next(self) -> Request | None:
        """The next request to perform, those that wait for a place first and in their order."""
        queue = self._queue
        if queue.calls and len(self.flown.made) < self.parallel:
            return queue.take_call()
        while (request := queue.take()) is not None:
            if queue.is_withdrawn(request.id):
                self._forget(request)
            elif request.operation != "model":
                return request
            elif self.single_flight and self._order is None and self._flights.joins(request):
                self._open_request(request)
            elif len(self.flown.made) >= self.parallel:
                queue.calls[request.id] = request
                if self.on_event is not None:
                    self.on_event(Queued(request))
            else:
                return request
        return None

    def _forget(self, request: Request) -> Row | None:
        """Nobody wants the reply to a request any more that was not begun."""
        if request.operation == "model":
            self.journal.note({"withdrawn": request.id})
        self._queue.forget(request.id)
        return self.flown.cut.pop(request.id, None)

    def _report_withdrawn(self, request: Request, is_begun: bool = False) -> None:
        """The same of one that somebody has heard of."""
        row = self.flown.cut.pop(request.id, None) if is_begun else self._forget(request)
        if self.on_event is not None:
            self.on_event(Withdrawn(request, row))

    def again(self, id: str, attempt: int, usage: dict[str, int]) -> bool:
        """Whether an attempt that took so much may be followed by another: budgets have to hold
        both. What they hold is a part of the schedule, so it stands in the journal. Raises a
        Refusal where it cannot."""
        if id not in self._open or not isinstance(self.outcome, Suspended):
            return False
        after = hold_attempt(self.outcome, id, usage)
        if after is not None and after is not self.outcome:
            self.journal.append(make_attempt_row(id, attempt, usage))
            self.outcome = after
        return after is not None

    def abandon(self) -> None:
        """Cancel the run from outside: only its `finally` bodies are left to do."""
        self.abandoned = True
        after = self.outcome
        if isinstance(after, Suspended):
            with suppress(Refusal):  # what is cleaned up matters more than its recording
                self.journal.append(make_cancellation_row())
            after = after.cancel(so_far=self._so_far, slice=self.deadlines.slice)
        begun, queued = dict(self._open), dict(self._queue.calls)
        self._let_go()
        self._queue.clear()
        self._flights = SingleFlight()
        if after is not self.outcome:
            self.outcome, self._delivered_row = after, None
            wanted = {each.id for each in getattr(self.outcome, "requests", ())}
            over = [each.request for id, each in begun.items() if id not in wanted]
            with suppress(Refusal):
                self.journal.extend(self._cut(over))
            if self.trace is not None:
                self.trace.advance(self.outcome, self.flown.cut)
            self._order, self._queue.models_first = None, False
            self._open_all()
            self._keep(begun, queued)
            self.flown.made.clear()
        self._report_all_withdrawn(begun, queued)

    def give_up(self) -> None:
        """No time is left to clean up: the run ends where it stands."""
        if isinstance(self.outcome, Suspended):
            self._end(None)

    def _stop(self, error: Record) -> None:
        """A reply that cannot be recorded must not be delivered: the run ends here. Nothing of
        it runs any more, since that could not be recorded either."""
        self._end(error)

    def _end(self, error: Record | None) -> None:
        """Nothing of the run goes on, and what is open is withdrawn; with an error, without being
        recorded."""
        begun, queued = dict(self._open), dict(self._queue.calls)
        self._let_go()
        self.outcome = halt(self.outcome, error, self._so_far)
        if error is None:
            with suppress(Refusal):
                self.journal.extend(self._cut([each.request for each in begun.values()]))
        if self.trace is not None:
            self.trace.advance(self.outcome, self.flown.cut)
        self._report_all_withdrawn(begun, queued)

    def _let_go(self) -> None:
        """Nobody wants what is on its way any more."""
        self.withdrawn.extend(self._open)
        for _, awaitable in self.waiting:
            close_awaitable(awaitable)
        self.waiting.clear()
        self._open.clear()
        self._queue.calls.clear()
        self._arrived.clear()

    def _report_all_withdrawn(self, begun: dict[str, Started], queued: dict[str, Request]) -> None:
        """Of these, nobody wants those any more that are not open again."""
        for id, request in {**queued, **{id: each.request for id, each in begun.items()}}.items():
            if id not in self._open and id not in self._queue.calls:
                self._report_withdrawn(request, id in begun)

    def _so_far(self, id: str) -> Part:
        """What a call had got that is withdrawn: all of it if its reply is being delivered."""
        told = self._delivered_row
        if told is None or told.id != id:
            return self.flown.so_far(id)
        part: Part = {"usage": told.usage, "text": "", "model": ""}
        return part if told.usage else {**part, "uncounted": True}

    def _open_all(self) -> None:
        if isinstance(self.outcome, Suspended):
            self._queue.add(self.outcome.requests)

    def _keep(self, begun: dict[str, Started], queued: dict[str, Request]) -> None:
        """What was cut short for somebody who goes on, who was ending already, has failed: it
        may have been done, and is not done again. Deadlines begin anew; calls stay in line."""
        again = []
        for request in self._queue.take_all():
            if request.id in begun and request.operation != "timer":
                self._open[request.id] = begun[request.id]
                error = make_interruption(request, self.flown.part(request.id)[1])
                self.arrive(request.id, error, True, 1)
            elif request.id in queued:
                self._queue.calls[request.id] = request
            else:
                again.append(request)
        self._queue.add(again)

    def _open_request(self, request: Request) -> None:
        opened = self._open[request.id] = Started(request)
        if self.on_event is not None:
            self.on_event(opened)
        if self._order is not None:
            self._order.performs(request)
        if self.trace is not None:
            self.trace.start_request(request)

    def _start(self, request: Request) -> bool:
        """Whether the request got its reply at once."""
        if request.id not in self._open:
            self._open_request(request)
        performer = self.performers.get(request.operation)
        try:
            if performer is None:
                raise refuse_unhandled(request.operation, self.performers)
            reply = performer(request)
            if reply.__class__ is DeferredReply and reply.perform is not None:
                self._follow_recording(reply)
                reply = reply.perform(request)
        except Unrecorded as refusal:
            self._stop(refusal.error)
            return True
        # Performers may be a host's functions: what they raise fails the request, not the run.
        except Exception as error:
            failed = failure(error, request.operation), True, attempts_of(error)
            return self._accept(request.id, *failed)
        if reply.__class__ is DeferredReply:
            return self._recall(request, reply)
        if reply.__class__ not in FLAT and hasattr(reply, "__await__"):
            self.waiting.append((request, reply))
            if request.operation == "model":
                self.flown.made[request.id] = request
            return False
        return self._accept(request.id, *read_reply(reply, request.operation))

    def _deliver(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        opened = self._open[id]
        if self.single_flight:
            for other, shared in self._flights.replies(id, value, failed):
                self.arrive(other, shared, failed, 1)
            self._release_call(id)
        row = opened.make_row(value, failed, attempts)
        if not self._record(row):
            return
        self._delivered_row = row
        del self._open[id]
        self.flown.over(id)
        if self.on_event is not None:
            self.on_event(Finished(opened.request, row))
        if self.trace is not None:
            self.trace.finish_request(row)
        before = self.outcome
        assert isinstance(before, Suspended)
        so_far, slice = self.flown.so_far, self.deadlines.slice
        if failed:
            after = before.fail(id, value, so_far=so_far, slice=slice)
        else:
            after = before.resume(id, value, is_value=True, so_far=so_far, slice=slice)
        self._set_outcome(after)
        self._compute()

    def _compute(self) -> bool:
        """Goes on where a slice of steps is over, until every branch waits; False where every one
        did. A deadline that has passed cuts what computes under it."""
        moved = False
        while isinstance(self.outcome, Suspended):
            pause = state_of(self.outcome).pause
            if pause is None:
                break
            moved, scope = True, self.deadlines.find_passed(pause)
            if scope is not None and not self._record(
                make_deadline_row(scope, pause.at, pause.steps)
            ):
                break
            since = monotonic()
            after = advance(self.outcome, self.deadlines.slice, scope, self.flown.so_far)
            if isinstance(after, Suspended) and is_midway(after):
                self.deadlines.adjust_slice(monotonic() - since)
            self._set_outcome(after)
        return moved

    def _set_outcome(self, after: Outcome) -> None:
        """The run stands elsewhere."""
        self.outcome, self._delivered_row = after, None
        gone = after.withdrawn
        if gone or self.flown.cut:
            begun = [self._open[id].request for id in gone if id in self._open]
            if (begun or self.flown.cut) and not self._record(*self._cut(begun)):
                return
        if self.trace is not None:
            self.trace.advance(after, self.flown.cut)
        for each in gone:
            self._withdraw(each)
        if isinstance(after, Suspended):
            self._queue.add(state_of(after).opened)
        else:
            for request in self._queue.take_all():
                self._forget(request)

    def _record(self, *rows: Row) -> bool:
        """Whether the journal has the rows; else the run has ended."""
        clock = monotonic() - self._since
        try:
            for row in rows:
                row.clock = clock
                self.journal.append(row)
        except Refusal as refusal:
            self._stop(refusal.error)
            return False
        return True

    def _cut(self, begun: Iterable[Request]) -> list[Row]:
        """The rows of what was under way and is withdrawn: a run that is repeated is not told a
        reply either, if one is there sooner."""
        others = [each for each in begun if each.operation != "model"]
        return [
            *self.flown.cut.values(),
            *[
                make_withdrawal_row(each.id, digest(each.operation, each.arguments), {})
                for each in others
            ],
        ]

    def _release_call(self, id: str) -> None:
        """A model call is over; of equal ones that have waited for it, the next may be made."""
        if (heir := self._flights.release(id)) is not None:
            self._queue.put_call_first(heir)

    def _withdraw(self, id: str) -> None:
        queued, opened = self._queue.calls.pop(id, None), self._open.pop(id, None)
        if self._order is not None:
            self._order.forget(id)
        self._release_call(id)
        if opened is None:
            if queued is None:
                self._queue.withdraw(id)
            else:
                self._report_withdrawn(queued)
            return
        self.flown.made.pop(id, None)
        self.withdrawn.append(id)
        for at, (request, awaitable) in enumerate(self.waiting):
            if request.id == id:
                close_awaitable(awaitable)
                del self.waiting[at]
                break
        self._report_withdrawn(opened.request, True)


def is_midway(outcome: Suspended) -> bool:
    """Whether nothing but the end of a slice has stopped it."""
    pause = state_of(outcome).pause
    return pause is not None and pause.rest is not None
