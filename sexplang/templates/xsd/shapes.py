"""The components of an XSD to shapes: what each element holds, and how often.

Only what has a plain value is taken: every name is declared, and names one thing in its element.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from sexplang.templates.xsd.simple import Simple, simple_of
from sexplang.templates.xsd.xsd_patterns import BadXsd
from sexplang.terms.classes.node import define, field, frozen

TEXT, CONTENT = "text", "content"
"""The keys of an element's own text beside its attributes, and of content that is mixed."""


@frozen(eq=False)
class Attribute:
    """`tag` is the name with its namespace, as lxml writes it."""

    name: str
    tag: str
    simple: Simple
    required: bool
    default: str | None
    doc: str


@define(eq=False)
class Type:
    """What an element holds: text of a simple type, or elements, maybe mixed with text."""

    attributes: dict[str, Attribute]
    simple: Simple | None = None
    mixed: bool = False
    content: "Group | None" = None
    children: dict[str, "Child"] = field(factory=dict)


@frozen(eq=False)
class Element:
    """A declaration. `default` is the value of an element that is empty."""

    name: str
    tag: str
    type: Type
    nillable: bool
    default: str | None
    doc: str


@frozen(eq=False)
class Group:
    """`sequence`, `choice` or `all`."""

    model: str
    parts: tuple["Particle", ...]


@frozen(eq=False)
class Particle:
    """`most` is None where there is no bound."""

    term: "Element | Group"
    least: int
    most: int | None


@frozen(eq=False)
class Child:
    """An element inside another, and how often at most it may stand there in all."""

    element: Element
    most: int | None

    @property
    def repeats(self) -> bool:
        return self.most is None or self.most > 1


_ANY_TYPE = "{http://www.w3.org/2001/XMLSchema}anyType"

Occurs: TypeAlias = dict[str, tuple[Element, int | None]]


@frozen(eq=False)
class Shapes:
    """Makes the shapes of one schema; types that hold themselves are made once."""

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
        """What a type holds; a group that may stand there otherwise than once is in another."""
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
    """Every element of a group by its name, and how often at most it stands there."""
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
