"""The check of a document: diagnostics as the protocol has them, and effects of functions."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from lsprotocol.types import (
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Range,
    TextEdit,
)

from sexplang.hosts.language_server.library import Library
from sexplang.hosts.language_server.positions import Places, location_of
from sexplang.terms import diagnostic as terms
from sexplang.terms.classes.node import frozen
from sexplang.terms.source import Source, Span

if TYPE_CHECKING:
    from sexplang.analysis import NameType, Row

_SEVERITIES = {"error": DiagnosticSeverity.Error, "warning": DiagnosticSeverity.Warning}

_TAGS = {
    "unused-binding": DiagnosticTag.Unnecessary,
    "unreachable-code": DiagnosticTag.Unnecessary,
    "deprecated-element": DiagnosticTag.Deprecated,
}
"""Codes whose range an editor may grey or strike out."""


@frozen
class DocumentReport:
    """The diagnostics of a document; the effects of its functions and the types of its names, if it
    can be built."""

    findings: tuple[terms.Diagnostic, ...] = ()
    effects: "tuple[Row, ...]" = ()
    types: "tuple[NameType, ...]" = ()


def check_document(library: Library, name: str) -> DocumentReport:
    """Return what `check` finds in an open document."""
    source = library.source(name)
    found: list[terms.Diagnostic] = []
    effects: tuple[Row, ...] = ()
    types: tuple[NameType, ...] = ()
    try:
        if name.endswith(".test.sexp"):
            from sexplang.hosts.testing.test_programs import check_tests

            found.extend(check_tests(source))
        else:
            from sexplang.pipeline.pipeline import build, inspect

            program = build(source, library.make_finder(name))
            report = inspect(program)
            found += [*program.warnings, *report.findings]
            effects, types = report.effects, report.types
    except terms.Diagnostics as wrong:
        found.extend(wrong.diagnostics)
    return DocumentReport(tuple(found), effects, types)


def to_protocol(
    found: Iterable[terms.Diagnostic], library: Library, name: str, encoding: str
) -> list[Diagnostic]:
    """Return diagnostics as the protocol has them, each at a range of the document itself."""
    show = _Show(library, library.source(name), encoding)
    return [show(each) for each in found]


Correction: TypeAlias = tuple[Range, str, list[TextEdit]]
"""A range, what an editor may offer to do there, and the edits."""


def corrections(
    found: Iterable[terms.Diagnostic], source: Source, encoding: str
) -> list[Correction]:
    """Return the edits of diagnostics, if they are all in the document itself."""
    places = Places(source.text, encoding)
    return [
        (
            places.of(each.span),
            each.hint or each.title,
            [TextEdit(places.of(edit.span), edit.text) for edit in each.edits],
        )
        for each in found
        if each.span is not None
        and each.edits
        and all(edit.span.source.name == source.name for edit in each.edits)
    ]


class _Show:
    def __init__(self, library: Library, source: Source, encoding: str) -> None:
        self.library = library
        self.source = source
        self.encoding = encoding
        self.places = Places(source.text, encoding)
        self.known = {source.name: self.places}
        """The Places of each source, computed once."""
        self.bringing: dict[str, Span] | None = None

    def __call__(self, found: terms.Diagnostic) -> Diagnostic:
        first, *others = found.labels or (None,)
        words = first.words if first is not None else ""
        where = self.places.range(0, 0)
        before = ""
        if first is not None and first.span.source.name == self.source.name:
            where = self.places.of(first.span)
        elif first is not None:
            # The range is in an imported file: the import stands for it.
            where = self._import_of(first.span.source.name)
            begin = first.span.begin
            before = f"in {first.span.source.name}, line {begin.line}: "
            others = [first, *others]
        tag = _TAGS.get(found.code)
        return Diagnostic(
            range=where,
            message=before + _message(found, words),
            severity=_SEVERITIES[found.severity],
            code=found.code,
            source="sexplang",
            tags=None if tag is None else [tag],
            related_information=self._relate(found, others) or None,
        )

    def _relate(
        self, found: terms.Diagnostic, labels: Iterable[terms.Label | None]
    ) -> list[DiagnosticRelatedInformation]:
        related = []
        for label in labels:
            location = None if label is None else self._location(label.span)
            if label is not None and location is not None:
                words = label.words or found.title
                related.append(DiagnosticRelatedInformation(location, words))
        return related

    def _location(self, span: Span) -> Location | None:
        source = span.source
        if source.name not in self.known:
            self.known[source.name] = Places(source.text, self.encoding)
        return location_of(span, self.known[source.name])

    def _import_of(self, name: str) -> Range:
        if self.bringing is None:
            self.bringing = {}
            for each in self.library.text(self.source).imports:
                for brought in self.library.beyond(each.path, self.source.name):
                    self.bringing.setdefault(brought, each.target.span)
        span = self.bringing.get(name)
        return self.places.range(0, 0) if span is None else self.places.of(span)


def _message(found: terms.Diagnostic, words: str) -> str:
    hint = f"hint: {found.hint}" if found.hint else ""
    return "\n".join(part for part in (found.title, words, *found.notes, hint) if part)
