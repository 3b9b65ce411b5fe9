"""The text of a reply, under an XSD, to the value it means, or to why it means none.

What fits as it stands is taken so. Else the text is read as it may have been meant, by the fewest
repairs, each noted; the document that comes of it is held to the whole schema. Law: where two
readings of the fewest repairs differ in value, there is none.
"""

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from sexplang.templates.parse import MAX_NODES, parse
from sexplang.templates.reading import Reading
from sexplang.templates.xsd.characters import forbidden, whole
from sexplang.templates.xsd.compiled import Schema, compiled
from sexplang.templates.xsd.fitting import INSTANCE, NIL, Fitting, Misfit
from sexplang.templates.xsd.likeness import nearest
from sexplang.templates.xsd.nesting import Ended, Nesting, nestings
from sexplang.templates.xsd.patterns import BadXsd
from sexplang.templates.xsd.tokens import End, Names, NotXml, Start, Text, Token, tokens
from sexplang.templates.xsd.values import Unvalued, Values
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.value import Value

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_CHARACTERS = 1_000_000
MOST_TOKENS = 3 * MAX_NODES
MOST_ASSERTED = 500
"""Elements of a reply whose schema has assertions: these may compare each with each."""

_MOST_ROOTS, _MOST_READINGS, _MOST_VIOLATIONS, _MOST_REPAIRS = 3, 12, 5, 30

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*\w*[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.M | re.S)
_THOUGHTS = re.compile(r"\s*<(think|thinking|reasoning|scratchpad)>.*?</\1>", re.S)


@frozen(eq=False)
class Found:
    """A value and what it took."""

    value: Value
    repairs: tuple[str, ...]
    after: int = 0


@define(eq=False)
class Failed(Exception):
    """Says what is wrong with a reply; `violations` where it is XML that does not fit."""

    reason: str
    violations: tuple[str, ...] = field(default=())


def read_xml(text: str, xsd: str) -> Reading:
    """What a reply says under the schema of a text."""
    try:
        schema = compiled(xsd)
    except BadXsd as why:
        return _refused(Failed(f"what it should fit is no schema ({why})"), "document")
    try:
        if len(text) > MOST_CHARACTERS:
            raise Failed(f"it has more than {MOST_CHARACTERS:,} characters")
        found = _as_it_stands(schema, text) or _as_meant(schema, text)
    except Failed as why:
        return _refused(why, schema.root.name)
    return Reading(found.value, _shortened(found.repairs))


def _shortened(repairs: tuple[str, ...]) -> tuple[str, ...]:
    kept = repairs[:_MOST_REPAIRS]
    rest = len(repairs) - len(kept)
    return (*kept, f"and {rest} more") if rest else kept


def _refused(why: Failed, root: str) -> Reading:
    details: dict[str, Value] = {"expectedType": f"xml <{root}>", "actualType": "text"}
    if why.violations:
        details |= {"actualType": "xml", "violations": why.violations}
        problem = f"The reply is XML, but it does not fit the schema: {why.reason}"
    else:
        details["parseError"] = why.reason
        problem = f"The reply is not the XML that is asked for: {why.reason}"
    again = f"Reply again with the whole document, from <{root}> to </{root}>, and nothing else."
    return Reading(None, (), f"{problem}. {again}", details)


# --- as it stands


def _as_it_stands(schema: Schema, text: str) -> Found | None:
    try:
        root = parse(Source("reply", text.strip())).root
    except Diagnostics as refused:
        if refused.diagnostics[0].code == "xml-too-large":
            raise Failed(refused.diagnostics[0].title) from None
        return None
    own = f"{{{INSTANCE}}}"
    names = {str(name) for element in root.iter() for name in element.attrib}
    if any(name.startswith(own) and name != NIL for name in names):
        return None
    try:
        return _valued(schema, root, [])
    except Failed:
        return None


def _valued(schema: Schema, document: "_Element", repairs: list[str]) -> Found:
    """The value of a document. Raises Failed."""
    if document.tag != schema.root.tag:
        raise Failed(f"it begins with <{document.tag}>")
    most = MOST_ASSERTED if schema.has_assertions else MAX_NODES
    if sum(1 for _ in islice(document.iter(), most + 1)) > most:
        raise Failed(f"it has more than {most:,} elements")
    violations = [
        f"{_place(error)}: {str(error.reason)[:200]}"
        for error in islice(schema.breaches(document), _MOST_VIOLATIONS)
    ]
    if violations:
        raise Failed("; ".join(violations), tuple(violations))
    try:
        value = Values(repairs.append).of(document, schema.root)
    except Unvalued as why:
        raise Failed(str(why), (str(why),)) from None
    return Found(value, tuple(dict.fromkeys(repairs)))


def _place(error: Any) -> str:
    return str(error.path or "the whole").rpartition(":")[2].lstrip("/")


# --- as it was meant


def _as_meant(schema: Schema, text: str) -> Found:
    notes: list[str] = []
    text = whole(text, notes.append)
    character = forbidden(text)
    if character is not None:
        raise Failed(f"it holds the character {character}, which XML does not have")
    names = Names(schema.names)
    thoughts = _THOUGHTS.match(text)
    if thoughts and names.known(thoughts[1]) is None:
        notes.append("left out the words around the XML")
        text = text[thoughts.end() :]
    inside = _fenced(text, schema.root.name)
    if inside is not None:
        fenced = [*notes, "took the XML out of its code fence"]
        try:
            return _read(schema, names, inside, fenced, is_whole=True)
        except Failed:
            pass
    return _read(schema, names, text, notes, is_whole=False)


def _fenced(text: str, root: str) -> str | None:
    """What stands in the only code fence that holds the root."""
    begins = re.compile(rf"<\s*(?:[\w.-]+:)?{re.escape(root)}\b", re.IGNORECASE)
    inside = [match[2] for match in _FENCE.finditer(text) if begins.search(match[2])]
    return inside[0] if len(inside) == 1 else None


def _read(schema: Schema, names: Names, text: str, notes: list[str], *, is_whole: bool) -> Found:
    try:
        found = list(islice(tokens(text, names), MOST_TOKENS + 1))
    except NotXml as why:
        raise Failed(str(why)) from None
    if len(found) > MOST_TOKENS:
        raise Failed("it has too many tags")
    root = schema.root.name
    begins = [at for at, each in enumerate(found) if isinstance(each, Start) and each.name == root]
    if not begins:
        raise Failed(f"there is no <{root}> in it")
    return _one(_Attempt(schema, names, found, notes, is_whole), begins)


@frozen(eq=False)
class _Attempt:
    schema: Schema
    names: Names
    tokens: list[Token]
    notes: list[str]
    is_whole: bool


def _one(attempt: _Attempt, begins: list[int]) -> Found:
    """The document that begins at one of the places. Raises Failed where several do."""
    first: Failed | None = None
    found: Found | None = None
    for at in begins[:_MOST_ROOTS]:
        if found is not None and at < found.after:
            continue
        try:
            another = _cheapest(attempt, at)
        except Failed as why:
            first = first or why
            continue
        if found is not None and not _same(found.value, another.value):
            raise Failed("it holds several documents, and one is asked for")
        if found is None:
            _words_alone(attempt, attempt.tokens[:at])
            found = another
        else:
            found = Found(found.value, found.repairs, another.after)
    if found is None:
        assert first is not None
        raise first
    _words_alone(attempt, attempt.tokens[found.after :])
    return found


def _words_alone(attempt: _Attempt, outside: list[Token]) -> None:
    """Raises Failed where a part of a document stands outside of it."""
    root = attempt.schema.root.name
    for token in outside:
        if not isinstance(token, Text) and token.name not in (None, root):
            raise Failed(f"<{token.name}> stands outside of <{root}>")


def _after_ends(tokens: list[Token], at: int) -> int:
    """Where the end tags end that stand behind a document, crossed with its own."""
    while at < len(tokens):
        token = tokens[at]
        if not isinstance(token, End) and not (isinstance(token, Text) and not token.text.strip()):
            break
        at += 1
    return at


def _cheapest(attempt: _Attempt, begin: int) -> Found:
    """The value of the fewest repairs. Raises Failed where there are two, or none."""
    nesting = nestings(attempt.schema.root, attempt.tokens, begin, whole=attempt.is_whole)
    if not nesting.ended:
        raise Failed(_stuck(nesting))
    best: Found | None = None
    first: Failed | None = None
    cost = 0
    for ended in nesting.ended[:_MOST_READINGS]:
        if best is not None and ended.way.cost > cost:
            break
        try:
            found = _reading(attempt, begin, ended)
        except Failed as why:
            first = first or why
            continue
        if best is None:
            best, cost = found, ended.way.cost
        elif not _same(best.value, found.value):
            raise Failed("its tags do not match, and it can be read in several ways")
    if best is None:
        assert first is not None
        raise first
    if nesting.crowded:
        raise Failed("too many of its tags do not match")
    return best


def _same(one: Value, other: Value) -> bool:
    # To Python, 1 is True.
    return repr(one) == repr(other)


def _reading(attempt: _Attempt, begin: int, ended: Ended) -> Found:
    within = attempt.tokens[begin : ended.after]
    outside = [*attempt.tokens[:begin], *attempt.tokens[ended.after :]]
    repairs = [*attempt.notes]
    if any(not isinstance(token, Text) or token.text.strip() for token in outside):
        repairs.append("left out the words around the XML")
    for token in (*within, *(each for each in outside if isinstance(each, Text) and not each.text)):
        repairs += token.notes if isinstance(token, Text) else ()
    repairs += ended.way.repairs()
    assert ended.way.done is not None
    try:
        document = Fitting(attempt.names, repairs.append).document(ended.way.done)
    except Misfit as why:
        raise Failed(str(why), (str(why),)) from None
    found = _valued(attempt.schema, document, repairs)
    return Found(found.value, found.repairs, _after_ends(attempt.tokens, ended.after))


def _stuck(nesting: Nesting) -> str:
    frame, token = nesting.inside, nesting.stuck
    assert frame is not None
    if token is None:
        return f"it ends before <{frame.name}> is closed"
    if isinstance(token, Text):
        return f"the text in <{frame.name}> cannot be told from its elements"
    shown = token.written if isinstance(token, End) else token.raw.strip("<>/").split()[0]
    allowed = [*frame.element.type.children, *frame.element.type.attributes]
    near = nearest(shown, allowed)
    hint = f" (did you mean <{near}>?)" if near else ""
    return f"<{frame.name}> has no element <{shown}>{hint}"

