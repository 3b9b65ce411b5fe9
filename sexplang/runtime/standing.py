"""Where a run stands that is being driven: its outcome, its journal, what of it is under way."""

from collections import OrderedDict, deque
from time import monotonic
from typing import TYPE_CHECKING, Any

from sexplang.interrupt import Interrupt
from sexplang.machine import Done, Failed, Outcome, Suspended
from sexplang.runtime.answers import Performers, Watch, closed
from sexplang.runtime.deadlines import Deadlines
from sexplang.runtime.events import Started
from sexplang.runtime.flights import Flights, Flown
from sexplang.runtime.journal import Journal, Row
from sexplang.terms.effect import Request
from sexplang.terms.node import define, field
from sexplang.terms.value import Value

if TYPE_CHECKING:
    from sexplang.runtime.order import Order
    from sexplang.runtime.traces.tree import Trace


def no_timer(seconds: float) -> None:
    """Where a host answers timers itself, nothing waits."""


@define(eq=False)
class Standing:
    """Where a drive stands. Mutable, as everything that touches the world is; the outcome in it
    is not, so an interruption at any point leaves the last consistent one."""

    outcome: Outcome
    performers: Performers
    journal: Journal
    on_event: Watch | None = None
    interrupt: Interrupt = field(factory=Interrupt)
    parallel: int = 16
    """How many model calls are in flight at most."""
    single_flight: bool = False
    """Whether equal model calls that are open at the same time are sent once."""
    trace: "Trace | None" = None
    deadlines: Deadlines = field(factory=lambda: Deadlines(no_timer))
    abandoned: bool = False
    """Whether the run has been cancelled from outside."""
    waiting: list[tuple[Request, Any]] = field(factory=list)
    """Awaitables that nobody awaits yet."""
    withdrawn: list[str] = field(factory=list)
    """Ids of requests whose awaitables shall end."""
    cleaning: list[Any] = field(factory=list)
    """Scopes of an event loop in which the run has some time to clean up."""
    flown: Flown = field(factory=Flown)
    """What model calls have got that are in flight."""
    _fresh: "deque[Request]" = field(factory=deque)
    """Requests that nobody has started yet."""
    _gone: set[str] = field(factory=set)
    """Those of them that were withdrawn before that."""
    _queue: "OrderedDict[str, Request]" = field(factory=OrderedDict)
    """Model calls for which there is no place yet: nothing of them exists but the request."""
    _open: dict[str, Started] = field(factory=dict)
    _arrived: "deque[tuple[str, Value, bool, int]]" = field(factory=deque)
    _flights: Flights = field(factory=Flights)
    _told: Row | None = None
    """The reply that is being delivered."""
    _since: float = field(factory=monotonic)
    """Where the run's clock began."""
    _order: "Order | None" = None
    """What the run waits for that is in recordings, once it asks one."""

    @property
    def ended(self) -> bool:
        return not isinstance(self.outcome, Suspended)

    @property
    def interrupted(self) -> bool:
        """Whether the run is to be abandoned before it goes on."""
        return self.interrupt.pressed and not self.abandoned

    def end(self) -> Done | Failed:
        """How the run ended, once it has."""
        assert not isinstance(self.outcome, Suspended)
        return self.outcome

    def arrive(self, id: str, value: Value, failed: bool, attempts: int) -> None:
        """An awaited reply is there."""
        self._arrived.append((id, value, failed, attempts))

    def _let_go(self) -> None:
        """Nobody wants what is on its way any more."""
        self.withdrawn.extend(self._open)
        for _, awaitable in self.waiting:
            closed(awaitable)
        self.waiting.clear()
        self._open.clear()
        self._queue.clear()
        self._arrived.clear()
