"""One way to read the tags and texts of a reply: what is open, what was repaired, what it cost."""

from collections.abc import Iterator
from typing import Any

from sexplang.templates.xsd.frames import Frame, Node, closed, with_item
from sexplang.terms.node import node


@node(eq=False)
class Way:
    """`done` is the root when it is closed; then nothing is open."""

    frame: Frame
    cost: int = 0
    notes: Any = None
    """Linked from the last to the first."""
    done: Node | None = None

    def noted(self, *words: str) -> "Way":
        if not words:
            return self
        notes = self.notes
        for each in words:
            notes = (notes, each)
        return Way(self.frame, self.cost, notes)

    def paid(self, cost: int, words: str) -> "Way":
        """The way with a repair."""
        return Way(self.frame, self.cost + cost, (self.notes, words))

    def at(self, frame: Frame) -> "Way":
        return Way(frame, self.cost, self.notes)

    def repairs(self) -> tuple[str, ...]:
        found: list[str] = []
        notes = self.notes
        while notes is not None:
            notes, words = notes
            found.append(words)
        return tuple(dict.fromkeys(reversed(found)))

    def ended(self) -> "Iterator[Way]":
        """The way with what is open closed by an end tag; none where that would lose a text."""
        if not self.frame.is_lost:
            yield self._closed(supplied=False)

    def supplied(self) -> "Way | None":
        """The way with an end tag for what is open. The root is not closed in the middle; nor is
        a text with a bare `<`, which may be what is left of the tag."""
        frame = self.frame
        if frame.above is None or frame.bare or frame.is_lost:
            return None
        paid = self.paid(1, f"supplied </{frame.name}>")
        return paid.at(paid.frame.in_doubt_of_end())._closed(supplied=True)

    def finished(self, whole: bool) -> "Way | None":
        """The way with all that is open closed, where nothing more could have followed; `whole`
        where the author said so."""
        way = self
        while not way.done:
            frame = way.frame
            if frame.is_lost:
                return None
            if frame.is_ending:
                way = way._closed(supplied=False)
            elif frame.is_complete or (whole and not frame.holds_text):
                way = way.paid(1, f"supplied </{frame.name}>")._closed(supplied=True)
            else:
                return None
        return way

    def _closed(self, *, supplied: bool) -> "Way":
        node = closed(self.frame, supplied=supplied)
        if self.frame.above is None:
            return Way(self.frame, self.cost, self.notes, node)
        return self.at(with_item(self.frame.above, node))
