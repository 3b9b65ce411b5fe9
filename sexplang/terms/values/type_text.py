"""The written form of an answer's type."""

from typing import Any

from sexplang.terms.values.text import to_source

_TYPE_WORDS = {"null": "nil", "array": "list", "object": "table"}


def type_words(schema: dict[str, Any]) -> str:
    """Return the type of a schema of `returns`, as written."""
    kind = schema.get("type")
    if not schema:
        return "any"
    if schema.keys() == {"enum"}:
        return f"(one-of {' '.join(map(to_source, schema['enum']))})"
    if schema.keys() == {"anyOf"}:
        return f"(or {' '.join(map(type_words, schema['anyOf']))})"
    if kind == "array" and schema.keys() == {"type", "items"}:
        return f"[{type_words(schema['items'])}]"
    if kind == "object" and schema.get("additionalProperties") is False:
        required = schema.get("required", ())
        fields = [
            f"{name}{'' if name in required else '?'}: {type_words(of)}"
            for name, of in schema.get("properties", {}).items()
        ]
        return f"{{{' '.join(fields)}}}"
    word = str(kind)
    return _TYPE_WORDS.get(word, word) if schema.keys() == {"type"} else "(schema …)"
