"""The watch of a process for the replies to its leaves: one connection, for all of its runs.

The database tells what is settled. Once a lease, and after a lost connection, the watch looks for
itself. A store in a file tells nothing, so there it looks all the time.
"""

import os
import select
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic, sleep

from sexplang.runtime.fleet.leaves import SETTLED, Reply, find_replies, read_notice
from sexplang.runtime.journal.databases import Database
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, field

PAUSE = 0.5
"""Seconds before a lost connection is opened again."""

LOOK = 0.02
"""Seconds between two looks at a database that tells nothing."""

Key = tuple[int, str]
"""The number of a run, and a request."""


@define(eq=False)
class ReplyWatch:
    """The thread that waits for replies. It is started with the first of them."""

    open: Callable[[], Database]
    """Return a connection of its own."""
    lease: float = 30.0
    _expected: "dict[Key, Future[Reply]]" = field(factory=dict)
    _names: set[str] = field(factory=set)
    """The same keys, as notices name them."""
    _news: "deque[Key]" = field(factory=deque)
    """What is to be looked for now."""
    _lock: Lock = field(factory=Lock)
    _thread: Thread | None = None
    _bell: tuple[int, int] | None = None
    _is_over: bool = False

    def expect(self, key: Key, *, look: bool = False) -> "Future[Reply]":
        """Return the reply to a leaf, which is to be put. With `look` it may be settled
        already."""
        with self._lock:
            future = self._expected.get(key)
            if future is not None and future.cancelled():  # a driver that has lost its run
                future = None
            is_known = future is not None
            if future is None:
                future = self._expected[key] = Future()
                self._names.add(_name(key))
            if self._thread is None:
                self._bell = os.pipe()
                os.set_blocking(self._bell[1], False)
                self._thread = Thread(target=self._watch, name="sexplang-replies", daemon=True)
                self._thread.start()
        if look and not is_known:
            self._news.append(key)
            self._ring()
        return future

    def forget(self, key: Key) -> None:
        """Wait for a reply no more."""
        with self._lock:
            self._expected.pop(key, None)
            self._names.discard(_name(key))

    def close(self) -> None:
        """End the thread."""
        self._is_over = True
        if self._thread is not None:
            self._ring()
            self._thread.join(5.0)

    def _ring(self) -> None:
        if self._bell is not None:
            with suppress(OSError):  # it is full, or closed
                os.write(self._bell[1], b".")

    def _watch(self) -> None:
        while not self._is_over:
            # Another thread may have closed the file of a lost connection.
            with suppress(Refusal, OSError, ValueError):
                db = self.open()
                try:
                    self._listen(db)
                finally:
                    with suppress(Refusal):
                        db.close()
            if not self._is_over:
                sleep(PAUSE)
        assert self._bell is not None
        for each in self._bell:
            os.close(each)

    def _listen(self, db: Database) -> None:
        """Give replies to those who wait, until the watch is over. Raises a Refusal if the
        connection is lost."""
        assert self._bell is not None
        file = db.listen(SETTLED, self._take)
        every = LOOK if file is None else self.lease
        files = [self._bell[0], *([] if file is None else [file])]
        self._deliver(db, [*self._expected])
        looked = monotonic()
        while not self._is_over:
            ready, _, _ = select.select(files, [], [], max(0.0, looked + every - monotonic()))
            if self._bell[0] in ready:
                os.read(self._bell[0], 65536)
            if file is not None and file in ready:
                db.hear()
            if monotonic() - looked >= every:
                looked = monotonic()
                self._deliver(db, [*self._expected])
            keys = []
            while self._news:
                key = self._news.popleft()
                if key in self._expected:
                    keys.append(key)
            self._deliver(db, keys)

    def _take(self, words: str) -> None:
        if words.rpartition(" ")[0] not in self._names:  # others wait for theirs
            return
        key, reply = read_notice(words)
        if reply is not None:
            self._give(key, reply)
        else:
            self._news.append(key)
            self._ring()

    def _deliver(self, db: Database, keys: list[Key]) -> None:
        if not keys:
            return
        for key, reply in find_replies(db, keys).items():
            self._give(key, reply)

    def _give(self, key: Key, reply: Reply) -> None:
        with self._lock:
            future = self._expected.pop(key, None)
            self._names.discard(_name(key))
        if future is not None and future.set_running_or_notify_cancel():
            future.set_result(reply)


def _name(key: Key) -> str:
    """Return how a notice names a leaf."""
    return f"{key[0]} {key[1]}"
