"""A name at a place of the text to what it stands for there; of a name that a macro brought in,
to what it stands for where the macro is defined (`spec/decisions/hygiene.md`).
"""

from bisect import bisect_left
from collections.abc import Mapping

from sexplang.compiler.names.bindings import Binding, Keyword, LaterDefinition, Namespace
from sexplang.compiler.names.readable_names import split_path
from sexplang.terms.form import MARK
from sexplang.terms.macro import Macro
from sexplang.terms.program import Export


class NameTable:
    """What names stand for here, and what they stood for around it."""

    def __init__(self, scope: Mapping[str, Export]) -> None:
        self.scope = scope
        # What was hidden, innermost last; and where in this trail each name stands.
        self.table: dict[str, Binding] = {}
        self.trail: list[tuple[str, Binding | None]] = []
        self.history: dict[str, list[int]] = {}
        # Of the marks of brought names, by number: what follows the spelling in the template, and
        # whose template it was.
        self.brought: list[tuple[str, Keyword | Macro]] = []

    def find(self, name: str) -> Binding | None:
        """What `name` stands for here."""
        found = self.table.get(name)
        if found is None:
            found = self.scope.get(name)
            if found is None and MARK in name:
                return self.resolve(*self.as_brought(name))
        return found

    def as_brought(self, name: str) -> tuple[str, Keyword | Macro]:
        """A name as it reads in the template that brought it in, and whose template it was."""
        spelling, _, which = name.partition(MARK)
        rest, owner = self.brought[int(which)]
        return spelling + rest, owner

    def resolve(self, name: str, owner: Keyword | Macro) -> Binding | None:
        """What `name` stands for where a macro is defined."""
        while type(owner) is Keyword:
            found = self._then(name, owner.mark)
            if found is not None or MARK not in name:
                return found if found is not None else self.scope.get(name)
            name, owner = self.as_brought(name)
        return owner.names.get(name)  # type: ignore[union-attr]

    def _then(self, name: str, mark: int | None) -> Binding | None:
        """What `name` stood for when the trail was `mark` long, or stands for now."""
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
        """Tells what was announced for `name` what the name stands for now."""
        if type(later) is LaterDefinition:
            later.became = self.table.get(name)

    def bind(self, name: str, binding: Binding) -> None:
        """Lets `name` stand for something until `back` to a place before."""
        self.history.setdefault(name, []).append(len(self.trail))
        self.trail.append((name, self.table.get(name)))
        self.table[name] = binding

    def forget(self, mark: int) -> None:
        """Lets names stand for what they stood for when the trail was `mark` long."""
        while len(self.trail) > mark:
            name, old = self.trail.pop()
            self.history[name].pop()
            if old is None:
                del self.table[name]
            else:
                self.table[name] = old

    def find_in_module(self, text: str) -> Export | None:
        """`u.f` where `u` is a module: what it exports as `f`."""
        head, fields = split_path(text)
        if not fields or self.find(text) is not None:
            return None
        space = self.find(head)
        return space.exports.get(".".join(fields)) if type(space) is Namespace else None
