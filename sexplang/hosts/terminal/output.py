"""A program's value to what stands on standard output."""

from sexplang.terms.values.text import text, to_source
from sexplang.terms.values.value import Record, Value


def format_value(value: Value) -> str:
    """Text and TaskResults as their text with a line break at the end; nil is nothing; other
    data so that reading and evaluating it gives it back."""
    if value is None:
        return ""
    is_text = isinstance(value, str) or (isinstance(value, Record) and value.kind == "TaskResult")
    line = text(value) if is_text else to_source(value)
    return line if line.endswith("\n") else line + "\n"


def as_json(value: Value) -> str:
    """The value as one JSON document on one line; symbols are strings, records are objects.

    Raises Fault `not-json` for what JSON cannot hold.
    """
    from sexplang.primitives import PRIMITIVES

    return f"{PRIMITIVES['json-string'].function(value)}\n"
