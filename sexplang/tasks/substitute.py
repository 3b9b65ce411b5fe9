"""Text with `{{param}}` and values to text: strictly, once, and all that is missing together."""

import re
from typing import TypeAlias

from sexplang.terms.json.writer import json_text
from sexplang.terms.node import node
from sexplang.terms.text import text
from sexplang.terms.value import Procedure, Record, Value


@node
class Slot:
    """`{{a[0].b}}`: a parameter and the way into its value. A slot whose text is no path has
    no name and is always missing."""

    written: str
    name: str
    steps: tuple[str | int, ...]


@node
class Form:
    """A text with slots: its literal parts, empty where a slot stands, and the slots by place."""

    literal: tuple[str, ...]
    slots: tuple[tuple[int, Slot], ...]


Parts: TypeAlias = str | Form
"""A text taken apart; the text itself where it has no slots."""

# `{{{x}}}` is a brace, a slot and a brace: hence the look-ahead of the last branch.
_MARK = re.compile(r"\{\{\{\{|\{\{([^{}]*)\}\}|\{\{(?!\{)")
_PATH = re.compile(r"\s*[\w-]+(?:\.[\w-]+|\[\d+\])*\s*")
_STEP = re.compile(r"[\w-]+")
_MISSING = object()


def parts(source: str) -> Parts:
    """The text taken apart: `{{{{` writes `{{`; any other `{{` opens a slot."""
    found: list[str | Slot] = []
    at = 0
    for mark in _MARK.finditer(source):
        found.append(source[at : mark.start()])
        at = mark.end()
        if mark[0] == "{{{{":
            found.append("{{")
        elif mark[1] is None:
            found.append(Slot(source[mark.start() : mark.start() + 20], "", ()))
        else:
            found.append(Slot(mark[1].strip(), *_path(mark[1])))
    found.append(source[at:])
    literal = tuple(["" if isinstance(part, Slot) else part for part in found])
    slots = tuple([(at, part) for at, part in enumerate(found) if isinstance(part, Slot)])
    return Form(literal, slots) if slots else "".join(literal)


def plain(source: str) -> str:
    """A text that no value changes, such as a path or a command: `{{{{` writes `{{` in it too."""
    return source.replace("{{{{", "{{")


def _path(path: str) -> tuple[str, tuple[str | int, ...]]:
    if _PATH.fullmatch(path) is None:
        return "", ()
    head, *rest = _STEP.findall(path)
    return head, tuple(int(step) if step.isdecimal() else step for step in rest)


def rendered(source: Parts, values: dict[str, Value], missing: list[str]) -> str:
    """The text with its slots filled; the slots that lead nowhere are added to `missing`."""
    if isinstance(source, str):
        return source
    out = list(source.literal)
    for at, slot in source.slots:
        value = values.get(slot.name, _MISSING)
        if slot.steps:
            value = _found(value, slot.steps)
        if type(value) is str:
            out[at] = value
        elif value is _MISSING:
            missing.append(slot.written)
        else:
            out[at] = value_text(value)
    return "".join(out)


def _found(value: Value, steps: tuple[str | int, ...]) -> Value:
    for step in steps:
        if isinstance(value, (dict, Record)):
            fields = value if isinstance(value, dict) else value.fields
            value = fields.get(str(step), _MISSING)
        elif isinstance(value, tuple) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return _MISSING
    return value


def value_text(value: Value) -> str:
    """A value as a model reads it: scalars and TaskResults as text, lists and tables as JSON.
    Raises Fault `not-data` for functions, `not-json` for NaN and infinities."""
    if isinstance(value, (tuple, dict, float, Procedure)) or (
        isinstance(value, Record) and value.kind != "TaskResult"
    ):
        return json_text(value)
    return text(value)
