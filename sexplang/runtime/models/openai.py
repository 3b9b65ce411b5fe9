"""Messages-shaped payloads → the OpenAI shape that the engine in the process takes, and back.

What the engine lacks, tools, is said in the prompt and enforced by a grammar: the reply is an
object that either is the answer or names a tool of the list with an input that fits its schema.
"""

import json
from hashlib import sha256
from typing import Any

from sexplang.runtime.models.streamed import Pieces
from sexplang.runtime.refusal import broken

SEED = 1
MAX_TOKENS = 1024

AFTER_TOOLS = "Now answer the question in your own words."


def asked(payload: dict[str, Any]) -> dict[str, Any]:
    """The request to the engine."""
    tools = payload.get("tools") or []
    system = "\n\n".join(filter(None, [_text(payload.get("system")), _tools_in_words(tools)]))
    messages = [{"role": "system", "content": system}] if system else []
    names: dict[str, str] = {}
    for message in payload.get("messages") or ():
        content = _message_text(message.get("content"), names)
        messages.append({"role": message.get("role"), "content": content})
    request: dict[str, Any] = {
        "messages": messages,
        "max_tokens": payload.get("max_tokens") or MAX_TOKENS,
        "seed": SEED,
        "temperature": 0,
        "cache_prompt": False,  # what was asked before must not show in what is answered now
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    schema = reply_schema(tools, payload.get("output_schema"), repeats(payload))
    if schema is not None:
        named = {"name": "reply", "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": named}
    return request


def reply_schema(
    tools: list[dict[str, Any]], output: dict[str, Any] | None, answer_only: bool = False
) -> dict[str, Any] | None:
    """The grammar of a reply: none, the output's, or a union of the answer and each tool."""
    if not tools:
        return output
    answer = output if output is not None else {"type": "string"}
    if answer_only:
        return _object({"reply": answer})
    return {
        "anyOf": [
            _object({"reply": answer}),
            *(
                _object({"tool": {"const": tool.get("name")}, "input": _input_schema(tool)})
                for tool in tools
            ),
        ]
    }


def repeats(payload: dict[str, Any]) -> bool:
    """Whether the model has made the same call twice. Its result will not change, and a small
    model would go on for ever: now it has to answer."""
    calls = [
        json.dumps([block.get("name"), block.get("input")], sort_keys=True)
        for message in payload.get("messages") or ()
        for block in (message["content"] if isinstance(message.get("content"), list) else ())
        if block.get("type") == "tool_use"
    ]
    return len(set(calls)) < len(calls)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _input_schema(tool: dict[str, Any]) -> dict[str, Any]:
    schema = tool.get("input_schema")
    return schema if isinstance(schema, dict) else {"type": "object"}


def _tools_in_words(tools: list[dict[str, Any]]) -> str:
    if not tools:
        return ""
    lines = [
        f"- {tool.get('name')}: {tool.get('description') or 'no description'} "
        f"Input: {json.dumps(_input_schema(tool), ensure_ascii=False)}"
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
        if kind == "text":
            parts.append(str(block.get("text", "")))
        elif kind == "tool_use":
            names[str(block.get("id"))] = str(block.get("name"))
            call = {"tool": block.get("name"), "input": block.get("input") or {}}
            parts.append(json.dumps(call, ensure_ascii=False))
        elif kind == "tool_result":
            name = names.get(str(block.get("tool_use_id")), "the tool")
            label = f"Error of {name}" if block.get("is_error") else f"Result of {name}"
            parts.append(f"{label}:\n{_text(block.get('content'))}")
        else:
            parts.append(_document(block))
    if any(block.get("type") == "tool_result" for block in content):
        parts.append(AFTER_TOOLS)  # small models call the same tool for ever otherwise
    return "\n\n".join(parts)


def _document(block: dict[str, Any]) -> str:
    source = block.get("source")
    if block.get("type") == "document" and isinstance(source, dict):
        words = source.get("data") if source.get("type") == "text" else source.get("content")
        if isinstance(words, (str, list)):
            return _text(words)
    raise broken(
        "llm_error",
        "model-refused-request",
        f"the local model cannot read a block of type {block.get('type')}",
        hint="send text, or use another --model",
    )


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))


_STOPS = {"stop": "end_turn", "length": "max_tokens"}


def replied(pieces: Pieces, payload: dict[str, Any], identity: str, name: str) -> dict[str, Any]:
    """The engine's reply as `{content stop_reason usage model}`."""
    stop = _STOPS.get(pieces.finish_reason or "")
    if stop is None:
        raise broken(
            "llm_error",
            "reply-cut-short",
            f"{name} stopped in the middle of its reply",
            hint="try again",
            model=name,
        )
    block: dict[str, Any] = {"type": "text", "text": pieces.text}
    if payload.get("tools") and stop == "end_turn":
        block = _block(pieces.text, payload, identity)
        stop = "tool_use" if block["type"] == "tool_use" else stop
    cached = (pieces.usage.get("prompt_tokens", 0), pieces.usage.get("completion_tokens", 0))
    return {
        "content": [block],
        "stop_reason": stop,
        "usage": {"input_tokens": cached[0], "output_tokens": cached[1]},
        "model": name,
    }


def _block(text: str, payload: dict[str, Any], identity: str) -> dict[str, Any]:
    """The answer or the call that a reply under `reply_schema` is."""
    try:
        said = json.loads(text)
    except ValueError:
        return {"type": "text", "text": text}
    if isinstance(said, dict) and "tool" in said:
        made = sha256(f"{identity}/{text}".encode()).hexdigest()[:16]
        return {
            "type": "tool_use",
            "id": f"toolu_{made}",
            "name": said["tool"],
            "input": said.get("input") or {},
        }
    answer = said.get("reply") if isinstance(said, dict) else said
    if payload.get("output_schema") is None and isinstance(answer, str):
        return {"type": "text", "text": answer}
    return {"type": "text", "text": json.dumps(answer, ensure_ascii=False)}
