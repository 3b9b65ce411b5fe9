"""The history of a conversation: the earlier messages before a prompt, and the record for the next
call (inventory 3.4: HistoryConfigSettings)."""

from collections.abc import Sequence
from typing import Any

from sexplang.tasks.failures import bad_input
from sexplang.tasks.requests.subtask_request import fields_of, snake
from sexplang.tasks.session import Block, HandlerSession
from sexplang.terms.classes.node import evolve
from sexplang.terms.model.payload import HISTORY, SHOWN
from sexplang.terms.template import HistoryConfig
from sexplang.terms.values.value import Value

ROLES = ("user", "assistant")


def is_history(value: Value) -> bool:
    """Return whether a value is a list of messages, `{role content}`."""
    return isinstance(value, (tuple, list)) and all(map(_is_message, value))


def _is_message(value: Value) -> bool:
    fields = fields_of(value)
    return (
        fields is not None
        and set(fields) == {"role", "content"}
        and fields["role"] in ROLES
        and isinstance(fields["content"], (str, tuple))
    )


def messages_of(history: Sequence[Value]) -> tuple[Block, ...]:
    """Return a history whose messages and blocks are tables. They may be records."""
    return tuple([_plain(fields_of(message) or {}) for message in history])


def _plain(message: Block) -> Block:
    content = message["content"]
    if type(content) is tuple and not all(type(block) is dict for block in content):
        content = tuple([dict(fields_of(block) or {}) for block in content])
    return {"role": message["role"], "content": content}


def flaw_of(history: Sequence[Value]) -> str | None:
    """Return why no provider takes the messages: the first is not the user's, a block lacks a field
    of its type, or a tool call does not have exactly one result in the next message."""
    if history and (fields_of(history[0]) or {})["role"] != "user":
        return "message 0 is the assistant's: the first is one of the user"
    called: list[Value] = []
    for at, message in enumerate(history):
        fields = fields_of(message) or {}
        content = fields["content"]
        if not content or (isinstance(content, str) and content.isspace()):
            return f"message {at} is empty, and providers refuse that"
        blocks = [fields_of(block) or {} for block in content] if type(content) is tuple else []
        for nth, block in enumerate(blocks):
            lack = _find_lack(block, fields["role"])
            if lack is not None:
                return f"in content[{nth}] of message {at} {lack}"
        if sorted(called) != sorted(_ids(blocks, "tool_result", "tool_use_id")):
            return f"message {at} does not hold one result for each call before it, and no other"
        called = _ids(blocks, "tool_use", "id")
        if len(set(called)) < len(called):
            return f"two calls in message {at} have one id"
    return "the calls of its last message have no results" if called else None


def _find_lack(block: Block, role: Value) -> str | None:
    """Return what a block lacks. A model's blocks of other types are opaque and sent unchanged.
    Programs write the user's blocks and those in results, so their types must be known."""
    match block:
        case {"type": "text"}:
            said = block.get("text")
            return None if isinstance(said, str) and said.strip() else "a text block has no text"
        case {"type": "tool_use", "id": str(id), "name": str(name)}:
            is_whole = id and name and fields_of(block.get("input")) is not None
            return None if is_whole and role == "assistant" else _CALL
        case {"type": "tool_use"}:
            return _CALL
        case {"type": "tool_result"}:
            is_whole = isinstance(block.get("tool_use_id"), str) and _is_answer(block)
            return None if is_whole and role == "user" else _RESULT
        case {"type": str(kind)}:
            return None if role == "assistant" else _lack_of(kind, block)
    return "a block is no table with a type"


def _lack_of(kind: str, block: Block) -> str | None:
    """Return what a block of another type lacks, if no model wrote it."""
    if kind in ("image", "document"):
        source = fields_of(block.get("source")) or {}
        wanted = _SOURCES.get(source.get("type"))
        is_whole = wanted is not None and all(_is_text(source.get(name)) for name in wanted)
        return None if is_whole else f"`{kind}` has no source: {_SOURCE}"
    if kind in _OTHERS:
        return None
    return f"there is no type `{kind[:SHOWN]}` for what a user says: write text, image or document"


def _is_text(value: Value) -> bool:
    return isinstance(value, str) and value != ""


_SOURCES: dict[Value, tuple[str, ...]] = {
    "base64": ("media_type", "data"),
    "url": ("url",),
    "file": ("file_id",),
    "text": ("data",),
    "content": (),
}
"""The text fields of each kind of source of an image or document."""

_SOURCE = 'write source: {type: "base64" media_type: "image/png" data: …}'
_OTHERS = frozenset(("search_result", "container_upload", "tool_reference"))
_CALL = "a `tool_use` is no call of an assistant with its id, name and table of input"
_RESULT = "a `tool_result` is no answer of a user with its tool_use_id and content"


def _is_answer(block: Block) -> bool:
    content = block.get("content")
    if isinstance(content, tuple):
        inner = [fields_of(each) or {} for each in content]
        return not any(each.get("type") == "tool_use" or _find_lack(each, None) for each in inner)
    return content is None or isinstance(content, str)


def _ids(blocks: Sequence[Block], kind: str, field: str) -> list[Any]:
    return [block[field] for block in blocks if block["type"] == kind]


def configure(template: HistoryConfig, request: Value) -> HistoryConfig:
    """Return the template's settings, overridden by the request's. Raises Fault."""
    given = {snake(key): value for key, value in (fields_of(request) or {}).items()}
    chosen: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    wrong = [
        key for key, value in chosen.items() if key not in HISTORY or not HISTORY[key].test(value)
    ]
    if wrong:
        raise bad_input(
            f"history_config has no such setting or value: {', '.join(wrong)}",
            "write use_session_history: true|false history_turns_to_include: 5 "
            "record_in_session_history: true|false; there is at least 1 turn to include, and "
            "use_session_history: false leaves all out",
            fields=tuple(f"history_config.{name}" for name in wrong),
        )
    return evolve(template, **chosen)


def select_messages(history: tuple[Block, ...], settings: HistoryConfig) -> tuple[Block, ...]:
    """Return the messages that the model sees: all, the last N questions with their answers, or
    none."""
    if not settings.use_session_history:
        return ()
    most = settings.history_turns_to_include
    if most is None:
        return history
    asked = [at for at, message in enumerate(history) if _is_question(message)]
    return history[asked[-most] :] if len(asked) > most else history


def _is_question(message: Block) -> bool:
    """Return whether a message is a person's. A tool result belongs to the question before it."""
    content = message["content"]
    blocks = content if isinstance(content, tuple) else ()
    is_result = any((fields_of(block) or {}).get("type") == "tool_result" for block in blocks)
    return message["role"] == "user" and not is_result


def record_history(session: HandlerSession) -> tuple[Block, ...] | None:
    """Return the messages so far as they were sent, so that the next conversation begins with the
    same bytes. None if no history is kept."""
    unseen = session.setup.unseen
    return None if unseen is None else unseen + session.messages
