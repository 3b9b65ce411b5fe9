"""A run that a worker hands back: it is left where nothing is under way."""

from collections.abc import Callable, Sequence
from typing import Any

from sexplang.runtime.journal.doubts import INSIDE
from sexplang.runtime.journal.rows import Row
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.run_terms import Terms


class HandedBack(Exception):
    """The run is to be driven by another worker. It passes through the driver, so no `finally` body
    runs."""


@define(eq=False)
class Gate:
    """A storage of a run's journal that lets no request begin while a worker drains. It stands
    before the storages that keep what is begun, so a run that is handed back has no doubts."""

    is_closed: Callable[[], bool]
    is_carried: Callable[[str], bool] = lambda id: False
    """Whether another process performs a request, and its reply waits for the next driver."""
    _begun: set[str] = field(factory=set)

    def intend(self, requests: Sequence[Request], clock: float) -> None:
        if self.is_closed() and all(map(self.is_carried, self._begun)):
            raise HandedBack
        self._begun.update([each.id for each in requests if each.operation not in INSIDE])

    def append(self, row: Row) -> None:
        self._begun.discard(row.id)

    @property
    def may_wait(self) -> bool:
        return True

    def begin(self, terms: Terms) -> None:
        """A gate keeps nothing."""

    def commit(self) -> None:
        """A gate keeps nothing."""

    def snap(self, outcome: Any, clock: float) -> None:
        """A gate keeps nothing."""

    def park(
        self, outcome: Any, clock: float, questions: Sequence[Request], due: float | None
    ) -> None:
        """A gate keeps nothing."""

    def note(self, data: dict[str, Any]) -> None:
        """A gate keeps nothing."""

    def close(self) -> None:
        """A gate keeps nothing."""
