"""The code fences of a reply to what stands inside them, in one pass."""

import re
from collections.abc import Iterator

Span = tuple[int, int]

_LINE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+(\w*+)[ \t]*+\r?$", re.MULTILINE)


def find_fences(text: str) -> Iterator[Span]:
    """Where the inside of each fence that is closed begins and ends, in order. A fence closes at
    one of its own kind, at least as long."""
    opening = ""
    begin = 0
    for fence in _LINE.finditer(text):
        if not opening:
            opening, begin = fence[1], fence.end() + 1
        elif not fence[2] and fence[1].startswith(opening):
            yield begin, fence.start()
            opening = ""


def outside(text: str, spans: list[Span]) -> str:
    """What is left of a text without its spans, which are in order."""
    ends = [0, *[end for _, end in spans]]
    begins = [*[begin for begin, _ in spans], len(text)]
    return "".join([text[one:other] for one, other in zip(ends, begins, strict=True)])
