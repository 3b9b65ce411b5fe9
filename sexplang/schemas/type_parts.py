"""The parts of a type: what is known of the fields and items of its values.

A type is a JSON Schema. A part is named by its pointer: the steps that lead to it in the schema.
What is not known of a part may be anything.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from sexplang.terms.schemas import Schema
from sexplang.terms.texts.nearest import find_misspelled
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Symbol

Step: TypeAlias = tuple[str | int, ...]
Pointer: TypeAlias = tuple[Step, ...]

ANY_TYPE: Schema = {}
ITEMS: Step = ("items",)
LIST: Step = ("list",)
"""The last step of a pointer to a list of the part before it."""

MOST_BRANCHES = 100

SHORT = 3
"""The length up to which a word that is one letter off is another word."""

_LIST_TYPE: Schema = {"type": "array"}
_KINDS = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "array": "list",
    "object": "table",
    "null": "nil",
}


def part_at(type_: Schema, pointer: Pointer) -> Schema:
    """Return the schema at a pointer; the empty schema if it is not known."""
    found: Any = type_
    for key in [key for step in pointer for key in step]:
        if isinstance(found, dict):
            found = found.get(key)
        elif isinstance(found, (list, tuple)) and isinstance(key, int):
            found = found[key]
    return _LIST_TYPE if pointer[-1:] == (LIST,) else found if isinstance(found, dict) else ANY_TYPE


def branches(type_: Schema, pointer: Pointer = ()) -> list[Pointer]:
    """Return the parts of which each value has one: references are followed, and unions are taken
    apart, unless they have too many branches."""
    found: list[Pointer] = []
    seen: set[Pointer] = set()
    work = [pointer]
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        part = part_at(type_, at)
        reference = part.get("$ref")
        union = next((word for word in ("anyOf", "oneOf") if word in part), None)
        if "type" in part or at[-1:] == (LIST,):
            found.append(at)
        elif isinstance(reference, str) and reference.startswith("#/"):
            work.append((tuple(reference.split("/")[1:]),))
        elif union is not None and len(seen) + len(part[union]) <= MOST_BRANCHES:
            work += [(*at, (union, index)) for index in reversed(range(len(part[union])))]
        else:
            found.append(at)
    return found


def _shapes(type_: Schema, pointer: Pointer) -> list[Pointer]:
    """Return the branches of a part without nil."""
    found = branches(type_, pointer)
    return [each for each in found if _kind_of_part(part_at(type_, each)) != "nil"]


def _follow(type_: Schema, pointer: Pointer, step: Step) -> Pointer | None:
    """Return the part that a step leads to from the only branch that is not nil."""
    shapes = _shapes(type_, pointer)
    found = (*shapes[0], step) if len(shapes) == 1 else None
    return found if found is not None and part_at(type_, found) else None


def list_required(type_: Schema, pointer: Pointer) -> list[str]:
    """Return the fields that each table of a part has."""
    shapes = _shapes(type_, pointer)
    return [*part_at(type_, shapes[0]).get("required", ())] if len(shapes) == 1 else []


def field_of(type_: Schema, pointer: Pointer, name: str) -> Pointer | None:
    """Return the part of a field; None if it is not known."""
    return _follow(type_, pointer, ("properties", name))


def item_of(type_: Schema, pointer: Pointer) -> Pointer | None:
    """Return the part of a list's items; None if it is not known."""
    if pointer[-1:] == (LIST,):
        return pointer[:-1]
    return _follow(type_, pointer, ITEMS)


def list_of(pointer: Pointer) -> Pointer:
    """Return the part of lists of a part."""
    return pointer[:-1] if pointer[-1:] == (ITEMS,) else (*pointer, LIST)


def _may_be_absent(type_: Schema, pointer: Pointer) -> bool:
    """Return whether a part is that of a field which a value may lack."""
    if not pointer or pointer[-1][0] != "properties":
        return False
    return pointer[-1][1] not in part_at(type_, pointer[:-1]).get("required", ())


def fields_of(type_: Schema, pointer: Pointer = ()) -> list[str]:
    """Return the names of all fields of a part, in any of its branches."""
    parts = [part_at(type_, each) for each in branches(type_, pointer)]
    return [name for part in parts for name in part.get("properties", ())]


def lacks_field(type_: Schema, pointer: Pointer, name: str) -> bool:
    """Return whether no value of a part has a field of this name."""
    shapes = [part_at(type_, each) for each in _shapes(type_, pointer)]
    return bool(shapes) and all(_lacks(part, name) for part in shapes)


def _lacks(part: Schema, name: str) -> bool:
    fields = part.get("properties")
    return (
        _kind_of_part(part) == "table"
        and isinstance(fields, dict)
        and name not in fields
        and part.get("additionalProperties") is False
        and "patternProperties" not in part
    )


def _misspells(part: Schema, name: str) -> bool:
    """Return whether a name that a table may have is a misspelling of one that its type names.
    Neither a plural nor a number is one."""
    if _kind_of_part(part) != "table" or not part.keys() <= _TABLE:
        return False
    stem, *stems = [each.rstrip("s0123456789") for each in (name, *part.get("properties", ()))]
    known = [each for each in stems if len(each) > SHORT]
    return len(stem) > SHORT and stem not in stems and find_misspelled(stem, known) is not None


_TABLE = frozenset(("type", "properties", "required", "title", "description", "$defs"))
"""The words of a table that says nothing of other fields."""


def find_unknown_field(
    type_: Schema, steps: Iterable[str | int], pointer: Pointer = ()
) -> tuple[int, Pointer] | None:
    """Return the index of the first step that is no field of the part before it, and that part. An
    integer is a step to an item. None if all steps may lead somewhere."""
    at: Pointer | None = pointer
    for index, step in enumerate(steps):
        if at is None:
            break
        if isinstance(step, int):
            at = item_of(type_, at)
        elif _is_unknown(type_, at, step):
            return index, at
        else:
            at = field_of(type_, at, step)
    return None


def _is_unknown(type_: Schema, pointer: Pointer, name: str) -> bool:
    """Return whether every branch of a part lacks a field, or names one of which it is a
    misspelling."""
    shapes = [part_at(type_, each) for each in _shapes(type_, pointer)]
    return bool(shapes) and all(_lacks(part, name) or _misspells(part, name) for part in shapes)


def kind_of_type(type_: Schema, pointer: Pointer = ()) -> str | None:
    """Return the one kind of all values of a part, or None if there are several or it is not
    known."""
    kinds = {_kind_of_part(part_at(type_, each)) for each in branches(type_, pointer)}
    kinds |= {"nil"} if _may_be_absent(type_, pointer) else set()
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of_part(part: Schema) -> str | None:
    named, choices = part.get("type"), choices_of(part)
    if choices is not None:
        kinds = {kind_of_literal(choice) for choice in choices}
        return kinds.pop() if len(kinds) == 1 else None
    return _KINDS.get(named) if isinstance(named, str) else None


def choices_of(part: Schema) -> list[Any] | None:
    """Return the values that a part lists, or None if it lists none."""
    if "const" in part:
        return [part["const"]]
    choices = part.get("enum")
    return [*choices] if isinstance(choices, (list, tuple)) else None


def may_equal(type_: Schema, pointer: Pointer, literal: Any) -> bool:
    """Return whether a value of a part may be equal to a literal."""
    parts = [part_at(type_, each) for each in branches(type_, pointer)]
    return (literal is None and _may_be_absent(type_, pointer)) or any(
        _part_may_equal(part, literal) for part in parts
    )


def _part_may_equal(part: Schema, literal: Any) -> bool:
    choices = choices_of(part)
    if choices is not None:
        return literal in choices and not isinstance(literal, Symbol)
    kind = _kind_of_part(part)
    return kind is None or kind == kind_of_literal(literal)


def kind_of_literal(value: Any) -> str | None:
    """Return the kind of a plain value."""
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
