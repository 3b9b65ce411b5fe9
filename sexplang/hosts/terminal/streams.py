"""The process's three streams to ones that the command can use: whatever is closed has a stand-in,
what an encoding lacks is an escape, and no key of the environment passes through.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO, cast

from sexplang.package.process import ADDRESSES, CREDENTIALS, HEADERS, is_named

if TYPE_CHECKING:
    from sexplang.runtime import Person


@contextmanager
def usable(words: list[str]) -> Iterator[None]:
    """Within this, standard output and error can be written to by a command of these words."""
    kept = sys.stdout, sys.stderr
    if sys.stdout is None:
        sys.stdout = _unread()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # What it cannot write is shown as an escape: a result is not lost to an encoding.
        if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="backslashreplace")
    # To know credentials costs a part of the start, which most starts need not pay.
    endings = (*CREDENTIALS, *ADDRESSES, *HEADERS)
    if any(is_named(name, endings) for name in os.environ) or any("://" in word for word in words):
        from sexplang.guards.secrets import learn, look

        look()
        learn(_credentials_of(words))
        wrap(is_filter=words[:1] == ["fmt"])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


def wrap(*, is_filter: bool = False) -> None:
    """From here on both streams are written to without credentials, if any is known. A person is
    told of those that are plain words, unless an editor may take that for the program's text."""
    from sexplang.guards.secrets import KNOWN, doubts

    if KNOWN.secrets and not isinstance(sys.stdout, _Redacting):
        sys.stdout = cast("TextIO", _Redacting(sys.stdout))
        sys.stderr = cast("TextIO", _Redacting(sys.stderr))
    for words in () if is_filter else doubts():
        print(f"warning: {words}", file=sys.stderr)


def person_at(lines: TextIO | None, out: TextIO) -> "Person | None":
    """Who types the lines and reads the output, if both are a terminal's."""
    if lines is None or lines.closed or not (lines.isatty() and out.isatty()):
        return None

    from sexplang.hosts.terminal.show import draw_hidden
    from sexplang.runtime import Person

    def say(words: str) -> None:
        out.write(draw_hidden(words, keep="\n"))
        out.flush()

    return Person(lines.fileno(), say)


_ADDRESSED = ("--model", "--mcp", "--trace")
"""Options that may be given an address."""


def _credentials_of(words: list[str]) -> list[str]:
    """The credentials in the addresses that a person typed."""
    from sexplang.guards.secrets import credentials_of

    found = []
    for before, word in zip(["", *words], words, strict=False):
        if "://" in word and (before in _ADDRESSED or word.startswith(_ADDRESSED)):
            found += credentials_of(word)
    return found


def _unread() -> TextIO:
    """A pipe whose reader has gone: who closed the output does not want it."""
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", encoding="utf-8")


class _Redacting:
    """A stream that is written to without credentials."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        from sexplang.guards.secrets import silent

        self._stream.write(silent(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def verbatim() -> TextIO:
    """Standard output for what a person wrote, and is given back: a program that is laid out is no
    outcome of a run, and another program with `[redacted]` in it would be wrong."""
    stream: Any = sys.stdout
    return stream._stream if isinstance(stream, _Redacting) else sys.stdout
