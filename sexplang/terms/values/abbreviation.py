"""Abbreviations of values for messages."""

import re

from sexplang.terms.values.rope import TEXTS, whole_text
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.text import text_size, to_source
from sexplang.terms.values.value import Primitive, Record, Symbol, Value

SHOWN = 60

MOST, LONGEST = 32, 100_000
"""The number of values that an error keeps, and the code points of each; a longer one is
abbreviated."""


def part(value: Value) -> Value:
    """Return a value for the details of an error."""
    return value if text_size(value, LONGEST) <= LONGEST else abbreviate(value)


def abbreviate(value: Value) -> str:
    """Return a value as source text, abbreviated, for a message."""
    if isinstance(value, Primitive):
        return f"the function `{value.name}`"
    if type(value) in TEXTS and len(value) > SHOWN:
        return f'{to_source(whole_text(value)[: SHOWN - 10])[:-1]}…"'
    if text_size(value, 4 * SHOWN) > 4 * SHOWN:
        return _summary(value)
    whole = to_source(value)
    if len(whole) <= SHOWN:
        return whole
    return _summarize_table(value) if isinstance(value, dict) else whole[: SHOWN - 1] + "…"


def _summary(value: Value) -> str:
    if type(value) in LISTS:
        return f"a list of {len(value)} items"
    if isinstance(value, int):
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, Symbol):
        return f"'{value.name[: SHOWN - 2]}…"
    if isinstance(value, Record):
        return _summarize_record(value)
    return _summarize_table(value)


def _summarize_record(value: Record) -> str:
    """Return a record by its kind, and an error by its reason too."""
    article, reason = "an" if value.kind[:1] in "aeiou" else "a", value.fields.get("reason")
    more = f": {reason[:SHOWN]}" if isinstance(reason, str) else ""
    return f"{article} {value.kind} record{more}"


MOST_KEYS = 6
"""The number of keys of a table that a message names."""


def _summarize_table(value: Value) -> str:
    """Return a table by its first keys."""
    assert isinstance(value, dict)
    if not value:
        return "{}"
    names = [abbreviate(key) for key in list(value)[:MOST_KEYS]]
    more = " …" if len(value) > MOST_KEYS else ""
    word = "key" if len(value) == 1 else "keys"
    return f"a table of {len(value)} {word}: {' '.join(names)}{more}"


def exact_twin(value: Value) -> str | None:
    """Return the exact integer for a float where one is needed, or None."""
    if type(value) is float and value.is_integer():
        return f"`(exact {abbreviate(value)})` is one"
    return None


_LONG_NAME = f"(?<=`)([^`\\s/]{{{SHOWN - 1}}})[^`\\s/]{{2,}}(?=`)"
_LONG_RUN = f"(\\S{{{4 * SHOWN}}})\\S+"


def excerpt(text: str) -> str:
    """Return a part of a program on one line, for a hint."""
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:39]}…"


def shorten_names(message: str) -> str:
    """Return a message with long names abbreviated."""
    if len(message) <= SHOWN:
        return message
    return re.sub(_LONG_RUN, r"\1…", re.sub(_LONG_NAME, r"\1…", message))
