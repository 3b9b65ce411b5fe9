"""The bindings of names during compilation.

Law: no binding outlives one compilation.
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
    """The parameters of a function of the program, for checks of its calls."""

    name: str
    params: tuple[str, ...]
    optional: frozenset[str]
    rest: str | None
    is_task: bool = False

    @property
    def is_exact(self) -> bool:
        return not self.optional and self.rest is None


def signature_of(function: Function) -> Signature:
    """Return the signature of a compiled function."""
    optional = frozenset(p.name for p in function.params if p.default is not None)
    return Signature(function.name, tuple(p.name for p in function.params), optional, function.rest)


Shape: TypeAlias = Any
"""A Signature, Primitive, Higher, Operation, Task or Macro; None if nothing is known."""


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
    """The slot of a clause's continuation, and its strongest use so far.

    `fence` is the number of lambdas and branches around the clause. A mention behind a further one
    outlives the clause.
    """

    fence: int = 0
    use: int = NEVER


@define(eq=False)
class NamedFunction:
    """A named function, which has no slot."""

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
    """A name that is defined further down in this body; `became` is its binding from there on."""

    span: Span
    function: bool
    became: Any = None


@define(eq=False)
class Keyword:
    """A macro of this file.

    Names from its templates have their meaning of the time when the trail of names was `mark` long:
    at the definition of the macro. `mark` is None before that.
    """

    macro: Macro
    mark: int | None = None


Binding: TypeAlias = (
    Place | Continuation | NamedFunction | Namespace | LaterDefinition | Keyword | Export
)
