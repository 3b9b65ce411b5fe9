"""The state of one editor: its open documents, the answers about them, their checks.

A request is answered at once from an outline of the text. Checks run in a thread, one at a time, a
moment after the last change. Their results are pushed if the text is still the same.
"""

import asyncio
import re
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import FeatureNotificationError
from pygls.lsp.server import LanguageServer

from sexplang.hosts.language_server import completion, findings, hover, signature_help
from sexplang.hosts.language_server.library import Library
from sexplang.hosts.language_server.outline import Outline
from sexplang.hosts.language_server.positions import Places, address_of, location_of, name_of
from sexplang.hosts.language_server.protocol import UNTOLD
from sexplang.hosts.reference.meanings import Meaning
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source, Span

PAUSE = 0.2
"""Seconds without a change before documents are checked."""

_HALVES = re.compile("[\ud800-\udfff]")

_KINDS: dict[str, lsp.CompletionItemKind] = {
    "function": lsp.CompletionItemKind.Function,
    "value": lsp.CompletionItemKind.Variable,
    "parameter": lsp.CompletionItemKind.Variable,
    "input": lsp.CompletionItemKind.Property,
    "operation": lsp.CompletionItemKind.Event,
    "task": lsp.CompletionItemKind.Interface,
    "type": lsp.CompletionItemKind.Struct,
    "syntax": lsp.CompletionItemKind.Operator,
    "module": lsp.CompletionItemKind.Module,
    "special form": lsp.CompletionItemKind.Keyword,
    "primitive": lsp.CompletionItemKind.Function,
    "label": lsp.CompletionItemKind.Field,
    "word": lsp.CompletionItemKind.EnumMember,
    "file": lsp.CompletionItemKind.File,
    "folder": lsp.CompletionItemKind.Folder,
}
"""The icons of offers; those of symbols have the same names."""


class Editor:
    """One editor: its open documents and the work under way for them."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.library = Library()
        self.addresses: dict[str, str] = {}
        self.versions: dict[str, tuple[int, int]] = {}
        """By document: the ordinal of its text among all that came in, and the editor's version."""
        self.taken = 0
        self.reports: dict[str, findings.DocumentReport] = {}
        self.corrections: dict[str, list[findings.Correction]] = {}
        """By document: the edits that its last check offers."""
        self.timer: asyncio.TimerHandle | None = None
        self.checking: asyncio.Task[None] | None = None
        self.is_stale = False
        self.has_ended = False

    @property
    def encoding(self) -> str:
        """Return the agreed unit of columns."""
        agreed = self.server.workspace.position_encoding
        return str(getattr(agreed, "value", agreed))

    # -- documents

    def take(self, address: str, version: int, text: str, *, pause: float) -> None:
        """Note that a document was opened or changed."""
        name = name_of(address)
        # A lone surrogate is no text; its replacement is as long in UTF-16.
        self.library.open[name] = _HALVES.sub("\ufffd", text)
        self.addresses[name] = address
        # The document that changed last is checked first.
        self.taken += 1
        self.versions = {name: (self.taken, version)} | {
            other: known for other, known in self.versions.items() if other != name
        }
        self.check_soon(pause)

    def drop(self, address: str) -> None:
        """Note that a document was closed: from now on its file counts."""
        name = name_of(address)
        for known in (self.library.open, self.addresses, self.versions, self.reports):
            known.pop(name, None)
        self.corrections.pop(name, None)
        self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(address, []))
        self.check_soon(0)

    def read(self, document: Any) -> tuple[Outline, Places]:
        """Return the outline of an open document."""
        found = self.library.outline(name_of(document.uri))
        return found, Places(found.source.text, self.encoding)

    # -- checks

    def check_soon(self, pause: float) -> None:
        """Check all open documents after a pause: a change in one may concern another."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(pause, self._check)

    def _check(self) -> None:
        self.timer = None
        if self.checking is not None and not self.checking.done():
            self.is_stale = True
            return
        self.checking = asyncio.get_running_loop().create_task(self._check_all())

    async def _check_all(self) -> None:
        self.is_stale = True
        while self.is_stale:
            self.is_stale = False
            library = self.library.copy()
            for name, known in list(self.versions.items()):
                if self.has_ended:
                    return
                try:
                    shown, report, corrections = await asyncio.to_thread(
                        _check, library, name, self.encoding
                    )
                # An internal fault must not end the checks of this editor for good.
                except Exception as fault:
                    if not self.has_ended:
                        self.server.report_server_error(fault, FeatureNotificationError)
                    continue
                if self.versions.get(name) == known and not self.has_ended:
                    self.reports[name] = report
                    self.corrections[name] = corrections
                    self.server.text_document_publish_diagnostics(
                        lsp.PublishDiagnosticsParams(
                            self.addresses[name], shown, None if known[1] == UNTOLD else known[1]
                        )
                    )

    # -- requests

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        found, places = self.read(params.text_document)
        report = self.reports.get(found.source.name, findings.DocumentReport())
        offset = places.offset(params.position)
        explained = hover.hover(found, offset, report.effects, report.types)
        if explained is None:
            return None
        start, end, words = explained
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, words)
        return lsp.Hover(content, places.range(start, end))

    def definition(self, params: lsp.DefinitionParams) -> list[lsp.Location]:
        found, places = self.read(params.text_document)
        offset = places.offset(params.position)
        for each in found.text.imports:
            if each.target.span.start <= offset <= each.target.span.end:
                return self._files(each.path, found.source.name)
        mention = found.scopes.mention_at(offset)
        span = mention.meaning.name_span if mention is not None else None
        if span is None:
            return []
        location = location_of(span, Places(span.source.text, self.encoding))
        return [] if location is None else [location]

    def _files(self, path: str, document: str) -> list[lsp.Location]:
        sources = self.library.sources(path, document, document)
        top = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        found = [address_of(source.name) for source in sources]
        return [lsp.Location(address, top) for address in found if address is not None]

    def completion(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        found, places = self.read(params.text_document)
        offset = places.offset(params.position)
        offers = completion.offers(self.library, found, offset)
        return lsp.CompletionList(
            is_incomplete=False, items=[_item(each, places, offset) for each in offers]
        )

    def signature_help(self, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        found, places = self.read(params.text_document)
        calls = signature_help.find_calls(found, places.offset(params.position))
        if not calls:
            return None
        return lsp.SignatureHelp([_signature(each, self.encoding) for each in calls], 0)

    def formatting(self, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        from sexplang.reader import format_text

        source = self.library.source(name_of(params.text_document.uri))
        try:
            text = format_text(Source(source.name, source.text))
        except Diagnostics:
            return []
        if text == source.text:
            return []
        places = Places(source.text, self.encoding)
        return [lsp.TextEdit(places.range(0, len(source.text)), text)]

    def code_actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """Return the edits that the last check offers at a range."""
        asked, address = params.range, params.text_document.uri
        return [
            lsp.CodeAction(
                title,
                lsp.CodeActionKind.QuickFix,
                edit=lsp.WorkspaceEdit({address: edits}),
                is_preferred=True,
            )
            for at, title, edits in self.corrections.get(name_of(address), [])
            if at.start <= asked.end and asked.start <= at.end
        ]

    def symbols(self, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        found, places = self.read(params.text_document)
        return symbols(found, places)


def _check(
    library: Library, name: str, encoding: str
) -> "tuple[list[lsp.Diagnostic], findings.DocumentReport, list[findings.Correction]]":
    """Return the diagnostics of a document, what is known of its names, and the edits that correct
    it."""
    checked = findings.check_document(library, name)
    return (
        findings.to_protocol(checked.findings, library, name, encoding),
        checked,
        findings.corrections(checked.findings, library.source(name), encoding),
    )


def symbols(found: Outline, places: Places) -> list[lsp.DocumentSymbol]:
    """Return the definitions of a text as an editor lists them, nested. The names of one pattern
    stand beside each other."""
    top: list[lsp.DocumentSymbol] = []
    around: list[tuple[Span, list[lsp.DocumentSymbol]]] = []
    for meaning in found.scopes.defined:
        symbol = _symbol(meaning, places)
        if symbol is None or meaning.span is None:
            continue
        start = meaning.span.start
        while around and (around[-1][0].end <= start or around[-1][0].start == start):
            around.pop()
        (around[-1][1] if around else top).append(symbol)
        children: list[lsp.DocumentSymbol] = []
        symbol.children = children
        around.append((meaning.span, children))
    return top


def _symbol(meaning: Meaning, places: Places) -> lsp.DocumentSymbol | None:
    if meaning.span is None or meaning.name_span is None or not meaning.name.strip():
        return None
    return lsp.DocumentSymbol(
        name=meaning.name,
        kind=lsp.SymbolKind[_KINDS[meaning.kind].name],
        range=places.of(meaning.span),
        selection_range=places.of(meaning.name_span),
        detail=meaning.signature if meaning.params is not None else None,
    )


def _signature(call: signature_help.Call, encoding: str) -> lsp.SignatureInformation:
    places = Places(call.signature, encoding)
    spans = [places.range(start, end) for start, end in call.places]
    return lsp.SignatureInformation(
        label=call.signature,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, call.doc) if call.doc else None,
        parameters=[
            lsp.ParameterInformation((span.start.character, span.end.character)) for span in spans
        ],
        # An index beyond the last parameter marks none.
        active_parameter=len(spans) if call.active is None else call.active,
    )


def _item(offer: completion.Offer, places: Places, offset: int) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=offer.text,
        kind=_KINDS[offer.kind],
        detail=offer.detail or None,
        documentation=(
            lsp.MarkupContent(lsp.MarkupKind.Markdown, offer.doc) if offer.doc else None
        ),
        sort_text=f"{offer.rank}{offer.text}",
        filter_text=offer.text,
        text_edit=lsp.TextEdit(places.range(offer.start, offset), offer.text),
    )
