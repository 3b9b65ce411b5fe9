"""The listeners of a run: functions that are called with each event, and queues that keep events
for readers of their own pace.

Law: a slow reader loses no event. The Said of one request that it has not read are joined.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Condition
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.runtime.driver.events import Event, Said
from sexplang.runtime.driver.requests import Watch

if TYPE_CHECKING:
    from anyio import Event as Flag

Listeners: TypeAlias = Watch | Iterable[Watch]


class EventQueue:
    """A listener that keeps the events of one run for a reader: `for event in queue`, in another
    thread, or `async for event in queue`. It ends with the run."""

    def __init__(self) -> None:
        self._events: deque[list[Event]] = deque()
        """Cells of one event each, so that a Said can be replaced."""
        self._said: dict[str, list[Any]] = {}
        """The cells of the Said that may still grow, by request."""
        self._is_closed = False
        self._changed = Condition()
        self._flags: dict[Flag, Any] = {}
        """The flags that wake the readers in event loops, with their loops."""

    def __call__(self, event: Event) -> None:
        with self._changed:
            cell = self._said.get(event.id)
            if isinstance(event, Said) and cell is not None:
                cell[0] = event.join(cell[0])
                return
            cell = [event]
            self._events.append(cell)
            if isinstance(event, Said):
                self._said[event.id] = cell
            else:
                self._said.pop(event.id, None)
            self._wake()

    def close(self) -> None:
        """End the queue: no more events come. `run` calls it."""
        with self._changed:
            self._is_closed = True
            self._wake()

    def get(self, timeout: float | None = None) -> Event | None:
        """Return the next event, waiting for it at most `timeout` seconds; None if none came in
        time, or none comes any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._events or self._is_closed, timeout)
            return self._take()

    def __iter__(self) -> Iterator[Event]:
        while (event := self.get()) is not None:
            yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        from anyio import Event as Flag
        from anyio.lowlevel import current_token

        while True:
            with self._changed:
                event, is_closed = self._take(), self._is_closed
                flag = Flag()
                if event is None and not is_closed:
                    self._flags[flag] = current_token().native_token
            if event is not None:
                yield event
            elif is_closed:
                return
            else:
                try:
                    await flag.wait()
                finally:
                    self._flags.pop(flag, None)

    def _take(self) -> Event | None:
        if not self._events:
            return None
        (event,) = cell = self._events.popleft()
        if self._said.get(event.id) is cell:
            del self._said[event.id]
        return event

    def _wake(self) -> None:
        """Wake all readers. None of them is waited for, whatever its loop is at."""
        self._changed.notify_all()
        flags, self._flags = self._flags, {}
        for flag, loop in flags.items():
            # asyncio's name for it, and trio's
            call_soon = getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon
            with suppress(RuntimeError):  # the loop has ended
                call_soon(flag.set)


def join_listeners(listeners: Sequence[Watch], has_content: bool) -> Watch:
    """Return the one function that tells all listeners. With `has_content` they see what was sent
    and said."""
    if len(listeners) == 1 and not has_content:
        return listeners[0]

    def tell(event: Event) -> None:
        event.has_content = has_content
        for listener in listeners:
            listener(event)

    return tell


@contextmanager
def listen(on_event: Listeners | None, has_content: bool) -> Iterator[Watch | None]:
    """Return the function that tells the listeners of a run, or None; their queues end with the
    block."""
    listeners = [on_event] if callable(on_event) else list(on_event or ())
    try:
        yield join_listeners(listeners, has_content) if listeners else None
    finally:
        for each in listeners:
            if isinstance(each, EventQueue):
                each.close()
