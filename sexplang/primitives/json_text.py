"""The primitives that read and write JSON text.

NaN, infinities and functions are refused on output too.
"""

import re

from sexplang.primitives.numbers import number_of
from sexplang.primitives.sizes import STRING_POINTS, too_large, too_long
from sexplang.primitives.strings import content
from sexplang.terms.json.json_reader import NotJson, read
from sexplang.terms.json.json_writer import write
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.text import number, quote, text_size
from sexplang.terms.values.value import Fault, Value


def parse(value: Value) -> Value:
    text = content("json-parse", value)
    try:
        return read(text, _number)
    except NotJson as wrong:
        raise _bad(text, wrong) from None


def _number(text: str, match: re.Match[str]) -> Value:
    return number_of("json-parse", text, match)


def _bad(text: str, wrong: NotJson) -> Fault:
    at = wrong.at
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    near = text[at : at + 20]
    return Fault(
        "bad-json",
        f"`json-parse`, line {line}, column {column}: {wrong}; "
        + (f"there is {abbreviate(near)}" if near else "the text ends"),
        hint="`(attempt (json-parse s))` goes on after a text that is not JSON",
        details={"line": line, "column": column},
    )


def to_json(value: Value) -> Value:
    if text_size(value, STRING_POINTS) > STRING_POINTS:
        raise too_long("json-string", STRING_POINTS)
    text = write(value, _unfit, quote=quote, label=_label, comma=",", most=STRING_POINTS)
    if len(text) > STRING_POINTS:
        raise too_long("json-string", len(text))
    return text


def _label(key: str) -> str:
    return f"{quote(key)}:"


def _unfit(value: Value) -> Fault:
    if isinstance(value, int):  # from outside, above the limit of CPython's printing
        return too_large("json-string")
    if isinstance(value, float):
        return _not_json(number(value), "JSON has no such number")
    return _not_json(abbreviate(value), "send what it gives instead")


def _not_json(what: str, hint: str) -> Fault:
    return Fault("not-json", f"`json-string`: {what} cannot be written as JSON", hint=hint)
