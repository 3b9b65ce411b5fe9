"""The lines of a formatted text, with end-of-line comments aligned.

Law: a line ends in no white space that is not part of a token.
"""

from collections.abc import Iterator

from sexplang.reader.layout.concrete import Comment
from sexplang.reader.layout.layout_rules import DEEPEST, WIDTH
from sexplang.terms.classes.node import define, field

_GAP = 2  # columns before the comment at the end of a line


@define(eq=False)
class _Line:
    """A line, or several that a token keeps together; `width` is that of the last."""

    text: str
    width: int
    comment: Comment | None


@define(eq=False)
class Page:
    """The output so far."""

    column: int = 0
    indent: int = 0
    """The indentation of the current line."""
    _parts: list[str] = field(factory=list)
    _comment: Comment | None = None
    _lines: list[_Line] = field(factory=list)

    def put(self, text: str) -> None:
        """Append text to the line. The text may hold line breaks."""
        self._parts.append(text)
        if "\n" in text:
            self.column = len(text) - text.rfind("\n") - 1
        else:
            self.column += len(text)

    def turn(self, indent: int) -> None:
        """Begin a line."""
        self._lines.append(_Line("".join(self._parts), self.column, self._comment))
        self._comment = None
        self.column = self.indent = min(indent, DEEPEST)
        self._parts = [" " * self.column]

    def end(self, comment: Comment) -> None:
        """Put a comment at the end of the line; nothing may follow it."""
        self._comment = comment

    def text(self) -> str:
        """Return the whole text."""
        self.turn(0)
        written: list[str] = []
        run = _Run()
        for line in self._lines:
            if not run.takes(line):
                run.keep_off(line)
                written += run.write()
                run = _Run()
            if line.comment:
                run.add(line, line.comment)
            else:
                written.append(line.text if line.text.strip(" ") else "")
        written += run.write()
        return "\n".join(written) + "\n" if any(written) else ""


@define(eq=False)
class _Run:
    """Consecutive lines whose end-of-line comments begin in one column."""

    lines: list[tuple[_Line, Comment]] = field(factory=list)
    column: int = 0
    longest: int = 0
    """The width of the longest line that fits by itself."""

    def add(self, line: _Line, comment: Comment) -> None:
        self.lines.append((line, comment))
        self.column, self.longest = self._with(line, comment)

    def takes(self, line: _Line) -> bool:
        """Return whether a line can join without making another too long."""
        if not self.lines:
            return True
        if line.comment is None or "\n" in line.text or "\n" in self.lines[-1][1].text:
            return False
        return sum(self._with(line, line.comment)) <= WIDTH

    def _with(self, line: _Line, comment: Comment) -> tuple[int, int]:
        length = max(map(len, comment.lines))
        column = line.width + _GAP
        fits = column + length <= WIDTH
        return max(self.column, column), max(self.longest, length if fits else 0)

    def keep_off(self, line: _Line) -> None:
        """Move the column if the comment on the next line would look like a continuation."""
        if line.text.startswith(" " * self.column + ";"):
            self.column += 1

    def write(self) -> Iterator[str]:
        for line, comment in self.lines:
            first, *others = comment.lines
            yield f"{line.text}{' ' * (self.column - line.width)}{first}"
            for other in others:
                yield " " * self.column + other
