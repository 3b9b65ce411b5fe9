"""An element whose start tag is not there, and with it the attributes that it may have had."""

from sexplang.templates.xsd.frames import Frame, closed, opened, with_item
from sexplang.templates.xsd.shapes import Element
from sexplang.templates.xsd.simple import Simple
from sexplang.templates.xsd.tokens import Start, Text
from sexplang.templates.xsd.ways import Way
from sexplang.terms.node import evolve

_SAMPLES = ("1", "true", "a", "en", "2026-01-31", "2026-01-31T09:30:00", "09:30:00", "P1D", "--01")


def lost_start(element: Element, above: Frame) -> Frame:
    """What is open when the start tag is supplied. Where it may have had attributes, no reading
    with it is certain; those that it must have are only there so that the whole may fit."""
    attributes = element.type.attributes.values()
    needed = [(each.name, _sample(each.simple)) for each in attributes if each.required]
    frame = opened(element, Start(element.name, "", tuple(needed)), above, False)
    if not attributes:
        return frame
    doubt = f"the start tag of <{element.name}> is lost, and maybe attributes with it"
    return evolve(frame, doubt=doubt)


def without_tags(way: Way, token: Text) -> list[Way]:
    """What stands between elements as an element that has lost both its tags, where that would be
    a whole one: with no attribute that it must have."""
    frame, said = way.frame, token.text.strip()
    doubt = f"`{' '.join(said.split())[:60]}` in <{frame.name}> may be an element without its tags"
    found: list[Way] = []
    if any(character.isalnum() for character in said):
        for child in frame.element.type.children.values():
            simple, lost = child.element.type.simple, lost_start(child.element, frame)
            fits = child.element.type.mixed if simple is None else simple.fits(said)
            if fits and not lost.start.attributes:
                inner = evolve(with_item(lost, said), doubt=doubt)
                node = closed(inner, supplied=False)
                found.append(way.at(with_item(frame, node)))
    return found


def _sample(simple: Simple) -> str:
    """A text that fits, if one is known."""
    samples = (*simple.choices, *_SAMPLES)
    return next((each for each in samples if simple.fits(each)), samples[0])
