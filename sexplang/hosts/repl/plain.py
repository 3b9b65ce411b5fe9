"""Inputs from lines of standard input: a pipe, or a terminal without prompt_toolkit."""

import sys
from collections.abc import Iterator

from sexplang.hosts.repl.balance import is_whole
from sexplang.package.process import is_ending

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
