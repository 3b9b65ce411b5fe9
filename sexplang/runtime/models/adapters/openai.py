"""Messages-shaped payloads → the OpenAI shape that the engine in the process takes, and back.

What the engine lacks, tools, is said in the prompt and enforced by a grammar: the reply is an
object that either is the answer or names a tool of the list with an input that fits its schema.
"""

import json
import re
from hashlib import sha256
from typing import Any

from sexplang.runtime.models.adapters.openai_stream import OpenAIStream
from sexplang.runtime.models.adapters.reply_grammar import input_schema, reply_schema
from sexplang.runtime.models.server_failures import cannot
from sexplang.runtime.refusal import make_task_failure
from sexplang.tasks.prompt.window import output
from sexplang.terms.model.payload import choice_of

SEED = 1
MOST_TOKENS = 2**31 - 1

AFTER_TOOLS = "Now answer the question in your own words."


def build_request(payload: dict[str, Any]) -> dict[str, Any]:
    """The request to the engine. Raises a Refusal for what this model cannot take."""
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
        "cache_prompt": False,  # what was asked before must not show in what is answered now
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a piece for each batch of the prompt, too: each may be the last
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
"""The settings that the engine has, and what it calls them."""

_LACKS = ("thinking", "effort", "metadata", "cache", "service_tier", "provider")
"""Those that it has not; that one of them shall be off is nothing to it."""


def _check_settings(payload: dict[str, Any]) -> None:
    lacking = [f"`{key}`" for key in _LACKS if payload.get(key)]
    if lacking:
        raise cannot(f"the local model has no {', '.join(lacking)}", "leave it out")
    if payload.get("stop_sequences"):
        whole = next((key for key in ("tools", "output_schema") if payload.get(key)), None)
        if whole is not None:
            problem = f"the local model has no `stop_sequences` beside `{whole}`"
            raise cannot(problem, "leave one of them out")


def _choice(payload: dict[str, Any]) -> dict[str, Any]:
    """What the payload says of the use of tools, but for a model that goes in circles."""
    said = payload.get("tool_choice")
    return {"type": "none"} if repeats(payload) else choice_of(said) if said else {}


def repeats(payload: dict[str, Any]) -> bool:
    """Whether the model has made the same call twice. Its result will not change, and a small
    model would go on for ever: now it has to answer."""
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
    """A message's blocks as text; `names` remembers which call had which id."""
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
        parts.append(AFTER_TOOLS)  # small models call the same tool for ever otherwise
    return "\n\n".join(parts)


def _text(content: Any) -> str:
    """A text, or blocks that hold nothing else."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(map(_words, content))


def _words(block: Any) -> str:
    """A block of text, or a document that is text. Raises a Refusal for all this model cannot
    see."""
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
            raise cannot(f"the local model cannot read a block of type {kind}", "send text")


_STOPS = {"stop": "end_turn", "length": "max_tokens"}


def read_reply(
    pieces: OpenAIStream, payload: dict[str, Any], identity: str, name: str
) -> dict[str, Any]:
    """The engine's reply as `{content stop_reason usage model}`."""
    stop = _STOPS.get(pieces.finish_reason or "")
    if stop is None:
        raise make_task_failure(
            "llm_error",
            "reply-cut-short",
            f"{name} stopped in the middle of its reply",
            hint="try again",
            model=name,
        )
    block: dict[str, Any] = {"type": "text", "text": pieces.text}
    if payload.get("tools"):
        block = _block(pieces.text, payload, identity)
        stop = "tool_use" if block["type"] == "tool_use" else stop
    return {
        "content": [block],
        "stop_reason": stop,
        "usage": {
            "input_tokens": pieces.usage.get("prompt_tokens", 0),
            "output_tokens": pieces.usage.get("completion_tokens", 0),
        },
        "model": name,
    }


def _block(text: str, payload: dict[str, Any], identity: str) -> dict[str, Any]:
    """The answer or the call that a reply under `reply_schema` is."""
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
    """The answer in a reply that was cut off: nothing where it was going to be a call."""
    begun = _BEGUN.match(text)
    if begun is None:
        return ""
    answer = text[begun.end() :]
    whole = _WHOLE_CHARACTERS.match(answer) if is_text else None
    if whole is None:
        return "" if is_text else answer
    said: str = json.loads(whole[0] + '"', strict=False)
    return said
