"""The part of the driver that needs an event loop: it awaits replies until the run ends.

anyio and asyncio are imported with this module, and only then.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from time import monotonic, time
from typing import TYPE_CHECKING, Any

import anyio

from sexplang.guards.interrupt import GraceOver, ending
from sexplang.runtime.driver.current_request import PERFORMED
from sexplang.runtime.driver.requests import (
    OutputLost,
    Watch,
    attempts_of,
    close_awaitable,
    failure,
    read_reply,
)
from sexplang.runtime.driver.run import Run
from sexplang.runtime.driver.text_stream import TextStream
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request

if TYPE_CHECKING:
    from sexplang.runtime.models.retry import Attempts

SLICE = 0.005
"""Seconds for requests that do not wait, before the event loop gets its turn."""

REST = 0.03
"""Seconds for which the commit of replies waits that can be had again."""

WATCH_INTERVAL = 0.05
"""Seconds between two looks of an event loop at the presses of Ctrl-C."""


@define(eq=False)
class DriveContext:
    """The run of one drive and its shared resources, such as connections. Without a run, the
    requests of many runs share them."""

    run: Run | None
    resources: dict[Any, Any] = field(factory=dict)
    closing: list[Callable[[], Awaitable[Any]]] = field(factory=list)


_current: ContextVar[DriveContext] = ContextVar("shared")


def keep_resource(key: Any, make: Callable[[], Any], close: Callable[[Any], Awaitable[Any]]) -> Any:
    """Return the resource for a key. It is made at the first call and closed at the end of the
    drive.

    A connection belongs to the event loop that made it and cannot outlive it.
    """
    shared = _current.get()
    if key not in shared.resources:
        made = shared.resources[key] = make()
        shared.closing.append(lambda: close(made))
    return shared.resources[key]


def may_retry(id: str, attempt: int, usage: dict[str, int]) -> bool:
    """Whether the budgets admit another attempt after one that used `usage`."""
    shared = _current.get(None)
    run = None if shared is None else shared.run
    return run is None or run.hold_retry(id, attempt, usage)


def note_pause(id: str, model: str, attempt: int, wait: float) -> None:
    """Note that another attempt follows in `wait` seconds, for a resumption. Raises Refusal."""
    shared = _current.get(None)
    run = None if shared is None else shared.run
    if run is not None and run.history.on_pause is not None:
        run.history.on_pause(id, model, attempt, time() + wait)


def find_pause(id: str, model: str) -> tuple[int, float]:
    """Return the failed attempts that another process has made at a model, and the seconds that are
    left of its pause."""
    shared = _current.get(None)
    run = None if shared is None else shared.run
    found = None if run is None else run.history.pauses.get(id)
    if found is None or found[0] != model:
        return 0, 0.0
    return found[1], max(0.0, found[2] - time())


def follow_attempts(request: Request, lost: "Attempts") -> None:
    """Register the attempts of a model call, so that a withdrawal can read the partial reply."""
    shared = _current.get(None)
    if shared is not None and shared.run is not None:
        shared.run.in_flight.follow(request, lost)


def follow_text(request: Request, on_event: Watch) -> TextStream:
    """Return the stream for the text of an attempt at a model call. The driver tells the rest of
    the text when it has the reply."""
    stream = TextStream(request, on_event)
    shared = _current.get(None)
    if shared is not None and shared.run is not None:
        shared.run.in_flight.texts[request.id] = stream
    return stream


@asynccontextmanager
async def share_resources() -> AsyncIterator[None]:
    """Perform requests of many runs in this event loop, which share connections."""
    shared = DriveContext(None)
    token = _current.set(shared)
    try:
        yield
    finally:
        _current.reset(token)
        with anyio.CancelScope(shield=True):
            for close in reversed(shared.closing):
                await close()


async def finish(run: Run, grace: float, *, abandoned: bool = False) -> None:
    """Drive the run to its end. When cancelled, run its `finally` bodies and return."""
    shared = DriveContext(run)
    token = _current.set(shared)
    try:
        if abandoned:
            await _within(run, grace, shield=False)
        else:
            await _until_cancelled(run, grace)
    finally:
        _current.reset(token)
        with anyio.CancelScope(shield=True), _limit_time(run, grace):
            for close in reversed(shared.closing):
                await close()


async def _until_cancelled(run: Run, grace: float) -> None:
    try:
        await _loop(run)
    # The event loop may wrap a cancellation or Ctrl-C in a group.
    except BaseException as raised:
        error = _single(raised)
        if not isinstance(error, (Exception, GraceOver)):  # a cancellation or a second Ctrl-C
            await _run_finalizers(run, grace)
        raise error from None


async def _run_finalizers(run: Run, grace: float) -> None:
    """Run the `finally` bodies of a cancelled run within the grace time."""
    grace = run.interrupt.seconds_left(grace)
    with suppress(GraceOver, OutputLost), ending(run.interrupt, grace):
        run.abandon()
        await _within(run, grace, shield=True)
    run.give_up()


async def _within(run: Run, grace: float, *, shield: bool) -> None:
    try:
        with _limit_time(run, grace, shield=shield):
            await _loop(run)
    # The event loop may wrap what is raised in a group.
    except BaseException as raised:
        raise _single(raised) from None


@contextmanager
def _limit_time(run: Run, grace: float, *, shield: bool = False) -> Iterator[None]:
    """Limit a block to the remaining grace time. A second Ctrl-C cancels the block."""
    with anyio.move_on_after(run.interrupt.seconds_left(grace), shield=shield) as scope:
        run.cleanup_scopes.append(scope)
        try:
            yield
        finally:
            run.cleanup_scopes.remove(scope)


def _single(error: BaseException) -> BaseException:
    """Unwrap the first exception of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _loop(run: Run) -> None:
    """Deliver replies one by one until the run ends. No task of the loop outlives it."""
    scopes: dict[str, anyio.CancelScope] = {}
    arrived = anyio.Event()

    async def wait(request: Request, awaitable: Any, scope: anyio.CancelScope) -> None:
        PERFORMED.set((request, run.journal.run_id, run.history))
        with scope:
            try:
                reply = read_reply(await _await_and_close(awaitable), request.operation)
            # Performers may be a host's functions: an exception fails the request, not the run.
            except Exception as error:
                reply = failure(error, request.operation), True, attempts_of(error)
            run.arrive(request.id, *reply)
            arrived.set()

    async with anyio.create_task_group() as group:
        since = monotonic()
        due: float | None = None
        while not run.ended:
            moved = run.step()
            for id in run.withdrawn:
                if id in scopes:
                    scopes.pop(id).cancel()
            run.withdrawn.clear()
            for request, awaitable in run.awaitables:
                scopes[request.id] = anyio.CancelScope()
                group.start_soon(wait, request, awaitable, scopes[request.id])
            run.awaitables.clear()
            if run.ended:
                break
            if not moved:
                if run.journal.may_wait:
                    due = due or monotonic() + REST
                    if monotonic() < due:
                        with anyio.move_on_after(due - monotonic()):
                            await arrived.wait()
                        if arrived.is_set():
                            arrived = anyio.Event()
                        since = monotonic()
                        continue  # what has arrived is delivered first
                due = None
                if not run.commit() or run.is_parked:
                    break
                await arrived.wait()
                arrived = anyio.Event()
            elif monotonic() - since < SLICE:
                continue
            else:
                await anyio.lowlevel.checkpoint()
            since = monotonic()
        group.cancel_scope.cancel()


async def _await_and_close(awaitable: Any) -> Any:
    try:
        return await awaitable
    finally:
        close_awaitable(awaitable)  # it may have been cancelled before it started


def block(run: Run, grace: float, *, abandoned: bool = False) -> None:
    """Run `finish` from synchronous code: in an own event loop, or in a thread if a loop is
    running."""

    async def main() -> None:
        await finish(run, grace, abandoned=abandoned)

    async def watch(scope: anyio.CancelScope) -> None:
        while True:
            await anyio.sleep(WATCH_INTERVAL)
            if run.interrupt.pressed:
                scope.cancel()
            if run.interrupt.presses > 1:
                for each in run.cleanup_scopes:
                    each.cancel()

    async def alone() -> None:
        with anyio.CancelScope() as scope:
            watching = asyncio.create_task(watch(scope))
            try:
                await main()
            finally:
                watching.cancel()

    if not _in_a_loop():
        run.interrupt.is_watched = True
        try:
            anyio.run(alone)
        finally:
            run.interrupt.is_watched = False
        return
    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as portal:
        future = portal.start_task_soon(main)
        try:
            future.result()
        # Ctrl-C, too, must not leave the run going on in the other thread.
        except BaseException:
            future.cancel()
            raise


def _in_a_loop() -> bool:
    """Whether this thread is running an event loop of asyncio or trio."""
    if asyncio._get_running_loop() is not None:
        return True
    # What another thread is still loading lacks the function, and runs nothing.
    is_in_trio = getattr(sys.modules.get("trio.lowlevel"), "in_trio_run", None)
    return is_in_trio is not None and bool(is_in_trio())
