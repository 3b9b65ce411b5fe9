"""The port of an engine: it carries work from one process to another.

An engine knows ids and times alone. What is to be done stands in the journal.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from sexplang.terms.classes.node import field, frozen

if TYPE_CHECKING:
    from asyncio import Event


@frozen
class Leaf:
    """A request that another process may perform."""

    run: str
    request: str
    queue: str
    """What it takes to perform it: `model:NAME`, `tool:NAME`, `script`."""
    priority: int = 0

    @property
    def id(self) -> str:
        """The id by which it is cancelled."""
        return f"{self.run}/{self.request}"


@frozen
class Wake:
    """A run that is to be driven, now or at a time in seconds since the epoch."""

    run: str
    at: float | None = None
    priority: int = 0


@frozen
class Owed:
    """What the journal says is to be done, and nobody does."""

    wakes: Sequence[Wake] = ()
    leaves: Sequence[Leaf] = ()


Later = float | None
"""None for work that is done, or the seconds after which it is offered again. It holds no place
meanwhile."""


def _make_event() -> "Event":
    from asyncio import Event  # a command without a fleet starts without it

    return Event()


@frozen
class Work:
    """What a worker does for an engine."""

    drive: Callable[[str], Awaitable[Later]]
    """Drive a run."""
    perform: Callable[[Leaf], Awaitable[Later]] | None = None
    """Perform a leaf."""
    queues: Sequence[str] = ()
    """The queues of the leaves that it performs."""
    find_owed: Callable[[], Owed] = Owed
    """Return what is owed. It is asked once a lease, in one process at a time."""
    lease: float = 30.0
    """Seconds after which a worker that gives no sign of life counts as dead."""
    grace: float = 30.0
    """Seconds for what is under way when the worker is told to stop."""
    once: bool = False
    """Whether it ends when nothing is to be done."""
    stop: "Event" = field(factory=_make_event)
    """Set from outside: nothing new is claimed."""


class Engine(Protocol):
    """What carries runs and leaves. `carry`, `wake` and `cancel` are part of the transaction of the
    store's connection, if there is one."""

    def carry(self, leaves: Iterable[Leaf]) -> None:
        """Offer leaves to the workers of their queues. A leaf that waits already stays as it is."""

    def wake(self, run: str, at: float | None = None, priority: int = 0) -> None:
        """Let a run be driven, now or at a time. Twice is once; another time replaces the first."""

    def cancel(self, ids: Iterable[str]) -> None:
        """Take back what waits: runs with their timers, and leaves, by id."""

    async def work(self, places: int, work: Work) -> None:
        """Claim and do what is offered, so many runs and so many leaves at a time, until it is told
        to stop."""
