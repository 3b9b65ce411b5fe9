"""The scope of a compilation: the bindings of names here, and the shadowed ones.

Law: no binding outlives one compilation. A name from a macro's template has its binding at the
macro's definition (`spec/decisions/hygiene.md`); diagnostics show it as it is spelled there.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, TypeAlias

from sexplang.terms.classes.node import define, evolve, node
from sexplang.terms.core import ClauseKind
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.form import MARK
from sexplang.terms.macro import Macro
from sexplang.terms.program import Export, Function
from sexplang.terms.source import Made, Span
from sexplang.terms.values.abbreviation import shorten_names


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


_MARKED = f"{MARK}[0-9]+"


def split_path(text: str) -> tuple[str, list[str]]:
    """Split `plan.notes.success` into the bound name and the fields."""
    spelling, mark, which = text.partition(MARK)
    head, *fields = spelling.split(".")
    return head + mark + which, fields


def readable(finding: Diagnostic) -> Diagnostic:
    """Return a diagnostic without marks in its words. One about a form from a macro says so."""
    labels = tuple(Label(label.span, _plain(label.words)) for label in finding.labels)
    span = finding.span
    if isinstance(span, Made):
        labels += (Label(span.template, f"`{span.macro}` puts this there"),)
    return evolve(
        finding,
        title=_plain(finding.title),
        labels=labels,
        notes=tuple(_plain(note) for note in finding.notes),
        hint=None if finding.hint is None else _plain(finding.hint),
    )


def _plain(text: str) -> str:
    return shorten_names(re.sub(_MARKED, "", text) if MARK in text else text)


class NameTable:
    """The current bindings of names, and the trail of shadowed bindings."""

    def __init__(self, scope: Mapping[str, Export]) -> None:
        self.scope = scope
        # Shadowed bindings, innermost last, and the index of each name's last one.
        self.table: dict[str, Binding] = {}
        self.trail: list[tuple[str, Binding | None]] = []
        self.history: dict[str, list[int]] = {}
        # Of the marks of renamed names, by number: the suffix of the spelling in the template, and
        # the template's macro.
        self.brought: list[tuple[str, Keyword | Macro]] = []

    def find(self, name: str) -> Binding | None:
        """Return the binding of `name` here."""
        found = self.table.get(name)
        if found is None:
            found = self.scope.get(name)
            if found is None and MARK in name:
                return self.resolve(*self.as_brought(name))
        return found

    def as_brought(self, name: str) -> tuple[str, Keyword | Macro]:
        """Return a renamed name as it reads in its template, and the template's macro."""
        spelling, _, which = name.partition(MARK)
        rest, owner = self.brought[int(which)]
        return spelling + rest, owner

    def resolve(self, name: str, owner: Keyword | Macro) -> Binding | None:
        """Return the binding of `name` at the definition of a macro."""
        while type(owner) is Keyword:
            found = self._then(name, owner.mark)
            if found is not None or MARK not in name:
                return found if found is not None else self.scope.get(name)
            name, owner = self.as_brought(name)
        return owner.names.get(name)  # type: ignore[union-attr]

    def _then(self, name: str, mark: int | None) -> Binding | None:
        """Return the binding of `name` when the trail was `mark` long, or the current one."""
        places = self.history.get(name)
        at = bisect_left(places, mark) if places and mark is not None else 0
        if places and mark is not None and at < len(places):
            found = self.trail[places[at]][1]
        else:
            found = self.table.get(name)
        while type(found) is LaterDefinition and found.became is not None:
            found = found.became
        return found

    def define(self, name: str, later: Binding | None) -> None:
        """Complete the announced definition of `name` with its binding."""
        if type(later) is LaterDefinition:
            later.became = self.table.get(name)

    def bind(self, name: str, binding: Binding) -> None:
        """Bind `name` until `restore_scope` to an earlier place."""
        self.history.setdefault(name, []).append(len(self.trail))
        self.trail.append((name, self.table.get(name)))
        self.table[name] = binding

    def forget(self, mark: int) -> None:
        """Restore the bindings of the time when the trail was `mark` long."""
        while len(self.trail) > mark:
            name, old = self.trail.pop()
            self.history[name].pop()
            if old is None:
                del self.table[name]
            else:
                self.table[name] = old

    def find_in_module(self, text: str) -> Export | None:
        """Return the export `f` of a module `u` for `u.f`."""
        head, fields = split_path(text)
        if not fields or self.find(text) is not None:
            return None
        space = self.find(head)
        return space.exports.get(".".join(fields)) if type(space) is Namespace else None
