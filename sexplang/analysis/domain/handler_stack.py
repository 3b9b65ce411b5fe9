"""The handlers around a place in a program, while it is followed."""

from typing import Any

from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.values import Abstract
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import Clause
from sexplang.terms.source import Span


@define(eq=False)
class ActiveHandle:
    """A handle expression that is being followed, once."""

    number: int
    outer: "ActiveHandle | None"
    environment: Environment
    clauses: dict[str, tuple[Clause, ...]] = field(factory=dict)
    given: dict[str, Abstract] = field(factory=dict)
    """Operations that are simply answered, and with what."""
    assumed: Any = None
    """What `(resume …)` gives: what the whole handle expression gives."""
    value: Any = None
    """What its clauses give."""
    ended: dict[Clause, tuple[Abstract, ...]] = field(factory=dict)
    """What clauses that never resume were performed with."""
    site: Span | None = None
    """What messages about its clauses point to, where that is not their own place."""
    solid: "ActiveHandle | None" = None
    """The nearest, from this one outward, whose clauses may go on where something was performed.
    A `try` or `attempt` is none: it changes no answer."""
    budgets: frozenset[int] | None = None
    """The budgets that may count what is done inside, by number; None: those outside it."""
    certain: frozenset[int] | None = None
    """Those of them that count it wherever a continuation is called from here."""
    branches: bool = False
    """Whether what is performed inside is done in a branch of a conversation."""

    def is_solid(self) -> bool:
        """Whether it answers anything but errors, or lets go on after one."""
        return bool(self.given) or any(
            clause.kind != "never" or operation != "error"
            for operation, clauses in self.clauses.items()
            for clause in clauses
        )


def solid(handling: ActiveHandle | None) -> ActiveHandle | None:
    """What decides about answers at a place."""
    return handling.solid if handling is not None else None


def budgets(handling: ActiveHandle | None) -> frozenset[int]:
    """The budgets that may count what is done at a place: those around it, and in a clause those
    around who performed."""
    while handling is not None:
        if handling.budgets is not None:
            return handling.budgets
        handling = handling.outer
    return frozenset()


def certain(handling: ActiveHandle | None) -> frozenset[int]:
    """Those that stand around the place. A continuation that is called last in a clause leaves
    those around who performed."""
    while handling is not None:
        if handling.certain is not None:
            return handling.certain
        handling = handling.outer
    return frozenset()


def push_budget(number: int, outer: ActiveHandle | None, environment: Environment) -> ActiveHandle:
    """The place inside a budget: what is performed there goes on to the handlers around it."""
    inside = ActiveHandle(number, outer, environment)
    inside.solid = solid(outer)
    inside.budgets = budgets(outer) | {number}
    inside.certain = certain(outer) | {number}
    return inside


def on_behalf(
    number: int, handling: ActiveHandle, performer: ActiveHandle | None
) -> ActiveHandle | None:
    """The place of a clause: outside its handle, and counted where it was performed."""
    outer = handling.outer
    crosses = is_beyond(handling, performer)
    if budgets(performer) <= budgets(outer) and not crosses:
        return outer
    inside = ActiveHandle(number, outer, handling.environment)
    inside.branches = crosses
    inside.solid = solid(outer)
    inside.budgets = budgets(performer) | budgets(outer)
    inside.certain = certain(outer)
    return inside


def is_beyond(handling: ActiveHandle, performer: ActiveHandle | None) -> bool:
    """Whether who performs does so in a branch of a conversation that the handle is around."""
    while performer is not None and performer is not handling:
        if performer.branches:
            return True
        performer = performer.outer
    return False


def is_counted(place: ActiveHandle | None, origin: ActiveHandle | None) -> bool:
    """Whether what a continuation does that was captured at `origin` and is called at `place` has
    been counted where it was captured: the same handlers take what it performs, and the budgets
    that bounded it there bound it here."""
    return solid(place) is solid(origin) and budgets(origin) <= certain(place)


def is_alike(first: ActiveHandle | None, then: ActiveHandle | None) -> bool:
    """Whether what holds of a body followed at the first place holds at the other."""
    return solid(first) is solid(then) and certain(first) <= certain(then)


@define(eq=False)
class Activation:
    """A clause at work for one perform."""

    number: int
    handling: ActiveHandle
    performer: ActiveHandle | None
    span: Span
    resumed: Any = None
    """What the perform is answered with."""
    escaped: bool = False
    """Whether its continuation may be called from elsewhere than the clause."""


@define(eq=False)
class ActiveLoop:
    """A loop that is being followed: what its variables may be."""

    variables: tuple[Abstract, ...]
    wanted: tuple[Abstract, ...]
    turns: int = 0


@define(eq=False)
class ActiveCall:
    """A function that is being followed, for calls of itself to join."""

    number: int
    arguments: tuple[Abstract, ...]
    environment: Environment
    handling: ActiveHandle | None
    value: Abstract
    site: Span | None = None
    again: bool = False
    wanted: tuple[Abstract, ...] = ()
    wider: Environment | None = None
    omitted: frozenset[int] = frozenset()
    """The slots that some call leaves to their defaults."""
