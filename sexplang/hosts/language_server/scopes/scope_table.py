"""The table of scopes and mentions of a text."""

from collections.abc import Mapping

from sexplang.hosts.language_server.scopes.meanings import Meaning, member
from sexplang.terms.classes.node import define, field, frozen

DEEPEST = 500
"""The deepest nesting of scopes. Deeper forms are not walked, so that an answer takes a moment."""


@define(eq=False)
class Scope:
    """A range of the text and the names that are bound in all of it."""

    outer: "Scope | None"
    names: dict[str, Meaning]
    start: int
    end: int
    depth: int = 0

    def find(self, name: str) -> Meaning | None:
        """Return the meaning of a name here; of a path such as `plan.notes` that of its head."""
        found = self._bound(name)
        if found is not None or "." not in name:
            return found
        head = name.partition(".")[0]
        base = self._bound(head)
        return member({head: base}, name) if base is not None else None

    def _bound(self, name: str) -> Meaning | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def inner(self, names: dict[str, Meaning], start: int, end: int) -> "Scope":
        return Scope(self, names, start, end, self.depth + 1)


@frozen
class Mention:
    """A range of the text that mentions a meaning."""

    start: int
    end: int
    meaning: Meaning


@define(eq=False)
class Scopes:
    """All scopes of a text, the widest first, and all mentions."""

    prelude: Mapping[str, Meaning]
    all: list[Scope] = field(factory=list)
    mentions: list[Mention] = field(factory=list)

    def visible(self, offset: int) -> dict[str, Meaning]:
        """Return every name that is bound at an offset, with its meaning there."""
        names = dict(self.prelude)
        around = [scope for scope in self.all if scope.start <= offset <= scope.end]
        for scope in sorted(around, key=lambda scope: scope.depth):
            names.update(scope.names)
        return names

    def mention_at(self, offset: int) -> Mention | None:
        """Return the mention at an offset, or the one that ends there."""
        found = None
        for mention in self.mentions:
            if mention.start <= offset < mention.end:
                return mention
            if mention.end == offset:
                found = mention
        return found
