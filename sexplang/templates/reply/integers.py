"""Where a schema asks for an integer: `3.0` and `1e2` are the integers that they stand for."""

from decimal import Decimal
from typing import Any

from sexplang.templates.json_schema.applicable_parts import Part, Speaking
from sexplang.terms.json.strict import is_whole
from sexplang.terms.schema.schemas import References

_BESIDE = frozenset(("allOf", "anyOf", "oneOf", "then", "else"))


def with_integers(data: Any, schema: str | dict[str, Any] | None) -> Any:
    """`data`, which fits `schema` (a JSON Schema), with integers where it asks for them: those that
    were written, whatever a float makes of them."""
    if not isinstance(schema, dict) or not _has_fractions(data):
        return data
    return _at(data, [schema], Speaking(References(schema), _BESIDE))


def _has_fractions(data: Any) -> bool:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return any(map(_has_fractions, data))
    return isinstance(data, (float, Decimal))


def _at(data: Any, parts: list[Any], speaking: Speaking) -> Any:
    """`data` where these parts of the schema speak about it."""
    about = speaking.about(parts)
    if not about:
        return data
    if isinstance(data, (float, Decimal)):
        return _number(data) if any(map(_asks, about)) else data
    inside = speaking.inside(about, data)
    if isinstance(data, list):
        return [_at(data[at], found, speaking) for at, found in inside]
    if isinstance(data, dict):
        return {key: _at(data[key], found, speaking) for key, found in inside}
    return data


def _asks(part: Part) -> bool:
    """Whether a number under a part is an integer."""
    type_ = part.get("type")
    listed = type_ if isinstance(type_, list) else [type_]
    return "integer" in listed and "number" not in listed


def _number(data: float | Decimal) -> float | Decimal | int:
    # A float is here only if its shortest digits are those that were written.
    number = data if isinstance(data, Decimal) else Decimal(repr(data))
    return int(number) if is_whole(number) else data
