"""What is wrong, where, and what to type instead: a record, never a rendering."""

from collections.abc import Iterable
from typing import Any, Literal

from sexplang.terms.classes.node import frozen
from sexplang.terms.source import Span

Severity = Literal["error", "warning"]


@frozen
class Label:
    """A place and what to say about it."""

    span: Span
    words: str = ""


@frozen
class Diagnostic:
    """One finding. `code` is a kebab-case word with a page in `spec/errors/`.

    The first label is the place; the others explain it.
    """

    code: str
    title: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    hint: str | None = None
    severity: Severity = "error"

    @property
    def span(self) -> Span | None:
        return self.labels[0].span if self.labels else None

    def plain(self) -> dict[str, Any]:
        """The diagnostic as data, for `--json`."""
        return {
            "code": self.code,
            "severity": self.severity,
            "title": self.title,
            "labels": [{"span": label.span.plain(), "words": label.words} for label in self.labels],
            "notes": list(self.notes),
            "hint": self.hint,
        }

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.severity}[{self.code}]: {self.title}{hint}"


class Diagnostics(Exception):
    """A text that is not a program: one or more diagnostics, all that were found."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        # A macro that uses an argument twice has what is wrong with it twice.
        self.diagnostics: tuple[Diagnostic, ...] = tuple(dict.fromkeys(diagnostics))
        super().__init__("\n".join(map(str, self.diagnostics)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Made again from the diagnostics: an exception's own way is from its message."""
        return type(self), (self.diagnostics,), self.__dict__
