"""The request of the OpenAI protocol (chat completions) for a payload.

Law: a feature of a payload is passed on, or refused by name before anything is sent.
"""

import json
from typing import Any

from sexplang.runtime.models.adapters.strict_schema import enforceable, requires_all
from sexplang.runtime.models.payload_check import merge_setting, refuse_payload
from sexplang.runtime.models.server_failures import refuse_unsupported
from sexplang.tasks.prompt.window import output
from sexplang.terms.model.payload import BETAS, choice_of

_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop_sequences": "stop",
    "effort": "reasoning_effort",
    "metadata": "metadata",
    "service_tier": "service_tier",
}
"""Supported settings, with the protocol's names."""

_LACKS = {
    "top_k": "leave it out of the options",
    "thinking": "say how much with `effort`",
    "cache": "leave it out: servers of this protocol keep prompts by themselves",
}
"""Unsupported settings, with what to do instead."""


def build_chat_body(payload: dict[str, Any], model: str, *, is_provider: bool) -> dict[str, Any]:
    """Return the request's body. It has no data of the run: no id, time or attempt. OpenAI itself
    has another name for `max_tokens` than other servers. Raises a Refusal for what the protocol
    lacks."""
    _check_settings(payload)
    bound = "max_completion_tokens" if is_provider else "max_tokens"
    system = _text(payload.get("system"), "a system prompt")
    body: dict[str, Any] = {
        "model": model,
        bound: payload.get("max_tokens") or output(model),
        "messages": [
            *([{"role": "system", "content": system}] if system else ()),
            *[each for message in payload["messages"] for each in _translate(message)],
        ],
    }
    for key, name in _SETTINGS.items():
        if payload.get(key) is not None:
            body[name] = payload[key]
    tools = payload.get("tools") or []
    if tools:
        body["tools"] = [_function(tool) for tool in tools]
        if payload.get("tool_choice"):
            body |= _choice(choice_of(payload["tool_choice"]))
    if payload.get("output_schema") is not None:
        body["response_format"] = _format(payload["output_schema"], is_provider)
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    for key, value in (payload.get("provider") or {}).items():
        body[key] = merge_setting(key, body.get(key), value)
    return body


def _check_settings(payload: dict[str, Any]) -> None:
    for key, hint in _LACKS.items():
        if payload.get(key) is not None and not (key == "cache" and payload[key] is False):
            raise refuse_unsupported(f"the OpenAI protocol has no `{key}`", hint)
    if BETAS in (payload.get("provider") or {}):
        raise refuse_unsupported(f"the OpenAI protocol has no `{BETAS}`", "leave them out")


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    """Return the settings for a `tool_choice` of the Messages protocol."""
    kind = choice["type"]
    _check_keys(choice, "a `tool_choice`", "type", "name", "disable_parallel_tool_use")
    names = {"auto": "auto", "any": "required", "none": "none"}
    if kind not in (*names, "tool"):
        raise refuse_payload(f"`tool_choice` has the type `{kind}`, which no protocol has")
    named = {"type": "function", "function": {"name": choice.get("name")}}
    made: dict[str, Any] = {"tool_choice": named if kind == "tool" else names[kind]}
    if choice.get("disable_parallel_tool_use") is not None:
        made["parallel_tool_calls"] = not choice["disable_parallel_tool_use"]
    return made


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool as a function. Tools that a provider performs itself have another type."""
    if tool.get("type", "custom") != "custom":
        raise refuse_unsupported(
            f"the OpenAI protocol has no tool of the type `{tool['type']}`", "leave it out"
        )
    what = f"the tool `{tool['name']}`"
    _check_keys(tool, what, "type", "name", "description", "input_schema", "strict")
    function = {"name": tool["name"], "description": tool.get("description") or ""}
    function["parameters"] = {"type": "object", "properties": {}, **tool.get("input_schema", {})}
    if tool.get("strict") is not None:
        function["strict"] = tool["strict"]
    return {"type": "function", "function": function}


def _format(schema: dict[str, Any], is_provider: bool) -> dict[str, Any]:
    """Return the format of a reply. OpenAI itself is strict with some schemas, which require all
    fields; others are a guide. Other servers make a grammar of the whole schema."""
    strict: dict[str, Any] | None = schema
    if is_provider:
        strict = enforceable(schema) if requires_all(schema) else None
    named = {"name": "answer", "strict": strict is not None, "schema": strict or schema}
    return {"type": "json_schema", "json_schema": named}


# -- Messages -------------------------------------------------------------------------------------


def _translate(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages for one message: results of tools have messages of their own."""
    content = message["content"]
    if isinstance(content, str):
        return [{"role": message["role"], "content": content}]
    return (
        [_translate_assistant(content)]
        if message["role"] == "assistant"
        else _translate_user(content)
    )


def _translate_assistant(content: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a message of the model. The protocol has no place for its thinking."""
    texts, calls = [], []
    for block in content:
        match block["type"]:
            case "text":
                texts.append(block["text"])
            case "tool_use":
                arguments = json.dumps(block["input"], ensure_ascii=False)
                function = {"name": block["name"], "arguments": arguments}
                calls.append({"id": block["id"], "type": "function", "function": function})
            case "thinking" | "redacted_thinking":
                pass
            case kind:
                raise _refuse_block(kind, "an answer")
    said = {"role": "assistant", "content": "".join(texts)}
    return {**said, "tool_calls": calls} if calls else said


def _translate_user(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages for one message of the user. The protocol's results of tools are text:
    their images and documents follow, in a message of the user."""
    results, parts = [], []
    for block in content:
        if block["type"] != "tool_result":
            parts += _parts(block)
            continue
        inner = block.get("content")
        inner = [{"type": "text", "text": inner}] if isinstance(inner, str) else inner or []
        found = [part for each in inner for part in _parts(each)]
        words = [part["text"] for part in found if part["type"] == "text"]
        media = [part for part in found if part["type"] != "text"]
        if media:
            words.append("What this result shows follows.")
            label = f"This is what the result of {block['tool_use_id']} shows:"
            parts += [{"type": "text", "text": label}, *media]
        text = "\n".join(words)
        text = f"Error: {text}" if block.get("is_error") else text
        results.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": text})
    if not parts:
        return results
    is_text = len(parts) == 1 and parts[0]["type"] == "text"
    return [*results, {"role": "user", "content": parts[0]["text"] if is_text else parts}]


def _parts(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content parts for a block. Raises a Refusal for blocks that have none."""
    match block:
        case {"type": "text", "text": str(text)}:
            _check_keys(block, "a text", "type", "text", "citations")
            return [{"type": "text", "text": text}]
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            return [{"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}]
        case {"type": "image", "source": {"type": "url", "url": url}}:
            return [{"type": "image_url", "image_url": {"url": url}}]
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return [{"type": "text", "text": _add_title(block, text)}]
        case {"type": "document", "source": {"type": "content", "content": str(text)}}:
            return [{"type": "text", "text": _add_title(block, text)}]
        case {"type": "document", "source": {"type": "content", "content": list(inner)}}:
            return [part for each in inner for part in _parts(each)]
        case {"type": "document", "source": {"type": "base64", "media_type": kind, "data": data}}:
            name = block.get("title") or "document.pdf"
            file = {"filename": name, "file_data": f"data:{kind};base64,{data}"}
            return [{"type": "file", "file": file}]
        case _:
            raise _refuse_block(block["type"], "a message")


def _add_title(block: dict[str, Any], text: str) -> str:
    return f"{block['title']}\n{text}" if block.get("title") else text


def _text(content: Any, what: str) -> str:
    """Return a text, or the joined text blocks."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part for block in content for part in _parts(block)]
    if any(part["type"] != "text" for part in parts):
        raise _refuse_block(content[0]["type"] if len(content) == 1 else "image", what)
    return "\n".join([part["text"] for part in parts])


def _refuse_block(kind: str, where: str) -> Any:
    return refuse_unsupported(
        f"the OpenAI protocol has no block of type {kind} in {where}", "send text"
    )


def _check_keys(table: dict[str, Any], what: str, *known: str) -> None:
    """Raise a Refusal for what else a table says, but for nil."""
    more = next((key for key in table if key not in known and table[key] is not None), None)
    if more is not None:
        raise refuse_unsupported(f"the OpenAI protocol has no `{more}` in {what}", "leave it out")
