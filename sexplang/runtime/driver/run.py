"""The state machine of a driven run: it starts requests and delivers their replies.

Law: one reply at a time. Its row is appended to the journal, then it is delivered; the next one
follows only when every branch waits again. So the journal is the schedule.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from sexplang.guards.interrupt import Interrupt
from sexplang.machine import (
    Failed,
    Outcome,
    Pause,
    Suspended,
    advance,
    halt,
    hold_attempt,
    state_of,
)
from sexplang.runtime.driver.current_request import PERFORMED, AttemptHistory
from sexplang.runtime.driver.deadlines import Deadlines, is_midway, was_cancelled
from sexplang.runtime.driver.events import Finished, Queued, Started, Withdrawn
from sexplang.runtime.driver.requests import (
    PLAIN_CLASSES,
    DeferredReply,
    InFlight,
    Performers,
    RequestQueue,
    SingleFlight,
    Watch,
    attempts_of,
    close_awaitable,
    failure,
    make_interruption,
    read_reply,
    refuse_unhandled,
)
from sexplang.runtime.driver.text_stream import tell_whole
from sexplang.runtime.driver.waits import UNANSWERED, OutsideWaits, Paused
from sexplang.runtime.journal.doubts import INSIDE
from sexplang.runtime.journal.journal import Journal
from sexplang.runtime.journal.rows import (
    ATTEMPT,
    Row,
    make_attempt_row,
    make_cancellation_row,
    make_deadline_row,
)
from sexplang.runtime.refusal import Refusal, Unrecorded
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Part, Request
from sexplang.terms.values.value import Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal.replay_order import ReplayOrder
    from sexplang.runtime.traces.tree import Trace


def no_timer(seconds: float) -> None:
    """Timers of a host that answers them itself: they do not wait."""


@define(eq=False)
class Run:
    """A driven run. It is mutable, but its outcome is not: an interruption at any point leaves the
    last consistent outcome."""

    outcome: Outcome
    performers: Performers
    journal: Journal
    on_event: Watch | None = None
    interrupt: Interrupt = field(factory=Interrupt)
    parallel: int = 16
    """Maximum number of model calls in flight."""
    single_flight: bool = False
    """Whether equal model calls that are open at the same time are sent once."""
    trace: "Trace | None" = None
    history: AttemptHistory = field(factory=AttemptHistory)
    deadlines: Deadlines = field(factory=lambda: Deadlines(no_timer))
    abandoned: bool = False
    """Whether the run was cancelled from outside."""
    _is_cancelled: bool = False
    """Whether the journal has the row of the cancellation."""
    awaitables: list[tuple[Request, Any]] = field(factory=list)
    """Awaitable replies that the event loop has not taken over yet."""
    withdrawn: list[str] = field(factory=list)
    """Ids of requests whose awaitables must be cancelled."""
    cleanup_scopes: list[Any] = field(factory=list)
    """Cancel scopes of the event loop in which the run cleans up."""
    in_flight: InFlight = field(factory=InFlight)
    """Partial replies of the model calls in flight."""
    _queue: RequestQueue = field(factory=RequestQueue)
    """Requests that are not started."""
    _open: dict[str, Started] = field(factory=dict)
    _replies: "deque[tuple[str, Value, bool, int]]" = field(factory=deque)
    _equal_calls: SingleFlight = field(factory=SingleFlight)
    _delivered_row: Row | None = None
    """The row of the reply that is being delivered."""
    _since: float = field(factory=monotonic)
    """The monotonic time at which the run began, had it been driven without a break."""
    _waiting_operations: set[str] = field(factory=set)
    """Operations whose replies were awaited: several of them are begun at once."""
    _waits: OutsideWaits = field(init=False)
    _intended: set[str] = field(factory=set)
    """Ids of requests whose intent was noted with another one."""
    _order: "ReplayOrder | None" = None
    """The replay order, from the first request to a recording."""
    _pause: Pause | None = None
    """The pause of the outcome, if it is in the midst of a computation."""

    def __attrs_post_init__(self) -> None:
        timer = self.performers.get("timer")
        if isinstance(timer, Deadlines):
            self.deadlines = timer
        self.deadlines.begin()
        self._waits = OutsideWaits(self.performers.get("wait-until"))
        self._since -= self.journal.clock
        self._open_all()

    @property
    def ended(self) -> bool:
        return not isinstance(self.outcome, Suspended)

    @property
    def interrupted(self) -> bool:
        """Whether the run must be abandoned before the next step."""
        return self.interrupt.pressed and not self.abandoned

    @property
    def is_parked(self) -> bool:
        """Whether all open requests wait for a person or a far moment. The deadlines of the run
        stand still meanwhile."""
        if self._pause is not None or self._replies or self._queue.has_new:
            return False
        return self._waits.are_all([each.request for each in self._open.values()])

    def arrive(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        """Queue an awaited reply for delivery."""
        self._replies.append((id, value, failed, attempts))

    def step(self) -> bool:
        """Deliver one reply, or start the requests that can start. Return False if all open
        requests wait, or the run must be abandoned."""
        if self.interrupt.presses and self.interrupted:
            return False
        if self._pause is not None:
            self._compute()
            return True
        while self._replies:
            id, value, failed, attempts = self._replies.popleft()
            if id in self._open and self._accept(id, value, failed, attempts):
                return True
        started = False
        while True:
            if (
                self._order is not None
                and self._has_started_calls()
                and self._deliver_recorded(exactly=True)
            ):
                return True
            if (request := self._next_request()) is None:
                break
            if self._start(request):
                return True
            started = True
        return started or (self._order is not None and self._continue_replay())

    def _accept(self, id: str, value: Value, failed: bool, attempts: int) -> bool:
        """Deliver a reply. Return False if the replay order holds it until its turn."""
        if self._order is not None and self._order.hold(id, value, failed, attempts):
            return False
        self._deliver(id, value, failed, attempts)
        return True

    def _has_started_calls(self) -> bool:
        """Whether all model calls are started. In a recording, later rows followed their start.
        Model calls come first because no other evidence of their order exists."""
        return not self._queue.is_at_model()

    def _deliver_recorded(self, *, exactly: bool) -> bool:
        """Deliver the next row of a recording. Return False if it cannot be delivered now."""
        assert self._order is not None
        found = self._order.next(exactly=exactly)
        if found is None:
            return False
        row, (id, value, failed, attempts) = found
        if row.operation == ATTEMPT:
            self.hold_retry(id, attempts, value)
        else:
            self._deliver(id, value, failed, attempts)
        return True

    def _continue_replay(self) -> bool:
        """Deliver the next recorded row when no request can start; end the run at a mismatch."""
        assert self._order is not None
        if self._deliver_recorded(exactly=False):
            return True
        misfit = self._order.find_mismatch([each.request for each in self._open.values()])
        if misfit is not None:
            self._stop(misfit.error)
        return misfit is not None

    def _await_recorded(self, request: Request, later: DeferredReply) -> bool:
        """Register a request that a recording answers. Return True if the recording lacks it, which
        ends the run."""
        try:
            self.in_flight.follow(request, self._follow_recording(later).add_call(request, later))
        except Refusal as refusal:
            self._stop(refusal.error)
            return True
        return False

    def _follow_recording(self, later: DeferredReply) -> "ReplayOrder":
        """Return the replay order, extended by this recording."""
        if self._order is None:
            from sexplang.runtime.journal.replay_order import ReplayOrder

            self._order = ReplayOrder()
            self._queue.put_models_first()
        self._order.follow(later.recorded, [each.request for each in self._open.values()])
        return self._order

    def _next_request(self) -> Request | None:
        """Remove and return the next request to perform, or None. Waiting model calls come
        first."""
        queue = self._queue
        if queue.calls and len(self.in_flight.calls) < self.parallel:
            return queue.take_call()
        while (request := queue.take()) is not None:
            if request.id in queue.withdrawn_ids:
                self._forget(request)
            elif request.operation != "model":
                return request
            elif self.single_flight and self._order is None and self._equal_calls.join(request):
                self._open_request(request)
            elif len(self.in_flight.calls) >= self.parallel:
                queue.calls[request.id] = request
                if self.on_event is not None:
                    self.on_event(Queued(request))
            else:
                return request
        return None

    def _forget(self, request: Request) -> Row | None:
        """Note a withdrawn request that was not started. Return its withdrawal row, if any."""
        if request.operation == "model":
            self.journal.note({"withdrawn": request.id})
        self._queue.forget(request.id)
        return self.in_flight.withdrawal_rows.pop(request.id, None)

    def _report_withdrawn(self, request: Request, is_begun: bool = False) -> None:
        """Emit Withdrawn for a request that an earlier event has announced."""
        row = (
            self.in_flight.withdrawal_rows.pop(request.id, None)
            if is_begun
            else self._forget(request)
        )
        if self.on_event is not None:
            self.on_event(Withdrawn(request, row))

    def hold_retry(self, id: str, attempt: int, usage: dict[str, int]) -> bool:
        """Reserve what a failed attempt used and another one may use. Return False if a budget does
        not admit it. The reservation is a part of the schedule, so it is journaled. Raises Refusal
        if the journal cannot be written."""
        if id not in self._open or not isinstance(self.outcome, Suspended):
            return False
        after = hold_attempt(self.outcome, id, usage)
        if after is not None and after is not self.outcome:
            self.journal.append(make_attempt_row(id, attempt, usage))
            self.outcome = after
        return after is not None

    def abandon(self) -> None:
        """Cancel the run from outside. Its `finally` bodies remain to be run."""
        self.abandoned = True
        after = self.outcome
        if isinstance(after, Suspended):
            self._note_cancellation()
            after = after.cancel(so_far=self._partial_reply, slice=self.deadlines.slice)
        begun, queued = dict(self._open), dict(self._queue.calls)
        self._discard_open()
        self._queue.clear()
        self._equal_calls = SingleFlight()
        if after is not self.outcome:
            self.outcome, self._delivered_row = after, None
            wanted = {each.id for each in getattr(self.outcome, "requests", ())}
            over = [each.request for id, each in begun.items() if id not in wanted]
            with suppress(Refusal):
                self.journal.extend(self.in_flight.make_withdrawal_rows(over))
            if self.trace is not None:
                self.trace.advance(self.outcome, self.in_flight.withdrawal_rows)
            self._order, self._queue.models_first = None, False
            self._open_all()
            self._reopen(begun, queued)
            self.in_flight.calls.clear()
        self._report_all_withdrawn(begun, queued)

    def park(self) -> None:
        """Leave a parked run as it is, and keep what it waits for. If it cannot be kept, it
        ends."""
        for _, awaitable in self.awaitables:
            close_awaitable(awaitable)
        self.awaitables.clear()
        self.journal.clock = monotonic() - self._since
        asked, due = self._waits.find([each.request for each in self._open.values()])
        try:
            self.journal.park(self.outcome, self.journal.clock, asked, due)
        except Refusal as refusal:
            self._stop(refusal.error)

    def give_up(self) -> None:
        """End the run at once, without further cleanup."""
        if isinstance(self.outcome, Suspended):
            self._note_cancellation()
            self._end(None)

    def _note_cancellation(self) -> None:
        """Append the row of the cancellation, once. A second interruption may come before it is
        there: without it, the rows of what was withdrawn would belong to the reply before."""
        if not self._is_cancelled:
            with suppress(Refusal):  # cleanup matters more than its recording
                self.journal.append(make_cancellation_row())
            self._is_cancelled = True

    def _stop(self, error: Record) -> None:
        """End the run with an error, because a reply cannot be recorded and so must not be
        delivered. Cleanup does not run, since it could not be recorded either."""
        self._end(error)

    def _end(self, error: Record | None) -> None:
        """End the run and withdraw all open requests. With an error, the withdrawals are not
        recorded."""
        begun, queued = dict(self._open), dict(self._queue.calls)
        self._discard_open()
        self.outcome, self._pause = halt(self.outcome, error, self._partial_reply), None
        if error is None:
            with suppress(Refusal):
                self.journal.extend(
                    self.in_flight.make_withdrawal_rows([each.request for each in begun.values()])
                )
        if self.trace is not None:
            self.trace.advance(self.outcome, self.in_flight.withdrawal_rows)
        self._report_all_withdrawn(begun, queued)

    def _discard_open(self) -> None:
        """Discard all open requests and their awaitables."""
        self.withdrawn.extend(self._open)
        for _, awaitable in self.awaitables:
            close_awaitable(awaitable)
        self.awaitables.clear()
        self._open.clear()
        self._queue.calls.clear()
        self._replies.clear()

    def _report_all_withdrawn(self, begun: dict[str, Started], queued: dict[str, Request]) -> None:
        """Emit Withdrawn for each of these requests that is not open again."""
        for id, request in {**queued, **{id: each.request for id, each in begun.items()}}.items():
            if id not in self._open and id not in self._queue.calls:
                self._report_withdrawn(request, id in begun)

    def _partial_reply(self, id: str) -> Part:
        """Return the partial reply of a withdrawn call: all of a reply that is being delivered."""
        told = self._delivered_row
        if told is None or told.id != id:
            return self.in_flight.so_far(id)
        part: Part = {"usage": told.usage, "text": "", "model": ""}
        return part if told.usage else {**part, "uncounted": True}

    def _open_all(self) -> None:
        if isinstance(self.outcome, Suspended):
            self._pause = state_of(self.outcome).pause
            self._queue.add(self.outcome.requests)
        else:
            self._pause = None

    def _reopen(self, begun: dict[str, Started], queued: dict[str, Request]) -> None:
        """Open the requests of a cancelled run again. A started request fails as interrupted and is
        not repeated, since it may have had its effect. Deadlines start anew, and queued calls keep
        their place."""
        again = []
        for request in self._queue.take_all():
            if request.id in begun and request.operation != "timer":
                self._open[request.id] = begun[request.id]
                error = make_interruption(request, self.in_flight.interrupt(request.id))
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
            self._order.add_request(request)
        if self.trace is not None:
            self.trace.start_request(request)

    def _start(self, request: Request) -> bool:
        """Start a request. Return True if it has its reply already."""
        if request.id not in self._open:
            self._open_request(request)
        performer = self.performers.get(request.operation)
        if performer.__class__ is Paused:
            answer = performer(request)
            if answer is not UNANSWERED:
                return self._accept(request.id, answer, False, 1)
            self._waits.asked.add(request.id)
            return False
        if self.journal.storages and not self._intend(request):
            return True
        try:
            reply = self._perform(request)
        except Unrecorded as refusal:
            self._stop(refusal.error)
            return True
        # Performers may be a host's functions: an exception fails the request, not the run.
        except Exception as error:
            failed = failure(error, request.operation), True, attempts_of(error)
            return self._accept(request.id, *failed)
        if reply.__class__ is DeferredReply:
            return self._await_recorded(request, reply)
        if reply.__class__ not in PLAIN_CLASSES and hasattr(reply, "__await__"):
            self.awaitables.append((request, reply))
            self._waiting_operations.add(request.operation)
            if request.operation == "model":
                self.in_flight.calls[request.id] = request
            return False
        return self._accept(request.id, *read_reply(reply, request.operation))

    def _perform(self, request: Request) -> Any:
        """Call the performer of a request. Raises what it raises, and Refusal if there is none."""
        performer = self.performers.get(request.operation)
        if performer is None:
            raise refuse_unhandled(request.operation, self.performers)
        token = PERFORMED.set((request, self.journal.run_id, self.history))
        try:
            reply = performer(request)
            if reply.__class__ is DeferredReply and reply.perform is not None:
                self._follow_recording(reply)
                reply = reply.perform(request)
            return reply
        finally:
            PERFORMED.reset(token)

    def _intend(self, request: Request) -> bool:
        """Note that a request is about to be performed, and commit if that shows outside the run.
        Requests of the same operation that begin with it share the commit. Return False if the
        journal fails, which ends the run."""
        if request.id in self._intended:
            self._intended.discard(request.id)
            return True
        group, operation = [request], request.operation
        if operation in self._waiting_operations and operation not in INSIDE:
            room = self.parallel - len(self.in_flight.calls) - 1 if operation == "model" else None
            group += self._queue.find_equal(operation, room)
            self._intended.update([each.id for each in group[1:]])
        passed = self.deadlines.count_passed(request) if operation == "timer" else 0.0
        self.journal.intend(group, monotonic() - self._since - passed)
        return operation in INSIDE or self.commit()

    def commit(self) -> bool:
        """Make durable what the run was given. Return False if the journal fails, which ends the
        run."""
        try:
            self.journal.commit()
        except Refusal as refusal:
            if isinstance(self.outcome, Suspended):
                self._stop(refusal.error)
            else:
                self.outcome = Failed(refusal.error)
            return False
        is_whole = self._pause is None and not self._is_cancelled
        if isinstance(self.outcome, Suspended) and is_whole:  # a cancellation is cut off
            self.journal.snap(self.outcome, monotonic() - self._since)
        return True

    def _deliver(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        opened = self._open[id]
        if self.single_flight:
            for other, shared in self._equal_calls.share_reply(id, value, failed):
                self.arrive(other, shared, failed, 1)
            self._release_call(id)
        row = opened.make_row(value, failed, attempts)
        if not self._record(row):
            return
        self._delivered_row = row
        del self._open[id]
        text = self.in_flight.texts.get(id)
        self.in_flight.finish(id)
        if self.on_event is not None:
            if text is not None and not failed:
                text.finish(value)
            elif opened.operation == "model" and not failed:
                tell_whole(opened.request, value, self.on_event)
            self.on_event(Finished(opened.request, row))
        if self.trace is not None:
            self.trace.finish_request(row)
        before = self.outcome
        assert isinstance(before, Suspended)
        so_far, slice = self.in_flight.so_far, self.deadlines.slice
        if failed:
            after = before.fail(id, value, so_far=so_far, slice=slice)
        else:
            after = before.resume(id, value, is_value=True, so_far=so_far, slice=slice)
        self._set_outcome(after)
        if self._pause is not None:
            self._compute()

    def _compute(self) -> None:
        """Continue the computation until every branch waits. An expired deadline ends what it
        encloses."""
        while (pause := self._pause) is not None:
            try:
                scope = self.deadlines.find_passed(pause)
            except Unrecorded as refusal:
                self._stop(refusal.error)
                break
            if scope is not None and not self._record(
                make_deadline_row(scope, pause.at, pause.steps)
            ):
                break
            assert isinstance(self.outcome, Suspended)
            since = monotonic()
            after = advance(self.outcome, self.deadlines.slice, scope, self.in_flight.so_far)
            if isinstance(after, Suspended) and is_midway(after):
                self.deadlines.adjust_slice(monotonic() - since)
            self._set_outcome(after)

    def _set_outcome(self, after: Outcome) -> None:
        """Replace the outcome, record withdrawals and queue the newly opened requests."""
        self.outcome, self._delivered_row = after, None
        opened: Sequence[Request] = ()
        if isinstance(after, Suspended):
            state = state_of(after)
            opened, self._pause = state.opened, state.pause
        else:
            self._pause = None
        gone = after.withdrawn
        if self.interrupt.pressed and was_cancelled(after):  # while it computed
            self._note_cancellation()
        if gone or self.in_flight.withdrawal_rows:
            over = [self._open[id].request for id in gone if id in self._open]
            for each in self.in_flight.make_withdrawal_rows([*over, *self._queue.find_new(gone)]):
                if not self._record(each):
                    return
        if self.trace is not None:
            self.trace.advance(after, self.in_flight.withdrawal_rows)
        for id in gone:
            self._withdraw(id)
        if opened:
            self._queue.add(opened)
        elif not isinstance(after, Suspended):
            for request in self._queue.take_all():
                self._forget(request)

    def _record(self, row: Row) -> bool:
        """Append a row to the journal. Return False if that fails, which ends the run."""
        row.clock = monotonic() - self._since
        try:
            self.journal.append(row)
        except Refusal as refusal:
            self._stop(refusal.error)
            return False
        return True

    def _release_call(self, id: str) -> None:
        """Remove a finished model call from its equal calls; the next of them may be sent."""
        if (heir := self._equal_calls.release(id)) is not None:
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
        self.in_flight.calls.pop(id, None)
        self._waits.asked.discard(id)
        self.withdrawn.append(id)
        for at, (request, awaitable) in enumerate(self.awaitables):
            if request.id == id:
                close_awaitable(awaitable)
                del self.awaitables[at]
                break
        self._report_withdrawn(opened.request, True)
