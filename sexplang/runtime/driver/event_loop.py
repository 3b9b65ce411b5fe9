"""A run whose requests wait → its end, under an event loop.

anyio and the loop are imported with this module, and only then.
"""

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any

import anyio

from sexplang.guards.interrupt import GraceOver, ending
from sexplang.runtime.driver.answers import (
    OutputLost,
    attempts_of,
    close_awaitable,
    failure,
    read_reply,
)
from sexplang.runtime.driver.run import Run
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request

if TYPE_CHECKING:
    from sexplang.runtime.models.attempts import Attempts

SLICE = 0.005
"""Seconds of requests that never wait before those that do get their turn."""


@define(eq=False)
class DriveContext:
    """What the requests of one drive have in common and what ends with it: connections."""

    run: Run
    resources: dict[Any, Any] = field(factory=dict)
    closing: list[Callable[[], Awaitable[Any]]] = field(factory=list)


_shared: ContextVar[DriveContext] = ContextVar("shared")


def keep(key: Any, make: Callable[[], Any], close: Callable[[Any], Awaitable[Any]]) -> Any:
    """One thing per key and drive, made when it is first wanted and closed when the drive ends.

    Connections belong to the loop they were made in, so they cannot outlive it.
    """
    shared = _shared.get()
    if key not in shared.resources:
        made = shared.resources[key] = make()
        shared.closing.append(lambda: close(made))
    return shared.resources[key]


def may_retry(id: str, attempt: int, usage: dict[str, int]) -> bool:
    """Whether an attempt at a request that took so much may be followed by another."""
    shared = _shared.get(None)
    return shared is None or shared.run.again(id, attempt, usage)


def follow(request: Request, lost: "Attempts") -> None:
    """What a model call has got is asked for where it is withdrawn."""
    shared = _shared.get(None)
    if shared is not None:
        shared.run.flown.follow(request, lost)


async def finish(run: Run, grace: float, *, abandoned: bool = False) -> None:
    """Drive the run to its end; when cancelled, to the end of its `finally` bodies."""
    shared = DriveContext(run)
    token = _shared.set(shared)
    try:
        if abandoned:
            await _within(run, grace, shield=False)
        else:
            await _until_cancelled(run, grace)
    finally:
        _shared.reset(token)
        with anyio.CancelScope(shield=True), _limit_time(run, grace):
            for close in reversed(shared.closing):
                await close()


async def _until_cancelled(run: Run, grace: float) -> None:
    try:
        await _loop(run)
    except BaseException as raised:
        error = _single(raised)
        if not isinstance(error, (Exception, GraceOver)):  # a cancellation, or a second Ctrl-C
            await _run_finalizers(run, grace)
        raise error from None


async def _run_finalizers(run: Run, grace: float) -> None:
    """The `finally` bodies of a cancelled run, as far as they get in their time."""
    grace = run.interrupt.seconds_left(grace)
    with suppress(GraceOver, OutputLost), ending(grace):
        run.abandon()
        await _within(run, grace, shield=True)
    run.give_up()


async def _within(run: Run, grace: float, *, shield: bool) -> None:
    try:
        with _limit_time(run, grace, shield=shield):
            await _loop(run)
    except BaseException as raised:
        raise _single(raised) from None


@contextmanager
def _limit_time(run: Run, grace: float, *, shield: bool = False) -> Iterator[None]:
    """Within this there is so much time, and none any more when Ctrl-C is pressed again."""
    with anyio.move_on_after(run.interrupt.seconds_left(grace), shield=shield) as scope:
        run.cleaning.append(scope)
        try:
            yield
        finally:
            run.cleaning.remove(scope)


def _single(error: BaseException) -> BaseException:
    """What a task group raised, out of its wrapping."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _loop(run: Run) -> None:
    """One reply at a time until the run ends; leaves no task behind."""
    scopes: dict[str, anyio.CancelScope] = {}
    arrived = anyio.Event()

    async def wait(request: Request, awaitable: Any, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                reply = read_reply(await _await_and_close(awaitable), request.operation)
            except Exception as error:
                reply = failure(error, request.operation), True, attempts_of(error)
            run.arrive(request.id, *reply)
            arrived.set()

    async with anyio.create_task_group() as group:
        since = monotonic()
        while not run.ended:
            moved = run.step()
            for id in run.withdrawn:
                if id in scopes:
                    scopes.pop(id).cancel()
            run.withdrawn.clear()
            for request, awaitable in run.waiting:
                scopes[request.id] = anyio.CancelScope()
                group.start_soon(wait, request, awaitable, scopes[request.id])
            run.waiting.clear()
            if run.ended:
                break
            if not moved:
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
        close_awaitable(awaitable)  # it may have been cancelled before it began


def block(run: Run, grace: float, *, abandoned: bool = False) -> None:
    """`finish` for a caller that does not await: in a loop of its own, and in a thread of its own
    where a loop is already running."""

    async def main() -> None:
        await finish(run, grace, abandoned=abandoned)

    interrupt = run.interrupt
    told: list[Callable[[], object]] = []

    def tell() -> None:
        with suppress(RuntimeError):  # the loop is closed already
            for each in told:
                each()

    async def alone() -> None:
        with anyio.CancelScope() as scope, _wake_on_signal():

            def hear() -> None:
                for each in (scope, *run.cleaning) if interrupt.hear() else (scope,):
                    each.cancel()

            loop = asyncio.get_running_loop()
            told.append(lambda: loop.call_soon_threadsafe(hear))
            if interrupt.unheard:
                hear()
            await main()

    if not _in_a_loop():
        interrupt.cancel = tell
        try:
            anyio.run(alone)
        finally:
            interrupt.cancel = None
        return
    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as portal:
        future = portal.start_task_soon(main)
        try:
            future.result()
        except BaseException:
            future.cancel()
            raise


@contextmanager
def _wake_on_signal() -> Iterator[None]:
    """Within this a signal wakes up the loop of the main thread, also one that comes in the moment
    before it waits, or to another thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        loop.add_reader(reader, reader.recv, 1_000)
        kept = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(kept)
            loop.remove_reader(reader)


def _in_a_loop() -> bool:
    """Whether this thread runs an event loop of asyncio or trio right now."""
    trio = sys.modules.get("trio")
    if asyncio._get_running_loop() is not None:
        return True
    return trio is not None and bool(trio.lowlevel.in_trio_run())
