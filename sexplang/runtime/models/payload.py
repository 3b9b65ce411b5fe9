"""What a program asks a model → what is wrong with its form: the same for every model."""

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from sexplang.runtime.refusal import Refusal, broken
from sexplang.runtime.surrogates import writable
from sexplang.terms.node import frozen
from sexplang.terms.text import number

DEEPEST = 200
"""How deep a payload may nest."""


def checked(payload: Any) -> dict[str, Any]:
    """The payload, if it has the form that `model` takes. Raises a Refusal `bad-payload`, or
    `not-text` for text that no model can be sent."""
    messages = payload.get("messages") if isinstance(payload, dict) else None
    if not isinstance(payload, dict) or not isinstance(messages, list) or not messages:
        raise bad("`model` takes a table with a list of messages")
    for at, message in enumerate(messages, 1):
        if not _is_message(message):
            words = "has no role of user or assistant, or no content of whole blocks"
            raise bad(f"message {at} in the payload of `model` {words}")
        if not _says_something(message["content"]):
            words = "has no text, or a blank one, and no provider takes that"
            raise bad(f"message {at} in the payload of `model` {words}")
    for key, takes in _KEYS.items():
        value = payload.get(key)
        if value is not None and not takes.test(value):
            raise bad(f"`{key}` in the payload of `model` is not {takes.words}")
    for text in _texts(payload):
        writable(text, "model")
    return payload


def bad(problem: str) -> Refusal:
    return broken(
        "protocol_error",
        "bad-payload",
        problem,
        hint='(model {messages: [{role: "user" content: "Hello"}]})',
    )


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") in ("user", "assistant")
        and _is_content(message.get("content"))
    )


def _is_content(content: Any) -> bool:
    return isinstance(content, str) or (isinstance(content, list) and all(map(_is_block, content)))


def _says_something(content: str | list[Any]) -> bool:
    if isinstance(content, str):
        return content.strip() != ""
    texts = [block["text"] for block in content if block["type"] == "text"]
    return content != [] and all(text.strip() for text in texts)


def _is_block(block: Any) -> bool:
    """The kinds that models look into; any other is opaque, and sent as it is."""
    match block:
        case {"type": "text"}:
            return isinstance(block.get("text"), str)
        case {"type": "tool_use"}:
            return _is_named(block) and isinstance(block.get("input"), dict)
        case {"type": "tool_result"}:
            content = block.get("content")
            return isinstance(block.get("tool_use_id"), str) and (
                content is None or _is_content(content)
            )
        case {"type": str()}:
            return True
        case _:
            return False


def _is_named(block: dict[str, Any]) -> bool:
    return isinstance(block.get("id"), str) and isinstance(block.get("name"), str)


def _is_tool(tool: Any) -> bool:
    """A server's own tools have no schema."""
    return (
        isinstance(tool, dict)
        and isinstance(tool.get("name"), str)
        and isinstance(tool.get("input_schema", {}), dict)
    )


@frozen
class _Takes:
    words: str
    test: Callable[[Any], bool]


_KEYS = {
    "system": _Takes("a text or a list of blocks", _is_content),
    "tools": _Takes(
        "a list of tables with a name and an input_schema",
        lambda tools: isinstance(tools, list) and all(map(_is_tool, tools)),
    ),
    "tool_choice": _Takes("a table", lambda choice: isinstance(choice, dict)),
    "output_schema": _Takes("a table", lambda schema: isinstance(schema, dict)),
    "max_tokens": _Takes("a whole number from 1", lambda count: type(count) is int and count >= 1),
    "timeout": _Takes("a number of seconds", lambda time: type(time) in (int, float) and time >= 0),
    "model": _Takes("the name of a model", lambda name: isinstance(name, str)),
}


def _texts(payload: dict[str, Any]) -> Iterator[str]:
    """All texts in a payload, keys too. Raises a Refusal where it nests too deep, and for a number
    that JSON has not."""
    work: list[tuple[Any, int]] = [(payload, 0)]
    while work:
        data, depth = work.pop()
        if depth > DEEPEST:
            raise bad(f"the payload of `model` nests more than {DEEPEST} levels deep")
        if isinstance(data, str):
            yield data
        elif isinstance(data, dict):
            yield from data
            work += [(item, depth + 1) for item in data.values()]
        elif isinstance(data, list):
            work += [(item, depth + 1) for item in data]
        elif isinstance(data, float) and not isfinite(data):
            raise bad(f"the payload of `model` holds {number(data)}, and JSON has no such number")
