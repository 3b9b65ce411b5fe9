"""The journal: the rows of a run, in the order of delivery.

Law: a row is appended, then its reply is delivered. So the order of rows is the schedule. Law: what
was appended and intended is committed before anything outside the run follows from it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sexplang.package.zone_use import ZoneUse
from sexplang.runtime.journal.rows import Row
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.run_terms import Terms


class Storage(Protocol):
    """A place where a journal is kept beside the memory of its process."""

    def begin(self, terms: Terms) -> None:
        """Take the terms of a new run, which are the header of its journal."""

    def append(self, row: Row) -> None:
        """Add a row. Raises Refusal."""

    def intend(self, requests: Sequence[Request], clock: float) -> None:
        """Note requests that are about to be performed, `clock` seconds after the run began."""

    def commit(self) -> None:
        """Make durable what was added and intended. Raises Refusal."""

    @property
    def may_wait(self) -> bool:
        """Whether all that is not committed can be had again, so that a commit may wait."""

    def snap(self, outcome: Any, clock: float) -> None:
        """Keep the outcome after all rows, if that makes a resumption quicker."""

    def park(
        self, outcome: Any, clock: float, questions: Sequence[Request], due: float | None
    ) -> None:
        """Keep a run that waits for answers to questions, or for a time, in seconds since the
        epoch. Raises Refusal."""

    def note(self, data: dict[str, Any]) -> None:
        """Add a note that no fold can find."""

    def close(self) -> None:
        """End the storage. What was added is committed."""


class Carrier(Protocol):
    """What lets other processes perform some of a run's requests, and is written with them."""

    failures: Mapping[str, int]
    """For each request that is made again, how often it has failed."""

    def intend(self, requests: Sequence[Request]) -> None:
        """Take requests that are about to begin."""

    def is_carried(self, id: str) -> bool:
        """Whether another process performs a request, and keeps its reply."""

    def append(self, row: Row) -> None:
        """Take a row."""

    @property
    def has_news(self) -> bool:
        """Whether there is something to be written."""

    def write(self, store: Any, run: Any) -> None:
        """Write, within the transaction of a commit to the run of a store."""

    def finish(self) -> None:
        """Take note that the commit was made."""

    def close(self) -> None:
        """End with the storage."""


class Gate(Protocol):
    """What requests pass before they begin."""

    def intend(self, requests: Sequence[Request]) -> None:
        """Let requests begin. What it raises ends the drive, and nothing of them is kept."""

    def append(self, row: Row) -> None:
        """Take a row."""


def make_run_id() -> str:
    """Return a new id for a run."""
    return os.urandom(8).hex()


@define(eq=False)
class Journal:
    """The rows of one run in memory, and in its storages."""

    run_id: str = field(factory=make_run_id)
    zones: ZoneUse = field(factory=ZoneUse)
    """The zones that the run uses, of which a note says the version."""
    storages: tuple[Storage, ...] = ()
    gate: Gate | None = None
    clock: float = 0.0
    """Seconds for which the run was driven before, by another process."""
    rows: list[Row] = field(factory=list, init=False)
    _noted_zones: str | None = field(default=None, init=False, repr=False)

    def begin(self, terms: Terms) -> None:
        """Give the storages the header of a new run."""
        for each in self.storages:
            each.begin(terms)

    def append(self, row: Row) -> None:
        """Append a row. Raises Refusal."""
        if self.storages:
            self._note_zones()
            for each in self.storages:
                each.append(row)
        if self.gate is not None:
            self.gate.append(row)
        self.rows.append(row)

    def extend(self, rows: Iterable[Row]) -> None:
        """Append several rows."""
        for row in rows:
            self.append(row)

    def intend(self, requests: Sequence[Request], clock: float) -> None:
        """Note requests that are about to be performed."""
        if self.gate is not None:
            self.gate.intend(requests)
        for each in self.storages:
            each.intend(requests, clock)

    def commit(self) -> None:
        """Make durable what was appended and intended. Raises Refusal."""
        for each in self.storages:
            each.commit()

    @property
    def may_wait(self) -> bool:
        """Whether a commit of what is new may wait a little."""
        return bool(self.storages) and all(each.may_wait for each in self.storages)

    def snap(self, outcome: Any, clock: float) -> None:
        """Keep the outcome, which follows from the rows."""
        for each in self.storages:
            each.snap(outcome, clock)

    def park(
        self, outcome: Any, clock: float, questions: Sequence[Request], due: float | None
    ) -> None:
        """Keep a run that waits. Raises Refusal."""
        for each in self.storages:
            each.park(outcome, clock, questions, due)

    def note(self, data: dict[str, Any]) -> None:
        """Add a note that no fold can find."""
        for each in self.storages:
            each.note(data)

    def close(self) -> None:
        """Close the storages. The rows stay readable."""
        self._note_zones()
        for each in self.storages:
            each.close()

    def _note_zones(self) -> None:
        """Note the version of the zones at their first use: a replay compares it."""
        if self.zones.version != self._noted_zones:
            self._noted_zones = self.zones.version
            self.note({"zones": self.zones.version})
