"""The spellings of values in proposals: each with one meaning, and the words for it.

Law: a value with two meanings is left as it is, for its reader to refuse. Booleans are not numbers.
"""

import re
from collections.abc import Sequence
from typing import Any

from sexplang.terms.classes.node import frozen
from sexplang.terms.json.strict import read_json
from sexplang.terms.quota import GREATEST
from sexplang.terms.values.text import number
from sexplang.terms.values.value import Fault, Symbol, Value

_UNITS = {"": 1, "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1}
_UNITS |= {"min": 60, "mins": 60, "minute": 60, "minutes": 60}

_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.IGNORECASE)
_SPAN = re.compile(
    r"(?:([0-9]{1,7})\.)?([01]?[0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9](?:\.[0-9]{1,9})?)", re.ASCII
)
"""A TimeSpan: hours, minutes and seconds, maybe after days: `00:01:00`."""

_INDEX = re.compile(r"(?:sub-?|subtasks?[ _-]?\[?)?([0-9]{1,9})\]?", re.IGNORECASE)


@frozen
class Meant:
    """The meaning of a value in another spelling, and the words for it."""

    value: Any
    words: str
    twice: str | None = None
    """A duplicate field of a JSON text."""


def letters(text: str) -> str:
    """Return the letters and digits of a word in lower case."""
    return "".join([sign for sign in text.casefold() if sign.isalnum()])


def from_json(value: Value) -> Any:
    """Return the list or object that a JSON text holds, as a Meant. Else return the value. Halves
    of surrogate pairs become `?`, as in every text of a model."""
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    twice: list[str] = []
    try:
        found = read_json(value, twice)
    except (ValueError, RecursionError, Fault):
        return value
    kind = "an object" if isinstance(found, dict) else "a list"
    return Meant(found, f"a text in JSON was read as {kind}", twice[0] if twice else None)


def amount(value: Value, unit: str, *, whole: bool) -> Any:
    """Return the number above 0 in the unit. None if it is none."""
    if isinstance(value, str):
        said = _number_in(value.strip(), _UNITS if unit == "seconds" else {"": 1})
        if said is None:
            return None
        meant = said
    elif type(value) in (int, float):
        assert isinstance(value, (int, float))
        meant = value
    else:
        return None
    if not 0 < meant <= GREATEST:
        return None
    if meant == int(meant):
        meant = int(meant)
    if whole and not isinstance(meant, int):
        return None
    if not isinstance(value, str):
        return meant if whole and not isinstance(value, int) else value
    return Meant(meant, f"`{value}` was understood as {number(meant)} {unit}")


def _number_in(text: str, units: dict[str, int]) -> float | None:
    """Return the number of a text in one of the units. Seconds may be a TimeSpan."""
    span = _SPAN.fullmatch(text) if units is _UNITS else None
    if span is not None:
        days, hours, minutes, seconds = [float(part or 0) for part in span.groups()]
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    found = _AMOUNT.fullmatch(text)
    if found is None or found[2].lower() not in units:
        return None
    return float(found[1]) * units[found[2].lower()]


def flag(value: Value) -> Any:
    """Return the boolean. None if it is none."""
    if isinstance(value, str) and letters(value) in ("true", "false"):
        found = letters(value) == "true"
        return Meant(found, f"`{value}` was understood as {'true' if found else 'false'}")
    return value if isinstance(value, bool) else None


def index(value: Value) -> int | None:
    """Return the index of a dependency. None if it is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is int:
        return value if 0 <= value < _MOST else None
    name = value.name if isinstance(value, Symbol) else value
    found = _INDEX.fullmatch(name.strip()) if isinstance(name, str) else None
    return int(found[1]) if found is not None else None


_MOST = 10**9


def indexes(value: Value) -> Any:
    """Return a list of dependencies. None if it is none. A single one is a list, and so is a text
    of several with commas between them."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    listed: tuple[Value, ...] = (value,)
    if isinstance(value, str) and "," in value:
        parts = [part.strip() for part in value.split(",")]
        listed = tuple(parts) if all(index(part) is not None for part in parts) else listed
    if isinstance(value, (str, Symbol)) or index(value) is not None:
        return Meant(listed, f"`{_show(value)}` was read as a list")
    return None


def names_of(subtasks: Sequence[dict[str, Value]]) -> dict[str, set[int]]:
    """Return the subtasks that a dependency can name: by the letters of their tasks' names and
    their descriptions."""
    names: dict[str, set[int]] = {}
    for at, subtask in enumerate(subtasks):
        for field in ("name", "description"):
            name = subtask.get(field)
            if isinstance(name, str) and letters(name):
                names.setdefault(letters(name), set()).add(at)
    return names


def _show(value: Value) -> str:
    return value.name if isinstance(value, Symbol) else str(value)
