"""What is typed so far to whether it is all, and to where the next line should begin."""

from sexplang.hosts.tokens import CLOSING, OPENING, tokens
from sexplang.reader import read
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source

_OPEN = frozenset(
    ["unclosed-bracket", "unterminated-string", "unterminated-text", "unterminated-comment"]
)


def is_whole(text: str) -> bool:
    """Whether a text is a piece to enter: nothing in it waits for more. What is wrong in another
    way is whole too: more of it would not mend it."""
    if text.lstrip().startswith(":"):
        return True
    try:
        read(Source("input", text))
    except Diagnostics as found:
        codes = {each.code for each in found.diagnostics if not _waits(each.code, each.span, text)}
        return bool(codes)
    return True


def _waits(code: str, span: object, text: str) -> bool:
    if code == "mark-without-form":
        # A mark before a closing bracket never gets its form; one at the end may.
        return getattr(span, "end", 0) >= len(text.rstrip())
    return code in _OPEN


def indentation(text: str) -> int:
    """How many spaces the line after a text begins with: two more than the innermost call that is
    open, one more than the innermost `[` or `{`, none in a string."""
    opened: list[tuple[str, int]] = []
    for token in tokens(text):
        if token.kind == "OPEN":
            return 0
        if token.kind in OPENING:
            opened.append((OPENING[token.kind], token.start))
        elif token.kind in CLOSING and opened:
            opened.pop()
    if not opened:
        return 0
    bracket, start = opened[-1]
    column = start - (text.rfind("\n", 0, start) + 1)
    return column + (2 if bracket == "(" else 1)
