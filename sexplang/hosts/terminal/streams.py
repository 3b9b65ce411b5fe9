"""The standard streams of the process, made safe to use.

A closed stream has a stand-in, a character that an encoding lacks becomes an escape, and
credentials are redacted.
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
    """Make standard output and error usable for a command with these arguments."""
    kept = sys.stdout, sys.stderr
    if sys.stdout is None:
        sys.stdout = _unread()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # An encoding error does not lose a result: the character becomes an escape.
        if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="backslashreplace")
    # To look for credentials takes time, so it is left out where there can be none.
    endings, addresses = (*CREDENTIALS, *ADDRESSES, *HEADERS), _find_addresses(words)
    if addresses or any(is_named(name, endings) for name in os.environ):
        from sexplang.guards.secrets import credentials_of, learn, look

        look()
        learn([each for address in addresses for each in credentials_of(address)])
        wrap(is_filter=words[:1] == ["fmt"])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


def wrap(*, is_filter: bool = False) -> None:
    """Redact all further output on both streams, if any credential is known.

    Credentials that are plain words are warned of, unless the command is a filter (`is_filter`),
    whose output is a program's text.
    """
    from sexplang.guards.secrets import KNOWN, doubts

    if KNOWN.secrets and not isinstance(sys.stdout, _Redacting):
        sys.stdout = cast("TextIO", _Redacting(sys.stdout))
        sys.stderr = cast("TextIO", _Redacting(sys.stderr))
    for words in () if is_filter else doubts():
        print(f"warning: {words}", file=sys.stderr)


def person_at(lines: TextIO | None, out: TextIO) -> "Person | None":
    """Return the person who types and reads, if both streams are a terminal's."""
    if lines is None or lines.closed or not (lines.isatty() and out.isatty()):
        return None

    from sexplang.hosts.terminal.show import draw_hidden
    from sexplang.runtime import Person

    def say(words: str) -> None:
        out.write(draw_hidden(words, keep="\n"))
        out.flush()

    return Person(lines.fileno(), say)


_ADDRESSED = ("--model", "--mcp", "--trace")
"""Options whose value may be an address."""


def _find_addresses(words: list[str]) -> list[str]:
    """Return the arguments that hold an address of such an option."""
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if "://" in word and (before in _ADDRESSED or word.startswith(_ADDRESSED))
    ]


def _unread() -> TextIO:
    """Return a pipe without a reader, in the place of a closed standard output."""
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", encoding="utf-8")


class _Redacting:
    """A stream that redacts credentials."""

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
    """Return standard output without redaction, for the text of a program that `fmt` gives back.

    The text is the person's own; with `[redacted]` in it it would be another program.
    """
    stream: Any = sys.stdout
    return stream._stream if isinstance(stream, _Redacting) else sys.stdout
