"""The schema document to what may stand where: children, attributes and values of an element."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sexplang.terms.classes.node import frozen

if TYPE_CHECKING:
    from lxml.etree import _Element

_XS = "{http://www.w3.org/2001/XMLSchema}"
_SPACE = re.compile("[ \t\r\n]+")


def normal(text: str) -> str:
    """`text` as XPath's normalize-space has it: XML's own four white space characters only."""
    return _SPACE.sub(" ", text).strip(" ")


@frozen(eq=False)
class Vocabulary:
    """`schema` is the document of an XSD whose types are global or stand in their element."""

    schema: "_Element"

    def holders(self, assertion: str) -> set[str]:
        """The names of the types that hold the assertion with this id."""
        found = self.schema.iterfind(f"{_XS}complexType")
        return {
            type_.get("name", "")
            for type_ in found
            if any(item.get("id") == assertion for item in type_.iter(f"{_XS}assert"))
        }

    def types(self, element: "_Element") -> set[str]:
        """The names of an element's type and of those it extends."""
        return {part.get("name", "") for part in self._parts(element)}

    def children(self, element: "_Element") -> set[str]:
        return {child.get("name", "") for child in self._inside(element, "element")}

    def children_of(self, element: "_Element", child: str) -> set[str]:
        """The children that a child of an element may have."""
        found = (each for each in self._inside(element, "element") if each.get("name") == child)
        return {
            inner.get("name", "")
            for each in found
            for inner in self._type_elements(each)
            if inner.tag == f"{_XS}element"
        }

    def attributes(self, element: "_Element") -> set[str]:
        return {attribute.get("name", "") for attribute in self._inside(element, "attribute")}

    def repeats(self, element: "_Element") -> bool:
        """Whether a child may stand more than once in `element`."""
        for part in self._parts(element):
            for item in _here(part):
                if item.get("maxOccurs") == "unbounded":
                    return True
        return False

    def has_text(self, element: "_Element") -> bool:
        declaration = self._declaration(element)
        if declaration is None or declaration.get("type", "").startswith("xs:"):
            return True
        return any(
            part.tag == f"{_XS}simpleType"
            or part.find(f"{_XS}simpleContent") is not None
            or part.get("mixed") == "true"
            for part in self._parts(element)
        )

    def values(self, element: "_Element", attribute: str | None = None) -> list[str]:
        """The words that an attribute, or the text of an element, is chosen from."""
        type_ = self._value_type(element, attribute)
        found = () if type_ is None else type_.iter(f"{_XS}enumeration")
        return [item.get("value", "") for item in found]

    def documentation(self, element: "_Element", attribute: str | None = None) -> str | None:
        type_ = self._value_type(element, attribute)
        return None if type_ is None else type_.findtext(f".//{_XS}documentation")

    def _value_type(self, element: "_Element", attribute: str | None) -> "_Element | None":
        if attribute is None:
            holder = self._declaration(element)
        else:
            found = self._inside(element, "attribute")
            holder = next((item for item in found if item.get("name") == attribute), None)
        return None if holder is None else self._find_named(holder.get("type", ""))

    def _declaration(self, element: "_Element") -> "_Element | None":
        names = [str(ancestor.tag) for ancestor in element.iterancestors()]
        found: _Element | None = self.schema
        for name in [*reversed(names), str(element.tag)]:
            inside = list(found) if found is self.schema else self._type_elements(found)
            found = next(
                (i for i in inside if i.tag == f"{_XS}element" and i.get("name") == name), None
            )
        return found

    def _type_elements(self, declaration: "_Element | None") -> "list[_Element]":
        if declaration is None:
            return []
        return [item for part in self._type(declaration) for item in _here(part)]

    def _parts(self, element: "_Element") -> "list[_Element]":
        declaration = self._declaration(element)
        return [] if declaration is None else self._type(declaration)

    def _inside(self, element: "_Element", kind: str) -> "Iterator[_Element]":
        for part in self._parts(element):
            for item in _here(part):
                if item.tag == f"{_XS}{kind}":
                    yield item

    def _type(self, declaration: "_Element") -> "list[_Element]":
        """The type of a declaration and those it extends."""
        inline = declaration.find(f"{_XS}complexType")
        found = self._find_named(declaration.get("type", "")) if inline is None else inline
        parts: list[_Element] = []
        while found is not None:
            parts.append(found)
            extension = found.find(f"{_XS}complexContent/{_XS}extension")
            found = None if extension is None else self._find_named(extension.get("base", ""))
        return parts

    def _find_named(self, name: str) -> "_Element | None":
        types = (
            *self.schema.iterfind(f"{_XS}complexType"),
            *self.schema.iterfind(f"{_XS}simpleType"),
        )
        return next((type_ for type_ in types if type_.get("name") == name), None)


def _here(type_: "_Element") -> "Iterator[_Element]":
    """What a type itself holds, without what the types of its elements hold."""
    work = list(type_)
    while work:
        item = work.pop(0)
        yield item
        if item.tag != f"{_XS}element":
            work[:0] = list(item)
