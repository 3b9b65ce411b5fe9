"""Offsets in a text to places as an editor counts them, and back.

Editors count lines from 0, and columns in the units that were agreed on: UTF-16 unless the editor
prefers others. A line ends at `\\n`, `\\r\\n` or `\\r` and nowhere else.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate

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
        self._known: dict[int, array[int]] = {}

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
        column = offset - start if self._is_plain else self._columns(line)[offset - start]
        return Position(line, column)

    def _columns(self, line: int) -> "array[int]":
        """How far each character of a line is from its start, in units."""
        if line not in self._known:
            start = self._starts[line]
            end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
            widths = map(self.units, self.text[start:end])
            self._known[line] = array("I", accumulate(widths, initial=0))
        return self._known[line]

    def offset(self, position: Position) -> int:
        """The offset of a place; one beyond the end of its line is that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        ended = _BREAK.search(self.text, start)
        end = ended.start() if ended else len(self.text)
        if self._is_plain:
            return min(start + position.character, end)
        at = bisect_left(self._columns(position.line), position.character)
        return min(start + at, end)

    def range(self, start: int, end: int) -> Range:
        """The stretch between two offsets."""
        return Range(self.position(start), self.position(end))

    def of(self, span: Span) -> Range:
        """The stretch of a span of this text."""
        return self.range(span.start, span.end)
