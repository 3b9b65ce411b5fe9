"""The handlers around a place in a program, while it is followed."""

from typing import Any

from attrs import field

from sexplang.analysis.values import Abstract, Environment
from sexplang.terms.core import Clause
from sexplang.terms.node import define
from sexplang.terms.source import Span


@define(eq=False)
class Handling:
    """A handle expression that is being followed, once."""

    number: int
    outer: "Handling | None"
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
    solid: "Handling | None" = None
    """The nearest, from this one outward, whose clauses may go on where something was performed.
    A `try` or `attempt` is none: it changes no answer."""

    def is_solid(self) -> bool:
        """Whether it answers anything but errors, or lets go on after one."""
        return bool(self.given) or any(
            clause.kind != "never" or operation != "error"
            for operation, clauses in self.clauses.items()
            for clause in clauses
        )


def solid(handling: Handling | None) -> Handling | None:
    """What decides about answers at a place."""
    return handling.solid if handling is not None else None


@define(eq=False)
class Activation:
    """A clause at work for one perform."""

    handling: Handling
    performer: Handling | None
    span: Span
    resumed: Any = None
    """What the perform is answered with."""


@define(eq=False)
class Turning:
    """A loop that is being followed: what its variables may be."""

    variables: tuple[Abstract, ...]
    wanted: tuple[Abstract, ...]
    turns: int = 0


@define(eq=False)
class Calling:
    """A function that is being followed, for calls of itself to join."""

    number: int
    arguments: tuple[Abstract, ...]
    environment: Environment
    handling: Handling | None
    value: Abstract
    site: Span | None = None
    again: bool = False
    wanted: tuple[Abstract, ...] = ()
    wider: Environment | None = None
