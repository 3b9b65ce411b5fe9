"""Lines at the bottom of a terminal, drawn again in place."""

import os
import re
from collections.abc import Callable, Iterator
from typing import TextIO

from sexplang.hosts.show import width_of
from sexplang.terms.node import define, field

_COLOUR = re.compile("\x1b\\[[0-9;]*m")


@define(eq=False)
class Screen:
    """What was drawn last stands right above the cursor. Nothing else may write meanwhile; whoever
    does says `erase` first."""

    stream: TextIO
    size: Callable[[], tuple[int, int]] | None = None
    """Columns and lines of the terminal; by default it is asked."""
    _last: list[str] = field(factory=list)

    def measured(self) -> tuple[int, int]:
        """Columns and lines that there are now."""
        if self.size is not None:
            return self.size()
        try:
            return os.get_terminal_size(self.stream.fileno())
        except (OSError, ValueError):
            return 80, 24

    def draw(self, lines: list[str], width: int) -> None:
        """Put these in the place of the last ones, at one blow: nothing flickers."""
        lines = [each if _COLOUR.search(each) else clipped(each, width) for each in lines]
        if lines == self._last:
            return
        text = "".join([f"{line}\x1b[K\n" for line in lines])
        self._write(f"{self._back(width)}{text}\x1b[J")
        self._last = lines

    def erase(self) -> None:
        """Take away what was drawn."""
        if self._last:
            self._write(f"{self._back(self.measured()[0])}\x1b[J")
            self._last = []

    def _back(self, width: int) -> str:
        """To the beginning of what was drawn: a terminal that has become narrower since has
        broken its lines."""
        cells = [width_of(_COLOUR.sub("", line)) for line in self._last]
        rows = sum(max(1, -(-each // max(width, 1))) for each in cells)
        return f"\x1b[{rows}A\r" if rows else ""

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def clipped(text: str, width: int) -> str:
    """As much of a text as fits in a line, and the last column stays free."""
    if width_of(text) < width:
        return text
    return "".join(_fitting(text, width - 2)) + "…" if width > 2 else ""


def _fitting(text: str, width: int) -> Iterator[str]:
    for char in text:
        width -= width_of(char)
        if width < 0:
            return
        yield char
