"""The parser of XML: a tree of elements with positions, or Diagnostics.

Law: no document makes the parser read another file, use the network, or exceed its bounds of size,
nodes, attributes and depth. Document types and processing instructions are refused.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.source import Source, Span

if TYPE_CHECKING:
    from lxml.etree import XMLPullParser, XMLSyntaxError, _Element


@frozen
class Place:
    """Offsets of an element: of `<`, after the start tag, after the end tag, and of each
    attribute."""

    start: int
    opened: int
    end: int
    attributes: dict[str, tuple[int, int]]


# Stricter than lxml needs: libxml2 places an error by a walk over siblings, and reads a start tag
# whole, so more of either would take seconds.
MAX_BYTES = 1024 * 1024
MAX_NODES = 10_000
MAX_ATTRIBUTES = 256
MAX_DEPTH = 128

_PORTION = 16 * 1024

# Each option closes a hole that was tried (anchors: external entities, expansion, hints).
_SAFE: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "attribute_defaults": False,
    "huge_tree": False,
    "recover": False,
    "collect_ids": False,
    "decompress": False,
    "remove_comments": True,
    # The text is decoded already: its encoding declaration is obsolete.
    "encoding": "utf-8",
}

_PROLOG = re.compile(r"\ufeff?(?:\s++|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)

# libxml2 repeats the position in its message, in bytes.
_PLACE = re.compile(r", line \d+, column \d+.*", re.DOTALL)

_MARKUP = "in a prompt, write & as &amp; and < as &lt;, or put the text inside <![CDATA[ … ]]>"

# An apparent entity, or an entity that XML does not know.
_ENTITY = re.compile(
    r"<!\[CDATA\[.*?]]>|<!--.*?-->|&(?!(?:amp|lt|gt|quot|apos);)(?P<name>[^\W\d][\w.:-]*);",
    re.DOTALL,
)

# libxml2's name of an error: our words (its own if None), and the hint.
_MALFORMED: dict[str, tuple[str | None, str | None]] = {
    "ERR_NAME_REQUIRED": ("a & or < stands here that begins nothing", _MARKUP),
    "ERR_ENTITYREF_SEMICOL_MISSING": ("a & stands here that begins nothing", _MARKUP),
    "ERR_INVALID_CHARREF": ("this is not the number of a character", _MARKUP),
    "ERR_UNDECLARED_ENTITY": (
        "this entity is not known",
        "XML knows &amp; &lt; &gt; &quot; &apos; alone; write any other character as it is",
    ),
    "ERR_LT_IN_ATTRIBUTE": ("an attribute cannot hold <", "write &lt;"),
    "ERR_ATTRIBUTE_NOT_STARTED": (
        "the value of an attribute stands in quotes",
        'write name="value"',
    ),
    "ERR_ATTRIBUTE_REDEFINED": ("this attribute occurs twice", "keep one of the two"),
    "ERR_SPACE_REQUIRED": ("a space is missing between attributes", None),
    "ERR_DOCUMENT_EMPTY": ("there is no element here", 'begin with <task name="…">'),
    "ERR_DOCUMENT_END": (
        "the text goes on after its outermost element",
        "put several templates inside one <templates> element",
    ),
    "ERR_TAG_NOT_FINISHED": ("the text ends before its elements are closed", None),
    "ERR_INVALID_CHAR": ("this character may not stand in XML", "remove it"),
    "ERR_TAG_NAME_MISMATCH": (None, "close the innermost open element first"),
}


@frozen(eq=False)
class Document:
    """A tree and the positions of its elements in the text."""

    source: Source
    root: "_Element"
    where: "dict[_Element, Place]"

    def span(self, element: "_Element", attribute: str | None = None) -> Span:
        """Return the start tag of `element`, or the whole of one attribute in it."""
        place = self.where[element]
        start, end = place.attributes.get(attribute or "", (place.start, place.opened))
        return Span(self.source, start, end)

    def span_of(self, element: "_Element", words: str) -> Span:
        """Return the span of `words` inside `element`, else its start tag."""
        place = self.where[element]
        at = self.source.text.find(words, place.opened, place.end) if words else -1
        return self.span(element) if at < 0 else Span(self.source, at, at + len(words))

    def label(self, element: "_Element", attribute: str | None = None, words: str = "") -> Label:
        return Label(self.span(element, attribute), words)


def parse(source: Source) -> Document:
    """Return the document. Raises Diagnostics."""
    data = _bytes(source)
    prolog = _PROLOG.match(source.text)
    at = prolog.end() if prolog else 0
    if source.text.startswith("<!DOCTYPE", at):
        raise _dtd(source, at, at + len("<!DOCTYPE"))
    root = _tree(source, data)
    elements = list(root.iter("*"))
    return Document(source, root, dict(zip(elements, places(source.text), strict=True)))


def _bytes(source: Source) -> bytes:
    try:
        data = source.text.encode()
    except UnicodeEncodeError as broken:
        raise _one(
            "xml-malformed",
            "half of a character stands here",
            Span(source, broken.start, broken.end),
            "a lone surrogate is no character: remove it",
        ) from None
    if len(data) > MAX_BYTES:
        raise _too_large(source, f"{len(data):,} bytes", f"{MAX_BYTES:,} bytes")
    return data


def _tree(source: Source, data: bytes) -> "_Element":
    from lxml.etree import XMLPullParser, XMLSyntaxError

    parser = XMLPullParser(events=("start", "end", "pi"), **_SAFE)
    try:
        for _ in _feed(source, parser, data):
            pass
        root: _Element = parser.close()
    except XMLSyntaxError as error:
        raise _report_malformed(source, error) from None
    if root.getroottree().docinfo.doctype:
        raise _dtd(source, 0, 0)
    return root


def _feed(source: Source, parser: "XMLPullParser", data: bytes) -> Iterator[None]:
    """Feed `data` in portions. Stops as soon as a bound is passed."""
    nodes = depth = 0
    for start in range(0, max(len(data), 1), _PORTION):
        parser.feed(data[start : start + _PORTION])
        for event, node in parser.read_events():
            if event == "end":
                depth -= 1
                continue
            if event == "pi":
                raise _instruction(source, node)
            nodes, depth = nodes + 1, depth + 1
            if nodes > MAX_NODES:
                raise _too_large(source, "too many elements", f"{MAX_NODES:,} elements")
            if depth > MAX_DEPTH:
                raise _too_large(source, "elements nested too deeply", f"{MAX_DEPTH} levels")
            if len(node.attrib) > MAX_ATTRIBUTES:
                raise _too_large(source, "too many attributes", f"{MAX_ATTRIBUTES} an element")
        yield


def _report_malformed(source: Source, error: "XMLSyntaxError") -> Diagnostics:
    from lxml.etree import ErrorTypes

    # The log of the exception also holds other documents' errors. Its code is its own.
    own, hint = next(
        (said for name, said in _MALFORMED.items() if getattr(ErrorTypes, name) == error.code),
        (None, None),
    )
    message = _PLACE.sub("", error.msg or "") or "it cannot be read"
    entity = _entity(source) if error.position == (0, 0) else None
    if entity is not None:
        return entity
    if "depth" in message.lower():
        return _too_large(source, "elements nested too deeply", f"{MAX_DEPTH} levels")
    title = f"this is not XML: {own or message.strip()}"
    return _one("xml-malformed", title, _character(source, *error.position), hint)


def _entity(source: Source) -> Diagnostics | None:
    """Report the first entity that XML does not know. libxml2 gives up there without a position."""
    found = next((each for each in _ENTITY.finditer(source.text) if each["name"]), None)
    if found is None:
        return None
    from html.entities import name2codepoint

    number = name2codepoint.get(found["name"])
    title = f"this is not XML: the entity {found[0][:40]} is not known"
    hint = "write the character itself"
    hint += f", or &#{number};" if number else "; XML knows &amp; &lt; &gt; &quot; &apos; alone"
    return _one("xml-malformed", title, Span(source, found.start(), found.end()), hint)


def _character(source: Source, line: int, column: int) -> Span:
    """Return the character at libxml2's line and column, which counts bytes."""
    lines = source.text.count("\n") + 1
    if not 1 <= line <= lines:
        return Span(source, len(source.text), len(source.text))
    text = source.line(line)
    before = text.encode()[: max(column - 1, 0)].decode(errors="ignore")
    start = sum(len(part) + 1 for part in source.text.split("\n", line - 1)[: line - 1])
    at = min(start + len(before), len(source.text))
    return Span(source, at, min(at + 1, len(source.text)))


def _instruction(source: Source, node: Any) -> Diagnostics:
    at = max(source.text.find(f"<?{node.target}"), 0)
    return _one(
        "xml-pi-forbidden",
        f"a template holds no processing instruction, and this is one: <?{node.target} … ?>",
        Span(source, at, at + len(node.target) + 2),
        "remove it",
    )


def _dtd(source: Source, start: int, end: int) -> Diagnostics:
    return _one(
        "xml-dtd-forbidden",
        "a template has no document type and declares no entities",
        Span(source, start, end),
        "remove <!DOCTYPE …>; write the text where the entity stands",
    )


def _too_large(source: Source, what: str, most: str) -> Diagnostics:
    title = f"this is more XML than a template file may hold: {what}"
    return _one("xml-too-large", title, Span(source, 0, 0), f"the most is {most}")


def _one(code: str, title: str, span: Span, hint: str | None) -> Diagnostics:
    return Diagnostics((Diagnostic(code, title, (Label(span),), hint=hint),))


_ELEMENT_TAG = re.compile(
    r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>
      | (?P<close></[^>]*>)
      | <(?P<name>[^\s/>!?]++)(?P<body>(?:[^>"']|"[^"]*"|'[^']*')*+)>""",
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')""")


def places(text: str) -> list[Place]:
    """Return the position of each element of a well-formed text, in document order.

    lxml knows only the line of an element. Its nth element is the nth start tag of the text without
    comments and CDATA.
    """
    found: list[Place] = []
    open_: list[int] = []
    for match in _ELEMENT_TAG.finditer(text):
        if match["close"]:
            at = open_.pop()
            start = found[at]
            found[at] = Place(start.start, start.opened, match.end(), start.attributes)
        elif match["name"]:
            found.append(Place(match.start(), match.end(), match.end(), _attributes(match)))
            if not match["body"].endswith("/"):
                open_.append(len(found) - 1)
    return found


def _attributes(tag: re.Match[str]) -> dict[str, tuple[int, int]]:
    return {match[1]: match.span() for match in _ATTRIBUTE.finditer(tag.string, *tag.span("body"))}
