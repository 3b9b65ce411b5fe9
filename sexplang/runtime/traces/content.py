"""The content of model and tool requests as span attributes, where it is asked for.

Messages have the form of the conventions: `{role parts}`, and parts by their `type`.
"""

import os
from typing import Any

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as genai

from sexplang.runtime.journal.redaction import clean
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import dump, pack
from sexplang.terms.values.value import Value

VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def is_wanted() -> bool:
    """Whether the environment asks for content."""
    return os.environ.get(VARIABLE, "").strip().lower() in ("true", "span_only", "span_and_event")


def write_value(value: Value) -> str:
    """Return a value as JSON without secrets; a text stays as it is."""
    return clean(value if isinstance(value, str) else dump(pack(value)))


def inputs_of(request: Request) -> str:
    """Return the attributes of an operation's arguments."""
    arguments = request.arguments[1:] if request.operation == "tool" else request.arguments
    return write_value(arguments[0] if len(arguments) == 1 else list(arguments))


def describe_request(payload: dict[str, Any]) -> dict[str, str]:
    """Return the attributes of a model request's content."""
    facts = {}
    messages = payload.get("messages")
    if isinstance(messages, (tuple, list)):
        said = [_message(each) for each in messages if isinstance(each, dict)]
        facts[genai.GEN_AI_INPUT_MESSAGES] = write_value(said)
    if payload.get("system"):
        facts[genai.GEN_AI_SYSTEM_INSTRUCTIONS] = write_value(_parts(payload["system"]))
    return facts


def describe_reply(reply: dict[str, Any]) -> dict[str, str]:
    """Return the attributes of a model reply's content."""
    said = _message({"role": "assistant", "content": reply.get("content", "")})
    said["finish_reason"] = str(reply.get("stop_reason") or "")
    return {genai.GEN_AI_OUTPUT_MESSAGES: write_value([said])}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    return {"role": str(message.get("role")), "parts": _parts(message.get("content"))}


def _parts(content: Any) -> list[Any]:
    blocks = content if isinstance(content, (tuple, list)) else [content]
    return [_part(block) for block in blocks]


def _part(block: Any) -> dict[str, Any]:
    match block:
        case {"type": "text", "text": words}:
            return {"type": "text", "content": words}
        case {"type": "tool_use"}:
            call = {"id": block.get("id"), "name": block.get("name")}
            return {"type": "tool_call", **call, "arguments": block.get("input")}
        case {"type": "tool_result"}:
            response = block.get("content")
            if isinstance(response, (tuple, list)):
                response = _parts(response)
            said = {"id": block.get("tool_use_id"), "response": response}
            return {"type": "tool_call_response", **said}
        case {"type": str(kind)}:  # an image, a document: only its kind
            return {"type": kind}
    return {"type": "text", "content": block if isinstance(block, str) else write_value(block)}
