"""Values of a type: their parts, and the words for where they come from."""

from sexplang.analysis.domain.values import (
    DATA,
    Abstract,
    Result,
    Symbolic,
    Typed,
    TypeSource,
    Values,
)
from sexplang.schemas.type_parts import (
    ANY_TYPE,
    ITEMS,
    LIST,
    Pointer,
    branches,
    choices_of,
    field_of,
    item_of,
    kind_of_type,
    part_at,
)
from sexplang.terms.core import CallPrimitive, Const
from sexplang.terms.program import Input
from sexplang.terms.schemas import Schema
from sexplang.terms.values.abbreviation import abbreviate, excerpt
from sexplang.terms.values.value import Task

_WORDS = ("array", "object", "string", "number", "integer", "boolean")


def schema_of(source: TypeSource) -> Schema:
    """Return the type of a task's answer, of an input, or of the value of an `as`. The empty schema
    stands for any value."""
    if isinstance(source, Input):
        return source.misfit.schema if source.misfit is not None else ANY_TYPE
    if not isinstance(source, Task):
        type_ = source.arguments[0]
        return type_.value if isinstance(type_, Const) else ANY_TYPE
    returns, format_ = source.template.returns, source.template.output_format
    schema = format_.schema
    if isinstance(returns, dict):
        return returns
    if format_.type == "text":
        return {"type": "string"}
    if format_.type != "json" or schema is None:
        return ANY_TYPE
    if isinstance(schema, dict):
        return schema
    name = "array" if schema.endswith("[]") else schema
    return {"type": name} if name in _WORDS else ANY_TYPE


def is_typing(node: CallPrimitive) -> bool:
    """Return whether a call is `(as T …)` with a type that is written."""
    return node.primitive.name == "as" and isinstance(node.arguments[0], Const)


def task_of(value: Abstract) -> Task | None:
    """Return the task of an answer or of a TaskResult; None for any other value."""
    return value.task if isinstance(value, (Typed, Result)) else None


def find_typed(values: Values, value: Abstract) -> Typed | None:
    """Return a value as one of a known type; None if its type is not known."""
    if isinstance(value, Typed):
        return value
    if not isinstance(value, Symbolic):
        return None
    found: Abstract = values.make(Typed, value.declared, ())
    for name in value.fields:
        found = part_of_typed(values, found, name) if isinstance(found, Typed) else DATA
    return found if isinstance(found, Typed) else None


def part_of_typed(values: Values, value: Typed, name: str | None) -> Abstract:
    """Return the value of a field, or of any item if there is no name."""
    key = (value, name)
    found = values.parts.get(key)
    if found is None:
        type_ = schema_of(value.source)
        if name is None:
            pointer = item_of(type_, value.pointer)
        else:
            pointer = field_of(type_, value.pointer, name)
        found = DATA if pointer is None else values.make(Typed, value.source, pointer)
        values.parts[key] = found
    return found


def is_part(value: Abstract | None) -> bool:
    """Return whether a value is of a type, and not the whole answer of a task."""
    return isinstance(value, Typed) and value.task is None


def words_of(value: Typed, fields: tuple[str, ...] = ()) -> str:
    """Return the words for the source of a value, or of a field of it: `price` of an item of the
    answer of `flights`."""
    source = value.source
    if isinstance(source, Task):
        said = f"the answer of `{source.name}`"
    elif isinstance(source, Input):
        said = f"the input `{source.name}`"
    elif len(source.arguments) > 2 and isinstance(source.arguments[2], Const):
        said = str(source.arguments[2].value)
    else:
        said = f"`(as {excerpt(source.arguments[0].span.text)} …)`"
    path: list[str] = []
    for step in value.pointer:
        if step[0] == "properties":
            path.append(str(step[1]))
        elif step in (ITEMS, LIST):
            said, path = f"{'an item' if step == ITEMS else 'a list'} of {_of(path, said)}", []
        elif len(step) == 2 and step[0] in ("$defs", "definitions"):
            said, path = f"a `{step[1]}` in {said.partition(' in ')[2] or said}", []
    return _of([*path, *fields], said)


def _of(path: list[str], said: str) -> str:
    return f"`{'.'.join(path)}` of {said}" if path else said


def words_of_type(type_: Schema, pointer: Pointer) -> str:
    """Return the words for the values of a part of a type: `one of 1, 2`, `a text or nil`."""
    parts = [part_at(type_, each) for each in branches(type_, pointer)]
    return " or ".join(dict.fromkeys(map(_words_of_part, parts)))


def _words_of_part(part: Schema) -> str:
    choices = choices_of(part)
    if choices is not None:
        return "one of " + ", ".join([abbreviate(choice) for choice in choices])
    return _KINDS[kind_of_type(part)]


_KINDS = {
    "string": "a text",
    "number": "a number",
    "boolean": "a boolean",
    "list": "a list",
    "table": "a table",
    "nil": "nil",
    None: "a value of another kind",
}
