"""Inputs of a session from lines: whether typed text is complete, the indentation of its next line.

The lines are those of standard input, a pipe or a terminal without prompt_toolkit.
"""

import sys
from collections.abc import Iterator

from sexplang.hosts.tokens import CLOSING, OPENING, tokens
from sexplang.package.signals import is_ending
from sexplang.reader import read
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source

_OPEN = frozenset(
    ["unclosed-bracket", "unterminated-string", "unterminated-text", "unterminated-comment"]
)


def is_whole(text: str) -> bool:
    """Return whether a text is complete: nothing in it waits for more.

    Text with any other error is complete too, because more text would not repair it.
    """
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
    """Return the spaces before the next line.

    They are two more than the innermost open call, one more than the innermost `[` or `{`, and none
    in a string.
    """
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


PROMPT, MORE = "> ", "… "


def texts(is_terminal: bool) -> Iterator[str]:
    """Yield each input: as many lines as make it complete, and the rest at the end."""
    lines: list[str] = []
    while True:
        try:
            line = _line(is_terminal, bool(lines))
        except KeyboardInterrupt:
            if not is_terminal or is_ending():
                raise
            print(file=sys.stderr)
            lines.clear()
            continue
        if line is None:
            break
        if line.strip() or lines:
            lines.append(line)
        text = "".join(lines)
        if lines and is_whole(text):
            lines.clear()
            yield text
    if lines:
        yield "".join(lines)


def _line(is_terminal: bool, more: bool) -> str | None:
    if is_terminal:
        try:
            return input(MORE if more else PROMPT) + "\n"
        except EOFError:
            print()
            return None
    raw = sys.stdin.buffer.readline()
    # The reader refuses a byte that is no text, at its place.
    return raw.decode("utf-8", "replace") if raw else None
