"""What a run is charged for the lists, tables and strings that it makes, and for long work.

A primitive that makes something large says so before it does, and whoever does much in one step
says how much; whoever runs the program decides what is too much. Outside of a run nothing is
charged.
"""

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Protocol

SMALL = 100
"""Elements or characters up to which nothing is charged: steps bound how much of that there is."""


GLANCE = 1_000
"""Characters of a text that are looked at in about the time that a step takes."""


GREATEST = 1e300
"""Seconds or US dollars that a bound may allow; twice as much is still a float."""


STEPS = 2
"""The version of how steps are counted, which is a part of the language: a step that was counted
otherwise is another one."""


MOST_DEPTH = 10
"""No run lets tasks go deeper, whoever allows it."""


class Account(Protocol):
    """What a run is charged. Each ends the run where it is too much."""

    def charge(self, size: int) -> None:
        """Elements or characters that are about to be made."""

    def work(self, count: int) -> None:
        """Counts steps: calls, elements, and what takes as long."""

    def walk(self, items: tuple[Any, ...], start: int) -> Iterator[Any]:
        """The next elements, for one turn of the loop."""

    def count_walked(self, known: int = 1) -> int:
        """How many of them were begun with; they are counted."""


ACCOUNT: ContextVar[Account | None] = ContextVar("account", default=None)

account: Any = ACCOUNT.get
"""That of the run that is going on: for whoever is part of one."""

TICKS: ContextVar[Iterator[None] | None] = ContextVar("ticks", default=None)

ticks: Any = TICKS.get
"""The steps that are left of what the run does at once: the next one is taken, or is `work` where
none is left. In half the time that `work` takes."""


def charge(size: int) -> None:
    """Charges `size` elements or characters to the run that is going on. May end that run."""
    if size > SMALL:
        account = ACCOUNT.get()
        if account is not None:
            account.charge(size)


def work(count: int) -> None:
    """Counts `count` steps that are taken at once. May end the run that is going on."""
    account = ACCOUNT.get()
    if account is not None:
        account.work(count)


def scan(size: int) -> None:
    """Counts a look at `size` characters of a text as steps. May end the run that is going on."""
    if size >= GLANCE:
        work(size // GLANCE)
