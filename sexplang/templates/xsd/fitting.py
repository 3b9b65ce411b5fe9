"""A tree as it was written to a document of the schema: names, order, places and values put right.

What changes here changes no value: elements of a sequence are sorted, what is an attribute and was
written as an element (or the reverse) is moved, a value that fits but for white space or case is
taken for the one it is.
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sexplang.templates.vocabulary import normal
from sexplang.templates.xsd.frames import Mark, Node
from sexplang.templates.xsd.notation import elides, ends
from sexplang.templates.xsd.shapes import Attribute, Type
from sexplang.templates.xsd.simple import Simple
from sexplang.templates.xsd.tokens import Names, left_out
from sexplang.terms.node import evolve, field, frozen

if TYPE_CHECKING:
    from lxml.etree import _Element

INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
NIL = f"{{{INSTANCE}}}nil"
_HINTS = frozenset({"schemaLocation", "noNamespaceSchemaLocation"})


_QUOTES = "\"'“”„‟″‘’‚‛′`"


class Misfit(Exception):
    """Says why a tree is no document of the schema."""


# The end of a line, and the indentation of the next.
_LAYOUT = re.compile(r"\n[ \t]*")
# An end tag that was taken for another; a long one is told in part.
_TAKEN = re.compile(r"took </\s*([\w.:-]+)(…?)")


@frozen(eq=False)
class Fitting:
    """`note` receives what was put right; `doubts` say why the document may have been another.
    `lost` are the elements whose end tag is not there, and whether they stand in themselves."""

    names: Names
    note: Callable[[str], None]
    doubts: list[str] = field(factory=list)
    lost: dict[str, bool] = field(factory=dict)

    def document(self, root: Node) -> "_Element":
        """The document of a tree. Raises Misfit."""
        from lxml import etree

        made = etree.Element(root.element.tag, nsmap={"xsi": INSTANCE})
        self._fill(made, root)
        return made

    def misplaced(self, repairs: list[str]) -> Iterator[str]:
        """Why a tag that was left out, or taken for another, may be one that is lost elsewhere, or
        the right one. Where elements stand in themselves, any may."""
        for name, recurs in self.lost.items():
            wrong = ("left out </", "took </") if recurs else (f"left out </{name}>",)
            if any(each.startswith(wrong) for each in repairs):
                yield f"one of its tags may stand where </{name}> belongs, or not"
        if any(each.startswith("put the elements of") for each in repairs):
            for each in repairs:
                taken = _TAKEN.match(each)
                if taken and (taken[2] or self.names.known(taken[1])):
                    yield f"{each}, but the elements may be in order, and that tag the right one"

    def _fill(self, made: "_Element", node: Node) -> None:
        type_ = node.element.type
        every = node.listed()
        items = [item for item in every if not isinstance(item, Mark)]
        self._marks([item.raw for item in every if isinstance(item, Mark)], items, node)
        if node.doubt:
            self.doubts.append(node.doubt)
        if node.supplied:
            self.lost[node.name] = node.start.recurs
        if node.supplied and items and isinstance(items[-1], str):
            written = ends(items[-1], node.name)
            if written:
                self.doubts.append(f"</{node.name}> is not there, and `{written}` may stand for it")
        given = self._attributes(node)
        own = [item for item in items if isinstance(item, Node) and item.name in type_.attributes]
        if own:
            moved = frozenset(map(id, own))
            items = [item for item in items if id(item) not in moved]
        for item in own:
            self._moved(given, item, node)
        for name, value in given.items():
            self._attribute(made, node, name, value, items)
        if type_.simple is not None:
            text = "".join(item for item in items if isinstance(item, str))
            if own and text != text.strip() and type_.simple.keeps_white:
                self.doubts.append(_white(node, f"<{own[0].name}> is to be its attribute"))
            elif node.supplied:
                text = self._without_white(text, text, node, type_.simple)
            if text.strip() or NIL not in made.attrib:
                made.text = self._value(type_.simple, text, f"<{node.name}>")
        elif type_.mixed:
            self._mixed(made, items, node)
        else:
            self._children(made, type_, [item for item in items if isinstance(item, Node)], node)

    def _marks(self, marks: list[str], items: list[Node | str], node: Node) -> None:
        """Leaves out comments and the like in a text, unless they may be meant as a part of it."""
        simple = node.element.type.simple
        text = "".join(item for item in items if isinstance(item, str))
        for mark in marks:
            if simple is None or simple.fits(f"{text}{mark}"):
                self.doubts.append(
                    f"`{mark[:40]}` in <{node.name}> may be a part of its text (then write < as "
                    "&lt;) or not"
                )
            elif elides(mark.strip("<!-?>")):
                self.doubts.append(
                    f"`{mark[:40]}` in <{node.name}> may stand for something that is left out"
                )
            self.note(left_out(mark))

    # -- attributes

    def _attributes(self, node: Node) -> dict[str, str | None]:
        """What stands in the start tag, but for names of namespaces and hints."""
        found: dict[str, str | None] = {}
        for written, value in node.start.attributes:
            prefix, _, local = written.rpartition(":")
            if "xmlns" in (prefix, written):
                continue
            if local in _HINTS:
                self.note(f"left out {written}")
                continue
            if local == "nil" and (prefix == "xsi" or node.element.nillable):
                local = NIL
            elif prefix == "xsi":
                raise Misfit(f"{written} is not taken")
            if local in found and found[local] != value:
                raise Misfit(f"<{node.name}> has two attributes {local}")
            found[local] = value
        if node.slash and found:
            last = next(reversed(found))
            found[last] = f"{found[last]}/"
        return found

    def _moved(self, given: dict[str, str | None], item: Node, node: Node) -> None:
        said = "".join(part for part in item.listed() if isinstance(part, str))
        simple = node.element.type.attributes[item.name].simple
        text = said.strip()
        edges = said.partition(text) if text else (said, "", "")
        if simple.keeps_white and any(edge and "\n" not in edge for edge in edges[::2]):
            self.doubts.append(_white(item, "it is to be an attribute"))
        elif simple.keeps_white and text != said:
            self.note(f"left out the white space around the text of <{item.name}>")
        if given.get(item.name, text) != text:
            raise Misfit(f"<{node.name}> has {item.name} as an attribute and as an element")
        self.note(f"took the element {item.name} of <{node.name}> for its attribute")
        given[item.name] = text

    def _attribute(
        self, made: "_Element", node: Node, name: str, value: str | None, items: list[Node | str]
    ) -> None:
        type_ = node.element.type
        if name == NIL:
            made.set(NIL, normal(value or "true"))
            return
        known = name if name in type_.attributes else self.names.known(name) or name
        declared = type_.attributes.get(known)
        if declared is not None:
            if known != name:
                self.note(f"took {name} for {known}")
            if name in node.start.doubtful and declared.simple.fits(value or ""):
                raise Misfit(f"the quotes around {name} of <{node.name}> do not match")
            said = self._attribute_value(declared, value, node)
            if made.get(declared.tag, said) != said:
                raise Misfit(f"<{node.name}> has two attributes {declared.name}")
            made.set(declared.tag, said)
            return
        child = type_.children.get(known)
        present = any(isinstance(item, Node) and item.name == known for item in items)
        if child is None or child.repeats or present or child.element.type.simple is None:
            listed = ", ".join(type_.attributes) or "none"
            raise Misfit(f"<{node.name}> has no attribute {name} (it has {listed})")
        self.note(f"took the attribute {known} of <{node.name}> for an element")
        start = evolve(node.start, attributes=())
        items.append(Node(child.element, start, (None, value or ""), False, False, 0))

    def _attribute_value(self, declared: Attribute, value: str | None, node: Node) -> str:
        if value is None:
            if declared.simple.form != "boolean":
                raise Misfit(f"the attribute {declared.name} of <{node.name}> has no value")
            value = "true"
            self.note(f'wrote {declared.name}="true" in <{node.name}>')
        return self._value(declared.simple, value, declared.name)

    # -- what stands between the tags

    def _children(self, made: "_Element", type_: Type, nodes: list[Node], node: Node) -> None:
        order = type_.order
        if order is not None:
            ordered = sorted(nodes, key=lambda each: order.get(each.name, 0))
            if ordered != nodes:
                if any(not each.start.raw and _is_moved(each, nodes, order) for each in nodes):
                    raise Misfit(f"an element of <{node.name}> without its tag stands elsewhere")
                self.note(f"put the elements of <{node.name}> in order")
                nodes = ordered
        for each in nodes:
            self._append(made, each)

    def _append(self, made: "_Element", node: Node) -> "_Element":
        from lxml import etree

        inner = etree.SubElement(made, node.element.tag)
        self._fill(inner, node)
        return inner

    def _mixed(self, made: "_Element", items: list[Node | str], node: Node) -> None:
        last: _Element | None = None
        for item in items:
            if isinstance(item, Node):
                last = self._append(made, item)
            elif last is None:
                made.text = (made.text or "") + item
            else:
                last.tail = (last.tail or "") + item
        whole = "".join(made.itertext())
        if node.supplied and last is not None:
            last.tail = self._without_white(last.tail or "", whole, node)
        elif node.supplied:
            made.text = self._without_white(whole, whole, node)

    def _without_white(
        self, text: str, whole: str, node: Node, simple: Simple | None = None
    ) -> str:
        """The text without the white space before an end tag that was not there; `text` is the end
        of the `whole`. Where white space counts, it is layout if the element begins a line of its
        own, its text stands on that line, and one line break with no more indentation follows."""
        bare = text.rstrip()
        if text == bare or (simple is not None and not simple.keeps_white):
            return bare
        white = text[len(bare) :]
        said = whole[: -len(white)]
        own_line = _LAYOUT.search(node.start.lead)
        is_layout = _LAYOUT.fullmatch(white) and own_line and own_line[0].startswith(white)
        if is_layout and "\n" not in said and not said[:1].isspace():
            self.note(f"left out the white space around the text of <{node.name}>")
        else:
            self.doubts.append(_white(node, f"</{node.name}> is not there"))
        return bare

    def _value(self, simple: Simple, text: str, what: str) -> str:
        """The text, if it fits; else what it fits as, but for white space around it and case."""
        if simple.fits(text):
            return text
        bare = text.strip()
        for kept, around in ((bare, "white space"), (bare.strip(_QUOTES).strip(), "quotes")):
            if simple.fits(kept):
                self.note(f"left out the {around} around the value of {what}")
                return kept
        choices = ("true", "false") if simple.form == "boolean" else simple.choices
        alike = [each for each in choices if _plain(each) == _plain(bare)]
        if len(alike) == 1 and simple.fits(alike[0]):
            self.note(f"took {bare[:40]} for {alike[0]} in {what}")
            return alike[0]
        return text


def _white(node: Node, why: str) -> str:
    """Why white space is in doubt: what is said first is what is wrong."""
    return f"{why}, and the white space around the text of <{node.name}> may belong to it or not"


def _is_moved(node: Node, nodes: list[Node], order: dict[str, int]) -> bool:
    """Whether an element stands behind one that it belongs before, or the reverse."""
    at, place = nodes.index(node), order.get(node.name, 0)
    before, behind = nodes[:at], nodes[at + 1 :]
    return any(order.get(each.name, 0) > place for each in before) or any(
        order.get(each.name, 0) < place for each in behind
    )


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").replace("-", " ").split()).casefold()
