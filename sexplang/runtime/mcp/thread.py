"""A thread with an event loop of its own, in which servers live as long as a run does.

The loop that drives a run may be asyncio's or trio's, may be kept busy by a program that computes,
and does not exist yet when the tools of a server have to be known.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context
from threading import Thread
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class Background:
    """The thread; it begins with the first thing that it is to do."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # A daemon: an interpreter that is interrupted while it ends does not wait for it.
        self._thread = Thread(target=self._loop.run_forever, name="sexplang-mcp", daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Starts it there; cancelling the future cancels it."""
        # In a context of its own: that of a loop of trio's would say that there is trio's, too.
        return Context().run(asyncio.run_coroutine_threadsafe, work, self._loop)

    def stop(self) -> None:
        """Ends the thread; what still runs in it is dropped."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)
        if not self._thread.is_alive():
            self._loop.close()


async def wait_for(future: "Future[T]") -> T:
    """What was begun there, waited for here. Cancelled here, it is cancelled there."""
    arrived = anyio.Event()
    wake = _waker(arrived.set)
    future.add_done_callback(lambda _: wake())
    try:
        await arrived.wait()
    finally:
        future.cancel()  # no effect on one that is done
    return future.result()


def _waker(act: Callable[[], object]) -> Callable[[], None]:
    """A function for other threads that does something in the loop that runs here."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        soon = trio.lowlevel.current_trio_token().run_sync_soon
    else:
        soon = asyncio.get_running_loop().call_soon_threadsafe

    def wake() -> None:
        with suppress(RuntimeError):  # that loop has ended, and nobody waits in it
            soon(act)

    return wake
