"""The compiled XSD of replies, or the reason why it cannot be used.

Law: neither a schema nor a reply under it opens another document, or takes more than a second or
two. Other documents, and patterns and assertions without bounds, are refused. Assertions may
compare values that are counted, summed or measured along plain paths. Forms that may visit a
reply's elements repeatedly (`for`, `some`, ranges, predicates, `//`, patterns) are refused.
"""

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sexplang.schemas.linear_patterns import MOST_WEIGHT
from sexplang.templates.xml.xml_parser import parse
from sexplang.templates.xsd.shapes import Element, Shapes
from sexplang.templates.xsd.xsd_patterns import BadXsd, Linear
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_XS = "{http://www.w3.org/2001/XMLSchema}"

MOST_NODES = 4_000
MOST_DECLARED = 400
"""The most nodes of a schema, and of its elements, types and groups. The library takes quadratic
time in the latter."""

_DECLARED = ("element", "complexType", "simpleType", "group", "attributeGroup")
_OTHER_DOCUMENTS = ("include", "import", "redefine", "override")
_NOT_TAKEN = ("alternative", "openContent", "defaultOpenContent", "notation")


@frozen(eq=False)
class Schema:
    """A schema, the root element of its documents, and its vocabulary."""

    root: Element
    names: frozenset[str]
    """The names of all elements and attributes."""
    has_assertions: bool
    library: Any

    def breaches(self, document: "_Element") -> Iterator[Any]:
        """Return the library's errors, each with a `path` and a `reason`."""
        found: Iterator[Any] = self.library.iter_errors(document, use_location_hints=False)
        return found


@lru_cache(maxsize=64)
def compile_xsd(text: str) -> Schema:
    """Return the schema of a text. Raises BadXsd."""
    document = _document(text)
    _check(document)
    tests = [each.get("test", "") for each in document.iter(f"{_XS}assert", f"{_XS}assertion")]
    check_assertions(tests)
    patterns = _set_aside(document)
    library = _build(document)
    try:
        _put_back(library, patterns)
        return _schema(library, document, bool(tests))
    except (AttributeError, TypeError, KeyError) as error:
        # The library accepted a schema that it should have refused.
        raise BadXsd(_sentence(error)) from None


_REFUSED = {
    "xml-dtd-forbidden": "it has a document type",
    "xml-pi-forbidden": "it holds a processing instruction",
    "xml-too-large": "it is too large",
}


def _document(text: str) -> "_Element":
    try:
        root = parse(Source("schema", text.strip())).root
    except Diagnostics as refused:
        first = refused.diagnostics[0]
        raise BadXsd(_REFUSED.get(first.code, first.title)) from None
    if root.tag != f"{_XS}schema":
        raise BadXsd(f"it begins with <{_local(root)}>, not with <xs:schema>")
    return root


def _local(element: "_Element") -> str:
    return str(element.tag).rpartition("}")[2]


def _check(document: "_Element") -> None:
    nodes = list(document.iter("*"))
    names = [_local(node) for node in nodes]
    declared = sum(name in _DECLARED for name in names)
    if len(nodes) > MOST_NODES or declared > MOST_DECLARED:
        raise BadXsd(f"it declares more than {MOST_DECLARED} elements and types, or is too large")
    for node, name in zip(nodes, names, strict=True):
        if name in _OTHER_DOCUMENTS:
            raise BadXsd(f"it refers to another document: <xs:{name}>")
        if name in _NOT_TAKEN:
            raise BadXsd(f"<xs:{name}> is not taken here")
        if node.get("substitutionGroup") or node.get("abstract") in ("true", "1"):
            raise BadXsd("elements that stand for others are not taken here: write a choice")
        if name == "selector" and "//" in (node.get("xpath") or ""):
            raise BadXsd("a key or unique goes along plain paths, without //")


def _set_aside(document: "_Element") -> list[tuple[str, Linear]]:
    """Return the patterns of a schema, and replace each by one that matches everything and holds a
    number."""
    found: list[tuple[str, Linear]] = []
    for facet in document.iter(f"{_XS}pattern"):
        pattern = facet.get("value", "")
        facet.set("value", rf"(.|\n|\r)*|{len(found)}")
        found.append((pattern, Linear(pattern)))
    if sum([linear.weight for _, linear in found]) > MOST_WEIGHT:
        raise BadXsd("its patterns are too large together")
    return found


_NUMBER = re.compile(r"\|(\d+)\Z")


def _put_back(library: Any, patterns: list[tuple[str, Linear]]) -> None:
    seen: set[int] = set()
    for component in library.iter_components():
        facet = (getattr(component, "facets", None) or {}).get(f"{_XS}pattern")
        for at, element in enumerate(facet or ()):
            number = _NUMBER.search(element.attrib["value"])
            if number is not None and facet is not None:
                pattern, facet.patterns[at] = patterns[int(number[1])]
                element.attrib["value"] = pattern
                seen.add(int(number[1]))
    if len(seen) < len(patterns):
        raise BadXsd("a pattern stands where it says nothing")


def _build(document: "_Element") -> Any:
    import xmlschema
    from lxml import etree
    from xmlschema.exceptions import XMLSchemaWarning

    text = etree.tostring(document, encoding="unicode")
    try:
        with warnings.catch_warnings():
            # The library warns of groups that are too deep to verify, and continues.
            warnings.simplefilter("error", XMLSchemaWarning)
            return xmlschema.XMLSchema11(text, allow="none", defuse="always")
    except XMLSchemaWarning:
        raise BadXsd("its groups, or the types built upon each other, are too deep") from None
    except RecursionError:
        raise BadXsd("its types are built upon each other too deeply") from None
    except Exception as error:
        # The library raises any exception for a schema with missing parts.
        raise BadXsd(_sentence(error)) from None


def _sentence(error: Exception) -> str:
    message = str(getattr(error, "message", None) or error).strip()
    return message.split("\n", 1)[0].rstrip(":")[:200] or "it is no schema"


def _schema(library: Any, document: "_Element", has_assertions: bool) -> Schema:
    referred = {each.get("ref", "").rpartition(":")[2] for each in document.iter(f"{_XS}element")}
    elements = list(library.elements.values())
    roots = [each for each in elements if each.local_name not in referred]
    if len(roots) != 1:
        listed = ", ".join(f"<{each.local_name}>" for each in roots or elements)
        why = f"it has several: {listed}" if listed else "it declares none"
        raise BadXsd(f"a reply begins with the one element that no other refers to; {why}")
    shapes = Shapes()
    root = shapes.element(roots[0])
    names = {root.name}
    for type_ in shapes.known.values():
        names |= type_.children.keys() | type_.attributes.keys()
    return Schema(root, frozenset(names), has_assertions, library)


MOST = 1_000
"""The most characters of all assertions of a schema; `MOST_COMPARED` are the most comparisons."""

MOST_COMPARED = 20

_NAME = r"[^\W\d][\w.-]*"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<name>{_NAME}(?::{_NAME})?)|(?P<value>\$value\b)
    | (?P<number>\d+(?:\.\d+)?)|(?P<string>'[^']*'|"[^"]*")
    | (?P<mark>!=|<=|>=|[@/=<>()+*,.-]))\s*""",
    re.VERBOSE,
)
_FUNCTIONS = frozenset(
    (
        *("not", "count", "sum", "min", "max", "avg", "exists", "empty", "string", "number", "if"),
        *("string-length", "normalize-space", "contains", "starts-with", "ends-with"),
        *("true", "false", "boolean", "abs", "round", "floor", "ceiling"),
    )
)
_COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge"])
_OPERATORS = frozenset(["and", "or", "div", "mod", "idiv", "then", "else"]) | _COMPARISONS


def check_assertions(tests: list[str]) -> None:
    """Raise BadXsd if one of the tests, or all together, may take too long."""
    if sum(map(len, tests)) > MOST:
        raise BadXsd(f"its assertions have more than {MOST} characters")
    if sum(_comparisons(test) for test in tests) > MOST_COMPARED:
        raise BadXsd(f"its assertions make more than {MOST_COMPARED} comparisons")


def _comparisons(test: str) -> int:
    tokens = _tokens(test)
    compared = 0
    complete = False  # whether an operand precedes
    for at, (kind, text) in enumerate(tokens):
        following = tokens[at + 1][1] if at + 1 < len(tokens) else ""
        if kind == "name":
            known = _OPERATORS if complete else _FUNCTIONS if following == "(" else None
            if known is not None and text not in known:
                raise _refuse(test, text)
            compared += complete and text in _COMPARISONS
            complete = not complete and following != "("
        elif kind == "mark":
            if text == following and text in "./":
                raise _refuse(test, text * 2)
            compared += text in _COMPARISONS
            complete = text in (")", ".") or (text == "*" and not complete)
        else:
            complete = True
    return compared


def _tokens(test: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(test):
        match = _TOKEN.match(test, at)
        if match is None:
            raise _refuse(test, test[at])
        kind = match.lastgroup or ""
        found.append((kind, match[kind]))
        at = match.end()
    return found


def _refuse(test: str, what: str) -> BadXsd:
    return BadXsd(f"the assertion `{test[:60]}` uses `{what}`, which is not taken here")
