"""The plain value of a document that fits its schema.

An element is a table of its attributes and elements by name, or the value of its text if it has
neither. An element that may occur more than once is a list.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from sexplang.schemas.checker import TooMuch
from sexplang.templates.xml.xml_parser import MAX_NODES
from sexplang.templates.xsd.shapes import CONTENT, TEXT, Element
from sexplang.templates.xsd.simple import NoValue, Simple
from sexplang.templates.xsd.xsd_patterns import spend
from sexplang.templates.xsd.xsd_schema import Schema
from sexplang.terms.classes.node import define, frozen
from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_ASSERTED = 500
"""The most elements of a reply whose schema has assertions, which may compare each with each."""

_MOST_VIOLATIONS = 5


@frozen(eq=False)
class RepairedValue:
    """A value and the repairs that it took."""

    value: Value
    repairs: tuple[str, ...]


@define(eq=False)
class ReplyFailure(Exception):
    """The failure of a reply. It has `violations` if the reply is XML that does not fit."""

    reason: str
    violations: tuple[str, ...] = ()


def read_document(schema: Schema, document: "_Element", repairs: list[str]) -> RepairedValue:
    """Return the value of a document. Raises ReplyFailure."""
    if document.tag != schema.root.tag:
        raise ReplyFailure(f"it begins with <{local(document)}>, not with <{schema.root.name}>")
    most = MOST_ASSERTED if schema.has_assertions else MAX_NODES
    if sum(1 for _ in islice(document.iter(), most + 1)) > most:
        raise ReplyFailure(f"it has more than {most:,} elements")
    _spend(document, schema.root)
    try:
        found = list(islice(schema.breaches(document), _MOST_VIOLATIONS))
    except TooMuch:
        raise
    except Exception as error:
        # An error of the library is no proof that the document fits.
        raise ReplyFailure(f"it cannot be held to its schema ({type(error).__name__})") from None
    violations = tuple([f"{_place(error)}: {_reason(error)}" for error in found])
    if violations:
        raise ReplyFailure("; ".join(violations), violations)
    try:
        value = Values(repairs.append).of(document, schema.root)
    except BadValue as why:
        raise ReplyFailure(str(why), (str(why),)) from None
    return RepairedValue(value, tuple(dict.fromkeys(repairs)))


def _spend(document: "_Element", root: Element) -> None:
    """Charge for all values of a document, including the items of lists. Raises TooMuch."""
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
    """Return the library's reason in words without Python's own."""
    reason = str(error.reason)
    # The library limits a decimal to the range of floats.
    is_vast = isinstance(error.obj, Decimal) and error.obj.adjusted() >= _MOST_DIGITS
    if is_vast or "integer string conversion" in reason:
        return "a number has too many digits"
    return reason.replace(_PYTHON, "not a whole number:")[:200]


def _place(error: Any) -> str:
    """Return the path of an error without prefixes."""
    return re.sub(r"[^/]*:", "", str(error.path or "")).lstrip("/") or "the whole"


INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
NIL = f"{{{INSTANCE}}}nil"


class BadValue(Exception):
    """The failure of a text that stands for no value."""


@frozen(eq=False)
class Values:
    """The values of elements. `note` receives the lost digits of numbers."""

    note: Callable[[str], None]

    def of(self, element: "_Element", declared: Element) -> Value:
        """Return the value of an element. Raises BadValue."""
        if element.get(NIL, "").strip() in ("true", "1"):
            return None
        type_ = declared.type
        made: dict[str, Value] = {}
        for attribute in type_.attributes.values():
            text = element.get(attribute.tag, attribute.default)
            if text is not None:
                made[attribute.name] = self._simple(attribute.simple, text, attribute.name)
        if type_.simple is not None:
            text = element.text or declared.default or ""
            value = self._simple(type_.simple, text, f"<{declared.name}>")
            if not type_.attributes:
                return value
            made[TEXT] = value
        elif type_.mixed:
            made[CONTENT] = self._read_mixed(element, declared)
        else:
            made.update(self._children(element, declared))
        return made

    def _children(self, element: "_Element", declared: Element) -> dict[str, Value]:
        children = declared.type.children
        inside: dict[str, list[Value]] = {
            name: [] for name, child in children.items() if child.repeats
        }
        for each in element:
            name = local(each)
            if inside.get(name) and not children[name].repeats:
                raise BadValue(f"<{declared.name}> holds several <{name}>, and one is expected")
            inside.setdefault(name, []).append(self.of(each, children[name].element))
        return {
            name: tuple(inside[name]) if child.repeats else inside[name][0]
            for name, child in children.items()
            if name in inside
        }

    def _read_mixed(self, element: "_Element", declared: Element) -> tuple[Value, ...]:
        children = declared.type.children
        found: list[Value] = [element.text] if element.text else []
        for each in element:
            name = local(each)
            found.append({name: self.of(each, children[name].element)})
            if each.tail:
                found.append(each.tail)
        return tuple(found)

    def _simple(self, simple: Simple, text: str, what: str) -> Value:
        try:
            value, lost = simple.value(text)
        except NoValue as why:
            raise BadValue(f"the value of {what} {why}: {text[:40]}") from None
        if lost:
            self.note(f"{lost} in {what}")
        return value


def local(element: "_Element") -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]
