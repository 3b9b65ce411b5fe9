"""The code fences of a reply to what stands inside them, in one pass."""

import re
from collections.abc import Iterator

_LINE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(\w*)[ \t]*")


def fenced(text: str) -> Iterator[str]:
    """The inside of each fence that is closed, in order. A fence closes at one of its own kind, at
    least as long."""
    opening = ""
    begin = at = 0
    for line in text.split("\n"):
        after = at + len(line) + 1
        fence = _LINE.fullmatch(line.removesuffix("\r")) if "```" in line or "~~~" in line else None
        if fence and not opening:
            opening, begin = fence[1], after
        elif fence and not fence[2] and fence[1].startswith(opening):
            yield text[begin:at]
            opening = ""
        at = after
