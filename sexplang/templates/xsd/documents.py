"""A document, held to the whole schema, to the value that it stands for."""

import re
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from sexplang.templates.json_schema.account import TooMuch
from sexplang.templates.xml.xml_parser import MAX_NODES
from sexplang.templates.xsd.shapes import Element
from sexplang.templates.xsd.values import Unvalued, Values, local
from sexplang.templates.xsd.xsd_patterns import spend
from sexplang.templates.xsd.xsd_schema import Schema
from sexplang.terms.classes.node import define, frozen
from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_ASSERTED = 500
"""Elements of a reply whose schema has assertions: these may compare each with each."""

_MOST_VIOLATIONS = 5


@frozen(eq=False)
class Found:
    """A value and the repairs that it took."""

    value: Value
    repairs: tuple[str, ...]


@define(eq=False)
class Failed(Exception):
    """Says what is wrong with a reply; `violations` where it is XML that does not fit."""

    reason: str
    violations: tuple[str, ...] = ()


def read_document(schema: Schema, document: "_Element", repairs: list[str]) -> Found:
    """The value of a document. Raises Failed."""
    if document.tag != schema.root.tag:
        raise Failed(f"it begins with <{local(document)}>, not with <{schema.root.name}>")
    most = MOST_ASSERTED if schema.has_assertions else MAX_NODES
    if sum(1 for _ in islice(document.iter(), most + 1)) > most:
        raise Failed(f"it has more than {most:,} elements")
    _spend(document, schema.root)
    try:
        found = list(islice(schema.breaches(document), _MOST_VIOLATIONS))
    except TooMuch:
        raise
    except Exception as error:
        # Whatever the library trips over, it has not said that the document fits.
        raise Failed(f"it cannot be held to its schema ({type(error).__name__})") from None
    violations = tuple([f"{_place(error)}: {_reason(error)}" for error in found])
    if violations:
        raise Failed("; ".join(violations), violations)
    try:
        value = Values(repairs.append).of(document, schema.root)
    except Unvalued as why:
        raise Failed(str(why), (str(why),)) from None
    return Found(value, tuple(dict.fromkeys(repairs)))


def _spend(document: "_Element", root: Element) -> None:
    """Charges for all values of a document, those of long lists too. Raises TooMuch."""
    work = [(document, root)]
    while work:
        element, declared = work.pop()
        type_ = declared.type
        for attribute in type_.attributes.values():
            spend(attribute.simple.steps(element.get(attribute.tag) or attribute.default or ""))
        if type_.simple is not None:
            spend(type_.simple.steps(element.text or declared.default or ""))
        found = [(each, type_.children.get(local(each))) for each in element]
        work += [(each, child.element) for each, child in found if child is not None]


_MOST_DIGITS = 308
_PYTHON = "invalid literal for int() with base 10:"


def _reason(error: Any) -> str:
    """The library's reason, without what it says of Python."""
    reason = str(error.reason)
    # The library holds a decimal to the range of floats.
    is_vast = isinstance(error.obj, Decimal) and error.obj.adjusted() >= _MOST_DIGITS
    if is_vast or "integer string conversion" in reason:
        return "a number has too many digits"
    return reason.replace(_PYTHON, "not a whole number:")[:200]


def _place(error: Any) -> str:
    """The path of an error, without prefixes."""
    return re.sub(r"[^/]*:", "", str(error.path or "")).lstrip("/") or "the whole"
