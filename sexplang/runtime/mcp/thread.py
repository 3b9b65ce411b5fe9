"""A background thread with an event loop, in which servers live as long as a run.

The loop that drives a run may be asyncio's or trio's, may be blocked by a computation, and does not
exist yet when the tools of a server must be known.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context
from threading import Thread
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class Background:
    """The thread. It is started with its first work."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # A daemon: an interpreter interrupted at its exit does not wait for it.
        self._thread = Thread(target=self._loop.run_forever, name="sexplang-mcp", daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine in the thread. Cancelling the future cancels it."""
        # In a new context: a context of trio would claim that trio runs in this thread too.
        return Context().run(asyncio.run_coroutine_threadsafe, work, self._loop)

    def stop(self) -> None:
        """End the thread. Work that still runs is dropped."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)
        if not self._thread.is_alive():
            self._loop.close()


class Inbox:
    """The wait of a coroutine, in any event loop, for work in the thread, and the news of the work.
    `on_news` is called by the coroutine."""

    def __init__(self, on_news: Callable[..., None] | None = None) -> None:
        self._on_news = on_news
        self._news: deque[tuple[Any, ...]] = deque(
            maxlen=1
        )  # the latest: the coroutine may be slow
        self._bell = anyio.Event()
        self._wake = _waker(lambda: self._bell.set())

    def put(self, *news: Any) -> None:
        """Send news, from the thread."""
        self._news.append(news)
        self._wake()

    async def wait_for(self, future: "Future[T]") -> T:
        """Await a future of the thread. Cancelling this wait cancels the future."""
        future.add_done_callback(lambda _: self._wake())
        try:
            while not future.done():
                await self._bell.wait()
                self._bell = anyio.Event()
                while self._news and self._on_news is not None:
                    self._on_news(*self._news.popleft())
        finally:
            future.cancel()  # no effect on a finished one
        return future.result()


async def wait_for(future: "Future[T]") -> T:
    """Await a future of the thread. Cancelling this wait cancels the future."""
    return await Inbox().wait_for(future)


def _waker(act: Callable[[], object]) -> Callable[[], None]:
    """Return a function for other threads that runs `act` in this event loop."""
    try:
        soon: Callable[..., Any] = asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:  # the loop is trio's
        soon = sys.modules["trio"].lowlevel.current_trio_token().run_sync_soon

    def wake() -> None:
        with suppress(RuntimeError):  # the loop has ended, so nothing waits in it
            soon(act)

    return wake
