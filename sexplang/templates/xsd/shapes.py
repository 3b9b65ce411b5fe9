"""The shapes of an XSD: what each element holds, and how often.

Only schemas with plain values are taken: every name is declared, and denotes one thing in its
element.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from sexplang.templates.xsd.simple import Simple, simple_of
from sexplang.templates.xsd.xsd_patterns import BadXsd
from sexplang.terms.classes.node import define, field, frozen

TEXT, CONTENT = "text", "content"
"""The keys of an element's own text beside its attributes, and of mixed content."""


@frozen(eq=False)
class Attribute:
    """A declared attribute. `tag` is the name with its namespace, as lxml writes it."""

    name: str
    tag: str
    simple: Simple
    required: bool
    default: str | None
    doc: str


@define(eq=False)
class Type:
    """The content of an element: text of a simple type, or elements, maybe mixed with text."""

    attributes: dict[str, Attribute]
    simple: Simple | None = None
    mixed: bool = False
    content: "Group | None" = None
    children: dict[str, "Child"] = field(factory=dict)


@frozen(eq=False)
class Element:
    """A declared element. `default` is the value of an empty element."""

    name: str
    tag: str
    type: Type
    nillable: bool
    default: str | None
    doc: str


@frozen(eq=False)
class Group:
    """A group of particles: `sequence`, `choice` or `all`."""

    model: str
    parts: tuple["Particle", ...]


@frozen(eq=False)
class Particle:
    """A term and its number. `most` is None if it is unbounded."""

    term: "Element | Group"
    least: int
    most: int | None


@frozen(eq=False)
class Child:
    """A child of an element, and the most times that it may occur there."""

    element: Element
    most: int | None

    @property
    def repeats(self) -> bool:
        return self.most is None or self.most > 1


_ANY_TYPE = "{http://www.w3.org/2001/XMLSchema}anyType"

Occurs: TypeAlias = dict[str, tuple[Element, int | None]]


@frozen(eq=False)
class Shapes:
    """The maker of the shapes of one schema. A recursive type is made once."""

    known: dict[int, Type] = field(factory=dict)

    def element(self, component: Any) -> Element:
        declared = component if component.ref is None else component.ref
        default = declared.default if declared.fixed is None else declared.fixed
        name = declared.local_name
        return Element(
            name,
            declared.name,
            self.type(declared.type, name),
            declared.nillable,
            default,
            _doc(component) or _doc(declared) or _doc(declared.type),
        )

    def type(self, component: Any, name: str) -> Type:
        found = self.known.get(id(component))
        if found is None:
            found = self.known[id(component)] = Type({})
            self._fill(found, component, name)
        return found

    def _fill(self, made: Type, component: Any, name: str) -> None:
        if component.is_simple():
            made.simple = simple_of(component)
            return
        if component.name == _ANY_TYPE:
            raise BadXsd(f"<{name}> may hold anything: give it a type, such as xs:string")
        made.attributes = dict(_attributes(component, name))
        if component.has_simple_content():
            made.simple = simple_of(component.content)
            if TEXT in made.attributes:
                raise BadXsd(f"<{name}> has text and an attribute called {TEXT}: rename it")
            return
        made.mixed = component.mixed
        made.content = self._content(component.content, name)
        occurs = _occurs(made.content)
        made.children = {each: Child(*found) for each, found in occurs.items()}
        twice = made.attributes.keys() & occurs.keys()
        if twice:
            raise BadXsd(f"{min(twice)} is both an attribute and an element of <{name}>")
        if made.mixed and CONTENT in made.attributes:
            raise BadXsd(f"<{name}> is mixed and has an attribute called {CONTENT}: rename it")

    def _content(self, component: Any, name: str) -> Group:
        """Return the content of a type. A group that does not occur exactly once is wrapped in
        another."""
        least, most = component.min_occurs, component.max_occurs
        group = self._group(component, name)
        if (least, most) == (1, 1):
            return group
        return Group("sequence", (Particle(group, least, most),) if most != 0 else ())

    def _group(self, component: Any, name: str) -> Group:
        inside = component if component.ref is None else component.ref
        parts: list[Particle] = []
        for part in inside:
            term: Element | Group
            if hasattr(part, "model"):
                term = self._group(part, name)
            elif getattr(part, "type", None) is not None:
                term = self.element(part)
            else:
                raise BadXsd(f"<{name}> may hold any element: name those it may hold")
            if part.max_occurs != 0:
                parts.append(Particle(term, part.min_occurs, part.max_occurs))
        return Group(inside.model, tuple(parts))


def _attributes(component: Any, name: str) -> Iterator[tuple[str, Attribute]]:
    for key, declared in component.attributes.items():
        if key is None:
            raise BadXsd(f"<{name}> may have any attribute: name those it may have")
        if declared.use != "prohibited":
            default = declared.default if declared.fixed is None else declared.fixed
            yield (
                declared.local_name,
                Attribute(
                    declared.local_name,
                    key,
                    simple_of(declared.type),
                    declared.use == "required",
                    default,
                    _doc(declared) or _doc(declared.type),
                ),
            )


def _doc(component: Any) -> str:
    annotation = component.annotation
    texts = annotation.documentation if annotation is not None else ()
    return " ".join(" ".join("".join(text.itertext()).split()) for text in texts)


def _occurs(group: Group) -> Occurs:
    """Return every element of a group by name, with its most occurrences."""
    insides = [_inside(part) for part in group.parts]
    if len(insides) == 1:
        return insides[0]
    found: Occurs = {}
    for inside in insides:
        for name, (element, _) in inside.items():
            if name not in found:
                mosts = [each[name][1] for each in insides if name in each]
                bounded = [most for most in mosts if most is not None]
                most = max(bounded) if group.model == "choice" and bounded else sum(bounded)
                found[name] = element, most if len(bounded) == len(mosts) else None
    return found


def _inside(part: Particle) -> Occurs:
    term = part.term
    own: Occurs = _occurs(term) if isinstance(term, Group) else {term.name: (term, 1)}
    return {name: (element, _times(most, part.most)) for name, (element, most) in own.items()}


def _times(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one * other
