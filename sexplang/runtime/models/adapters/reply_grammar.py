"""One schema for the local engine's grammar, made of the schemas of the answer and the tools.

Each schema is moved to a place of its own, with its references. Keywords that a grammar cannot
express are dropped, so the reply must be checked.
"""

import re
from typing import Any

from sexplang.runtime.models.server_failures import refuse_unsupported
from sexplang.terms.schemas import Unbounded, bound_of

MOST_REPETITIONS = 2000
"""The engine's maximum of repetitions."""

_ANSWERS = ("none", "auto")

# Keywords with subschemas: by name, in a list, directly.
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_ALONE = ("items", "contains", "propertyNames", "not", "if", "then", "else")
_ALONE_OR_FLAG = ("additionalProperties", "unevaluatedItems", "unevaluatedProperties")

_BEYOND = re.compile(r"\\[a-zA-Z]|\(\?|^[^^]|[^$]$")
"""Patterns that are not anchored, or use classes and groups that grammars lack."""


def reply_schema(
    tools: list[dict[str, Any]], output: dict[str, Any] | None, choice: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the schema of a reply: None, the output's schema, or a union of answer and tools.
    `choice` is the protocol's `tool_choice`. Raises a Refusal if no reply would be possible."""
    if not tools and output is None and not choice:
        return None
    kind = choice.get("type", "auto")
    homes = {"reply": {"type": "string"} if output is None else output}
    parts = [_object({"reply": _at("reply")})] if kind in _ANSWERS else []
    if not tools and parts:
        _check(homes["reply"], "reply")
        return {
            "$defs": {"reply": relocate_schema(homes["reply"], "#/$defs/reply")},
            **_at("reply"),
        }
    for at, tool in enumerate(tools):
        if kind in ("auto", "any") or (kind == "tool" and tool["name"] == choice.get("name")):
            homes[f"tool{at}"] = input_schema(tool)
            parts.append(_object({"tool": {"const": tool["name"]}, "input": _at(f"tool{at}")}))
    if not parts:
        raise refuse_unsupported(
            f"the local model has no tool for the tool_choice {choice}", "name a tool"
        )
    union = parts[0] if len(parts) == 1 else {"anyOf": parts}
    for home, schema in homes.items():
        _check(schema, home)
    return {
        "$defs": {
            home: relocate_schema(schema, f"#/$defs/{home}") for home, schema in homes.items()
        },
        **union,
    }


def _check(schema: Any, home: str) -> None:
    """Raise a Refusal for a schema of unbounded size: the engine expands references."""
    try:
        bound_of(schema)
    except Unbounded as why:
        what = "the output" if home == "reply" else "a tool"
        raise refuse_unsupported(
            f"the local model cannot hold to the schema of {what}: {why}", "make it smaller"
        ) from None


def input_schema(tool: dict[str, Any]) -> dict[str, Any]:
    """Return the input schema of a tool, which is always an object."""
    return {"type": "object", **tool.get("input_schema", {})}


def _at(home: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{home}"}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def relocate_schema(schema: Any, home: str) -> dict[str, Any]:
    """Return a schema with its references adapted to the place `home` in another document."""
    made: dict[str, Any] = {}
    for key, value in schema.items() if isinstance(schema, dict) else ():
        if key == "$ref" and isinstance(value, str) and value.startswith("#"):
            made[key] = home + value[1:]
        elif key in _NAMED and isinstance(value, dict):
            made[key] = {name: relocate_schema(each, home) for name, each in value.items()}
        elif key in (*_LISTED, "items") and isinstance(value, list):
            made[key] = [relocate_schema(each, home) for each in value]
        elif key in _ALONE or (key in _ALONE_OR_FLAG and isinstance(value, dict)):
            if isinstance(value, dict):
                made[key] = relocate_schema(value, home)
        elif not _is_beyond(key, value):
            made[key] = value
    return made


def _is_beyond(key: str, value: Any) -> bool:
    if key == "pattern":
        return isinstance(value, str) and _BEYOND.search(value) is not None
    if key in ("minLength", "minItems", "minProperties"):
        return isinstance(value, int) and value > MOST_REPETITIONS
    return False
