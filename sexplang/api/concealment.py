"""Diagnostics without credentials, for callers that log them."""

from types import TracebackType

from sexplang.guards.secrets import KNOWN, look, mask, silence, silent
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.source import Made, Source, Span


class Concealing:
    """A context in which Diagnostics that are raised, and the texts of their spans, hold no
    credential."""

    def __enter__(self) -> None:
        look()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if isinstance(raised, Diagnostics):
            look()
            raise Diagnostics(conceal(raised.diagnostics)) from None


def conceal(found: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics without credentials."""
    if not KNOWN.secrets:
        return list(found)
    sources: dict[Source, Source] = {}
    return [
        Diagnostic(
            each.code,
            silent(each.title),
            tuple([_label(label, sources) for label in each.labels]),
            silence(each.notes),
            silence(each.hint),
            each.severity,
        )
        for each in found
    ]


def _label(label: Label, sources: dict[Source, Source]) -> Label:
    return Label(_place(label.span, sources), silent(label.words))


def _place(span: Span, sources: dict[Source, Source]) -> Span:
    source = _source(span.source, sources)
    if not isinstance(span, Made):
        return evolve(span, source=source)
    template = _place(span.template, sources)
    return evolve(span, source=source, template=template, macro=silent(span.macro))


def _source(source: Source, sources: dict[Source, Source]) -> Source:
    """Return the source with `*` for each character of a credential, so that spans stay valid."""
    if source not in sources:
        sources[source] = Source(silent(source.name), mask(source.text))
    return sources[source]
