"""The schema of `model`'s payload: its keys, their values, and the messages for others.

The settings among them, `OPTIONS`, are also the keys of `(options …)` in a task and of `options` in
a call.
"""

from collections.abc import Callable
from typing import Any, TypeGuard

from sexplang.terms.classes.node import frozen
from sexplang.terms.template import tool_alias
from sexplang.terms.texts.nearest import nearest


@frozen
class Takes:
    """The values that a key takes: in words, and as a test. Lists may be Python's or values."""

    words: str
    test: Callable[[Any], bool]


def _is_list(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, (list, tuple))


def _is_table(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_number(least: float, most: float) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and least <= value <= most


def _is_count(least: int, most: int = 10**9) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _are_texts(value: Any) -> bool:
    return _is_list(value) and len(value) > 0 and all(map(_is_text, value))


def _is_embeddable(value: Any) -> bool:
    fits = _is_list(value) and 0 < len(value) <= MOST_TEXTS
    return fits and all(isinstance(each, str) and each.strip() for each in value)


def _are_names(value: Any) -> bool:
    """Return whether all are names of letters, digits and dashes: they go into a header."""
    return _are_texts(value) and all(
        each.isascii() and each.replace("-", "").replace("_", "").isalnum() for each in value
    )


def _is_typed(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def is_content(content: Any) -> bool:
    """Return whether a value is a message's content: a text, or blocks."""
    return isinstance(content, str) or (_is_list(content) and all(map(_is_block, content)))


def _is_block(block: Any) -> bool:
    """Return whether a value is a block. Only known kinds are inspected; any other is sent as it
    is."""
    match block:
        case {"type": "text"}:
            return isinstance(block.get("text"), str)
        case {"type": "tool_use"}:
            named = isinstance(block.get("id"), str) and isinstance(block.get("name"), str)
            return named and isinstance(block.get("input"), dict)
        case {"type": "tool_result"}:
            content = block.get("content")
            return isinstance(block.get("tool_use_id"), str) and (
                content is None or is_content(content)
            )
        case {"type": str()}:
            return True
        case _:
            return False


def _is_tool(tool: Any) -> bool:
    """Return whether a value is a tool. A server's own tools have no schema."""
    return (
        isinstance(tool, dict)
        and isinstance(tool.get("name"), str)
        and isinstance(tool.get("input_schema", {}), dict)
    )


EFFORTS = ("low", "medium", "high", "xhigh", "max")
LEAST_THINKING = 1024

OPTIONS: dict[str, Takes] = {
    "temperature": Takes("a number from 0 to 2", _is_number(0, 2)),
    "top_p": Takes("a number from 0 to 1", _is_number(0, 1)),
    "top_k": Takes("a whole number from 1", _is_count(1)),
    "seed": Takes("a whole number from 0 to 4294967295", _is_count(0, 2**32 - 1)),
    "stop_sequences": Takes("a list of texts that are not empty", _are_texts),
    "thinking": Takes(
        f"true, false, a number of tokens from {LEAST_THINKING}, or a table with a type",
        lambda value: (
            value is True or value is False or _is_count(LEAST_THINKING)(value) or _is_typed(value)
        ),
    ),
    "effort": Takes(f"one of {' '.join(EFFORTS)}", lambda value: value in EFFORTS),
    "tool_choice": Takes(
        "auto, any, none, the name of a tool, or a table with a type",
        lambda value: _is_text(value) or _is_typed(value),
    ),
    "metadata": Takes(
        "a table of texts",
        lambda value: _is_table(value) and all(isinstance(each, str) for each in value.values()),
    ),
    "cache": Takes(
        'true, false, "5m" or "1h"',
        lambda value: value is True or value is False or value in ("5m", "1h"),
    ),
    "service_tier": Takes("the word for a tier, such as auto", _is_text),
    "provider": Takes("a table of what only its provider knows", _is_table),
}
"""The settings."""

_FLAG = Takes("true or false", lambda value: isinstance(value, bool))

HISTORY: dict[str, Takes] = {
    "use_session_history": _FLAG,
    "record_in_session_history": _FLAG,
    "history_turns_to_include": Takes(
        "a whole number from 1", lambda value: type(value) is int and value > 0
    ),
}
"""The settings in `history_config` of a call."""

MOST_TEXTS = 2_048
"""The most texts of one request for embeddings: that of the OpenAI protocol."""

PAYLOAD: dict[str, Takes] = {
    "messages": Takes("a list of messages", _is_list),
    "embed": Takes(f"a list of at most {MOST_TEXTS:,} texts that are not blank", _is_embeddable),
    "system": Takes("a text or a list of blocks", is_content),
    "model": Takes("the name of a model", lambda name: isinstance(name, str)),
    "max_tokens": Takes("a whole number from 1", lambda count: type(count) is int and count >= 1),
    "tools": Takes(
        "a list of tables with a name and an input_schema",
        lambda tools: _is_list(tools) and all(map(_is_tool, tools)),
    ),
    "output_schema": Takes("a table", _is_table),
    "timeout": Takes("a number of seconds", lambda time: type(time) in (int, float) and time >= 0),
    "task": Takes("the name of a task", lambda name: isinstance(name, str)),
    **OPTIONS,
}
"""All keys of a payload."""

WRAPPER = "answer"
"""The field that holds an answer which is no object. Providers enforce schemas of objects."""

BETAS = "betas"
"""The key of `provider` that is sent as a header: names of a server's beta features."""

_CLOSED = frozenset({*PAYLOAD, "stream", "output_format"})
"""Keys that `provider` may not hold, because they have their own place and check."""


def flaw(key: str, value: Any) -> str | None:
    """Return the flaw of a known key's value, in words that follow its name, or None. None as a
    value is unset."""
    if value is None:
        return None
    takes = PAYLOAD[key]
    if not takes.test(value):
        return f"is not {takes.words}"
    if key == "provider":
        closed = _find_closed_key(value)
        if closed is not None:
            return f"may not hold `{closed}`: that has a place of its own"
        if BETAS in value and not _are_names(value[BETAS]):
            return f"has `{BETAS}` that are not a list of names"
    return None


_BESIDE_EMBED = frozenset({"embed", "model", "timeout", "task", "provider"})


def is_embedding(payload: Any) -> bool:
    """Return whether a payload asks for embeddings, and not for a reply to messages."""
    return isinstance(payload, dict) and payload.get("embed") is not None


_MEANT = {
    "stop": "stop_sequences",
    "max_output_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "reasoning_effort": "effort",
    "reasoning": "thinking",
    "budget_tokens": "thinking",
    "cache_control": "cache",
    "output_config": "effort",
    "response_format": "output_schema",
    "output_format": "output_schema",
    "functions": "tools",
    "prompt": "messages",
    "user": "metadata",
    "random_seed": "seed",
    "input": "embed",
    "embeddings": "embed",
}
"""Foreign names of our keys."""

_CLAUSES = {
    "model": '`(model "…")` in the task, or `model: "…"` in a call by name',
    "system": '`(system "…")` in the task',
    "max_tokens": "`(limits max_output_tokens: …)` in the task",
    "timeout": "`(limits timeout: …)` in the task",
    "tools": "`(allowed_tools …)` in the task",
    "output_schema": "`(returns …)` in the task",
    "messages": '`(instructions "…")` in the task, or `history: …` in a call by name',
    "embed": "`(embed texts)` of std/vectors, outside the task",
}
"""The place in a task of keys that are no settings."""

_OURS = ("task", "stream")
"""Keys that no program sets."""

SHOWN = 40
"""The characters of an unknown key that are shown."""


def option_meant(key: str) -> str:
    """Return the replacement for an unknown setting of a task or its call."""
    said = key.lower().replace("-", "_")[: 2 * SHOWN]
    if said in _OURS:
        return "leave it out: the request has it"
    place = _CLAUSES.get(_MEANT.get(said, said))
    return f"write {place}" if place else suggest_key(key, tuple(OPTIONS))


def suggest_place(key: str, value: Any) -> str | None:
    """Return the right place of an entry of `provider`, for a task or its call."""
    closed = _find_closed_key(value) if key == "provider" and _is_table(value) else None
    if closed in OPTIONS:
        return f"write `{closed}: …` beside `provider`"
    return None if closed is None else option_meant(closed)


def _find_closed_key(provider: dict[str, Any]) -> str | None:
    return next((each for each in provider if each in _CLOSED), None)


def suggest_key(key: str, known: tuple[str, ...] = tuple(PAYLOAD)) -> str:
    """Return the replacement for an unknown key."""
    said = key.lower().replace("-", "_")[: 2 * SHOWN]
    near = _MEANT[said] if said in _MEANT else nearest(said, known)
    if near in known:
        return f"did you mean `{near}`?"
    return (
        f"there are {', '.join(known)}; what only its provider knows stands in "
        f"`provider: {{{said[:SHOWN]}: …}}`"
    )


CHOICES = ("auto", "any", "none")


def choice_of(said: Any) -> dict[str, Any]:
    """Return the protocol's table for a `tool_choice`: a word, the name of a tool, or that
    table."""
    if isinstance(said, dict):
        return said
    if said in CHOICES:
        return {"type": said}
    return {"type": "tool", "name": tool_alias(said)}


def is_forced(said: Any) -> bool:
    """Return whether a `tool_choice` forces the model to call a tool."""
    return choice_of(said)["type"] in ("any", "tool")


def clash(payload: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return the first setting that is valid by itself and in conflict with the rest of a payload:
    its key, words that follow its name, and the correction."""
    return (
        _check_embedding(payload)
        or _no_tool(payload)
        or _check_thinking(payload)
        or _check_duplicates(payload)
    )


def _check_embedding(payload: dict[str, Any]) -> tuple[str, str, str] | None:
    if not is_embedding(payload):
        return None
    for key, value in payload.items():
        if value is not None and key not in _BESIDE_EMBED:
            return key, "has no meaning beside `embed`", "leave one of them out"
    return None


def _no_tool(payload: dict[str, Any]) -> tuple[str, str, str] | None:
    said = payload.get("tool_choice")
    if not said or not is_forced(said):
        return None
    tools = [tool["name"] for tool in payload.get("tools") or ()]
    choice = choice_of(said)
    name = choice.get("name")
    if not tools:
        words = "makes the model call a tool, and it is offered none"
    elif choice["type"] == "tool" and name not in tools:
        words = f"is `{str(name)[:SHOWN]}`, and no tool that is offered is called so"
    else:
        return None
    return "tool_choice", words, "allow the tool, or leave `tool_choice` out"


def _check_thinking(payload: dict[str, Any]) -> tuple[str, str, str] | None:
    """Check the budget of thinking. With a beta feature it may exceed one reply."""
    said, most = payload.get("thinking"), payload.get("max_tokens")
    budget = said.get("budget_tokens") if isinstance(said, dict) else said
    trial = (payload.get("provider") or {}).get(BETAS)
    if type(budget) is not int or type(most) is not int or budget < most or trial:
        return None
    words = f"takes {budget} tokens of a reply that has at most {most}"
    return "thinking", words, f"give the reply more than {budget} tokens, or let it think less"


def _check_duplicates(payload: dict[str, Any]) -> tuple[str, str, str] | None:
    config = (payload.get("provider") or {}).get("output_config")
    if payload.get("effort") is None or config is None:
        return None
    if isinstance(config, dict) and "effort" not in config:
        return None
    words = "sets `output_config`, which `effort` beside it sets too"
    return "provider", words, "say it in one of them"


LONG = 4_096
"""The characters that are worth a place in a prompt cache: no server caches less than 1,024
tokens."""


def cache_marks(payload: dict[str, Any]) -> tuple[bool, bool]:
    """Return whether the server is asked to cache the beginning of a prompt (tools and system
    prompt), and all of it, for a request that continues it."""
    cache = payload.get("cache")
    if cache is False:
        return False, False
    if cache or payload.get("tools"):
        return True, True
    messages = payload.get("messages")
    opening = _size(payload.get("system"))
    if not _is_list(messages) or len(messages) < 2:  # no continuation is known
        return opening >= LONG, False
    whole = opening + sum([_size(each) for each in messages])
    return opening >= LONG, whole >= LONG


def _size(part: Any) -> int:
    """Return the characters of a text, of blocks or of a message; a large number for an image or a
    document."""
    if isinstance(part, str):
        return len(part)
    if _is_list(part):
        return sum(map(_size, part))
    if not isinstance(part, dict):
        return 0
    return LONG if "source" in part else _size(part.get("text")) + _size(part.get("content"))
