"""Text with slots and values to text: strictly, once, and all that is missing together."""

from sexplang.terms.json.json_writer import json_text
from sexplang.terms.template import Text
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Procedure, Record, Value

_MISSING = object()


def plain(source: str) -> str:
    """A text that no value changes, such as a path or a command: `{{{{` writes `{{` in it too."""
    return source.replace("{{{{", "{{")


def render(source: Text | str, values: dict[str, Value], missing: list[str]) -> str:
    """The text with its slots filled; the slots that lead nowhere are added to `missing`."""
    if isinstance(source, str):
        return source
    out = list(source.literal)
    for at, slot in source.slots:
        value = values.get(slot.name, _MISSING)
        if slot.steps:
            value = _follow(value, slot.steps)
        if type(value) is str:
            out[at] = value
        elif value is _MISSING:
            missing.append(slot.written)
        else:
            out[at] = value_text(value)
    return "".join(out)


def _follow(value: Value, steps: tuple[str | int, ...]) -> Value:
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
