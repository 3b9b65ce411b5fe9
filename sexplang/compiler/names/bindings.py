"""What a name can stand for while forms become core.

Law: nothing here outlives one compilation.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from sexplang.terms.classes.node import define, node
from sexplang.terms.core import ClauseKind
from sexplang.terms.macro import Macro
from sexplang.terms.program import Export, Function
from sexplang.terms.source import Span


@node
class Signature:
    """What a call of a function of the program may look like."""

    name: str
    params: tuple[str, ...]
    optional: frozenset[str]
    rest: str | None
    is_task: bool = False

    @property
    def is_exact(self) -> bool:
        return not self.optional and self.rest is None


def signature_of(function: Function) -> Signature:
    """The signature of a function that is already compiled."""
    optional = frozenset(p.name for p in function.params if p.default is not None)
    return Signature(function.name, tuple(p.name for p in function.params), optional, function.rest)


Shape: TypeAlias = Any
"""Signature, Primitive, Higher, Operation, Task, Macro, or None where nothing is known."""


@define(eq=False)
class Place:
    """A slot of an activation."""

    level: int
    index: int
    name: str
    shape: Shape = None


KINDS: tuple[ClauseKind, ...] = ("never", "tail", "calls", "kept")
NEVER, TAIL, CALLS, KEPT = range(4)


@define(eq=False)
class Continuation(Place):
    """The slot of a clause's continuation, and the strongest use of it seen so far.

    `fence` counts the lambdas and branches around the clause: a mention behind a further one
    outlives the clause.
    """

    fence: int = 0
    use: int = NEVER


@define(eq=False)
class NamedFunction:
    """A function defined by name: no slot."""

    level: int
    function: int
    shape: Signature


@define(eq=False)
class Namespace:
    """`(import "path" as: u)`: the public names of a module behind one name."""

    path: str
    exports: Mapping[str, Export]


@define(eq=False)
class LaterDefinition:
    """Defined further down in this body; `became` is what it stands for from there on."""

    span: Span
    function: bool
    became: Any = None


@define(eq=False)
class Keyword:
    """A macro of this file. Names that its templates bring in mean what they meant when the trail
    of names was `mark` long: at its definition, which is not reached yet while that is None."""

    macro: Macro
    mark: int | None = None


Binding: TypeAlias = (
    Place | Continuation | NamedFunction | Namespace | LaterDefinition | Keyword | Export
)
