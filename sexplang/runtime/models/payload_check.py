"""What a program asks a model → what is wrong with its form: the same for every model."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from sexplang.runtime.files.surrogates import writable
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.model.payload import PAYLOAD, SHOWN, clash, flaw, is_content, suggest_key
from sexplang.terms.values.text import number

DEEPEST = 200
"""How deep a payload may nest."""


def check_payload(payload: Any) -> dict[str, Any]:
    """The payload, if it has the form that `model` takes. Raises a Refusal `bad-payload`, or
    `not-text` for text that no model can be sent."""
    messages = payload.get("messages") if isinstance(payload, dict) else None
    for key in payload if isinstance(payload, dict) else ():
        if key not in PAYLOAD:
            raise bad(f"the payload of `model` has no key `{key[:SHOWN]}`", suggest_key(key))
    if not isinstance(payload, dict) or not isinstance(messages, list) or not messages:
        raise bad("`model` takes a table with a list of messages")
    for at, message in enumerate(messages, 1):
        if not _is_message(message):
            words = "has no role of user or assistant, or no content of whole blocks"
            raise bad(f"message {at} in the payload of `model` {words}")
        if not _says_something(message["content"]):
            words = "has no text, or a blank one, and no provider takes that"
            raise bad(f"message {at} in the payload of `model` {words}")
    for key, value in payload.items():
        why = flaw(key, value)
        if why is not None:
            raise bad(f"`{key}` in the payload of `model` {why}")
    clashing = clash(payload)
    if clashing is not None:
        key, why, hint = clashing
        raise bad(f"`{key}` in the payload of `model` {why}", hint)
    for text in _texts(payload):
        writable(text, "model")
    return payload


_EXAMPLE = '(model {messages: [{role: "user" content: "Hello"}]})'


def bad(problem: str, hint: str = _EXAMPLE) -> Refusal:
    return make_task_failure("protocol_error", "bad-payload", problem, hint=hint)


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") in ("user", "assistant")
        and is_content(message.get("content"))
    )


def _says_something(content: str | list[Any]) -> bool:
    if isinstance(content, str):
        return content.strip() != ""
    texts = [block["text"] for block in content if block["type"] == "text"]
    return content != [] and all(text.strip() for text in texts)


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
