"""The repair of a reply that is nearly XML: the one document that it can be, element by element.

Law: tags nest as they are written, and each must be allowed in its element. A repair has no second
reading. Names in another case or with a prefix, marks that begin nothing, entities of HTML, and
unknown tags in a text are read. All else is refused with its place.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from sexplang.templates.xml.structure import normal
from sexplang.templates.xml.xml_parser import MAX_DEPTH, MAX_NODES
from sexplang.templates.xsd.characters import Doubtful, unescape
from sexplang.templates.xsd.documents import INSTANCE, NIL, ReplyFailure
from sexplang.templates.xsd.shapes import Element, Type
from sexplang.templates.xsd.simple import Simple
from sexplang.templates.xsd.xsd_patterns import spend
from sexplang.templates.xsd.xsd_schema import Schema
from sexplang.terms.classes.node import define, field, frozen

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_MARKS = 3 * MAX_NODES
"""The most < and & of a reply."""

_NAME = r"[^\W\d][\w.:-]*+"
_TAG = re.compile(rf"<(/?)\s*+({_NAME})")
_DATA = re.compile(r"<!\[CDATA\[(.*?)]]>", re.DOTALL)
_MARK = re.compile(r"<(?:[!?]|/)")
_ATTRIBUTE = re.compile(rf"\s++({_NAME})\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_CLOSES = re.compile(r"\s*+(/?)>")
_HINTS = frozenset({"schemaLocation", "noNamespaceSchemaLocation"})
_BARE = "took a bare < as text"


@frozen(eq=False)
class Names:
    """The names of a schema, found in any case. A spelling of several names is the name ''."""

    loose: dict[str, str]
    exact: frozenset[str]

    def find(self, written: str) -> str | None:
        """Return the schema's name for a spelling. None if there is none."""
        name = written.rpartition(":")[2]
        return name if name in self.exact else self.loose.get(_fold(name))

    def within(self, text: str, begin: int, end: int) -> re.Match[str] | None:
        """Return the first tag of the schema in a range of a text."""
        tags = _TAG.finditer(text, begin, end)
        return next((each for each in tags if self.find(each[2]) is not None), None)


def names_of(exact: frozenset[str]) -> Names:
    """Return the names of a schema."""
    loose: dict[str, str] = {}
    for name in exact:
        plain = _fold(name)
        loose[plain] = "" if plain in loose else name
    return Names(loose, exact)


def _fold(name: str) -> str:
    return re.sub(r"[_.-]", "", name).casefold()


@define(eq=False)
class _Open:
    """An open element. `tags` holds the names of unknown tags in its text."""

    declared: Element
    made: "_Element"
    at: int
    last: "_Element | None" = None
    text: list[str] = field(factory=list)
    tags: set[str] = field(factory=set)

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def type(self) -> Type:
        return self.declared.type

    def say(self) -> None:
        """Write the text of mixed content behind its last element."""
        said = "".join(self.text) or None
        self.text.clear()
        if self.last is None:
            self.made.text = said
        else:
            self.last.tail = said


@define(eq=False)
class Repairs:
    """One reading of a range of a text. `note` receives the repairs."""

    schema: Schema
    names: Names
    text: str
    end: int
    note: Callable[[str], None]
    root: "_Element | None" = None
    open: list[_Open] = field(factory=list)
    elements: int = 0

    def document(self, at: int) -> tuple["_Element", int]:
        """Return the document that begins at a tag, and its end. Raises ReplyFailure."""
        at = self._mark(at)
        while self.open:
            start = self.text.find("<", at, self.end)
            if start < 0:
                self._refuse(self.end, f"it ends before <{self.open[-1].name}> is closed")
            self._says(at, start)
            at = self._mark(start)
        assert self.root is not None
        return self.root, at

    def refusal(self, at: int, why: str, due: str = "") -> ReplyFailure:
        """Return the failure at a place, with what was due."""
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return ReplyFailure(f"{why}, at line {line}, column {column}{due and f': {due}'}")

    def _refuse(self, at: int, why: str, due: str = "") -> NoReturn:
        raise self.refusal(at, why, due)

    # -- tags

    def _mark(self, at: int) -> int:
        """Consume one tag, or one < that is text. Return the next offset."""
        data = _DATA.match(self.text, at, self.end)
        if data:
            self._add(at, data[1])
            return data.end()
        tag = _TAG.match(self.text, at, self.end)
        name = self.names.find(tag[2]) if tag else None
        if tag and name is not None:
            return self._end(tag, name) if tag[1] and self.open else self._start(tag, name)
        return self._bare(at, tag)

    def _bare(self, at: int, tag: re.Match[str] | None) -> int:
        """Consume a < that is text, or that begins a tag which the schema does not have."""
        inside = self.open[-1]
        written = self.text[at : at + 40].partition("\n")[0]
        written = written[: written.find(">") + 1] or written
        if tag and not tag[1] and tag.end(1) < tag.start(2):
            tag = None  # `a < b`
        if not tag and _MARK.match(self.text, at):
            why = f"`{written}` in <{inside.name}> may be a part of its text or not"
            self._refuse(at, why, "write < as &lt;, or leave it out")
        if tag and inside.type.simple is None:
            self._refuse(at, f"`<{tag[1]}{tag[2][:40]}` is no tag of the schema", self._holds())
        if tag and tag[1] and tag[2] not in inside.tags:
            self._refuse(
                at, f"</{tag[2][:40]}> ends nothing", f"</{inside.name}> is due, or &lt; for <"
            )
        if tag:
            inside.tags.add(tag[2])
        self.note(_BARE)
        self._add(at, "<")
        return at + 1

    def _start(self, tag: re.Match[str], name: str) -> int:
        at = tag.start()
        declared = self._find_declaration(tag, name)
        self.elements += 1
        if self.elements > MAX_NODES or len(self.open) >= MAX_DEPTH:
            self._refuse(at, f"it has more than {MAX_NODES:,} elements, or {MAX_DEPTH} levels")
        given, end = self._attributes(tag, name)
        closes = _CLOSES.match(self.text, end, self.end)
        if closes is None or tag.end(1) < tag.start(2):
            self._refuse(end, f'the tag <{name}> is not written as <{name} attribute="value">')
        self._note_name(tag[2], name)
        self._begin(declared, at)
        for written, value in given:
            self._attribute(at, written, value)
        if closes[1]:
            self._close()
        return closes.end()

    def _find_declaration(self, tag: re.Match[str], name: str) -> Element:
        """Return the declaration of the element that begins here, if it is allowed."""
        if not self.open:
            if name != self.schema.root.name or tag[1]:
                self._refuse(
                    tag.start(), f"<{tag[1]}{name}> stands outside of <{self.schema.root.name}>"
                )
            return self.schema.root
        inside = self.open[-1]
        child = inside.type.children.get(name)
        if child is None:
            self._refuse(tag.start(), f"<{tag[2][:40]}> may not stand here", self._holds())
        return child.element

    def _end(self, tag: re.Match[str], name: str) -> int:
        inside = self.open[-1]
        closes = _CLOSES.match(self.text, tag.end(), self.end)
        if name != inside.name or closes is None or closes[1] or tag.end(1) < tag.start(2):
            line = self.text.count("\n", 0, inside.at) + 1
            due = f"</{inside.name}> is due for the element of line {line}, or &lt; for < in a text"
            self._refuse(tag.start(), f"`</{tag[2][:40]}` may not stand here", due)
        self._note_name(tag[2], name)
        self._close()
        return closes.end()

    def _holds(self) -> str:
        """Describe what the open element may hold."""
        inside = self.open[-1]
        line = self.text.count("\n", 0, inside.at) + 1
        holds = ", ".join([f"<{each}>" for each in inside.type.children]) or "nothing"
        if inside.type.simple is not None:
            holds = "text alone (with &lt; for <)"
        return f"<{inside.name}> of line {line} is open, and holds {holds}"

    def _note_name(self, written: str, name: str) -> None:
        if written.rpartition(":")[2] != name:
            self.note(f"took {written[:40]} for {name}")
        elif written != name:
            self.note("left out the prefixes of names")

    # -- attributes

    def _attributes(self, tag: re.Match[str], name: str) -> tuple[list[tuple[str, str]], int]:
        """Return the quoted attributes of a start tag, and their end."""
        found: list[tuple[str, str]] = []
        at = tag.end()
        while attribute := _ATTRIBUTE.match(self.text, at, self.end):
            value = attribute.lastindex or 2
            if self.names.within(self.text, *attribute.span(value)):
                self._refuse(at, f"a quote of {attribute[1][:40]} in <{name}> has no other half")
            said = re.sub(r"[\t\n]", " ", attribute[value])
            if "<" in said:
                self.note(_BARE)
            found.append((attribute[1], self._plain(at, said)))
            at = attribute.end()
        return found, at

    def _attribute(self, at: int, written: str, value: str) -> None:
        inside = self.open[-1]
        prefix, _, local = written.rpartition(":")
        if "xmlns" in (prefix, written) or local in _HINTS:
            return
        if local == "nil" and prefix == "xsi":
            inside.made.set(NIL, normal(value))
            return
        name = self.names.find(local)
        declared = inside.type.attributes.get(name or "")
        if declared is None or prefix == "xsi":
            listed = ", ".join(inside.type.attributes) or "none"
            self._refuse(at, f"<{inside.name}> has no attribute {written[:40]} (it has {listed})")
        if inside.made.get(declared.tag) is not None:
            self._refuse(at, f"<{inside.name}> has two attributes {declared.name}")
        self._note_name(local, declared.name)
        inside.made.set(declared.tag, self._value(declared.simple, value, declared.name))

    # -- texts

    def _says(self, begin: int, end: int) -> None:
        if begin < end:
            said = self.text[begin:end]
            if "]]>" in said:
                self._refuse(begin + said.index("]]>"), "`]]>` ends no CDATA section")
            self._add(begin, self._plain(begin, said))

    def _plain(self, at: int, said: str) -> str:
        try:
            return unescape(said, self.note)
        except Doubtful as why:
            self._refuse(at, str(why))

    def _add(self, at: int, said: str) -> None:
        inside = self.open[-1]
        if inside.type.simple is not None or inside.type.mixed:
            inside.text.append(said)
        elif said.strip():
            shown = " ".join(said[:400].split())[:40]
            self._refuse(at, f"`{shown}` stands between elements", self._holds())

    def _value(self, simple: Simple, text: str, what: str) -> str:
        """Return the text if it fits; else a form that fits, without white space around it or in
        another case."""
        spend(simple.steps(text))
        if simple.fits(text):
            return text
        bare = text.strip()
        if simple.fits(bare):
            self.note(f"left out the white space around the value of {what}")
            return bare
        choices = ("true", "false") if simple.form == "boolean" else simple.choices
        words = _words(bare)
        alike = [each for each in choices if _words(each) == words]
        if len(alike) == 1 and simple.fits(alike[0]):
            self.note(f"took {bare[:40]} for {alike[0]} in {what}")
            return alike[0]
        return text

    # -- elements

    def _begin(self, declared: Element, at: int) -> None:
        from lxml import etree

        if not self.open:
            made = self.root = etree.Element(declared.tag, nsmap={"xsi": INSTANCE})
        else:
            self.open[-1].say()
            made = etree.SubElement(self.open[-1].made, declared.tag)
            self.open[-1].last = made
        self.open.append(_Open(declared, made, at))

    def _close(self) -> None:
        inside = self.open.pop()
        simple = inside.type.simple
        if simple is None:
            inside.say()
            return
        text = "".join(inside.text)
        if text.strip() or NIL not in inside.made.attrib:
            inside.made.text = self._value(simple, text, f"<{inside.name}>")


def _words(text: str) -> str:
    return " ".join(text.replace("_", " ").replace("-", " ").split()).casefold()
