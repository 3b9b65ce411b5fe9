"""The fields of a proposal: a reader for each, tolerant of spellings."""

from collections.abc import Callable
from typing import Any

from sexplang.tasks.plans.artifacts import artifacts_of, fitting_artifacts
from sexplang.tasks.plans.schema import KINDS, REASONS
from sexplang.tasks.plans.spellings import Meant, amount, flag, index, indexes, letters
from sexplang.tasks.requests.subtask_request import FIELDS as REQUEST
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.values.value import Symbol, Value

CAPS = ("seconds", "calls", "tokens", "usd")


class Unfit(Exception):
    """The failure of a field: the hint for it, and the part that is kept."""

    def __init__(self, words: str, kept: Value = None) -> None:
        super().__init__(words)
        self.kept = kept


Read = Callable[[Value], Any]
"""The reader of a field: its value, maybe as a Meant. Raises Unfit."""


def _texts(value: Value) -> Any:
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, (tuple, list)):
        raise Unfit("write a list of strings")
    names = [item.name if isinstance(item, Symbol) else item for item in items]
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise Unfit("write a list of strings that are not empty")
    if isinstance(value, str):
        return Meant((value,), f"`{value}` was read as a list of one")
    return tuple(dict.fromkeys(names))


def _read_paths(value: Value) -> Any:
    """Read paths below the program's folder, each in its shortest spelling."""
    found = _texts(value)
    if isinstance(found, Meant):
        return Meant(tuple(map(_path, found.value)), found.words)
    return tuple(dict.fromkeys(map(_path, found)))


def _path(text: str) -> str:
    text = text.strip().replace("\\", "/")
    parts: list[str] = []
    for part in text.split("/"):
        if text.startswith("/") or (part == ".." and not parts):
            raise Unfit("write paths below the program's folder, such as src/parser")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or "."


def _indexes(value: Value) -> Any:
    """Read indexes as texts. The judge reports the invalid ones."""
    found = indexes(value)
    if found is None:
        raise Unfit("write a list of indexes from 0 on, for example [0, 2]")
    if isinstance(found, Meant):
        return Meant(_words(found.value), found.words)
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
            raise Unfit(_CAP)
        if isinstance(meant, Meant):
            said.append(meant.words)
            meant = meant.value
        cap[name] = meant
    return Meant(cap, ", ".join(said)) if said else cap


def _flag(value: Value) -> Any:
    found = flag(value)
    if found is None:
        raise Unfit("write true or false")
    return found


def _artifacts(value: Value) -> Value:
    found = artifacts_of(value)
    if found is not None:
        return found
    words = 'write a list of {"name": …, "type": …, "path": …} or {"name": …, "type": …, "text": …}'
    raise Unfit(words, fitting_artifacts(value))


def _word(words: tuple[str, ...]) -> Read:
    known = {letters(word): word for word in words}

    def read(value: Value) -> Any:
        word = value.name if isinstance(value, Symbol) else value
        found = known.get(letters(word)) if isinstance(word, str) else None
        if found is None:
            raise Unfit(f"write one of {', '.join(words)}")
        return found if found == word else Meant(found, f"`{word}` was understood as `{found}`")

    return read


def _stop(value: Value) -> Any:
    """Read a StopCondition, or its kind alone."""
    given = fields_of(value)
    if given is None:
        given = {"kind": value}
    given = {letters(key): item for key, item in given.items()}
    description = given.get("description")
    if description is not None and not isinstance(description, str):
        raise Unfit('write {"kind": …, "description": …}, the description a string')
    kind = _KIND(given.get("kind"))
    if isinstance(kind, Meant):
        return Meant({"kind": kind.value, "description": description or ""}, kind.words)
    return {"kind": kind, "description": description or ""}


def _like(name: str) -> Read:
    """Return the reader of a SubtaskRequest's field."""

    def read(value: Value) -> Any:
        if isinstance(value, Symbol):
            value = value.name
        fits, words = REQUEST[name]
        if not fits(value):
            raise Unfit(words.replace("a table", "an object"))
        return tuple(value) if isinstance(value, list) else value

    return read


_KIND = _word(KINDS)

SUBTASK: dict[str, Read] = {
    **{name: _like(name) for name in ("description", "name", "inputs", "file_paths")},
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
