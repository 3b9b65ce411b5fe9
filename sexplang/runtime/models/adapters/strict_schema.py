"""A JSON Schema → the form in which servers of the Messages protocol enforce it."""

from typing import Any


def enforceable(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema as servers take it; None for one that they cannot enforce. What this drops is
    checked again when the reply is read."""
    from anthropic import transform_schema

    if _is_open(schema):
        return None
    try:
        strict: dict[str, Any] = transform_schema(schema)
    except (AssertionError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return strict


def _is_open(schema: dict[str, Any]) -> bool:
    """Whether some object in a schema is meant to have keys that it does not name. Servers allow
    none: where none are named at all, the only reply would be `{}`."""
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
