"""What a run is charged for the lists, tables and strings that it makes.

A primitive that makes something large says so before it does; whoever runs the program decides
what is too much. Outside of a run nothing is charged.
"""

from collections.abc import Callable
from contextvars import ContextVar

SMALL = 100
"""Elements or characters up to which nothing is charged: steps bound how much of that there is."""

ACCOUNT: ContextVar[Callable[[int], None] | None] = ContextVar("account", default=None)


def charge(size: int) -> None:
    """Charges `size` elements or characters to the run that is going on. May end that run."""
    if size > SMALL:
        account = ACCOUNT.get()
        if account is not None:
            account(size)
