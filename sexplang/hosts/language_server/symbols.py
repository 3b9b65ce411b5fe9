"""Document symbols: the definitions of a text as an editor lists them."""

from lsprotocol.types import DocumentSymbol, SymbolKind

from sexplang.hosts.language_server.outline import Outline
from sexplang.hosts.language_server.positions import Places
from sexplang.hosts.language_server.scopes.meanings import Meaning

KINDS = {
    "function": SymbolKind.Function,
    "value": SymbolKind.Variable,
    "input": SymbolKind.Property,
    "operation": SymbolKind.Event,
    "task": SymbolKind.Interface,
    "syntax": SymbolKind.Operator,
}


def symbols(found: Outline, places: Places) -> list[DocumentSymbol]:
    """Return the definitions, nested."""
    top: list[DocumentSymbol] = []
    around: list[tuple[int, list[DocumentSymbol]]] = []
    for meaning in found.defined:
        symbol = _symbol(meaning, places)
        if symbol is None or meaning.span is None:
            continue
        while around and around[-1][0] <= meaning.span.start:
            around.pop()
        (around[-1][1] if around else top).append(symbol)
        children: list[DocumentSymbol] = []
        symbol.children = children
        around.append((meaning.span.end, children))
    return top


def _symbol(meaning: Meaning, places: Places) -> DocumentSymbol | None:
    if meaning.span is None or meaning.name_span is None or not meaning.name.strip():
        return None
    return DocumentSymbol(
        name=meaning.name,
        kind=KINDS.get(meaning.kind, SymbolKind.Variable),
        range=places.of(meaning.span),
        selection_range=places.of(meaning.name_span),
        detail=meaning.signature if meaning.params is not None else None,
    )
