"""A page of the site, and where its parts are.

A path of the site is that of the page's Markdown below the site's root: `reference/names/map.md`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from posixpath import relpath

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SPEC = ROOT / "spec"


@dataclass(frozen=True)
class Page:
    """A page: its path in the site, its Markdown, and the file of the repository it was made of.

    A link of the text leads to a file beside `source`, or with a slash in front to a path of the
    site. `trail` holds the pages above this one, for a page that no table of contents lists.
    """

    path: str
    text: str
    kind: str
    source: str | None = None
    trail: tuple[tuple[str, str], ...] = ()
    keywords: str = ""

    @property
    def title(self) -> str:
        """Return the words of the first heading."""
        return self.heading.replace("`", "")

    @property
    def heading(self) -> str:
        """Return the first heading as it is written."""
        first = self.text.partition("\n")[0]
        return first.removeprefix("# ").strip()

    @property
    def address(self) -> str:
        """Return the path of the HTML."""
        return f"{self.path.removesuffix('.md')}.html"


@dataclass(frozen=True)
class File:
    """A file that is copied into the site as it is."""

    path: str
    source: str


def relative(target: str, page: str) -> str:
    """Return a path of the site as a link from another."""
    return relpath(target, str(PurePosixPath(page).parent))


_WORDS = {
    "->": " to ",
    "+": " plus ",
    "*": " star ",
    "/": " slash ",
    "<": " less ",
    ">": " greater ",
    "=": " equals ",
    "?": " p ",
    "!": " bang ",
    "%": " percent ",
    "@": " at ",
    ".": " dot ",
    ":": " colon ",
    "&": " and ",
}


_ALONE = {"-": "minus", "->": "thread-first"}


def slug(name: str) -> str:
    """Return a name of the language as a part of a path: `string->list` is `string-to-list`."""
    if name in _ALONE:
        return _ALONE[name]
    if name.startswith("std/"):
        return name.replace("/", "-")
    words = re.sub(r"->|[^\w-]", lambda found: _WORDS.get(found[0], " "), name)
    return re.sub(r"[\s-]+", "-", words.strip()).strip("-")


def escape(text: str) -> str:
    """Return plain text as Markdown; what stands between backticks stays code."""
    parts = re.split(r"(`+[^`\n]*`+)", text)
    return "".join(
        part if at % 2 else re.sub(r"([\\*_\[\]<>&#|])", r"\\\1", part)
        for at, part in enumerate(parts)
    )


def code(text: str) -> str:
    """Return a text as code in a line of Markdown."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def cell(text: str) -> str:
    """Return Markdown for the cell of a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def fence(text: str, kind: str = "", name: str = "") -> str:
    """Return a text as a fenced block."""
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}", text)), 3)
    return f"{ticks}{kind}{' ' + name if name else ''}\n{text.rstrip(chr(10))}\n{ticks}\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell(each) for each in line)} |\n" for line in lines)
