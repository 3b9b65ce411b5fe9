"""The reading of a reply in XML: its text becomes a value by an XSD, or a problem.

A document that fits is taken as it stands. Else the fence and the surrounding words are left out,
and certain repairs are made.
"""

import re

from sexplang.schemas.checker import TooMuch
from sexplang.templates.reply.reply import Reading, find_fences
from sexplang.templates.xml.xml_parser import MAX_BYTES, parse
from sexplang.templates.xsd.characters import forbidden, whole
from sexplang.templates.xsd.documents import (
    INSTANCE,
    NIL,
    RepairedValue,
    ReplyFailure,
    read_document,
)
from sexplang.templates.xsd.repairs import MOST_MARKS, Repairs, names_of
from sexplang.templates.xsd.xsd_patterns import BadXsd, share_account
from sexplang.templates.xsd.xsd_schema import Schema, compile_xsd
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.texts.thoughts import ahead, is_open
from sexplang.terms.values.value import Value

_MOST_REPAIRS = 30
_MARK = re.compile(r"<!--|<\?(?!xml\s)")
_DECLARES = re.compile(r"<!DOCTYPE[^<>\[]*+[<\[]", re.IGNORECASE)


def read_xml(text: str, xsd: str) -> Reading:
    """Read a reply by the schema in a text."""
    try:
        schema = compile_xsd(xsd)
    except BadXsd as why:
        return _refuse(ReplyFailure(f"what it should fit is no schema ({why})"), "document")
    try:
        with share_account():
            found = _as_it_stands(schema, text) or _repair(schema, text)
    except ReplyFailure as why:
        return _refuse(why, schema.root.name)
    except TooMuch as why:
        return _refuse(ReplyFailure(str(why), (str(why),)), schema.root.name)
    return Reading(found.value, _shorten(found.repairs))


def _as_it_stands(schema: Schema, text: str) -> RepairedValue | None:
    if len(text) > MAX_BYTES or text.count("<") + text.count("&") > MOST_MARKS:
        most = f"{MAX_BYTES:,} bytes, and {MOST_MARKS:,} of < and &"
        raise ReplyFailure(f"it is more XML than a reply may hold: the most is {most}")
    if _MARK.search(text):
        return None  # it may be a part of a text
    try:
        root = parse(Source("reply", text.strip())).root
    except Diagnostics as refused:
        if refused.diagnostics[0].code == "xml-too-large":
            hint = refused.diagnostics[0].hint
            raise ReplyFailure(f"it is more XML than a reply may hold: {hint}") from None
        return None
    # `xsi:type` would bend the schema.
    names = {str(name) for element in root.iter() for name in element.attrib}
    if any(name.startswith(f"{{{INSTANCE}}}") and name != NIL for name in names):
        return None
    try:
        return read_document(schema, root, [])
    except ReplyFailure:
        return None


def _repair(schema: Schema, text: str) -> RepairedValue:
    """Return the value of a text that does not fit as it stands. Raises ReplyFailure."""
    repairs: list[str] = []
    text = whole(text, repairs.append)
    character = forbidden(text)
    if character is not None:
        raise ReplyFailure(f"it holds the character {character}, which XML does not have")
    names = names_of(schema.names)
    root = schema.root.name
    tag, begin = ahead(text)
    begin = begin if names.find(tag) is None else 0
    first = names.within(text, begin, len(text))
    if first is None:
        raise ReplyFailure(f"there is no <{root}> in it")
    at = first.start()
    fence = next((span for span in find_fences(text) if span[0] <= at < span[1]), None)
    start, end = fence or (begin, len(text))
    reading = Repairs(schema, names, text, end, repairs.append)
    document, after = reading.document(at)
    another = names.within(text, after, len(text))
    if another is not None:
        raise reading.refusal(another.start(), f"a tag of the schema stands behind </{root}>")
    _hold_words((text[begin:at], text[after:]), text[at:after], root)
    if fence is not None:
        repairs.append("took the XML out of its code fence")
    if begin or text[start:at].strip() or text[after:end].strip():
        repairs.append("left out the words around the XML")
    return read_document(schema, document, repairs)


def _hold_words(around: tuple[str, str], document: str, root: str) -> None:
    """Raise ReplyFailure if the words around a document may change its meaning."""
    before, after = around
    thought = is_open(before) or is_open(after)
    if thought:
        raise ReplyFailure(
            f"<{root}> may stand in a part for thinking: {thought} has no other half"
        )
    if _DECLARES.search(before):
        raise ReplyFailure("it declares a document type, which is not taken")
    if "\\" in document and ('"' in before or "'" in before):
        raise ReplyFailure(
            f"<{root}> may stand in a string, and a \\ there may be an escape or not"
        )
    if before.rstrip().endswith("~~"):
        raise ReplyFailure(f"<{root}> may be struck out")
    if "<!--" in before or "<![CDATA[" in before:
        raise ReplyFailure(f"<{root}> may stand in a comment or in CDATA")


def _shorten(repairs: tuple[str, ...]) -> tuple[str, ...]:
    kept = repairs[:_MOST_REPAIRS]
    rest = len(repairs) - len(kept)
    return (*kept, f"and {rest} more") if rest else kept


def _refuse(why: ReplyFailure, root: str) -> Reading:
    details: dict[str, Value] = {"expectedType": f"xml <{root}>", "actualType": "text"}
    if why.violations:
        details |= {"actualType": "xml", "violations": why.violations}
        problem = f"The reply is XML, but it does not fit the schema: {why.reason}"
    else:
        details["parseError"] = why.reason
        problem = f"The reply is not the XML that is asked for: {why.reason}"
    again = f"Reply again with the whole document, from <{root}> to </{root}>, and nothing else."
    return Reading(None, (), f"{problem.rstrip('.')}. {again}", details)
