"""The fields of a proposal: a reader for each, tolerant of spellings.

Law: a value with two meanings is left as it is, for its reader to refuse. Booleans are not numbers.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from sexplang.tasks.plans.artifacts import artifacts_of, fitting_artifacts
from sexplang.tasks.plans.schema import KINDS, REASONS
from sexplang.tasks.requests.subtask_request import FIELDS as REQUEST
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.classes.node import frozen
from sexplang.terms.json.json_writer import json_text
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
class Interpretation:
    """The meaning of a value in another spelling, and the words for it."""

    value: Any
    words: str
    twice: str | None = None
    """A duplicate field of a JSON text."""


def letters(text: str) -> str:
    """Return the letters and digits of a word in lower case."""
    return "".join([sign for sign in text.casefold() if sign.isalnum()])


def from_json(value: Value) -> Any:
    """Return the list or object that a JSON text holds, as an Interpretation; any other value as it
    is. Halves of surrogate pairs become `?`, as in every text of a model."""
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    twice: list[str] = []
    try:
        found = read_json(value, twice)
    except (ValueError, RecursionError, Fault):
        return value
    kind = "an object" if isinstance(found, dict) else "a list"
    return Interpretation(found, f"a text in JSON was read as {kind}", twice[0] if twice else None)


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
    return Interpretation(meant, f"`{value}` was understood as {number(meant)} {unit}")


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
        return Interpretation(found, f"`{value}` was understood as {'true' if found else 'false'}")
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
        return Interpretation(listed, f"`{_show(value)}` was read as a list")
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


CAPS = ("seconds", "calls", "tokens", "usd")


class UnfitField(Exception):
    """The failure of a field: the hint for it, and the part that is kept."""

    def __init__(self, words: str, kept: Value = None) -> None:
        super().__init__(words)
        self.kept = kept


Read = Callable[[Value], Any]
"""The reader of a field: its value, maybe as an Interpretation. Raises UnfitField."""


def _texts(value: Value) -> Any:
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, (tuple, list)):
        raise UnfitField("write a list of strings")
    names = [item.name if isinstance(item, Symbol) else item for item in items]
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise UnfitField("write a list of strings that are not empty")
    if isinstance(value, str):
        return Interpretation((value,), f"`{value}` was read as a list of one")
    return tuple(dict.fromkeys(names))


def _read_paths(value: Value) -> Any:
    """Read paths below the program's folder, each in its shortest spelling."""
    found = _texts(value)
    if isinstance(found, Interpretation):
        return Interpretation(tuple(map(_path, found.value)), found.words)
    return tuple(dict.fromkeys(map(_path, found)))


def _path(text: str) -> str:
    text = text.strip().replace("\\", "/")
    parts: list[str] = []
    for part in text.split("/"):
        if text.startswith("/") or (part == ".." and not parts):
            raise UnfitField("write paths below the program's folder, such as src/parser")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or "."


def _indexes(value: Value) -> Any:
    """Read indexes as texts. The judge reports the invalid ones."""
    found = indexes(value)
    if found is None:
        raise UnfitField("write a list of indexes from 0 on, for example [0, 2]")
    if isinstance(found, Interpretation):
        return Interpretation(_words(found.value), found.words)
    return _words(found)


def _words(items: tuple[Value, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([_word_of(item) for item in items]))


def _word_of(item: Value) -> str:
    at = index(item)
    if at is not None:
        return str(at)
    return str(item) if isinstance(item, (str, Symbol)) else json_text(item, canonical=True)


_CAP = (
    'write a number of seconds, or an object such as {"seconds": 60, "calls": 5, "tokens": 9000, '
    '"usd": 0.5} with numbers above 0, calls and tokens whole'
)


def _cap(value: Value) -> Any:
    """Read a BudgetCap: seconds, or a table of bounds."""
    given = fields_of(value)
    cap: dict[str, Value] = {}
    said: list[str] = []
    for key, item in ({"seconds": value} if given is None else given).items():
        name = letters(key)
        meant = amount(item, name, whole=name in ("calls", "tokens"))
        if name not in CAPS or meant is None or name in cap:
            raise UnfitField(_CAP)
        if isinstance(meant, Interpretation):
            said.append(meant.words)
            meant = meant.value
        cap[name] = meant
    return Interpretation(cap, ", ".join(said)) if said else cap


def _flag(value: Value) -> Any:
    found = flag(value)
    if found is None:
        raise UnfitField("write true or false")
    return found


def _artifacts(value: Value) -> Value:
    found = artifacts_of(value)
    if found is not None:
        return found
    words = 'write a list of {"name": …, "type": …, "path": …} or {"name": …, "type": …, "text": …}'
    raise UnfitField(words, fitting_artifacts(value))


def _word(words: tuple[str, ...]) -> Read:
    known = {letters(word): word for word in words}

    def read(value: Value) -> Any:
        word = value.name if isinstance(value, Symbol) else value
        found = known.get(letters(word)) if isinstance(word, str) else None
        if found is None:
            raise UnfitField(f"write one of {', '.join(words)}")
        return (
            found
            if found == word
            else Interpretation(found, f"`{word}` was understood as `{found}`")
        )

    return read


def _stop(value: Value) -> Any:
    """Read a StopCondition, or its kind alone."""
    given = fields_of(value)
    if given is None:
        given = {"kind": value}
    given = {letters(key): item for key, item in given.items()}
    description = given.get("description")
    if description is not None and not isinstance(description, str):
        raise UnfitField('write {"kind": …, "description": …}, the description a string')
    kind = _KIND(given.get("kind"))
    if isinstance(kind, Interpretation):
        return Interpretation({"kind": kind.value, "description": description or ""}, kind.words)
    return {"kind": kind, "description": description or ""}


def _make_request_reader(name: str) -> Read:
    """Return the reader of a SubtaskRequest's field."""

    def read(value: Value) -> Any:
        if isinstance(value, Symbol):
            value = value.name
        fits, words = REQUEST[name]
        if not fits(value):
            raise UnfitField(words.replace("a table", "an object"))
        return tuple(value) if isinstance(value, list) else value

    return read


_KIND = _word(KINDS)

SUBTASK: dict[str, Read] = {
    **{
        name: _make_request_reader(name) for name in ("description", "name", "inputs", "file_paths")
    },
    "template_hints": _texts,
    "required_capabilities": _texts,
    "depends_on_subtasks": _indexes,
    "budget_cap": _cap,
    "expected_output_types": _texts,
    "expected_files": _texts,
    "owned_paths": _read_paths,
    "allow_no_op_completion": _flag,
}

PLAN: dict[str, Read] = {"reason": _word(REASONS), "stop_when": _stop, "artifacts": _artifacts}
