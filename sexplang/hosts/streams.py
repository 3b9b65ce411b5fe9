"""The process's three streams to ones that the command can use: whatever is closed has a stand-in,
and no key of the environment passes through.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TextIO


@contextmanager
def usable() -> Iterator[None]:
    """Within this, standard output and error can be written to."""
    kept = sys.stdout, sys.stderr
    if sys.stdout is None:
        sys.stdout = _unread()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    # To know the keys costs a part of the start, which most starts need not pay.
    if any(name.startswith("ANTHROPIC_") for name in os.environ):
        from sexplang.runtime.redact import secrets

        if secrets():
            sys.stdout, sys.stderr = _Redacting(sys.stdout), _Redacting(sys.stderr)
    try:
        yield
    finally:
        for ours in (sys.stdout, sys.stderr):
            # A wrapper that goes would close what it wraps, which is not its own.
            if isinstance(ours, _Redacting):
                ours.detach()
        sys.stdout, sys.stderr = kept


def _unread() -> TextIO:
    """A pipe whose reader has gone: who closed the output does not want it."""
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", encoding="utf-8")


_TELLING = 20
"""So much of the beginning of a key is worth hiding too: messages shorten what is long."""


class _Redacting(TextIOWrapper):
    def __init__(self, stream: TextIO) -> None:
        # A stream that nobody holds would close its buffer.
        self._stream = stream
        super().__init__(
            stream.buffer,
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=bool(stream.line_buffering) or stream is sys.stderr,
        )

    def write(self, text: str) -> int:
        super().write(silent(text))
        return len(text)


def silent(text: str) -> str:
    """The text without keys of the environment, and without their beginnings."""
    from sexplang.runtime.redact import redacted, secrets

    text = redacted(text)
    for secret in secrets():
        text = _without_begun(text, secret)
    return text


def _without_begun(text: str, secret: str) -> str:
    """The text without beginnings of the secret."""
    from sexplang.runtime.redact import MARK

    at = text.find(secret[:_TELLING]) if len(secret) > _TELLING else -1
    while at >= 0:
        length = _TELLING
        while text.startswith(secret[: length + 1], at) and length < len(secret):
            length += 1
        text = text[:at] + MARK + text[at + length :]
        at = text.find(secret[:_TELLING], at + len(MARK))
    return text
