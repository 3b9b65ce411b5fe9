"""The check of a payload's form, equal for all models."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from sexplang.runtime.files.surrogates import require_text
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.model.payload import (
    PAYLOAD,
    SHOWN,
    clash,
    flaw,
    is_content,
    is_embedding,
    suggest_key,
)
from sexplang.terms.values.text import number

DEEPEST = 200
"""Maximum nesting of a payload."""


def check_payload(payload: Any) -> dict[str, Any]:
    """Return a valid payload. Raises a Refusal `bad-payload`, or `not-text` for text with surrogate
    halves."""
    for key in payload if isinstance(payload, dict) else ():
        if key not in PAYLOAD:
            raise refuse_payload(
                f"the payload of `model` has no key `{key[:SHOWN]}`", suggest_key(key)
            )
    if not isinstance(payload, dict):
        raise _refuse_without_messages()
    if not is_embedding(payload):
        _check_messages(payload.get("messages"))
    for key, value in payload.items():
        why = flaw(key, value)
        if why is not None:
            hint = _EMBEDDING if key == "embed" else _EXAMPLE
            raise refuse_payload(f"`{key}` in the payload of `model` {why}", hint)
    clashing = clash(payload)
    if clashing is not None:
        key, why, hint = clashing
        raise refuse_payload(f"`{key}` in the payload of `model` {why}", hint)
    for text in _texts(payload):
        require_text(text, "model")
    return payload


def _refuse_without_messages() -> Refusal:
    return refuse_payload("`model` takes a table with a list of messages")


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise _refuse_without_messages()
    for at, message in enumerate(messages, 1):
        if not _is_message(message):
            words = "has no role of user or assistant, or no content of whole blocks"
            raise refuse_payload(f"message {at} in the payload of `model` {words}")
        if not _says_something(message["content"]):
            words = "has no text, or a blank one, and no provider takes that"
            raise refuse_payload(f"message {at} in the payload of `model` {words}")


_EXAMPLE = '(model {messages: [{role: "user" content: "Hello"}]})'
_EMBEDDING = '(model {embed: ["Hello"]})'


def refuse_payload(problem: str, hint: str = _EXAMPLE) -> Refusal:
    return make_task_failure("protocol_error", "bad-payload", problem, hint=hint)


def merge_setting(key: str, own: Any, given: Any) -> Any:
    """Merge a key of `provider` with the payload's setting of the same. Raises a Refusal for a
    contradiction."""
    if own is None:
        return given
    if isinstance(own, dict) and isinstance(given, dict) and not own.keys() & given.keys():
        return {**own, **given}
    problem = f"`provider` sets `{key}`, which the settings beside it set too"
    raise refuse_payload(problem, "say it in one of them")


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
    """Yield all texts of a payload, keys too. Raises a Refusal for too deep nesting, and for a
    number that JSON lacks."""
    work: list[tuple[Any, int]] = [(payload, 0)]
    while work:
        data, depth = work.pop()
        if depth > DEEPEST:
            raise refuse_payload(f"the payload of `model` nests more than {DEEPEST} levels deep")
        if isinstance(data, str):
            yield data
        elif isinstance(data, dict):
            yield from data
            work += [(item, depth + 1) for item in data.values()]
        elif isinstance(data, list):
            work += [(item, depth + 1) for item in data]
        elif isinstance(data, float) and not isfinite(data):
            raise refuse_payload(
                f"the payload of `model` holds {number(data)}, and JSON has no such number"
            )
