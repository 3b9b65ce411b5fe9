"""The account of a run: charges for lists, tables and strings, and for long work.

A primitive charges a large result before it makes it, and counts long work as steps. The limits are
those of the run. Outside of a run there is no charge.
"""

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Protocol

SMALL = 100
"""The elements or characters that are free of charge: steps bound their number."""


GLANCE = 1_000
"""The characters of a text that are scanned in about the time of a step."""


GREATEST = 1e300
"""The greatest seconds or US dollars of a bound; twice as much is still a float."""


STEPS = 2
"""The version of the counting of steps, which is a part of the language: with another version the
same program takes another number of steps."""


MOST_DEPTH = 10
"""The greatest depth of tasks, whatever the limits say."""


class Account(Protocol):
    """The account of a run. Each method ends the run if a limit is exceeded."""

    ticks: Iterator[None]
    """The steps left in the current slice: the next one is taken, or is `work` if none is left. It
    takes half the time of `work`."""

    def charge(self, size: int) -> None:
        """Charge elements or characters that are about to be made."""

    def work(self, count: int) -> None:
        """Count steps: calls, elements, and other work of the same duration."""

    def walk(self, items: tuple[Any, ...], start: int) -> Iterator[Any]:
        """Yield the next elements, for one turn of the loop."""

    def count_walked(self, known: int = 1) -> int:
        """Return the number of elements begun, and count them."""

    def stop(self) -> None:
        """End the turn with the current step."""


ACCOUNT: ContextVar[Account | None] = ContextVar("account", default=None)

account: Any = ACCOUNT.get
"""The account of the current run."""


def charge(size: int) -> None:
    """Charge `size` elements or characters to the current run. May end that run."""
    if size > SMALL:
        account = ACCOUNT.get()
        if account is not None:
            account.charge(size)


def work(count: int) -> None:
    """Count `count` steps. May end the current run."""
    account = ACCOUNT.get()
    if account is not None:
        account.work(count)


def scan(size: int) -> None:
    """Count a scan of `size` characters as steps. May end the current run."""
    if size >= GLANCE:
        work(size // GLANCE)
