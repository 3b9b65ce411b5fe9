"""A run that a worker hands back: it is left where nothing is under way."""

from collections.abc import Callable, Sequence

from sexplang.runtime.journal.doubts import INSIDE
from sexplang.runtime.journal.rows import Row
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request


class HandedBack(Exception):
    """The run is to be driven by another worker. It passes through the driver, so no `finally` body
    runs."""


@define(eq=False)
class DrainGate:
    """The gate of a run's journal: it lets no request begin while a worker drains. A request is
    kept after it has passed, so a run that is handed back has no doubts."""

    is_closed: Callable[[], bool]
    is_carried: Callable[[str], bool]
    """Whether another process performs a request, and its reply waits for the next driver."""
    _begun: set[str] = field(factory=set)

    def intend(self, requests: Sequence[Request]) -> None:
        """Let requests begin. Raises HandedBack."""
        if self.is_closed() and all(map(self.is_carried, self._begun)):
            raise HandedBack
        self._begun.update([each.id for each in requests if each.operation not in INSIDE])

    def append(self, row: Row) -> None:
        """Take note that a request has ended."""
        self._begun.discard(row.id)
