"""Tags and text to the trees they may mean, by the fewest repairs first.

A search over the ways of reading a reply: at each token a way goes on as the schema has it, or at
a cost: an end tag is supplied, renamed or left out, a start tag was meant as an end tag or as
text. Ways that build the same are one. Law: what is cheapest alone is certain; the caller refuses
a reply when two trees of the same cost mean different things.
"""

from collections.abc import Iterator
from typing import Any

from attrs import evolve, frozen

from sexplang.templates.xsd.frames import Frame, Node, closed, opened, with_item
from sexplang.templates.xsd.likeness import alike
from sexplang.templates.xsd.shapes import Element
from sexplang.templates.xsd.tokens import End, Start, Text, Token

MOST_DEPTH = 64
WIDTH = 48
"""How many ways are followed at once."""

MARGIN = 4
"""How much more than the cheapest a way may cost; `MARGIN_ENDED` than one whose root is closed."""

MARGIN_ENDED = 2

# What each repair costs beside the certain ones: supplying an end tag costs one.
_STRAY = 1
_SLASH = 1
_OWN_ATTRIBUTE = 1
_TEXT = 1
_MISSPELT = 1
_AGAIN, _LEFT_OUT = 1, 2


@frozen(eq=False)
class Way:
    """One way to read the tokens so far: what is open, what it cost, what was repaired."""

    frame: Frame
    cost: int = 0
    notes: Any = None
    """Linked from the last to the first."""
    done: Node | None = None

    def noted(self, *words: str) -> "Way":
        notes = self.notes
        for each in words:
            notes = (notes, each)
        return evolve(self, notes=notes)

    def repairs(self) -> tuple[str, ...]:
        found: list[str] = []
        notes = self.notes
        while notes is not None:
            notes, words = notes
            found.append(words)
        return tuple(dict.fromkeys(reversed(found)))


@frozen(eq=False)
class Ended:
    """A way whose root is closed, and the token after it."""

    way: Way
    after: int


@frozen(eq=False)
class Nesting:
    """The ended ways, cheapest first; where none is, how far the tokens could be read.

    `crowded` where ways as good as the best were left aside."""

    ended: tuple[Ended, ...]
    crowded: bool = False
    stuck: Token | None = None
    inside: Frame | None = None


def nestings(root: Element, tokens: list[Token], begin: int, *, whole: bool) -> Nesting:
    """The ways to read the tokens from the root's start tag at `begin` on. `whole`: the author
    said where the document ends, so that nothing was to follow."""
    first = tokens[begin]
    assert isinstance(first, Start)
    ways = [_begun(root, first, slash) for slash in ((False, True) if first.slash else (False,))]
    ended = [Ended(way, begin + 1) for way in ways if way.done]
    ways = [way for way in ways if not way.done]
    crowded = False
    at = begin + 1
    while ways and at < len(tokens):
        token = tokens[at]
        before, at = ways, at + 1
        following = [new for way in ways for new in _steps(way, token)]
        ended += [Ended(way, at) for way in following if way.done]
        best = min((each.way.cost for each in ended), default=None)
        ways, dropped = _kept([way for way in following if not way.done], best)
        crowded = crowded or dropped
        if not ways and not ended:
            return Nesting((), crowded, token, min(before, key=_cost).frame)
    ended += [Ended(way, at) for each in ways for way in _finished(each, whole)]
    if not ended and ways:
        return Nesting((), crowded, None, min(ways, key=_cost).frame)
    return Nesting(tuple(sorted(ended, key=lambda each: each.way.cost)), crowded)


def _cost(way: Way) -> int:
    return way.cost


def _kept(ways: list[Way], ended: int | None) -> tuple[list[Way], bool]:
    """The ways that are followed, each once; and whether a good one had to be left aside."""
    once: dict[int, Way] = {}
    for way in sorted(ways, key=_cost):
        once.setdefault(way.frame.digest, way)
    found = list(once.values())
    if not found:
        return [], False
    most = found[0].cost + MARGIN if ended is None else min(ended + MARGIN_ENDED, found[0].cost + MARGIN)
    found = [way for way in found if way.cost <= most]
    crowded = len(found) > WIDTH and found[WIDTH].cost <= found[0].cost + 1
    return found[:WIDTH], crowded


def _begun(root: Element, start: Start, slash: bool) -> Way:
    frame = opened(root, start, None, slash)
    way = Way(frame).noted(*start.notes)
    return _popped(way, "") if start.closed and not slash else way


def _steps(way: Way, token: Token) -> Iterator[Way]:
    if isinstance(token, Text):
        yield from _text(way, token)
    elif isinstance(token, Start):
        yield from _start(way, token)
    else:
        yield from _end(way, token)


def _text(way: Way, token: Text) -> Iterator[Way]:
    frame = way.frame
    blank = not token.text.strip(" \t\n")
    if frame.holds_text:
        if not token.suspect:
            longer = with_item(frame, token.text, bare=token.bare)
            yield evolve(way, frame=longer).noted(*token.notes)
    elif blank:
        yield way
    else:
        stray = " ".join(token.text.split())
        words = f"left out the text `{stray[:60]}` in <{frame.name}>"
        astray = evolve(frame, stray=token.text, bare=token.bare or token.suspect)
        yield _paid(evolve(way, frame=astray), _STRAY, words)


def _paid(way: Way, cost: int, words: str) -> Way:
    return evolve(way, cost=way.cost + cost).noted(words)


# --- start tags


def _start(way: Way, token: Start) -> Iterator[Way]:
    frame = way.frame
    if token.name is None:
        if frame.holds_text and not token.suspect:
            yield _literal(way, token.raw)
        return
    yield from _pushed(way, token)
    if token.name == frame.name and not token.closed:
        if not token.attributes and not frame.ends_in_slash:
            yield _popped(_paid(way, _SLASH, f"took <{frame.name}> for </{frame.name}>"), "")
        yield from _again(way, token)


def _literal(way: Way, raw: str) -> Way:
    literal = evolve(way, frame=with_item(way.frame, raw, bare=True))
    return _paid(literal, _TEXT, f"took {_shown(raw)} as text")


def _again(way: Way, token: Start) -> Iterator[Way]:
    """The same start tag twice."""
    frame = way.frame
    own, given = frame.start.attributes, token.attributes
    if frame.is_untouched and (not own or not given or own == given):
        start = token if given else frame.start
        once = evolve(way, frame=evolve(frame, start=start))
        yield _paid(once, _AGAIN, f"took two <{frame.name}> for one")


def _pushed(way: Way, token: Start) -> Iterator[Way]:
    """The element inside what is open, or inside what is open further out."""
    outer: Way | None = way
    while outer is not None:
        frame = outer.frame
        child = frame.allowed(token.name or "")
        if child is not None and frame.depth < MOST_DEPTH:
            owed = _OWN_ATTRIBUTE if frame.is_attribute(child) else 0
            paid = evolve(outer, cost=outer.cost + owed).noted(*token.notes)
            if not token.closed or token.slash:
                yield evolve(paid, frame=opened(child, token, frame, token.closed))
            if token.closed:
                yield _popped(evolve(paid, frame=opened(child, token, frame, False)), "")
        outer = _supplied(outer)


def _supplied(way: Way) -> Way | None:
    """The way with an end tag for what is open. The root is not closed in the middle; nor is a
    text with a bare `<`, which may be what is left of the tag."""
    if way.frame.above is None or way.frame.bare:
        return None
    return evolve(_popped(way, f"supplied </{way.frame.name}>"), cost=way.cost + 1)


def _popped(way: Way, words: str) -> Way:
    frame = way.frame
    node = closed(frame, supplied=bool(words))
    way = way.noted(words) if words else way
    if frame.above is None:
        return evolve(way, done=node)
    return evolve(way, frame=with_item(frame.above, node))


# --- end tags


def _end(way: Way, token: End) -> Iterator[Way]:
    frame = way.frame
    if token.cut:
        yield from _cut(way, token)
        return
    if token.name == frame.name:
        if not frame.is_lost:
            yield _popped(way.noted(*token.notes), "")
        return
    if alike(token.written, frame.name) and not frame.is_lost:
        yield _popped(_paid(way, _MISSPELT, f"took </{token.written}> for </{frame.name}>"), "")
    yield from _outer_end(way, token)
    if frame.stray.strip():
        # The text before the tag is not to be lost with it.
        yield from _without_start(way, token)
        return
    if token.name is None and frame.holds_text and not token.suspect:
        yield _literal(way, token.raw)
    if token.name is not None and not frame.holds_text:
        cost = _AGAIN if token.name in frame.just_closed() else _LEFT_OUT
        yield _paid(way, cost, f"left out {_shown(token.raw)}")


def _outer_end(way: Way, token: End) -> Iterator[Way]:
    """The end of something further out: what is open inside it is closed first."""
    outer = _supplied(way)
    while outer is not None:
        name = outer.frame.name
        if token.name == name:
            yield _popped(outer.noted(*token.notes), "")
            return
        if token.name is None and alike(token.written, name):
            words = f"took </{token.written}> for </{name}>"
            yield _popped(_paid(outer, _MISSPELT, words), "")
        outer = _supplied(outer)


def _without_start(way: Way, token: End) -> Iterator[Way]:
    """`42</age>`: text that has lost its start tag."""
    frame = way.frame
    child = frame.allowed(token.name or "")
    if child is not None and child.type.simple is not None and not frame.bare:
        inner = with_item(opened(child, Start(child.name, ""), frame, False), frame.stray.strip())
        # The text that was left out is not.
        notes = way.notes[0] if way.notes else None
        yield _popped(evolve(way, frame=inner, notes=notes).noted(f"supplied <{child.name}>"), "")


def _shown(raw: str) -> str:
    return raw if len(raw) <= 40 else f"{raw[:37]}…"


# --- where the text ends


def _cut(way: Way, token: End) -> Iterator[Way]:
    """The text ends inside an end tag, which says what was about to be closed."""
    outer: Way | None = way
    while outer is not None:
        name = outer.frame.name
        if name.startswith(token.written.rpartition(":")[2]):
            cut = evolve(outer, frame=evolve(outer.frame, is_ending=True))
            yield _paid(cut, 0, f"completed the tag </{name}>")
        outer = _supplied(outer)


def _finished(way: Way, whole: bool) -> Iterator[Way]:
    """The way with all that is open closed, where nothing more could have followed."""
    while not way.done:
        frame = way.frame
        is_complete = frame.is_ending or frame.is_complete or (whole and not frame.holds_text)
        if frame.is_lost or not is_complete:
            return
        words = "" if frame.is_ending else f"supplied </{frame.name}>"
        way = evolve(_popped(way, words), cost=way.cost + (0 if frame.is_ending else 1))
    yield way
