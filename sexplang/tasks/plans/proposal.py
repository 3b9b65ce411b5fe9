"""What a model or a program proposes to a ProposedSubplan: snake_case, checked field by field."""

from collections.abc import Callable
from math import inf
from typing import Any

from attrs import field

from sexplang.tasks.json_text import json_text
from sexplang.tasks.plans.artifacts import artifacts_of
from sexplang.tasks.plans.schema import KINDS, REASONS
from sexplang.tasks.request import FIELDS as REQUEST
from sexplang.tasks.request import fields_of, snake
from sexplang.terms.node import frozen
from sexplang.terms.value import Symbol, Value

CAPS = ("seconds", "calls", "tokens", "usd")


@frozen
class Proposal:
    """A proposal as a table of known fields, or the problems that it has."""

    fields: dict[str, Value]
    problems: dict[str, str] = field(factory=dict)
    warnings: tuple[str, ...] = ()

    def complaint(self) -> str:
        """All problems in one line."""
        return "; ".join(f"{name}: {problem}" for name, problem in self.problems.items())


class _Unfit(Exception):
    """A field that does not fit: what to write instead."""


Read = Callable[[Value], Value]


def _texts(value: Value) -> Value:
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, (tuple, list)):
        raise _Unfit("write a list of strings")
    names = [item.name if isinstance(item, Symbol) else item for item in items]
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise _Unfit("write a list of strings that are not empty")
    return tuple(dict.fromkeys(names))


def _indexes(value: Value) -> Value:
    """As they are: what is no index of this plan is for the judge to say."""
    if not isinstance(value, (tuple, list)):
        raise _Unfit("write a list of indexes from 0 on")
    words = [str(item) if isinstance(item, (str, Symbol)) else json_text(item) for item in value]
    return tuple(dict.fromkeys(words))


def _cap(value: Value) -> Value:
    """BudgetCap: seconds, or a table of what is bounded."""
    given = value if isinstance(value, dict) else {"seconds": value}
    for name, item in given.items():
        whole = name in ("calls", "tokens")
        fits = type(item) is int or (type(item) is float and not whole)
        if name not in CAPS or not fits or not 0 < item < inf:
            raise _Unfit("write seconds, or {seconds calls tokens usd} with numbers above 0")
    return dict(given)


def _flag(value: Value) -> Value:
    if not isinstance(value, bool):
        raise _Unfit("write true or false")
    return value


def _artifacts(value: Value) -> Value:
    found = artifacts_of(value)
    if found is None:
        raise _Unfit("write a list of {name type path} or {name type text}")
    return found


def _word(words: tuple[str, ...]) -> Read:
    known = {snake(word[0].lower() + word[1:]): word for word in words}

    def read(value: Value) -> Value:
        word = value.name if isinstance(value, Symbol) else value
        if not isinstance(word, str) or not word:
            raise _Unfit(f"write one of {', '.join(words)}")
        found = known.get(snake(word[0].lower() + word[1:]).lower())
        if found is None:
            raise _Unfit(f"write one of {', '.join(words)}")
        return found

    return read


def _stop(value: Value) -> Value:
    """StopCondition, or its kind alone."""
    given = fields_of(value)
    if given is None:
        given = {"kind": value}
    given = {_key(key): item for key, item in given.items()}
    description = given.get("description")
    if description is not None and not isinstance(description, str):
        raise _Unfit("write {kind description}")
    return {"kind": _KIND(given.get("kind")), "description": description or ""}


def _like(name: str) -> Read:
    """As the field of a SubtaskRequest."""

    def read(value: Value) -> Value:
        if isinstance(value, Symbol):
            value = value.name
        fits, words = REQUEST[name]
        if not fits(value):
            raise _Unfit(words)
        return tuple(value) if isinstance(value, list) else value

    return read


_KIND = _word(KINDS)

_SUBTASK: dict[str, Read] = {
    **{name: _like(name) for name in ("description", "name", "inputs", "file_paths")},
    "template_hints": _texts,
    "required_capabilities": _texts,
    "depends_on_subtasks": _indexes,
    "budget_cap": _cap,
    "expected_output_types": _texts,
    "expected_files": _texts,
    "owned_paths": _texts,
    "allow_no_op_completion": _flag,
}

_PLAN: dict[str, Read] = {"reason": _word(REASONS), "stop_when": _stop, "artifacts": _artifacts}

_OURS = frozenset({"parent_task_id", "depth", "result", "decomposition", "progress"})
_OURS |= {"first", "seconds", "granted", "max_depth"}
"""Written by ourselves into the proposal that a handler sees."""


def _key(key: str) -> str:
    return snake(key[:1].lower() + key[1:])


def proposal(value: Value, trusted: bool = False) -> Proposal:
    """A proposal from whatever was given; a single subtask is a plan of one. nil is not given,
    and camelCase is accepted. What we say about a proposal is read only where it is `trusted`."""
    given = fields_of(value)
    if given is None:
        return Proposal({}, {"subplan": "write a table with reason and subtasks"})
    given = {_key(key): item for key, item in given.items() if item is not None}
    if "subtasks" not in given and {"description", "name"} & given.keys():
        whole = {key: item for key, item in given.items() if key in _PLAN or key in _OURS}
        alone = {key: item for key, item in given.items() if key not in whole}
        given = {**whole, "subtasks": (alone,)}
    problems: dict[str, str] = {}
    warnings: list[str] = []
    rest = {key: item for key, item in given.items() if key != "subtasks" and key not in _OURS}
    fields = _fields(rest, _PLAN, "", problems, warnings)
    listed = given.get("subtasks")
    if not isinstance(listed, (tuple, list)):
        problems["subtasks"] = "write a list of subtasks"
        listed = ()
    fields["subtasks"] = tuple(
        [_subtask(item, f"subtasks[{at}]", problems, warnings) for at, item in enumerate(listed)]
    )
    fields.setdefault("reason", REASONS[0])
    fields.setdefault("stop_when", {"kind": KINDS[0], "description": ""})
    if trusted:
        fields |= {key: item for key, item in given.items() if key in _OURS}
    return Proposal(fields, problems, tuple(warnings))


def _subtask(
    value: Value, place: str, problems: dict[str, str], warnings: list[str]
) -> dict[str, Value]:
    given = fields_of(value)
    if given is None:
        problems[place] = "write a table with description"
        return {}
    given = {_key(key): item for key, item in given.items() if item is not None}
    fields = _fields(given, _SUBTASK, f"{place}.", problems, warnings)
    if "description" not in given:
        if "name" in fields:
            fields["description"] = fields["name"]
        else:
            problems[f"{place}.description"] = "say what the subtask is to do"
    return fields


def _fields(
    given: dict[str, Value],
    known: dict[str, Read],
    place: str,
    problems: dict[str, str],
    warnings: list[str],
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, item in given.items():
        read = known.get(name)
        if read is None:
            warnings.append(f"a subplan has no field `{place}{name}`; it was left out")
            continue
        try:
            fields[name] = read(item)
        except _Unfit as unfit:
            problems[f"{place}{name}"] = str(unfit)
    return fields
