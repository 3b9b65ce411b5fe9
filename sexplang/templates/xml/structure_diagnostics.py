"""lxml's findings against the schema to diagnostics that say what to type instead."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sexplang.templates.xml.vocabulary import Vocabulary, normal
from sexplang.templates.xml.xml_parser import Document
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.texts.nearest import did_you_mean

if TYPE_CHECKING:
    from lxml.etree import _Element, _LogEntry

_ATTRIBUTE = re.compile(r"attribute '([^']+)'")


@frozen
class Explained:
    """lxml's findings as diagnostics: it says where, the vocabulary what could stand there."""

    document: Document
    vocabulary: Vocabulary

    def all(self, entries: "Iterable[_LogEntry]") -> Iterator[Diagnostic]:
        seen: set[Label] = set()
        for entry in entries:
            for diagnostic in self._one(entry):
                # A value is reported once by its facet and once by its type.
                if diagnostic.labels[0] not in seen:
                    seen.add(diagnostic.labels[0])
                    yield diagnostic

    def _one(self, entry: "_LogEntry") -> Iterator[Diagnostic]:
        element = self._element(entry.path)
        attribute = _ATTRIBUTE.search(entry.message)
        name = attribute[1] if attribute else None
        match entry.type_name:
            case "SCHEMAV_CVC_ELT_1":
                yield self._root(element)
            case "SCHEMAV_ELEMENT_CONTENT" if "not expected" in entry.message:
                yield from self._children(element)
            case "SCHEMAV_ELEMENT_CONTENT":
                yield self._missing(element)
            case "SCHEMAV_CVC_COMPLEX_TYPE_3_2_1" | "SCHEMAV_CVC_TYPE_3_1_1":
                yield self._unknown_attribute(element, name or "")
            case "SCHEMAV_CVC_COMPLEX_TYPE_4":
                yield self._missing_attribute(element, entry)
            case "SCHEMAV_CVC_IDC":
                if normal(element.get("name", "")):  # an empty one is said to be empty
                    yield self._twice(element)
            case _ if "content" in entry.message and "not allowed" in entry.message:
                yield self._content(element)
            case _:
                yield self._value(element, name)

    def _element(self, path: str | None) -> "_Element":
        found = self.document.root.getroottree().xpath(path) if path else None
        known = isinstance(found, list) and found and found[0] in self.document.where
        return found[0] if known else self.document.root  # type: ignore[index]

    def _root(self, element: "_Element") -> Diagnostic:
        title = f"a template file does not begin with <{_tag(element)}>"
        return self._invalid(element, title, 'begin with <task name="…">, or <templates>')

    def _children(self, first: "_Element") -> Iterator[Diagnostic]:
        """lxml stops at the first child that does not belong: here are the others too."""
        parent = first.getparent()
        assert parent is not None
        allowed = self.vocabulary.children(parent)
        if not allowed:
            yield self._content(parent)
            return
        once: set[str] = set()
        known = True
        for child in parent:
            tag = _tag(child)
            if tag not in allowed:
                known = False
                title = f"<{_tag(parent)}> has no element <{tag}>"
                yield self._invalid(child, title, _nearest(tag, allowed, "<{}>"))
            elif tag in once and not self.vocabulary.repeats(parent):
                known = False
                yield self._invalid(child, f"<{tag}> stands here twice", "keep one of the two")
            once.add(tag)
        if known:
            title = f"<{_tag(first)}> cannot stand here beside the others"
            hint = f"<{_tag(parent)}> holds one of {_words(sorted(allowed), '<{}>')}"
            yield self._invalid(first, title, hint)

    def _missing(self, element: "_Element") -> Diagnostic:
        allowed = sorted(self.vocabulary.children(element))
        title = f"<{_tag(element)}> is empty"
        return self._invalid(element, title, f"it needs {_words(allowed, '<{}>')}")

    def _unknown_attribute(self, element: "_Element", name: str) -> Diagnostic:
        children = self.vocabulary.children(element)
        title = f"<{_tag(element)}> has no attribute {name}"
        if name in children:
            hint = f"write it as an element: {_as_element(name, element.get(name, ''))}"
        elif holder := self._holder(element, name):
            inside = _as_element(name, element.get(name, ""))
            hint = f"write it as an element: <{holder}>{inside}</{holder}>"
        elif allowed := self.vocabulary.attributes(element):
            hint = _nearest(name, allowed, "{}")
        elif children:
            hint = f"it has no attributes; it holds {_words(sorted(children), '<{}>')}"
        else:
            hint = "it has no attributes; it holds text"
        return self._invalid(element, title, hint, name)

    def _holder(self, element: "_Element", name: str) -> str | None:
        """The child that holds what was written as an attribute, if one does."""
        for child in sorted(self.vocabulary.children(element)):
            if name in self.vocabulary.children_of(element, child):
                return child
        return None

    def _missing_attribute(self, element: "_Element", entry: "_LogEntry") -> Diagnostic:
        name = re.findall(r"attribute '([^']+)' is required", entry.message)[0]
        code = "incomplete-template" if element.tag in ("task", "template") else "xml-invalid"
        values = self.vocabulary.values(element, name)
        hint = f'write <{_tag(element)} {name}="{values[0] if values else "…"}">'
        title = f"this <{_tag(element)}> has no {name}"
        return Diagnostic(code, title, (self.document.label(element),), hint=hint)

    def _twice(self, element: "_Element") -> Diagnostic:
        task = element.tag in ("task", "template")
        return Diagnostic(
            "duplicate-template" if task else "duplicate-param",
            f"there are two {'templates' if task else 'parameters'} "
            f"called {normal(element.get('name', ''))}",
            (self.document.label(element, "name", "this is the second"),),
            hint="give one of them another name",
        )

    def _content(self, element: "_Element") -> Diagnostic:
        allowed = self.vocabulary.children(element)
        if allowed:
            title = f"<{_tag(element)}> holds elements, and no text of its own"
            return self._invalid(element, title, f"it holds {_words(sorted(allowed), '<{}>')}")
        if self.vocabulary.has_text(element):
            hint = "write < as &lt;, or put the text inside <![CDATA[ … ]]>"
            return self._invalid(element, f"<{_tag(element)}> holds text, and no elements", hint)
        attributes = _words(sorted(self.vocabulary.attributes(element)), "{}")
        title = f"<{_tag(element)}> holds nothing"
        return self._invalid(element, title, f"it has the attributes {attributes}")

    def _value(self, element: "_Element", attribute: str | None) -> Diagnostic:
        given = normal(element.get(attribute, "") if attribute else element.text or "")
        allowed = self.vocabulary.values(element, attribute)
        what = attribute or f"<{_tag(element)}>"
        title = f"`{_short(given)}` is not a value of {what}" if given else f"{what} is empty"
        hint = _nearest(given, allowed, "{}") if len(allowed) > 1 else None
        if hint is None:
            doc = self.vocabulary.documentation(element, attribute)
            hint = f"write {doc or (allowed[0] if allowed else 'something there')}"
        return self._invalid(element, title, hint, attribute)

    def _invalid(
        self, element: "_Element", title: str, hint: str, attribute: str | None = None
    ) -> Diagnostic:
        return Diagnostic(
            "xml-invalid", title, (self.document.label(element, attribute),), hint=hint
        )


def _tag(element: "_Element") -> str:
    return str(element.tag)


def _as_element(name: str, text: str) -> str:
    return f"<{name}>{normal(text)}</{name}>"


def _nearest(word: str, known: "list[str] | set[str]", shape: str) -> str:
    choice = [each for each in word.split("|") if each in known]
    if len(choice) > 1:  # copied from what tells the words apart
        return f"write one of them: {_words(choice, shape)}"
    expected = f"expected {_words(sorted(known), shape)} here"
    return did_you_mean(word.lower(), sorted(known), expected, shape)


def _words(words: list[str], shape: str) -> str:
    shown = [shape.format(word) for word in words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
