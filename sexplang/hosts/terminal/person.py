"""The person at the terminal, for `ask-user`."""

from typing import TextIO

from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime import Person


def person_at(lines: TextIO | None, out: TextIO) -> Person | None:
    """Who types the lines and reads the output, if both are a terminal's."""
    if lines is None or lines.closed or not (lines.isatty() and out.isatty()):
        return None

    def say(words: str) -> None:
        out.write(draw_hidden(words, keep="\n"))
        out.flush()

    return Person(lines.fileno(), say)
