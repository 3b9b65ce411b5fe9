"""The primitives that read and write JSON text.

NaN, infinities and functions are refused on output too.
"""

import re
from functools import cache

from sexplang.primitives.numbers import number_of
from sexplang.primitives.sizes import STRING_POINTS, out_of_range, too_large, too_long, whole
from sexplang.primitives.strings import content
from sexplang.terms.json.json_reader import NotJson, read
from sexplang.terms.json.json_writer import write
from sexplang.terms.quota import work
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


def to_json(value: Value, indent: Value = None) -> Value:
    """Return the JSON text of a value, with an indent over several lines."""
    if text_size(value, STRING_POINTS) > STRING_POINTS:
        raise too_long("json-string", STRING_POINTS)
    text = write(value, _unfit, quote=quote, label=_label, comma=",", most=STRING_POINTS)
    if len(text) > STRING_POINTS:
        raise too_long("json-string", len(text))
    return text if indent is None else _indent(text, whole("json-string", "indent", indent))


def _indent(text: str, width: int) -> str:
    """Return JSON text without white space over several lines."""
    if width > _WIDEST:
        raise out_of_range("json-string", f"an indent is at most {_WIDEST}")
    work(len(text) // 5)
    made: list[str] = []
    size = depth = 0
    for match in _tokens().finditer(text):
        token = match[0]
        if token in ("{", "[", ","):
            depth += token != ","
            token += "\n" + " " * (depth * width)
        elif token in ("}", "]"):
            depth -= 1
            token = "\n" + " " * (depth * width) + token
        elif token == ":":
            token = ": "
        made.append(token)
        size += len(token)
        if size > STRING_POINTS:
            raise too_long("json-string", size)
    return "".join(made)


_WIDEST = 16


@cache
def _tokens() -> re.Pattern[str]:
    """Return the pattern of the tokens of JSON text; an empty list or table is one."""
    return re.compile(r'"(?:[^"\\]|\\.)*+"|\{\}|\[\]|[\[\]{},:]|[^\[\]{},:"]+')


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
