"""Schemas in the form that servers enforce."""

from typing import Any


def enforceable(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema for the server, or None if it cannot enforce it. Dropped keywords are
    checked when the reply is read."""
    from anthropic import transform_schema

    if _is_open(schema):
        return None
    try:
        strict: dict[str, Any] = transform_schema(schema)
    except (AssertionError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return strict


def _is_open(schema: dict[str, Any]) -> bool:
    """Whether a schema has an object with keys that it does not name. Servers forbid such keys, so
    an object without named keys could only be `{}`."""
    work: list[Any] = [schema]
    while work:
        part = work.pop()
        if isinstance(part, dict):
            named = part.get("type") != "object" or part.get("properties")
            if part.get("additionalProperties", not named) is not False:
                return True
            work += part.values()
        elif isinstance(part, list):
            work += part
    return False


def requires_all(schema: Any) -> bool:
    """Whether each object in a schema requires all its fields."""
    work: list[Any] = [schema]
    while work:
        part = work.pop()
        if isinstance(part, dict):
            fields, required = part.get("properties"), part.get("required", [])
            if isinstance(fields, dict) and not fields.keys() <= set(required):
                return False
            work += part.values()
        elif isinstance(part, list):
            work += part
    return True
