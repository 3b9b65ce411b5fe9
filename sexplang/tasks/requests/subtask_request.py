"""The SubtaskRequest of a model or a program: in snake_case, checked field by field."""

import re

from sexplang.terms.classes.node import evolve, field, node
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.value import Record, Symbol, Value

_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")


@node
class SubtaskRequest:
    """A request as a table of known fields, or its problems."""

    fields: dict[str, Value]
    problems: dict[str, str] = field(factory=dict)
    unknown: tuple[str, ...] = ()
    """Unknown fields that resemble no known one. A model may add any."""
    remarks: tuple[str, ...] = ()
    """Other notes about the request."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes about a model's request."""
        said = "a subtask request has no field `{}`; it was left out"
        return (*[said.format(key) for key in self.unknown], *self.remarks)

    def complaint(self) -> str:
        """Return the problems in one line: the first ones and the last."""
        said = [f"{name}: {problem}" for name, problem in self.problems.items()]
        left = len(said) - _MOST_NAMED
        if left > 0:
            said[_MOST_NAMED - 1 : -1] = [f"and {left} more"]
        return "; ".join(said)


def fields_of(value: Value) -> dict[str, Value] | None:
    """Return the fields of a table or record. Else None."""
    if isinstance(value, dict):
        return value
    return value.fields if isinstance(value, Record) else None


def _is_text(value: Value) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_texts(value: Value) -> bool:
    return isinstance(value, (tuple, list)) and all(isinstance(item, str) for item in value)


def _is_depth(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_table(value: Value) -> bool:
    return isinstance(value, (dict, Record))


_TEXT = (_is_text, "write a string that is not empty")
_TEXTS = (_is_texts, "write a list of strings")
_TABLE = (_is_table, "write a table")

FIELDS = {
    "type": _TEXT,
    "name": _TEXT,
    "description": _TEXT,
    "inputs": _TABLE,
    "template_hints": _TEXTS,
    "return_expectations": _TEXT,
    "context_management": _TABLE,
    "max_depth": (_is_depth, "write an integer of at least 0"),
    "subtype": _TEXT,
    "file_paths": _TEXTS,
    "history_config": _TABLE,
    "task_id": _TEXT,
}
"""The fields of the documents, the test of each, and the hint for a value that fails it."""

# The runtime writes these into the request that a handler sees.
_INFORMATION = frozenset({"depth", "result"})

_OF_PROGRAMS = ("previous_outputs", "options")
_OF_CALLS = frozenset({"model", "max_turns", "history"})
_MOST_NAMED, _LONGEST = 20, 40
"""Bounds of the search for a likely field: unknown fields, and characters of one."""

_MEANT = tuple([name for name in FIELDS if name not in ("type", "task_id")])


def snake(key: str) -> str:
    """Return `templateHints` or `template-hints` as `template_hints`."""
    return _CAMEL.sub(lambda match: f"_{match[1].lower()}", key).replace("-", "_")


def check_programmed(read: SubtaskRequest) -> SubtaskRequest:
    """Return a program's request. Each unknown field is a problem."""
    unknown = [key for key in read.unknown if snake(key) not in _OF_PROGRAMS]
    problems = dict.fromkeys(unknown, "there is no such field")
    if unknown:
        last = unknown[-1]
        there = f"there are {', '.join((*FIELDS, *_OF_PROGRAMS))}"
        guess = did_you_mean(snake(last)[:_LONGEST], _OF_PROGRAMS)
        problems[last] += f": {guess}" if guess else f"; {there}"
        if snake(last) in _OF_CALLS:
            problems[last] += f". A call has it: (call-atomic-task 'name inputs: {{…}} {last}: …)"
    return evolve(read, problems={**read.problems, **problems}, unknown=())


def subtask_request(value: Value) -> SubtaskRequest:
    """Read a SubtaskRequest. Nil is absent, camelCase is accepted. A field that nearly is a known
    one is a problem, because its value would be missing."""
    given = fields_of(value)
    if given is None:
        return SubtaskRequest({}, {"subtask_request": "write a table with description and inputs"})
    fields: dict[str, Value] = {}
    problems: dict[str, str] = {}
    unknown: list[str] = []
    for key, item in given.items():
        name = snake(key)
        rule = FIELDS.get(name)
        if isinstance(item, Symbol):
            item = item.name
        if name == "template_hints" and isinstance(item, str):
            item = (item,)
        if item is None or name in _INFORMATION:
            continue
        if rule is None:
            looked_at = len(problems) + len(unknown) < _MOST_NAMED
            guess = did_you_mean(name, _MEANT) if looked_at and len(name) < _LONGEST else ""
            if guess:
                problems[key] = f"there is no such field: {guess}"
            else:
                unknown.append(key)
        elif name in given and name != key:
            problems[name] = f"it occurs twice, also as `{key}`: keep one"
        elif not rule[0](item):
            problems[name] = rule[1]
        else:
            fields[name] = tuple(item) if isinstance(item, list) else item
    if not {"description", "name"} & {*fields, *problems}:
        problems["description"] = "say what the subtask is to do"
    fields.setdefault("type", "atomic")
    fields.setdefault("inputs", {})
    return SubtaskRequest(fields, problems, tuple(unknown))
