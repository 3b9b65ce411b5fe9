"""Diagnostics of macros and their uses."""

from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Span


def flaw(code: str, span: Span, title: str, words: str = "", hint: str | None = None) -> Diagnostic:
    """Return a diagnostic with one span."""
    return Diagnostic(code, title, (Label(span, words),), hint=hint)
