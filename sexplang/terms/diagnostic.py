"""Diagnostics: data, without any rendering."""

from collections.abc import Iterable
from typing import Any, Literal

from sexplang.terms.classes.node import frozen
from sexplang.terms.source import Span

Severity = Literal["error", "warning"]

IN_PYTHON = ", or in Python "
"""Stands in a hint between what to type and what to write in Python; a command leaves that out."""


@frozen
class Label:
    """A span and a remark on it."""

    span: Span
    words: str = ""


@frozen
class Edit:
    """A replacement of the text of a span."""

    span: Span
    text: str

    def plain(self) -> dict[str, Any]:
        return {"span": self.span.plain(), "text": self.text}


@frozen
class Diagnostic:
    """A flaw of a text. `code` is a kebab-case word with a page in `spec/errors/`.

    The first label is the place of the flaw; the others explain it. The `edits` together correct
    it, where its correction is certain.
    """

    code: str
    title: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    hint: str | None = None
    severity: Severity = "error"
    edits: tuple[Edit, ...] = ()

    @property
    def span(self) -> Span | None:
        return self.labels[0].span if self.labels else None

    def plain(self) -> dict[str, Any]:
        """Return the diagnostic as data, for `--json`."""
        return {
            "code": self.code,
            "severity": self.severity,
            "title": self.title,
            "labels": [{"span": label.span.plain(), "words": label.words} for label in self.labels],
            "notes": list(self.notes),
            "hint": self.hint,
            "edits": [edit.plain() for edit in self.edits],
        }

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.severity}[{self.code}]: {self.title}{hint}"


class Diagnostics(Exception):
    """The refusal of a text: all its diagnostics, at least one."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        # A macro that uses an argument twice repeats its diagnostics.
        self.diagnostics: tuple[Diagnostic, ...] = tuple(dict.fromkeys(diagnostics))
        super().__init__("\n".join(map(str, self.diagnostics)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the diagnostics: the default of exceptions pickles by the message."""
        return type(self), (self.diagnostics,), self.__dict__


def diagnose(
    code: str,
    title: str,
    span: Span | None,
    hint: str | None = None,
    notes: tuple[str, ...] = (),
) -> Diagnostics:
    """Return Diagnostics with one finding."""
    labels = (Label(span),) if span is not None else ()
    return Diagnostics([Diagnostic(code, title, labels, notes, hint)])
