"""What is wrong with a template, before it has a place."""

from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Label, Severity
from sexplang.terms.source import Span


@frozen
class Finding:
    """A diagnostic that has no place yet: `part` is the element it is about (`instructions`, or
    `param:x`), `raw` what to look for there."""

    code: str
    title: str
    hint: str | None = None
    part: str = ""
    raw: str = ""
    severity: Severity = "error"

    def at(self, span: Span | None) -> Diagnostic:
        labels = () if span is None else (Label(span),)
        return Diagnostic(self.code, self.title, labels, hint=self.hint, severity=self.severity)
