"""Markdown to chunks: its `sexp` blocks, with the marks in their comments and what stands around
them.

Law: a chunk's text is padded with line breaks, so that every span is a place in the Markdown.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from attrs import field, frozen

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*([^`]*)$")
_MARK = re.compile(r"(?:^|(?<=\s));(=>|!|\?|<)(?=\s)")
_XML_MARK = re.compile(r"<!--!\s*(?P<text>.*?)\s*-->")


@frozen
class Fence:
    """A fenced block: `line` is that of its opening fence; `text` holds only the inside."""

    line: int
    info: tuple[str, ...]
    text: str

    @property
    def kind(self) -> str:
        return self.info[0] if self.info else ""

    @property
    def name(self) -> str | None:
        """A file's name after the kind: ```` ```sexp util.sexp ````."""
        return self.info[1] if len(self.info) > 1 else None

    @property
    def padded(self) -> str:
        return "\n" * self.line + self.text


@frozen
class Mark:
    """A mark: `=>`, `!`, `?` or `<`, what follows it, and where it stands."""

    kind: str
    text: str
    offset: int
    line: int


@frozen
class Chunk:
    """A block to run. `text` has the marks blanked out; offsets are those of the Markdown."""

    path: Path
    line: int
    text: str
    marks: tuple[Mark, ...]
    files: dict[str, str] = field(factory=dict)
    """Named blocks of the document: what `import` may load."""
    templates: dict[str, str] = field(factory=dict)
    """Unnamed XML blocks above: templates in scope by their own name."""
    diagnostic: Fence | None = None
    """The block after the chunk that holds the rendering of its diagnostics."""

    @property
    def name(self) -> str:
        try:
            path = self.path.relative_to(ROOT)
        except ValueError:
            path = self.path
        return f"{path}:{self.line}"

    def __str__(self) -> str:
        return self.name


def fences(text: str) -> Iterator[Fence]:
    """All fenced blocks, in order; a block ends at a fence at least as long as its own."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        at += 1
        if not opening:
            continue
        start, mark = at, opening[2]
        closing = re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}\s*$")
        while at < len(lines) and not closing.match(lines[at]):
            at += 1
        inside = "".join(f"{line}\n" for line in lines[start:at])
        yield Fence(start, tuple(opening[3].split()), inside)
        at += 1


def chunks_of(path: Path, text: str) -> Iterator[Chunk]:
    """The chunks of one Markdown document."""
    files: dict[str, str] = {}
    templates: dict[str, str] = {}
    blocks = list(fences(text))
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.kind in ("sexp", "xml", "json") and block.name:
            files[block.name] = block.padded
        elif block.kind == "xml":
            name = re.search(r"<(?:task|template)\b[^>]*?\bname\s*=\s*[\"']([^\"']+)", block.text)
            refused = _XML_MARK.search(block.text)
            if refused:
                offset = len(block.padded)
                mark = Mark("!", refused["text"], offset, block.line)
                yield Chunk(path, block.line, block.padded, (mark,), diagnostic=_rendering(after))
            elif name:
                templates[name[1]] = block.padded
        elif block.kind == "sexp":
            bare, marks = unmarked(block.padded)
            yield Chunk(
                path, block.line, bare, marks, dict(files), dict(templates), _rendering(after)
            )


def _rendering(after: Fence | None) -> Fence | None:
    return after if after is not None and after.kind == "diagnostic" else None


def unmarked(text: str) -> tuple[str, tuple[Mark, ...]]:
    """A text with its marks replaced by spaces, and the marks."""
    marks: list[Mark] = []
    lines: list[str] = []
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        at = _mark_in(line)
        if at is None:
            lines.append(line)
        else:
            found = _MARK.match(line, at)
            assert found
            marks.append(Mark(found[1], line[found.end() :].strip(), offset + at, number))
            lines.append(line[:at] + " " * (len(line) - at))
        offset += len(line) + 1
    return "\n".join(lines), tuple(marks)


def _mark_in(line: str) -> int | None:
    """Where a mark begins: the first that no string of this line holds, else the last (a line
    with an unclosed string is such a case)."""
    places = [found.start() for found in _MARK.finditer(line)]
    for at in places:
        quotes = len(re.findall(r'(?<!\\)(?:\\\\)*"', line[:at]))
        if quotes % 2 == 0:
            return at
    return places[-1] if places else None
