"""Source texts and spans."""

from bisect import bisect_right
from functools import cached_property
from posixpath import normpath
from typing import Any

from sexplang.terms.classes.node import define, field, frozen, node


def is_library(name: str) -> bool:
    """Return whether a source of this name is a part of the standard library."""
    return name.startswith("std/")


@define(eq=False)
class Source:
    """A text from a person or a model: a file, standard input, an expression."""

    name: str
    text: str = field(repr=False)
    original: str | None = field(default=None, repr=False)
    """The name that it had where its run was submitted, if it has another one here."""

    __hash__ = object.__hash__

    @property
    def is_library(self) -> bool:
        """Whether it is a part of the standard library."""
        return is_library(self.name)

    def position(self, offset: int) -> "Position":
        """Return line and column (from 1, in code points) of `offset` (from 0)."""
        return Position(*self.place(offset), offset)

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, from 1; the fast variant of `position`."""
        starts = self._line_starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column, both from 1. Raises IndexError."""
        return self._line_starts[line - 1] + column - 1

    def line(self, number: int) -> str:
        """Return the text of line `number` (from 1), without its line break."""
        starts = self._line_starts
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    @cached_property
    def _line_starts(self) -> list[int]:
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts


def relative_name(name: str, main: str) -> str:
    """Return the name of a file as seen from the folder of the main file, however both are spelled.
    A name of the library stays."""
    if is_library(name) or name.startswith("<") or name.startswith("/") != main.startswith("/"):
        return name
    parts, around = normpath(name).split("/"), normpath(main).split("/")[:-1]
    shared = 0
    while shared < min(len(parts) - 1, len(around)) and parts[shared] == around[shared]:
        shared += 1
    return "/".join([*[".."] * (len(around) - shared), *parts[shared:]])


@frozen
class Position:
    """A place: line and column from 1, offset from 0, all in code points."""

    line: int
    column: int
    offset: int


@node(unsafe_hash=True)
class Span:
    """The half-open range of a source from `start` to `end` (offsets in code points)."""

    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def begin(self) -> Position:
        return self.source.position(self.start)

    @property
    def finish(self) -> Position:
        return self.source.position(self.end)

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def holds(self, place: "Span") -> bool:
        """Return whether another span is inside this one."""
        same = place.source is self.source
        return same and self.start <= place.start and place.end <= self.end

    def plain(self) -> dict[str, Any]:
        """Return the span as data: source, line, column, end_line, end_column."""
        line, column = self.source.place(self.start)
        end_line, end_column = self.source.place(self.end)
        return {
            "source": self.source.name,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
        }

    def __str__(self) -> str:
        begin = self.begin
        return f"{self.source.name}:{begin.line}:{begin.column}"


@node(unsafe_hash=True)
class Made(Span):
    """The span of a macro's use, for a form from the macro.

    `template` is the span of that form in the template of the macro called `macro`.
    """

    template: Span
    macro: str


def make_span(use: Span, template: Span, macro: str) -> Made:
    """Return the span of a form from a use of `macro`. Of nested uses it is the outermost."""
    if isinstance(template, Made):
        template = template.template
    return Made(use.source, use.start, use.end, template, macro)
