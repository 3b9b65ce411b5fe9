"""Paths that a person typed to texts; what cannot be read is a diagnostic."""

import os
import sys

from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source

LARGEST = 10_000_000
"""Bytes: the reader's limit is as many characters."""


def source_at(path: str) -> Source:
    """The source at a path; `-` is standard input."""
    return Source("<stdin>" if path == "-" else path, text_at(path))


def text_at(path: str) -> str:
    """The text at a path, or of standard input for `-`. Raises Diagnostics."""
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(path, "rb") as file:
                raw = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if len(raw) > LARGEST:
        raise _refused(
            "limit-size",
            f"`{path}` is larger than {LARGEST:,} bytes",
            "split it, or let the program read it piece by piece",
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refused(
            "not-text",
            f"`{path}` is not UTF-8 text: line {line} holds the byte 0x{raw[error.start]:02x}",
            "save it as UTF-8",
        ) from None


def _unreadable(path: str, error: Exception) -> Diagnostics:
    if isinstance(error, FileNotFoundError):
        return _refused("file-not-found", f"there is no `{path}`", "check the path's spelling")
    why = getattr(error, "strerror", None) or str(error)
    hint = "give the path of a file that may be read"
    return _refused("file-failed", f"cannot read `{path}`: {why}", hint)


def folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


def _refused(code: str, title: str, hint: str) -> Diagnostics:
    return Diagnostics([Diagnostic(code, title, hint=hint)])
