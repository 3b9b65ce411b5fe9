"""The request to the local engine, in its OpenAI form, and its reply.

The engine has no tools. The prompt describes them and a grammar enforces the reply: an object that
is the answer, or that names a listed tool with a valid input.
"""

import json
import re
from hashlib import sha256
from typing import Any

from sexplang.runtime.models.adapters.reply_grammar import input_schema, reply_schema
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.server_failures import refuse_unsupported
from sexplang.runtime.refusal import make_task_failure
from sexplang.tasks.prompt.window import output
from sexplang.terms.model.payload import choice_of

SEED = 1
MOST_TOKENS = 2**31 - 1

AFTER_TOOLS = "Now answer the question in your own words."


def build_request(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the engine's request. Raises a Refusal for unsupported features."""
    _check_settings(payload)
    tools = payload.get("tools") or []
    system = "\n\n".join(filter(None, [_text(payload.get("system")), _tools_in_words(tools)]))
    messages = [{"role": "system", "content": system}] if system else []
    names: dict[str, str] = {}
    for message in payload["messages"]:
        content = _message_text(message["content"], names)
        messages.append({"role": message["role"], "content": content})
    request: dict[str, Any] = {
        "messages": messages,
        "max_tokens": min(payload.get("max_tokens") or output("local"), MOST_TOKENS),
        "seed": SEED,
        "temperature": 0,
        **{name: payload[key] for key, name in _SETTINGS.items() if payload.get(key) is not None},
        "cache_prompt": False,  # earlier requests must not affect the reply
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a piece per batch of the prompt allows cancellation
    }
    schema = reply_schema(tools, payload.get("output_schema"), _choice(payload))
    if schema is not None:
        named = {"name": "reply", "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": named}
    return request


_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "stop_sequences": "stop",
}
"""Supported settings, with the engine's names."""

_LACKS = ("thinking", "effort", "metadata", "cache", "service_tier", "provider")
"""Unsupported settings; turning one off is accepted."""


def _check_settings(payload: dict[str, Any]) -> None:
    lacking = [f"`{key}`" for key in _LACKS if payload.get(key)]
    if lacking:
        raise refuse_unsupported(f"the local model has no {', '.join(lacking)}", "leave it out")
    if payload.get("stop_sequences"):
        whole = next((key for key in ("tools", "output_schema") if payload.get(key)), None)
        if whole is not None:
            problem = f"the local model has no `stop_sequences` beside `{whole}`"
            raise refuse_unsupported(problem, "leave one of them out")


def _choice(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload's `tool_choice`, or "none" for a model that repeats a call."""
    said = payload.get("tool_choice")
    return {"type": "none"} if repeats_call(payload) else choice_of(said) if said else {}


def repeats_call(payload: dict[str, Any]) -> bool:
    """Whether the model has made the same call twice. Its result will not change, and a small model
    would repeat it forever. Now it has to answer."""
    calls = [
        json.dumps([block.get("name"), block.get("input")], sort_keys=True)
        for message in payload["messages"]
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block.get("type") == "tool_use"
    ]
    return len(set(calls)) < len(calls)


def _tools_in_words(tools: list[dict[str, Any]]) -> str:
    if not tools:
        return ""
    lines = [
        f"- {tool['name']}: {tool.get('description') or 'no description'} "
        f"Input: {json.dumps(input_schema(tool), ensure_ascii=False)}"
        for tool in tools
    ]
    return "\n".join(
        [
            'Answer with {"reply": a text}, or use one of these tools with '
            '{"tool": its name, "input": its input} and read the result:',
            *lines,
        ]
    )


def _message_text(content: Any, names: dict[str, str]) -> str:
    """Return a message's blocks as text. `names` collects the tool names by call id."""
    if not isinstance(content, list):
        return _text(content)
    parts = []
    for block in content:
        kind = block.get("type")
        if kind == "tool_use":
            names[block["id"]] = block["name"]
            call = {"tool": block["name"], "input": block["input"]}
            parts.append(json.dumps(call, ensure_ascii=False))
        elif kind == "tool_result":
            name = names.get(block["tool_use_id"], "the tool")
            label = f"Error of {name}" if block.get("is_error") else f"Result of {name}"
            parts.append(f"{label}:\n{_text(block.get('content'))}")
        else:
            parts.append(_words(block))
    if any(block.get("type") == "tool_result" for block in content):
        parts.append(AFTER_TOOLS)  # otherwise small models repeat the same call forever
    return "\n\n".join(parts)


def _text(content: Any) -> str:
    """Return a text, or the joined text blocks."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(map(_words, content))


def _words(block: Any) -> str:
    """Return the text of a text block or a text document. Raises a Refusal for other blocks."""
    match block:
        case {"type": "text", "text": str(words)}:
            return words
        case {"type": "document", "source": {"type": "text", "data": str(words)}}:
            return words
        case {
            "type": "document",
            "source": {"type": "content", "content": str() | list() as parts},
        }:
            return _text(parts)
        case _:
            kind = block.get("type") if isinstance(block, dict) else None
            raise refuse_unsupported(
                f"the local model cannot read a block of type {kind}", "send text"
            )


def read_reply(
    heard: StreamAccumulator, payload: dict[str, Any], identity: str, name: str
) -> dict[str, Any]:
    """Return the engine's reply as `{content stop_reason usage model}`."""
    if not heard.is_complete:
        raise make_task_failure(
            "llm_error",
            "reply-cut-short",
            f"{name} stopped in the middle of its reply",
            hint="try again",
            model=name,
        )
    block: dict[str, Any] = {"type": "text", "text": heard.text}
    stop = heard.message["stop_reason"]
    if payload.get("tools"):
        block = _block(heard.text, payload, identity)
        stop = "tool_use" if block["type"] == "tool_use" else stop
    return {
        "content": [block],
        "stop_reason": stop,
        "usage": {"input_tokens": 0, "output_tokens": 0, **heard.usage},
        "model": name,
    }


def _block(text: str, payload: dict[str, Any], identity: str) -> dict[str, Any]:
    """Return the block in a reply under `reply_schema`: an answer or a call."""
    is_text = payload.get("output_schema") is None
    try:
        said = json.loads(text)
    except ValueError:
        return {"type": "text", "text": _so_far(text, is_text)}
    if "tool" in said:
        made = sha256(f"{identity}/{text}".encode()).hexdigest()[:16]
        given = said["input"] if isinstance(said["input"], dict) else {}
        return {"type": "tool_use", "id": f"toolu_{made}", "name": said["tool"], "input": given}
    answer = said["reply"]
    words = answer if is_text else json.dumps(answer, ensure_ascii=False)
    return {"type": "text", "text": words}


_BEGUN = re.compile(r'\s*\{\s*"reply"\s*:\s*')
_WHOLE_CHARACTERS = re.compile(r'"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')


def _so_far(text: str, is_text: bool) -> str:
    """Return the answer in an incomplete reply, or "" if it is a call."""
    begun = _BEGUN.match(text)
    if begun is None:
        return ""
    answer = text[begun.end() :]
    whole = _WHOLE_CHARACTERS.match(answer) if is_text else None
    if whole is None:
        return "" if is_text else answer
    said: str = json.loads(whole[0] + '"', strict=False)
    return said
