"""The connections of a worker to its store, each used by one thread at a time."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from sexplang.runtime.journal.run_store import RunStore, open_store
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, field


@define(eq=False)
class StorePool:
    """Open connections to a store. The server ends one that is silent for `lease` seconds."""

    address: str = field(repr=False)
    lease: float
    _idle: list[RunStore] = field(factory=list)
    _mutex: Any = field(factory=Lock)

    @contextmanager
    def lend(self) -> Iterator[RunStore]:
        """Give a connection that nobody else uses meanwhile. Raises Refusal."""
        with self._mutex:
            store = self._idle.pop() if self._idle else None
        if store is None:
            store = open_store(self.address, must_exist=True, lease=self.lease)
        try:
            yield store
        finally:
            self._take_back(store)

    def _take_back(self, store: RunStore) -> None:
        try:
            with store.explain():
                store.db.execute("select 1")
        except Refusal:  # the connection is lost, and so the others may be
            _close(store)
            self.close()
            return
        with self._mutex:
            self._idle.append(store)

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._mutex:
            idle, self._idle = self._idle, []
        for store in idle:
            _close(store)


def _close(store: RunStore) -> None:
    with suppress(Exception):  # a lost connection is closed already
        store.close()
