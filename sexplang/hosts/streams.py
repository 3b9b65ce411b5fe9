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
            sys.stdout, sys.stderr = _silenced(sys.stdout), _silenced(sys.stderr)
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


class _Redacting(TextIOWrapper):
    def write(self, text: str) -> int:
        from sexplang.runtime.redact import redacted

        return super().write(redacted(text))


def _silenced(stream: TextIO) -> TextIO:
    stream.flush()
    return _Redacting(
        stream.buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream is sys.stderr,
    )
