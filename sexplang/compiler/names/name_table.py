"""The scope: the bindings of names here, and the shadowed ones.

A name from a macro's template has its binding at the macro's definition
(`spec/decisions/hygiene.md`).
"""

from bisect import bisect_left
from collections.abc import Mapping

from sexplang.compiler.names.bindings import Binding, Keyword, LaterDefinition, Namespace
from sexplang.compiler.names.readable_names import split_path
from sexplang.terms.form import MARK
from sexplang.terms.macro import Macro
from sexplang.terms.program import Export


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
