"""The adapter of the Messages protocol.

Law: replies are always streamed, so that an incomplete one is detected. Law: one call is one
request; `retry.py` makes and counts further ones.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from sexplang.runtime.models import Endpoint
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.adapters.streamed_reply import (
    bound_attempt,
    finish_reply,
    read_events,
)
from sexplang.runtime.models.adapters.strict_schema import enforceable
from sexplang.runtime.models.payload_check import merge_setting
from sexplang.runtime.models.protocols import Target, read_target
from sexplang.runtime.models.server_failures import (
    refuse_other_protocol,
    refuse_stream_error,
    refuse_unsupported,
)
from sexplang.tasks.prompt.window import output
from sexplang.terms.effect import Request
from sexplang.terms.model.payload import BETAS, cache_marks, choice_of, is_embedding


def messages(
    name: str,
    endpoint: Endpoint,
    *,
    with_key: bool = True,
    address: str | None = None,
) -> Callable[[dict[str, Any], Request, StreamAccumulator], Awaitable[dict[str, Any]]]:
    """Return the model `anthropic:ID` or `http(s)://HOST:PORT[/PATH][#ID]`. `address` is the same
    with credentials."""
    at = read_target(name, with_key=with_key, address=address)

    async def reply(
        payload: dict[str, Any], request: Request, said: StreamAccumulator
    ) -> dict[str, Any]:
        if is_embedding(payload):
            problem = "the Messages protocol has no embeddings"
            raise refuse_unsupported(problem, 'name a model that has them, as in model: "local"')
        body = build_body(payload, at.model)
        betas = (payload.get("provider") or {}).get(BETAS) or []
        return await bound_attempt(_call(at, endpoint, body, betas, said), at, endpoint)

    return reply


def build_body(payload: dict[str, Any], model: str) -> dict[str, Any]:
    """Return the request's body. It has no data of the run: no id, time or attempt."""
    if payload.get("seed") is not None:
        raise refuse_unsupported(
            "the Messages protocol has no `seed`", "leave it out of the options"
        )
    thinking = _thinking(payload.get("thinking"))
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": payload.get("max_tokens") or _most(model, thinking),
        "messages": [_format_message(message) for message in payload.get("messages") or ()],
    }
    for key in ("system", "tools", "stop_sequences", "metadata"):
        if payload.get(key):
            body[key] = payload[key]
    for key in ("temperature", "top_p", "top_k", "service_tier"):
        if payload.get(key) is not None:
            body[key] = payload[key]
    if thinking is not None:
        body["thinking"] = thinking
    if payload.get("tool_choice"):
        body["tool_choice"] = choice_of(payload["tool_choice"])
    _mark_cache(body, payload)
    config = _output_config(payload)
    if config:
        body["output_config"] = config
    for key, value in (payload.get("provider") or {}).items():
        if key != BETAS:
            body[key] = merge_setting(key, body.get(key), value)
    return body


def _most(model: str, thinking: dict[str, Any] | None) -> int:
    """Return `max_tokens`, which the protocol requires. Thinking counts against it."""
    most, thought = output(model), (thinking or {}).get("budget_tokens", 0)
    return most if type(thought) is not int or thought < most else thought + most


def _thinking(said: Any) -> dict[str, Any] | None:
    if said is None or isinstance(said, dict):
        return said
    if said is True:
        return {"type": "adaptive"}
    return {"type": "disabled"} if said is False else {"type": "enabled", "budget_tokens": said}


def _output_config(payload: dict[str, Any]) -> dict[str, Any]:
    schema = payload.get("output_schema")
    strict = None if schema is None else enforceable(schema)
    config: dict[str, Any] = {}
    if strict is not None:
        config["format"] = {"type": "json_schema", "schema": strict}
    if payload.get("effort") is not None:
        config["effort"] = payload["effort"]
    return config


def _mark_cache(body: dict[str, Any], payload: dict[str, Any]) -> None:
    """Mark the request for the provider's prompt cache. One mark covers tools and system prompt.
    The other follows the last message and leaves earlier messages unchanged, byte for byte."""
    mark = {"type": "ephemeral"}
    if isinstance(payload.get("cache"), str):
        mark["ttl"] = payload["cache"]
    opening, whole = cache_marks(payload)
    if opening and isinstance(body.get("system"), str):
        body["system"] = [{"type": "text", "text": body["system"], "cache_control": mark}]
    if whole:
        body["cache_control"] = mark


def _format_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the thinking of other models, which has no signature."""
    content = message.get("content")
    if message.get("role") == "assistant" and isinstance(content, list):
        content = [block for block in content if not _is_foreign(block)]
    return {"role": message.get("role"), "content": content}


def _is_foreign(block: dict[str, Any]) -> bool:
    return block.get("type") == "thinking" and not block.get("signature")


async def _call(
    at: Target,
    endpoint: Endpoint,
    body: dict[str, Any],
    betas: list[str],
    reply: StreamAccumulator,
) -> dict[str, Any]:
    """Stream a reply. The SDK's own reader would build an object for each event."""

    def take(event: Any, headers: Any) -> None:
        if event.event == "error":
            raise refuse_stream_error(event.json(), headers, at)
        if event.data and event.event != "ping":
            read = event.json()
            if "type" not in read and "choices" in read:
                raise refuse_other_protocol(at)
            reply.take(read)

    await read_events(at, endpoint, {**body, "stream": True}, take, betas)
    return finish_reply(reply, at)
