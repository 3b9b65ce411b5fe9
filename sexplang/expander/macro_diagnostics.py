"""What is wrong with a macro or a use of it, as diagnostics."""

from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Span


def flaw(code: str, span: Span, title: str, words: str = "", hint: str | None = None) -> Diagnostic:
    """A finding at one place."""
    return Diagnostic(code, title, (Label(span, words),), hint=hint)
