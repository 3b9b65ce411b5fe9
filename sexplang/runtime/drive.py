"""A suspended run and performers → its end: what is open is performed, what is withdrawn ends.

Law: one reply at a time: its row is appended to the journal, then it is delivered, and the next
only when every branch waits again. So the journal is the schedule.

Performers that never wait are called inline, without an event loop; `waiting.py` takes over at
the first reply that has to be awaited.
"""

from collections import deque
from contextlib import suppress
from time import monotonic, time
from typing import Any

from attrs import define, field

from sexplang.machine import Done, Failed, Outcome, Suspended
from sexplang.runtime.answers import (
    FLAT,
    OutputLost,
    Performers,
    Watch,
    attempts_of,
    failure,
    settled,
    unhandled,
)
from sexplang.runtime.events import Finished, Started, Withdrawn, task_of, turn_of
from sexplang.runtime.journal import Journal, Row, cancellation
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.value import Record, Value

GRACE = 5.0
"""Seconds for the `finally` bodies of a run that was interrupted."""


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
    computes: bool = False
    """Whether the machine is at work; an interruption then need not wait for it."""
    waiting: list[tuple[Request, Any]] = field(factory=list)
    """Awaitables that nobody awaits yet."""
    withdrawn: list[str] = field(factory=list)
    """Ids of requests whose awaitables shall end."""
    _fresh: "deque[Request]" = field(factory=deque)
    """Requests that nobody has started yet."""
    _gone: set[str] = field(factory=set)
    """Those of them that were withdrawn before that."""
    _open: dict[str, _Open] = field(factory=dict)
    _arrived: "deque[tuple[str, Value, bool, int]]" = field(factory=deque)

    def __attrs_post_init__(self) -> None:
        self._open_all()

    @property
    def ended(self) -> bool:
        return not isinstance(self.outcome, Suspended)

    def end(self) -> Done | Failed:
        """How the run ended, once it has."""
        assert not isinstance(self.outcome, Suspended)
        return self.outcome

    def step(self) -> bool:
        """Deliver one reply, or start what can be started; False when all that is open waits."""
        while self._arrived:
            id, value, failed, attempts = self._arrived.popleft()
            if id in self._open:
                self._deliver(id, value, failed, attempts)
                return True
        started = False
        while self._fresh:
            request = self._fresh.popleft()
            if request.id in self._gone:
                self._gone.discard(request.id)
                continue
            if self._start(request):
                return True
            started = True
        return started

    def arrive(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        """An awaited reply is there."""
        self._arrived.append((id, value, failed, attempts))

    def abandon(self) -> None:
        """Cancel the run from outside: only its `finally` bodies are left to do."""
        self.withdrawn.extend(self._open)
        for _, awaitable in self.waiting:
            _close(awaitable)
        self.waiting.clear()
        self._open.clear()
        self._fresh.clear()
        self._gone.clear()
        self._arrived.clear()
        self.computes = False
        if isinstance(self.outcome, Suspended):
            with suppress(Refusal):  # what is cleaned up matters more than its recording
                self.journal.append(cancellation())
            self.computes = True
            self.outcome = self.outcome.cancel()
            self.computes = False
            self._open_all()

    def _open_all(self) -> None:
        if isinstance(self.outcome, Suspended):
            self._fresh.extend(self.outcome.requests)

    def _start(self, request: Request) -> bool:
        """Whether the request got its reply at once."""
        self._open[request.id] = _Open(request, time(), monotonic())
        if self.on_event is not None:
            event = Started(request.id, request.operation, task_of(request), turn_of(request))
            self.on_event(event)
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
            return False
        self._deliver(request.id, *settled(reply, request.operation))
        return True

    def _deliver(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        opened = self._open.pop(id)
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
        before = self.outcome
        assert isinstance(before, Suspended)
        self.computes = True
        after = before.fail(id, value) if failed else before.resume(id, value, is_value=True)
        self.computes = False
        self.outcome = after
        for gone in after.withdrawn:
            self._withdraw(gone)
        if isinstance(after, Suspended):
            self._fresh.extend(after.opened)

    def _withdraw(self, id: str) -> None:
        opened = self._open.pop(id, None)
        if opened is None:
            self._gone.add(id)
            return
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
        self._arrived.clear()
        self.outcome = Failed(error)


def drive(
    outcome: Outcome,
    performers: Performers,
    *,
    journal: Journal | None = None,
    parallel: int = 16,
    on_event: Watch | None = None,
    grace: float = GRACE,
) -> Done | Failed:
    """Perform what a run asks for until it is Done or Failed. Works inside a running loop too.

    At most `parallel` model calls are in flight. Ctrl-C cancels the run, gives its `finally`
    bodies `grace` seconds and is raised again when nothing is left running. An OSError of what
    takes the output does the same.
    """
    run = Run(outcome, performers, journal if journal is not None else Journal(), on_event)
    try:
        while not run.ended and not run.waiting and run.step():
            pass
    except (KeyboardInterrupt, OutputLost) as raised:
        _abandon_now(run, grace)
        raise _seen(raised) from None
    if not run.ended:
        from sexplang.runtime.waiting import block

        try:
            block(run, parallel, grace)
        except OutputLost as lost:
            raise lost.error from None
    return run.end()


async def adrive(
    outcome: Outcome,
    performers: Performers,
    *,
    journal: Journal | None = None,
    parallel: int = 16,
    on_event: Watch | None = None,
    grace: float = GRACE,
) -> Done | Failed:
    """`drive` for callers that have an event loop: asyncio's or trio's."""
    from sexplang.runtime.waiting import finish

    run = Run(outcome, performers, journal if journal is not None else Journal(), on_event)
    try:
        await finish(run, parallel, grace)
    except OutputLost as lost:
        raise lost.error from None
    return run.end()


def _seen(raised: BaseException) -> BaseException:
    """What callers get to see."""
    return raised.error if isinstance(raised, OutputLost) else raised


def _abandon_now(run: Run, grace: float) -> None:
    """The `finally` bodies of an interrupted run, which had nothing to wait for so far."""
    from sexplang.runtime.interrupt import GraceOver, ending

    until = monotonic() + grace
    with suppress(GraceOver, OutputLost), ending(grace, lambda: run.computes):
        run.abandon()
        while not run.ended and not run.waiting and monotonic() < until and run.step():
            pass
        if run.waiting:
            from sexplang.runtime.waiting import block

            block(run, 1, max(0.0, until - monotonic()), abandoned=True)


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
