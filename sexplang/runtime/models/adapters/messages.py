"""The adapter of the Messages protocol.

Law: replies are always streamed, so that an incomplete one is detected. Law: one call is one
request; `retry.py` makes and counts further ones.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from sexplang.runtime.models import Endpoint
from sexplang.runtime.models.adapters.http_client import BoundedResponse, server_at
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.payload_check import refuse_payload
from sexplang.runtime.models.server_failures import (
    refusal_of,
    refuse_bad_reply,
    refuse_cut_reply,
    refuse_redirect,
    refuse_status,
    refuse_stream_error,
    refuse_timeout,
    refuse_unsupported,
)
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.tasks.prompt.window import output
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.effect import Request
from sexplang.terms.json.strict import unfit
from sexplang.terms.model.payload import BETAS, cache_marks, choice_of, is_embedding

COUNTS = ("input_tokens", "output_tokens")

CUT = ("max_tokens", "model_context_window_exceeded", "refusal")
"""Stop reasons of a reply that may end inside a block. Its tools are not called."""

PLACEHOLDER = "none"
"""The API key for an own server, which needs none."""


@frozen
class Target:
    """The server of a model, the model's name there, and the client settings."""

    name: str
    model: str
    base_url: str | None = field(repr=False)
    user: str = field(repr=False)
    """`user:password` of the address."""
    api_key: str | None = field(repr=False)
    auth_token: str | None = field(repr=False)
    has_secrets: bool = True
    """Whether the environment's key and headers are sent to this server."""

    @property
    def display_name(self) -> str:
        """The server's name in errors."""
        if self.base_url is None:
            return "api.anthropic.com"
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def messages(
    name: str,
    endpoint: Endpoint,
    *,
    with_key: bool = True,
    address: str | None = None,
) -> Callable[[dict[str, Any], Request, StreamAccumulator], Awaitable[dict[str, Any]]]:
    """Return the model `anthropic:ID` or `http(s)://HOST:PORT[/PATH][#ID]`. `address` is the same
    with credentials."""
    at = target(name, with_key=with_key, address=address)

    async def reply(
        payload: dict[str, Any], request: Request, said: StreamAccumulator
    ) -> dict[str, Any]:
        import anyio

        if is_embedding(payload):
            problem = "the Messages protocol has no embeddings"
            raise refuse_unsupported(problem, 'name a model that has them, as in model: "local"')
        body = build_body(payload, at.model)
        betas = (payload.get("provider") or {}).get(BETAS) or []
        try:
            with anyio.fail_after(endpoint.total):
                return await _call(at, endpoint, body, betas, said)
        except TimeoutError:
            # Another attempt would take as long.
            raise refuse_timeout(at.display_name, endpoint.total, again=False) from None

    return reply


def refuse_address(name: str) -> Refusal:
    """Return the refusal of a malformed address."""
    return make_task_failure(
        "configuration_error",
        "unknown-model",
        f"`{name}` is not an address",
        hint="write it like http://127.0.0.1:8080#model-name",
        model=name,
    )


def target(name: str, *, with_key: bool = True, address: str | None = None) -> Target:
    """Return the target of a model name, at `address` if that has credentials. Without `with_key`,
    the environment's key is not used. Raises a Refusal if a required key is missing."""
    key = (with_key and os.environ.get("ANTHROPIC_API_KEY")) or None
    token = None if key or not with_key else os.environ.get("ANTHROPIC_AUTH_TOKEN") or None
    scheme, _, rest = name.partition(":")
    if scheme == "anthropic":
        base = os.environ.get("ANTHROPIC_BASE_URL") or None
        if base is None and key is None and token is None:
            raise make_task_failure(
                "configuration_error",
                "missing-key",
                f"{name} needs a key, and ANTHROPIC_API_KEY is not set",
                hint="export ANTHROPIC_API_KEY=…, or use --model local, which needs none",
                model=name,
            )
        opens = key or (None if token else PLACEHOLDER)
        return Target(name, rest, *_without_user(base), opens, token)
    try:
        parts = urlsplit(address or name)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise refuse_address(name)
    path = parts.path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    base = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
    opens = key or (None if token else PLACEHOLDER)
    return Target(name, parts.fragment or "default", *_without_user(base), opens, token, with_key)


def _without_user(address: str | None) -> tuple[str | None, str]:
    """Split an address into the address without credentials and the credentials. HTTP clients
    reject credentials beside an authorization header."""
    if address is None:
        return None, ""
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=host)), unquote(user)


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
            body[key] = _merge_setting(key, body.get(key), value)
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


def _merge_setting(key: str, own: Any, given: Any) -> Any:
    """Merge a key of `provider` with the payload's setting of the same. Raises a Refusal for a
    contradiction."""
    if own is None:
        return given
    if isinstance(own, dict) and isinstance(given, dict) and not own.keys() & given.keys():
        return {**own, **given}
    problem = f"`provider` sets `{key}`, which the settings beside it set too"
    raise refuse_payload(problem, "say it in one of them")


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
    return {"role": message.get("role"), "content": message.get("content")}


async def _call(
    at: Target,
    endpoint: Endpoint,
    body: dict[str, Any],
    betas: list[str],
    reply: StreamAccumulator,
) -> dict[str, Any]:
    """Stream a reply. The SDK's own reader would build an object for each event."""
    from anthropic import AsyncStream

    try:
        server = server_at(at, endpoint.silence)
        async with server.send({**body, "stream": True}, betas) as response:
            parts = BoundedResponse(response, at.display_name, endpoint.most_bytes)
            if 300 <= response.status_code < 400:
                raise refuse_redirect(response, at.display_name)
            if response.status_code >= 400:
                raise refuse_status(await parts.whole(), response, at.display_name, at.name)
            async for event in AsyncStream.raw_events(parts):  # type: ignore[arg-type]
                if event.event == "error":
                    raise refuse_stream_error(event.json(), response, at.display_name, at.name)
                if event.data and event.event != "ping":
                    reply.take(event.json())
    # The SDK and its connections raise many kinds; `refusal_of` tells them apart.
    except Exception as error:
        raise refusal_of(error, at.display_name) from None
    if not reply.message:
        raise refuse_bad_reply(at.display_name, "no event of the protocol arrived")
    if not reply.is_complete:
        raise refuse_cut_reply(at.display_name)
    if reply.has_cut_input and reply.message.get("stop_reason") not in CUT:
        raise refuse_bad_reply(at.display_name, "the input of a tool is no whole JSON")
    return _check_reply(reply.message, at)


def _check_reply(reply: dict[str, Any], at: Target) -> dict[str, Any]:
    """Raise Refusal if a reply is malformed."""
    content = reply.get("content")
    if not isinstance(content, list) or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    ):
        raise refuse_bad_reply(at.display_name, "its content is not a list of blocks")
    if not isinstance(reply.get("stop_reason"), str):
        raise refuse_cut_reply(at.display_name)
    if not all(map(_is_whole, content)):
        raise refuse_bad_reply(at.display_name, "one of its blocks lacks what its type wants")
    for block in content:
        why = unfit(block) if block["type"] != "tool_use" else None  # the task reports those
        if why is not None:
            raise refuse_bad_reply(at.display_name, f"one of its blocks cannot be sent back: {why}")
    usage = reply.get("usage")
    if isinstance(usage, dict) and not all(_is_count(usage.get(key)) for key in COUNTS):
        raise refuse_bad_reply(at.display_name, "its usage is not counted in whole numbers")
    made = {
        "content": [_block(block) for block in content],
        "stop_reason": reply["stop_reason"],
        "usage": _read_usage(usage),
        "model": reply["model"] if isinstance(reply.get("model"), str) else at.model,
    }
    details = reply.get("stop_details")
    return {**made, "stop_details": details} if isinstance(details, dict) else made


def _is_whole(block: dict[str, Any]) -> bool:
    if block["type"] == "text":
        return isinstance(block.get("text"), str)
    named = isinstance(block.get("id"), str) and isinstance(block.get("name"), str)
    return named or block["type"] != "tool_use"


def _read_usage(usage: Any) -> dict[str, Any] | None:
    """Return the usage, or None if the server did not count both directions. Then a budget keeps
    its reservation."""
    if not isinstance(usage, dict) or any(usage.get(key) is None for key in COUNTS):
        return None
    return _present(usage)


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block as it is sent back, without the SDK's additional fields."""
    return {key: value for key, value in _present(block).items() if key != "parsed_output"}


def _present(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


# -- Schemas for strict outputs -------------------------------------------------------------------


def enforceable(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema for the server, or None if it cannot enforce it. Dropped keywords are
    checked when the reply is read."""
    from anthropic import transform_schema

    if _is_open(schema):
        return None
    try:
        strict: dict[str, Any] = transform_schema(schema)
    except (AssertionError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return strict


def _is_open(schema: dict[str, Any]) -> bool:
    """Whether a schema has an object with keys that it does not name. Servers forbid such keys, so
    an object without named keys could only be `{}`."""
    work: list[Any] = [schema]
    while work:
        part = work.pop()
        if isinstance(part, dict):
            named = part.get("type") != "object" or part.get("properties")
            if part.get("additionalProperties", not named) is not False:
                return True
            work += part.values()
        elif isinstance(part, list):
            work += part
    return False
