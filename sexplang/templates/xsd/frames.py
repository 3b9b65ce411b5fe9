"""What is open while a reply is read: elements with what they hold so far, as persistent values.

Each has a digest of all that is open and built; ways that have come to the same are told by it.
"""

from typing import Any, TypeAlias

from sexplang.templates.xsd.likeness import alike
from sexplang.templates.xsd.shapes import Attribute, Element, Type, is_full
from sexplang.templates.xsd.tokens import Start
from sexplang.terms.node import evolve, field, node

Items: TypeAlias = tuple[Any, Any]
"""What stood before, and an element, a text, or a Mark."""


@node(eq=False)
class Mark:
    """A comment, an instruction or a document type in a text."""

    raw: str

    @property
    def digest(self) -> int:
        return hash(self.raw)


@node(eq=False)
class Node:
    """An element that is closed. `supplied` where its end tag was not there; `doubt` says why no
    reading that holds it is certain."""

    element: Element
    start: Start
    items: Items | None
    supplied: bool
    slash: bool
    digest: int
    doubt: str = ""

    @property
    def name(self) -> str:
        return self.element.name

    @property
    def may_go_on(self) -> bool:
        """Whether its end tag may be the last word of its text, if another one follows: where there
        is no word before it, or white space."""
        if self.supplied or not self.element.type.holds_text:
            return False
        last = None if self.items is None else self.items[1]
        return last is None or (isinstance(last, str) and last[-1:].strip() == "")

    def listed(self) -> "list[Node | str | Mark]":
        """What it holds, in order."""
        return listed(self.items)[::-1]


@node(eq=False)
class Frame:
    """An element that is open. The text in `stray` stands where only elements may; `bare` where
    its text holds a `<`, or what looks like a tag, written as it is. `quoted` are the tags of the
    schema that its text opens and does not close; `doubt` is that of the element."""

    element: Element
    start: Start
    above: "Frame | None"
    slash: bool
    depth: int
    items: Items | None = None
    stray: str = ""
    bare: bool = False
    quoted: tuple[str, ...] = ()
    doubt: str = ""
    is_ending: bool = False
    built: int = 0
    digest: int = field(init=False)

    @digest.default
    def _digest(self) -> int:
        above = 0 if self.above is None else self.above.digest
        own = (self.name, self.start.attributes, self.slash, self.built, self.stray, self.bare)
        return hash((above, *own, self.quoted, self.doubt, self.is_ending))

    @property
    def name(self) -> str:
        return self.element.name

    @property
    def holds_text(self) -> bool:
        return self.element.type.holds_text

    @property
    def is_untouched(self) -> bool:
        return self.items is None and not self.stray

    @property
    def ends_in_slash(self) -> bool:
        item = None if self.items is None else self.items[1]
        return isinstance(item, str) and item.endswith("/")

    @property
    def is_to_say_more(self) -> bool:
        """Whether it is a text about which attributes say something: such a text is not empty."""
        return self.holds_text and self.start.attributes != ()

    @property
    def is_lost(self) -> bool:
        """Whether it holds text alone where elements are due: what it is about is not known."""
        return self.items is None and self.stray.strip() != ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing more could stand in it: neither text nor another element."""
        type_ = self.element.type
        if type_.content is None or type_.holds_text:
            return False
        present = {item.name for item in listed(self.items) if isinstance(item, Node)}
        return is_full(type_.content, present)

    def in_doubt_of_end(self) -> "Frame":
        """The element with an end that is guessed: in mixed content, text behind it may be its own
        or not."""
        if self.above is None or not self.above.element.type.mixed:
            return self
        doubt = f"where <{self.name}> ends in the text of <{self.above.name}> is not sure"
        return evolve(self, doubt=self.doubt or doubt)

    def is_allowed(self, name: str) -> bool:
        """Whether an element of that name, or what is an attribute, may stand in it, or further
        out."""
        frame: Frame | None = self
        while frame is not None:
            type_ = frame.element.type
            if name in type_.children or name in type_.attributes:
                return True
            frame = frame.above
        return False

    def is_inside(self, name: str | None, written: str) -> bool:
        """Whether an element of that name is open around it, or of one that is written alike."""
        frame = self.above
        while frame is not None:
            if name == frame.name or (name is None and alike(written, frame.name)):
                return True
            frame = frame.above
        return False

    def allowed(self, name: str) -> Element | None:
        """What may stand in it under a name: an element, or what is one of its attributes."""
        type_ = self.element.type
        child = type_.children.get(name)
        if child is not None:
            return child.element
        attribute = type_.attributes.get(name)
        return None if attribute is None else _as_element(attribute)

    def is_attribute(self, element: Element) -> bool:
        return element.name in self.element.type.attributes

    def just_closed(self) -> set[str]:
        """The names of what ended last in it, and last in that."""
        found: set[str] = set()
        item = None if self.items is None else self.items[1]
        while isinstance(item, Node):
            found.add(item.name)
            item = None if item.items is None else item.items[1]
        return found


def _as_element(attribute: Attribute) -> Element:
    own = Type({}, simple=attribute.simple)
    return Element(attribute.name, attribute.tag, own, False, None, attribute.doc)


def opened(element: Element, start: Start, above: Frame | None, slash: bool) -> Frame:
    """An element that begins. `slash`: what looked like the end of its tag is part of a value."""
    return Frame(element, start, above, slash, 0 if above is None else above.depth + 1)


def with_item(frame: Frame, item: Node | str | Mark, *, bare: bool = False) -> Frame:
    """The frame with one element or text more."""
    return Frame(
        frame.element,
        frame.start,
        frame.above,
        frame.slash,
        frame.depth,
        (frame.items, item),
        bare=bare or frame.bare,
        quoted=frame.quoted,
        doubt=frame.doubt,
        built=hash((frame.built, item if isinstance(item, str) else item.digest)),
    )


def closed(frame: Frame, *, supplied: bool) -> Node:
    """The element that the frame has become."""
    own = (frame.name, frame.start.attributes, frame.slash, frame.built, supplied, frame.doubt)
    return Node(
        frame.element, frame.start, frame.items, supplied, frame.slash, hash(own), frame.doubt
    )


def with_end(node: Node, name: str) -> Node:
    """The element, when an end tag was found after all: for itself, or for the last thing in it,
    whichever had none."""
    if node.supplied and node.name == name:
        return evolve(node, supplied=False)
    if node.items is None or not isinstance(node.items[1], Node):
        return node
    before, last = node.items
    return evolve(node, items=(before, with_end(last, name)))


def listed(items: Items | None) -> list[Node | str | Mark]:
    """From the last to the first."""
    found: list[Node | str | Mark] = []
    while items is not None:
        items, item = items
        found.append(item)
    return found
