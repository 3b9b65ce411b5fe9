"""A document that fits its schema to the plain value that it stands for.

An element is a table of its attributes and elements by their names, or what its text stands for
if it has neither. What may stand more than once is a list, however often it does.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sexplang.templates.xsd.shapes import CONTENT, TEXT, Element
from sexplang.templates.xsd.simple import NoValue, Simple
from sexplang.terms.classes.node import frozen
from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from lxml.etree import _Element


INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
NIL = f"{{{INSTANCE}}}nil"


class Unvalued(Exception):
    """Says which text stands for no value, and why."""


@frozen(eq=False)
class Values:
    """`note` receives what was lost of a number."""

    note: Callable[[str], None]

    def of(self, element: "_Element", declared: Element) -> Value:
        """The value of an element. Raises Unvalued."""
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
                raise Unvalued(f"<{declared.name}> holds several <{name}>, and one is expected")
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
            raise Unvalued(f"the value of {what} {why}: {text[:40]}") from None
        if lost:
            self.note(f"{lost} in {what}")
        return value


def local(element: "_Element") -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]
