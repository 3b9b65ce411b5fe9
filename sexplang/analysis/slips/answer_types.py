"""The type of a task's answer, as a JSON Schema, and the values of that type."""

from typing import Any

from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Symbol, Task

Type = dict[str, Any]

ANY_TYPE: Type = {}
TEXT: Type = {"type": "string"}

_KINDS = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "array": "list",
    "object": "table",
    "null": "nil",
}


def type_of(task: Task) -> Type:
    """Return the type of a task's answer. The empty schema stands for any value."""
    template = task.template
    if isinstance(template.returns, dict):
        return template.returns
    format_ = template.output_format
    if format_.type == "text":
        return TEXT
    if format_.type == "json" and isinstance(format_.schema, dict):
        return format_.schema
    if format_.type == "json" and isinstance(format_.schema, str):
        name = "array" if format_.schema.endswith("[]") else format_.schema
        return {"type": name} if name in _KINDS else ANY_TYPE
    return ANY_TYPE


def kind_of_type(type_: Type) -> str | None:
    """Return the one kind of all values of a type, or None if there are several or it is not
    known."""
    named, choices = type_.get("type"), type_.get("enum")
    if isinstance(choices, (list, tuple)):
        kinds = {_kind_of(choice) for choice in choices}
        return kinds.pop() if len(kinds) == 1 else None
    return _KINDS.get(named) if isinstance(named, str) else None


def may_equal(type_: Type, literal: Any) -> bool:
    """Return whether an answer of the type may be equal to a literal."""
    choices = type_.get("enum")
    if isinstance(choices, (list, tuple)):
        return literal in choices and not isinstance(literal, Symbol)
    kind = kind_of_type(type_)
    return kind is None or kind == _kind_of(literal)


def has_field(type_: Type, name: str) -> bool:
    """Return whether an answer of the type may have a field of this name."""
    kind = kind_of_type(type_)
    if kind is None:
        return True
    if kind != "table":
        return False
    fields = type_.get("properties")
    is_closed = type_.get("additionalProperties") is False
    return not (isinstance(fields, dict) and is_closed) or name in fields


def type_of_field(type_: Type, name: str) -> Type:
    """Return the type of a field of an answer; the empty schema if it is not known."""
    fields = type_.get("properties")
    found = fields.get(name) if isinstance(fields, dict) else None
    return _resolve(found, type_.get("$defs")) if isinstance(found, dict) else ANY_TYPE


def _resolve(type_: Type, definitions: Any) -> Type:
    """Return a part of a type as a type by itself. A field that may be nil has the type of its
    values."""
    choices = type_.get("anyOf")
    if isinstance(choices, list) and len(choices) == 2 and choices[1] == {"type": "null"}:
        type_ = choices[0]
    if not isinstance(definitions, dict):
        return type_
    named = str(type_.get("$ref")).removeprefix("#/$defs/")
    found = definitions.get(named, type_)
    return {**found, "$defs": definitions} if isinstance(found, dict) else ANY_TYPE


def _kind_of(value: Any) -> str | None:
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, Symbol):
        return "symbol"
    if isinstance(value, dict):
        return "table"
    if type(value) in LISTS:
        return "list"
    return "string" if isinstance(value, str) else None
