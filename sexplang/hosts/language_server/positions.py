r"""Documents and positions in them, as an editor names them: URIs, and columns in UTF-16.

Editors count lines from 0. Columns are in the agreed units, UTF-16 by default.
A line ends at `\n`, `\r\n` or `\r` and nowhere else.
"""

import os
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate

from lsprotocol.types import Location, Position, Range
from pygls import uris

from sexplang.terms.source import Span

_BREAK = re.compile(r"\r\n|\n|\r")

UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text) + sum(char > "\uffff" for char in text),
    "utf-32": len,
}
"""Functions that return the length of a text, by encoding."""


class Places:
    """The positions of one text."""

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
        """Return the position of an offset."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        column = offset - start if self._is_plain else self._columns(line)[offset - start]
        return Position(line, column)

    def _columns(self, line: int) -> "array[int]":
        """Return for each character of a line its distance from the start, in units."""
        if line not in self._known:
            start = self._starts[line]
            end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
            widths = map(self.units, self.text[start:end])
            self._known[line] = array("I", accumulate(widths, initial=0))
        return self._known[line]

    def offset(self, position: Position) -> int:
        """Return the offset of a position; beyond the end of a line it is that end."""
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
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))

    def of(self, span: Span) -> Range:
        """Return the range of a span of this text."""
        return self.range(span.start, span.end)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def name_of(address: str) -> str:
    """Return the name of a document's source: its absolute path, or its URI if it is no file."""
    try:
        path = uris.to_fs_path(address)
    except ValueError:  # it is no URI
        return address
    return address if not path else os.path.normpath(path)


def address_of(name: str) -> str | None:
    """Return the URI of a source, if it has a file or an address."""
    if os.path.isabs(name):
        return _file(name)
    if name.startswith("std/"):
        from sexplang.package.package_data import place

        path = place(f"stdlib/{name.removeprefix('std/')}.sexp")
        return _file(path) if os.path.isfile(path) else None
    return name if _SCHEME.match(name) else None


def location_of(span: Span, places: Places) -> Location | None:
    """Return the location of a span, if it is in a file; `places` are those of its source."""
    address = address_of(span.source.name)
    return None if address is None else Location(address, places.of(span))


def _file(path: str) -> str | None:
    address: str | None = uris.from_fs_path(path)
    return address
