"""Texts at paths that a person typed. A text that cannot be read is a diagnostic."""

import os
import sys
from collections.abc import Iterable

from sexplang.hosts.cli.guard import FAILED, MISUSE
from sexplang.package import package_data
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source


def source_at(path: str) -> Source:
    """Return the source at a path; `-` is standard input."""
    return Source("<stdin>" if path == "-" else path, text_at(path))


def text_at(path: str) -> str:
    """Return the text at a path, or of standard input for `-`. Raises Diagnostics."""
    if path != "-":
        return package_data.text_at(path)
    if sys.stdin is None:
        raise Diagnostics(
            [
                Diagnostic(
                    "file-not-found",
                    "there is no standard input to read",
                    hint="give the path of a file, or pipe the text in",
                )
            ]
        )
    try:
        raw = sys.stdin.buffer.read(package_data.LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Diagnostics(
            [Diagnostic("file-failed", f"cannot read standard input: {why}")]
        ) from None
    return package_data.decode(raw, path)


def status_of(found: Iterable[Diagnostic]) -> int:
    """Return MISUSE if the command line names a file that is not there, else FAILED."""
    return MISUSE if any(each.code == "file-not-found" for each in found) else FAILED


def folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))
