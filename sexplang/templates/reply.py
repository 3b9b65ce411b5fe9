"""The text of a reply, under its output format, to a value, the repairs it took, or a problem.

Repairs go from the harmless to the bold: nothing, the code fence, the words around, json_repair;
each is recorded, and the type is checked after all of them.
"""

from collections.abc import Iterator
from typing import Any

from sexplang.templates.fences import fenced
from sexplang.templates.jsontext import (
    MAX_DEPTH,
    NotJson,
    begins,
    depth,
    finite,
    strict,
    whole_characters,
)
from sexplang.templates.reading import Reading
from sexplang.templates.schema import misfit, opening, resolved, type_name
from sexplang.terms.template import OutputFormat
from sexplang.terms.text import value_of
from sexplang.terms.value import Value

# json_repair is Python: a second for this much.
_MOST_TO_REPAIR = 200_000
_MOST_TRIES = 20


def read_reply(text: str, output_format: OutputFormat) -> Reading:
    """What `text` says. A text format takes it as it is."""
    if output_format.type == "text":
        return Reading(text)
    if output_format.type == "xml":
        from sexplang.templates.xsd import read_xml

        return read_xml(text, str(output_format.schema))
    schema = resolved(output_format.schema)
    repairs: tuple[str, ...] = ()
    try:
        data, repairs = _data(text, opening(schema))
        data, halved = whole_characters(data)
    except NotJson as error:
        return _unparsed(str(error), schema)
    if halved:
        repairs += ("replaced half characters (lone surrogates)",)
    wrong = misfit(data, schema)
    if wrong is None:
        return Reading(value_of(data), repairs)
    details: dict[str, Value] = {"expectedType": wrong.expected, "actualType": wrong.actual}
    if wrong.violations:
        details["violations"] = wrong.violations
    problem = f"The reply is JSON, but {wrong.sentence}. Reply again with JSON that fits, alone."
    return Reading(value_of(data), repairs, problem, details)


def _unparsed(reason: str, schema: str | dict[str, Any] | None) -> Reading:
    expected = schema.get("type") if isinstance(schema, dict) else schema
    details: dict[str, Value] = {
        "parseError": reason,
        "expectedType": expected if isinstance(expected, str) else "json",
        "actualType": "text",
    }
    problem = f"The reply is not JSON: {reason}. Reply again with the JSON alone, without a word."
    return Reading(None, (), problem, details)


def _data(text: str, brackets: str) -> tuple[Any, tuple[str, ...]]:
    """Raises NotJson with the reason that the text as it came gives."""
    try:
        return strict(text), ()
    except NotJson as error:
        if error.deep:
            raise
        first = error
    inside = _unfenced(text)
    repairs: tuple[str, ...] = ()
    if inside is not None:
        repairs = ("took the JSON out of its code fence",)
        try:
            return strict(inside), repairs
        except NotJson:
            text = inside
    found = list(_among_words(text, brackets))
    if len(found) == 1:
        return found[0], (*repairs, "left out the words around the JSON")
    if len(found) > 1:
        raise NotJson("it holds several JSON values, and one is asked for")
    data, more = _mended(text, first)
    return data, repairs + more


def _unfenced(text: str) -> str | None:
    """What stands in the only code fence, or in the first of several that is JSON."""
    inside = list(fenced(text))
    for candidate in inside[:_MOST_TRIES]:
        try:
            strict(candidate)
        except NotJson:
            continue
        return candidate
    return inside[0] if len(inside) == 1 else None


def _among_words(text: str, brackets: str) -> Iterator[Any]:
    """The whole JSON values of the kind that is wanted, among words. None where brackets stand
    around that are not JSON: then nobody knows what was meant."""
    found: list[Any] = []
    at = 0
    for _ in range(_MOST_TRIES):
        starts = [start for start in (text.find(b, at) for b in brackets) if start >= 0]
        if not starts:
            yield from found
            return
        try:
            data, at = begins(text, min(starts))
        except NotJson:
            return
        found.append(data)


def _side_by_side(said: list[str]) -> bool:
    """Whether json_repair made a list of values that stood next to each other."""
    early = any(text.startswith("The parser returned early") for text in said)
    return early and not any(text.startswith("There were no more elements") for text in said)


def _mended(text: str, first: NotJson) -> tuple[Any, tuple[str, ...]]:
    if len(text) > _MOST_TO_REPAIR or depth(text, words_too=True) > MAX_DEPTH:
        raise first
    import json_repair

    try:
        data, log = json_repair.repair_json(text, return_objects=True, logging=True)
        data = finite(data)
    except (ValueError, RecursionError, NotJson):
        raise first from None
    start = text.strip()[:1]
    if data == "" or (not isinstance(data, (dict, list)) and start != '"'):
        raise first
    said = [entry["text"] for entry in log if "text" in entry]
    if isinstance(data, list) and _side_by_side(said):
        raise first
    what = "; ".join(dict.fromkeys(said)) or f"completed an unfinished {type_name(data)}"
    return data, (f"repaired the JSON: {what[:500]}",)
