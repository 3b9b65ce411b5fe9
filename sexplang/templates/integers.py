"""Where a schema asks for an integer: `3.0` and `1e2` are the integers that they stand for."""

import re
from decimal import Decimal
from typing import Any

from sexplang.templates.jsontext import is_whole

_MOST_STEPS = 64
"""How many parts of a schema may speak about one value, one inside another."""


def with_integers(data: Any, schema: str | dict[str, Any] | None) -> Any:
    """`data`, which fits `schema` (a JSON Schema), with integers where it asks for them: those that
    were written, whatever a float makes of them."""
    if not isinstance(schema, dict):
        return data
    return _at(data, schema, schema, 0)


def _at(data: Any, schema: Any, root: dict[str, Any], steps: int) -> Any:
    if not isinstance(schema, dict) or steps > _MOST_STEPS:
        return data
    if isinstance(data, (float, Decimal)):
        return _number(data) if _asks(schema, root, steps) else data
    for part in _also(schema, root):
        data = _at(data, part, root, steps + 1)
    if isinstance(data, list):
        return _items(data, schema, root)
    if isinstance(data, dict):
        return _fields(data, schema, root)
    return data


def _asks(schema: Any, root: dict[str, Any], steps: int) -> bool:
    """Whether a number under `schema` is an integer."""
    if not isinstance(schema, dict) or steps > _MOST_STEPS:
        return False
    type_ = schema.get("type")
    listed = type_ if isinstance(type_, list) else [type_]
    if "integer" in listed and "number" not in listed:
        return True
    return any(_asks(part, root, steps + 1) for part in _also(schema, root))


def _number(data: float | Decimal) -> float | Decimal | int:
    # A float is here only if its shortest digits are those that were written.
    number = data if isinstance(data, Decimal) else Decimal(repr(data))
    return int(number) if is_whole(number) else data


def _also(schema: dict[str, Any], root: dict[str, Any]) -> list[Any]:
    """The other schemas that speak about the same value."""
    found: list[Any] = []
    for word in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(word)
        found += parts if isinstance(parts, list) else []
    found += [schema[word] for word in ("then", "else") if word in schema]
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        found.append(_referred(reference, root))
    return found


def _referred(reference: str, root: dict[str, Any]) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _items(data: list[Any], schema: dict[str, Any], root: dict[str, Any]) -> list[Any]:
    first = schema.get("prefixItems")
    ahead = first[: len(data)] if isinstance(first, list) else []
    rest = [schema.get("items")] * (len(data) - len(ahead))
    pairs = zip(data, [*ahead, *rest], strict=True)
    return [_at(item, inner, root, 0) for item, inner in pairs]


def _fields(data: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    named = schema.get("properties")
    fields = named if isinstance(named, dict) else {}
    fitting = schema.get("patternProperties")
    patterns = fitting if isinstance(fitting, dict) else {}
    others = schema.get("additionalProperties")
    made = {}
    for key, item in data.items():
        parts = [part for pattern, part in patterns.items() if re.search(pattern, key)]
        parts += [fields[key]] if key in fields else []
        for part in parts or [others]:
            item = _at(item, part, root, 0)
        made[key] = item
    return made
