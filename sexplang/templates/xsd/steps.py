"""A way and the next token to the ways that go on from there.

What fits as it stands costs nothing. Each repair has a price: an end tag is supplied, misspelt or
too many, a start tag stands for an end tag or twice, what looks like a tag is text.
"""

from collections.abc import Iterator

from attrs import evolve

from sexplang.templates.xsd.frames import opened, with_item
from sexplang.templates.xsd.likeness import alike
from sexplang.templates.xsd.tokens import End, Start, Text, Token
from sexplang.templates.xsd.ways import Way

MOST_DEPTH = 64

MARGIN = 4
"""How much more than the cheapest a way may cost, at most."""

# Supplying an end tag costs one.
_STRAY = 1
_SLASH = 1
_OWN_ATTRIBUTE = 1
_TEXT = 1
_MISSPELT = 1
_AGAIN, _LEFT_OUT = 1, 2


def steps(way: Way, token: Token) -> Iterator[Way]:
    """The ways on; none where the token stands where nothing like it may."""
    if isinstance(token, Text):
        return _text(way, token)
    return _start(way, token) if isinstance(token, Start) else _end(way, token)


def _text(way: Way, token: Text) -> Iterator[Way]:
    frame = way.frame
    if frame.holds_text:
        if not token.suspect:
            longer = with_item(frame, token.text, bare=token.bare)
            yield way.at(longer).noted(*token.notes)
    elif not token.text.strip(" \t\n"):
        yield way
    else:
        stray = " ".join(token.text.split())
        words = f"left out the text `{stray[:60]}` in <{frame.name}>"
        astray = evolve(frame, stray=token.text, bare=token.bare or token.suspect)
        yield way.at(astray).paid(_STRAY, words)


# --- start tags


def _start(way: Way, token: Start) -> Iterator[Way]:
    frame = way.frame
    if token.name is None:
        if frame.holds_text and not token.suspect:
            yield _as_text(way, token.raw)
        return
    yield from _pushed(way, token)
    if token.name == frame.name and not token.closed:
        if not token.attributes and not frame.ends_in_slash:
            yield from way.paid(_SLASH, f"took <{frame.name}> for </{frame.name}>").ended()
        yield from _again(way, token)


def _as_text(way: Way, raw: str) -> Way:
    return way.at(with_item(way.frame, raw, bare=True)).paid(_TEXT, f"took {_shown(raw)} as text")


def _pushed(way: Way, token: Start) -> Iterator[Way]:
    """The element inside what is open, or inside what is open further out."""
    outer: Way | None = way
    most: int | None = None
    while outer is not None and (most is None or outer.cost <= most):
        frame = outer.frame
        child = frame.allowed(token.name or "")
        if child is not None and frame.depth < MOST_DEPTH:
            most = most or outer.cost + MARGIN
            owed = _OWN_ATTRIBUTE if frame.is_attribute(child) else 0
            paid = Way(frame, outer.cost + owed, outer.notes).noted(*token.notes)
            if not token.closed or token.slash:
                yield paid.at(opened(child, token, frame, token.closed))
            if token.closed:
                yield from paid.at(opened(child, token, frame, False)).ended()
        outer = outer.supplied()


def _again(way: Way, token: Start) -> Iterator[Way]:
    """The same start tag twice."""
    frame = way.frame
    own, given = frame.start.attributes, token.attributes
    if frame.is_untouched and (not own or not given or own == given):
        once = evolve(frame, start=token if given else frame.start)
        yield way.at(once).paid(_AGAIN, f"took two <{frame.name}> for one")


# --- end tags


def _end(way: Way, token: End) -> Iterator[Way]:
    frame = way.frame
    if token.cut:
        yield from _cut(way, token)
        return
    if token.name == frame.name:
        yield from way.noted(*token.notes).ended()
        return
    if alike(token.written, frame.name):
        yield from way.paid(_MISSPELT, f"took </{token.written}> for </{frame.name}>").ended()
    yield from _outer_end(way, token)
    if frame.stray.strip():
        # The text before the tag is not to be lost with it.
        yield from _without_start(way, token)
    elif frame.holds_text:
        if token.name is None and not token.suspect:
            yield _as_text(way, token.raw)
    elif token.name is not None:
        cost = _AGAIN if token.name in frame.just_closed() else _LEFT_OUT
        yield way.paid(cost, f"left out {_shown(token.raw)}")


def _outer_end(way: Way, token: End) -> Iterator[Way]:
    """The end of something further out: what is open inside it is closed first."""
    outer = way.supplied()
    while outer is not None:
        name = outer.frame.name
        if token.name == name:
            yield from outer.noted(*token.notes).ended()
            return
        if token.name is None and alike(token.written, name):
            yield from outer.paid(_MISSPELT, f"took </{token.written}> for </{name}>").ended()
        outer = outer.supplied()


def _without_start(way: Way, token: End) -> Iterator[Way]:
    """`42</age>`: text that has lost its start tag."""
    frame = way.frame
    child = frame.allowed(token.name or "")
    if child is not None and child.type.simple is not None and not frame.bare:
        said = frame.stray
        white = said[: len(said) - len(said.lstrip())]
        if white and "\n" not in white and child.type.simple.keeps_white:
            return  # it may be of the text or not
        inner = with_item(opened(child, Start(child.name, ""), frame, False), said.lstrip())
        # The text that was left out is not, after all.
        notes = way.notes[0] if way.notes else None
        words = [f"supplied <{child.name}>"]
        if white and child.type.simple.keeps_white:
            words.append(f"left out the white space around the text of <{child.name}>")
        yield from Way(inner, way.cost, notes).noted(*words).ended()


def _cut(way: Way, token: End) -> Iterator[Way]:
    """The text ends inside an end tag, which says what was about to be closed: the first that
    it can be, from the inside."""
    outer: Way | None = way
    while outer is not None:
        name = outer.frame.name
        if name.startswith(token.written.rpartition(":")[2]):
            ending = evolve(outer.frame, is_ending=True)
            yield outer.at(ending).noted(f"completed the tag </{name}>")
            return
        outer = outer.supplied()


def _shown(raw: str) -> str:
    return raw if len(raw) <= 40 else f"{raw[:37]}…"
