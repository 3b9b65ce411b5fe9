"""What is wrong with a program → the same without credentials, for whoever logs it in Python."""

from types import TracebackType

from sexplang.guards.secrets import KNOWN, look, mask, silence, silent
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.source import Made, Source, Span


class Concealing:
    """Within this, Diagnostics hold no credential; nor do the texts in which they have places."""

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
    """Diagnostics, without credentials."""
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
    """The same with a `*` for each character of a credential: places in it stay what they are."""
    if source not in sources:
        sources[source] = Source(silent(source.name), mask(source.text))
    return sources[source]
