"""A way and the next token to the ways that go on from there.

What fits as it stands costs nothing. Each repair has a price: an end tag is supplied, misspelt or
too many, a start tag stands for an end tag or twice, what looks like a tag is text.
"""

import re
from collections.abc import Iterator

from sexplang.templates.xsd.frames import Frame, Mark, Node, opened, with_end, with_item
from sexplang.templates.xsd.likeness import alike
from sexplang.templates.xsd.lost import lost_start, without_tags
from sexplang.templates.xsd.notation import elides, is_escaped, within
from sexplang.templates.xsd.tokens import End, Start, Text, Token, left_out
from sexplang.templates.xsd.ways import Way
from sexplang.terms.node import evolve

MOST_DEPTH = 64

MARGIN = 4
"""How much more than the cheapest a way may cost, at most."""

# Supplying an end tag costs one.
_STRAY = 1
_SLASH = 1
_OWN_ATTRIBUTE = 1
_TEXT = 1
_MISSPELT, _MISNAMED = 1, 2
_AGAIN, _LEFT_OUT = 1, 2
# The first tag of the schema in a text, and each after it; the one that closes another is free.
_QUOTED, _QUOTED_TOO = 2, 1

_HALF_TAG = re.compile(r"[<=>»]|^\s*[\w.:-]+\(")
"""What prose between elements has not, and a tag has that lost its beginning."""


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
            for mark in token.marks:
                longer = with_item(longer, Mark(mark))
            if token.parted:
                doubt = f"`{token.marks[0][:40]}` in <{frame.name}> parts its text in two"
                longer = evolve(longer, doubt=longer.doubt or doubt)
            yield way.at(longer).noted(*token.notes)
        return
    doubt = _doubt(frame, token)
    if doubt:
        frame = evolve(frame, doubt=doubt)
    way = way.at(frame).noted(*map(left_out, token.marks))
    if not token.text.strip(" \t\n"):
        yield way
    elif not token.suspect:
        stray = " ".join(token.text.split())
        words = f"left out the text `{stray[:60]}` in <{frame.name}>"
        yield way.at(evolve(frame, stray=token.text, bare=token.bare)).paid(_STRAY, words)
        yield from [each.paid(_STRAY, "supplied its tags") for each in without_tags(way, token)]
        yield from _reopened(way, token)


def _doubt(frame: Frame, token: Text) -> str:
    """Why what stands between elements is not to be left out; empty where it may."""
    written = within(token.text, frame.element.type.children)
    if written:
        return f"`{written}` in <{frame.name}> may be an element that is not written as a tag"
    if _HALF_TAG.search(token.text):
        cut = " ".join(token.text[max(0, token.text.find("<")) :].split())[:60]
        return f"`{cut}` in <{frame.name}> may be left of a tag"
    for said in (token.text, *[mark.strip("<!-?>") for mark in token.marks]):
        if elides(said):
            short = " ".join(said.split())[:60]
            return f"`{short}` in <{frame.name}> may stand for elements that are left out"
    if is_escaped(token.text):
        return (
            f"`{token.text.strip()}` in <{frame.name}> is an escape of JSON, and there may be more"
        )
    return ""


def _reopened(way: Way, token: Text) -> Iterator[Way]:
    """`<note/>text</note>`: a start tag with a `/` too many."""
    frame = way.frame
    before, last = frame.items or (None, None)
    if not isinstance(last, Node) or not last.start.closed or last.items is not None:
        return
    if last.element.type.holds_text and not token.suspect:
        outer = evolve(frame, items=before, built=hash((frame.built, "reopened")))
        inner = opened(last.element, last.start, outer, last.slash)
        longer = with_item(inner, token.text, bare=token.bare)
        yield way.at(longer).paid(_SLASH, f"took <{last.name}/> for <{last.name}>")


# --- start tags


def _start(way: Way, token: Start) -> Iterator[Way]:
    frame = way.frame
    if token.name is None:
        if frame.holds_text and not token.suspect:
            yield _as_text(way, token.raw)
        return
    yield from _pushed(way, token)
    if frame.holds_text:
        yield _quoted(way, token)
    if token.name == frame.name and not token.recurs:
        if not token.attributes and not (frame.ends_in_slash and not token.closed):
            words = f"took <{frame.name}{'/' * token.closed}> for </{frame.name}>"
            yield from way.at(frame.in_doubt_of_end()).paid(_SLASH, words).ended()
        if not token.closed:
            yield from _again(way, token)


def _as_text(way: Way, raw: str) -> Way:
    return way.at(with_item(way.frame, raw, bare=True)).paid(_TEXT, f"took {_shown(raw)} as text")


def _quoted(way: Way, token: Start | End) -> Way:
    """A tag of the schema as a part of a text, which may be what was meant."""
    frame, name = way.frame, token.name or ""
    quoted, cost = frame.quoted, _QUOTED_TOO if frame.doubt else _QUOTED
    if isinstance(token, End) and quoted[-1:] == (name,):
        quoted, cost = quoted[:-1], 0
    elif isinstance(token, Start) and not token.closed:
        quoted = (*quoted, name)
    doubt = f"a tag in <{frame.name}> may be meant as text (then write < as &lt;) or not"
    longer = evolve(with_item(frame, token.raw, bare=True), quoted=quoted, doubt=doubt)
    return way.at(longer).paid(cost, f"took {_shown(token.raw)} as text")


def _pushed(way: Way, token: Start) -> Iterator[Way]:
    """The element inside what is open, or inside what is open further out."""
    outer: Way | None = way if way.frame.is_allowed(token.name or "") else None
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
        if frame.holds_text:
            once = evolve(
                once, doubt=f"the second <{frame.name}> may be the first word of its text"
            )
        yield way.at(once).paid(_AGAIN, f"took two <{frame.name}> for one")


# --- end tags


def _end(way: Way, token: End) -> Iterator[Way]:
    frame = way.frame
    if token.cut:
        yield from _cut(way, token)
        return
    if token.name is not None and frame.quoted[-1:] == (token.name,):
        yield _quoted(way, token)
    if token.name == frame.name:
        yield from way.noted(*token.notes).ended()
        return
    if alike(token.written, frame.name):
        closing = way if token.name is None else way.at(frame.in_doubt_of_end())
        yield from closing.paid(_MISSPELT, f"took </{token.written}> for </{frame.name}>").ended()
    yield from _outer_end(way, token)
    if frame.stray.strip():
        # The text before the tag is not to be lost with it.
        yield from _without_start(way, token)
    elif frame.holds_text:
        yield from _end_in_text(way, token)
    elif token.name is not None and not token.recurs:
        yield from _too_many(way, token)


def _end_in_text(way: Way, token: End) -> Iterator[Way]:
    """Of something that is not open; or of the text, under a wrong name."""
    frame = way.frame
    if token.name is not None:
        if frame.quoted[-1:] != (token.name,):
            yield _quoted(way, token)
            words = f"took {_shown(token.raw)} for </{frame.name}>"
            yield from way.at(frame.in_doubt_of_end()).paid(_MISNAMED, words).ended()
    elif not token.suspect:
        yield _as_text(way, token.raw)
        doubt = f"{_shown(token.raw)} may be a part of the text of <{frame.name}>, or its end"
        words = f"took {_shown(token.raw)} for </{frame.name}>"
        yield from way.at(evolve(frame, doubt=doubt)).paid(_MISNAMED, words).ended()


def _too_many(way: Way, token: End) -> Iterator[Way]:
    """An end tag of what has just ended, or of nothing; or of something empty that has lost its
    start tag. Where elements stand in themselves, it is one of them that has lost it."""
    frame, name = way.frame, token.name or ""
    cost = _LEFT_OUT
    if frame.items is not None and name in frame.just_closed():
        cost = _AGAIN
        before, last = frame.items
        last = with_end(last, name)
        if token.lead and last.name == name and last.start.closed:
            last = evolve(last, doubt=f"<{name}/> may have a / too many")
        elif last.name == name and last.may_go_on:
            last = evolve(last, doubt=f"{_shown(token.raw)} may be the last word in <{name}>")
        frame = evolve(frame, items=(before, last), built=hash((frame.built, name)))
    yield way.at(frame).paid(cost, f"left out {_shown(token.raw)}")
    yield from _empty(way, token, cost)


def _empty(way: Way, token: End, cost: int) -> Iterator[Way]:
    """`</note>`: a text of white space, or none, that has lost its start tag."""
    frame, white = way.frame, token.lead
    child = frame.allowed(token.name or "")
    if child is not None and child.type.simple is not None and not frame.is_attribute(child):
        empty = lost_start(child, frame)
        if white and child.type.simple.keeps_white and not _is_layout(frame, white):
            doubt = f"the white space before {token.raw} may be the text of <{child.name}>"
            empty = evolve(empty, doubt=doubt)
        if not empty.is_to_say_more:
            yield from way.at(empty).paid(cost, f"supplied <{child.name}>").ended()


def _outer_end(way: Way, token: End) -> Iterator[Way]:
    """The end of something further out: what is open inside it is closed first."""
    outer = way.supplied() if way.frame.is_inside(token.name, token.written) else None
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
        said = frame.stray.lstrip()
        white = frame.stray[: len(frame.stray) - len(said)]
        last = None if frame.items is None else frame.items[1]
        is_again = isinstance(last, Node) and last.name == child.name and not last.start.closed
        if is_again and "\n" not in white:
            return  # the end tag before it may be of the text
        counts = white != "" and child.type.simple.keeps_white
        if counts and ("\n" in said or not _is_layout(frame, white)):
            return  # it may be of the text or not
        inner = with_item(lost_start(child, frame), said)
        # The text that was left out is not, after all.
        notes = way.notes[0] if way.notes else None
        words = [f"supplied <{child.name}>"]
        if counts:
            words.append(f"left out the white space around the text of <{child.name}>")
        yield from Way(inner, way.cost, notes).noted(*words).ended()


def _is_layout(frame: Frame, white: str) -> bool:
    """Whether white space is what the element before it in a frame stands behind, too."""
    last = None if frame.items is None else frame.items[1]
    return isinstance(last, Node) and white.count("\n") == 1 and white == last.start.lead


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
