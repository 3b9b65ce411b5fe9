"""Offsets in a text to places as an editor counts them, and back.

Editors count lines from 0, and columns in the units that were agreed on: UTF-16 unless the editor
prefers others. A line ends at `\\n`, `\\r\\n` or `\\r` and nowhere else.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property

from lsprotocol.types import Position, Range

from sexplang.terms.source import Span

_BREAK = re.compile(r"\r\n|\n|\r")

UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text) + sum(char > "\uffff" for char in text),
    "utf-32": len,
}
"""How long a text is, by encoding."""


class Places:
    """The places of one text."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        self.units = UNITS[encoding]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *[match.end() for match in _BREAK.finditer(self.text)]]

    @cached_property
    def _is_plain(self) -> bool:
        return self.text.isascii()

    def position(self, offset: int) -> Position:
        """Where an offset is."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        column = offset - start if self._is_plain else self.units(self.text[start:offset])
        return Position(line, column)

    def offset(self, position: Position) -> int:
        """The offset of a place; one beyond the end of its line is that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        ended = _BREAK.search(self.text, start)
        end = ended.start() if ended else len(self.text)
        if self._is_plain:
            return min(start + position.character, end)
        left, at = position.character, start
        while at < end and left > 0:
            left -= self.units(self.text[at])
            at += 1
        return at

    def range(self, start: int, end: int) -> Range:
        """The stretch between two offsets."""
        return Range(self.position(start), self.position(end))

    def of(self, span: Span) -> Range:
        """The stretch of a span of this text."""
        return self.range(span.start, span.end)
