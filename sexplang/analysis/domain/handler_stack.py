"""The handlers around a place in a program during abstract interpretation."""

from typing import Any

from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.values import Abstract
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import Clause
from sexplang.terms.source import Span


@define(eq=False)
class ActiveHandle:
    """A handle expression under interpretation."""

    number: int
    outer: "ActiveHandle | None"
    environment: Environment
    clauses: dict[str, tuple[Clause, ...]] = field(factory=dict)
    given: dict[str, Abstract] = field(factory=dict)
    """Operations that are answered with a constant, and the answers."""
    tail: frozenset[str] = frozenset()
    """Those of the given operations whose clauses resume last."""
    assumed: Any = None
    """The assumed result of `(resume …)`: the result of the whole handle expression."""
    value: Any = None
    """The join of the clauses' results."""
    ended: dict[Clause, tuple[Abstract, ...]] = field(factory=dict)
    """The arguments that clauses without a resume were performed with."""
    site: Span | None = None
    """The span for messages about the clauses, if it is not their own."""
    answering: "ActiveHandle | None" = None
    """The nearest handler, from this one outward, whose clauses may resume the performer. A `try`
    or `attempt` is not one: it changes no answer."""
    budgets: frozenset[int] | None = None
    """The budgets that may count effects inside, by number. None: the budgets outside."""
    certain: frozenset[int] | None = None
    """The budgets that count these effects wherever a continuation is called from here."""
    branches: bool = False
    """Whether operations inside are performed in a branch."""
    conversing: bool = False
    """Whether that is a branch of a conversation."""

    def is_answering(self) -> bool:
        """Whether the handler answers other operations than `error`, or resumes after an error."""
        return bool(self.given) or any(
            clause.kind != "never" or operation != "error"
            for operation, clauses in self.clauses.items()
            for clause in clauses
        )


def answering_handler(handling: ActiveHandle | None) -> ActiveHandle | None:
    """Return the nearest handler that determines answers at a place."""
    return handling.answering if handling is not None else None


def budgets(handling: ActiveHandle | None) -> frozenset[int]:
    """Return the budgets that may count effects at a place.

    These are the budgets around the place and, in a clause, the budgets around the performer.
    """
    while handling is not None:
        if handling.budgets is not None:
            return handling.budgets
        handling = handling.outer
    return frozenset()


def certain(handling: ActiveHandle | None) -> frozenset[int]:
    """Return the budgets that certainly count effects at a place. A continuation in tail position
    of a clause leaves the budgets around the performer."""
    while handling is not None:
        if handling.certain is not None:
            return handling.certain
        handling = handling.outer
    return frozenset()


def push_budget(number: int, outer: ActiveHandle | None, environment: Environment) -> ActiveHandle:
    """Return the place inside a budget. Operations are forwarded to the handlers around it."""
    inside = ActiveHandle(number, outer, environment)
    inside.answering = answering_handler(outer)
    inside.budgets = budgets(outer) | {number}
    inside.certain = certain(outer) | {number}
    return inside


def enter_clause(
    number: int, handling: ActiveHandle, performer: ActiveHandle | None
) -> ActiveHandle | None:
    """Return the place of a clause: outside its handle, and counted where it was performed."""
    outer = handling.outer
    crosses = find_branch(handling, performer)
    if budgets(performer) <= budgets(outer) and crosses is None:
        return outer
    inside = ActiveHandle(number, outer, handling.environment)
    inside.branches = crosses is not None
    inside.conversing = crosses is not None and crosses.conversing
    inside.answering = answering_handler(outer)
    inside.budgets = budgets(performer) | budgets(outer)
    inside.certain = certain(outer)
    return inside


def find_branch(handling: ActiveHandle, performer: ActiveHandle | None) -> ActiveHandle | None:
    """Return the branch inside the handle that the performer is in: that of a conversation, if one
    is among them."""
    found = None
    while performer is not None and performer is not handling:
        if performer.conversing:
            return performer
        if performer.branches:
            found = found or performer
        performer = performer.outer
    return found


def is_counted(place: ActiveHandle | None, origin: ActiveHandle | None) -> bool:
    """Return whether the effects of a continuation were counted at its capture.

    The continuation was captured at `origin` and is called at `place`. Its effects are counted if
    the same handlers take its operations and the budgets at `origin` are budgets at `place`.
    """
    return answering_handler(place) is answering_handler(origin) and budgets(origin) <= certain(
        place
    )


def is_alike(first: ActiveHandle | None, then: ActiveHandle | None) -> bool:
    """Return whether the result of interpreting a body at the first place holds at the other."""
    return answering_handler(first) is answering_handler(then) and certain(first) <= certain(then)


@define(eq=False)
class Activation:
    """A clause in execution for one perform."""

    number: int
    handling: ActiveHandle
    performer: ActiveHandle | None
    span: Span
    resumed: Any = None
    """The answer to the perform."""
    escaped: bool = False
    """Whether the continuation may be called outside the clause."""


@define(eq=False)
class ActiveLoop:
    """A loop under interpretation: the abstract values of its variables."""

    variables: tuple[Abstract, ...]
    wanted: tuple[Abstract, ...]
    turns: int = 0


@define(eq=False)
class ActiveCall:
    """A function under interpretation; recursive calls join it."""

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
