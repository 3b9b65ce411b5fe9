"""The Markdown of the repository to that of the site.

What GitHub and the site's Markdown read in different ways is written so that both mean the same:
the names of fenced blocks, lists without a line before them, and lists inside lists.
"""

import re
from collections.abc import Callable, Iterator

PROSE, OPENING, CODE, CLOSING = "prose", "opening", "code", "closing"

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^`]*)$")
_LINK = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)|(?<!\\)\]\(([^)\s]+)\)")
_CHAPTER = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|\b([Cc]hapter (\d+[a-z]?))\b")
_ITEM = re.compile(r"^( *)([-*+]|\d+\.)( +)")
_HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$")

_KINDS = {
    **dict.fromkeys(("diagnostic", "effects", "models", "needs"), "text"),
    "elisp": "emacs-lisp",
    "gbnf": "ebnf",
}
"""Kinds of blocks that no lexer has under this name."""

_SAMPLE = "a sample, from the local model"


def parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a document, each with what it is."""
    closing = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if closing:
            ends = found and found[2].startswith(closing) and not found[3].strip()
            yield (CLOSING if ends else CODE), line
            closing = "" if ends else closing
        elif found:
            closing = found[2]
            yield OPENING, line
        else:
            yield PROSE, line


def _change_prose(text: str, change: Callable[[str], str]) -> str:
    return "\n".join(change(line) if part == PROSE else line for part, line in parts(text))


def change_links(text: str, change: Callable[[str], str]) -> str:
    """Return a document with the target of each link of its prose changed."""

    def replace(found: re.Match[str]) -> str:
        return found[0] if found[1] else f"]({change(found[2])})"

    return _change_prose(text, lambda line: _LINK.sub(replace, line))


def link_chapters(text: str, find: Callable[[str], str | None]) -> str:
    """Return a document in whose prose `chapter 8` is a link, where `find` knows its target."""

    def replace(found: re.Match[str]) -> str:
        target = find(found[2]) if found[1] else None
        return f"[{found[0]}]({target})" if target else found[0]

    return _change_prose(
        text, lambda line: line if line.startswith("#") else _CHAPTER.sub(replace, line)
    )


def headings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the level and the words of each heading."""
    for part, line in parts(text):
        found = _HEADING.match(line) if part == PROSE else None
        if found:
            yield len(found[1]), found[2]


def anchors(text: str) -> Iterator[str]:
    """Yield the anchor of each heading, as GitHub and the site make it of the words."""
    seen: dict[str, int] = {}
    for _, words in headings(text):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        yield f"{anchor}_{count}" if count else anchor


def translate(text: str) -> str:
    """Return a document as the site's Markdown reads it."""
    return "\n".join(_indent_lists(_name_fences(text)))


def _name_fences(text: str) -> Iterator[tuple[str, str]]:
    for part, line in parts(text):
        found = _FENCE.match(line) if part == OPENING else None
        yield part, f"{found[1]}{found[2]}{_describe(found[3].split())}" if found else line


def _describe(info: list[str]) -> str:
    if not info:
        return " { .text }"
    kind, name = _KINDS.get(info[0], info[0]), " ".join(info[1:])
    if kind == "console" and name == "local":
        name = _SAMPLE
    return f' {{ .{kind} title="{name}" }}' if name else f" {{ .{kind} }}"


def _indent_lists(rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield lines with a blank one before each list, and what is in an item four columns in."""
    widths: list[int] = []  # of what stands before the text, for each item around
    before, shift = "", 0
    for part, line in rows:
        depth = len(line) - len(line.lstrip(" "))
        item = _ITEM.match(line) if part == PROSE else None
        if part in (PROSE, OPENING) and line.strip():
            begins = item and not widths and before.strip()
            while widths and depth < widths[-1] and (item or not before.strip()):
                widths.pop()
            if begins:
                yield ""
            shift = 4 * len(widths) - (widths[-1] if widths else 0)
            if item:
                widths.append(len(item[0]))
        yield " " * shift + line if line.strip() and shift > 0 else line
        before = line
