"""The call of a server, whatever its protocol, and the check of its reply."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from sexplang.runtime.models import Endpoint
from sexplang.runtime.models.adapters.http_client import BoundedResponse, server_at
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.protocols import Target
from sexplang.runtime.models.server_failures import (
    refusal_of,
    refuse_bad_reply,
    refuse_cut_reply,
    refuse_redirect,
    refuse_status,
    refuse_timeout,
)
from sexplang.terms.json.strict import unfit

COUNTS = ("input_tokens", "output_tokens")

CUT = ("max_tokens", "model_context_window_exceeded", "refusal")
"""Stop reasons of a reply that may end inside a block. Its tools are not called."""

Take = Callable[[Any, Any], object]
"""Take an event of the stream, and the headers of the response."""


async def bound_attempt(
    call: Awaitable[dict[str, Any]], at: Target, endpoint: Endpoint
) -> dict[str, Any]:
    """Return the result of a call within the time of one attempt. Raises a Refusal if it takes
    longer."""
    import anyio

    try:
        with anyio.fail_after(endpoint.total):
            return await call
    except TimeoutError:
        # Another attempt would take as long.
        raise refuse_timeout(at.display_name, endpoint.total, again=False) from None


async def read_events(
    at: Target,
    endpoint: Endpoint,
    body: dict[str, Any],
    take: Take,
    betas: Sequence[str] = (),
    *,
    tells_names: bool = False,
) -> None:
    """Send a request, and pass each event of the reply to `take`. `tells_names` says that the
    server lists its models. Raises a Refusal."""
    from anthropic import AsyncStream

    try:
        server = server_at(at, endpoint.silence)
        async with server.send(body, betas) as response:
            parts = BoundedResponse(response, at, endpoint.most_bytes)
            if 300 <= response.status_code < 400:
                raise refuse_redirect(response, at)
            if response.status_code >= 400:
                said = await parts.whole()
                is_name_wrong = tells_names and response.status_code in (400, 404)
                known = await server.read_names() if is_name_wrong else []
                raise refuse_status(said, response, at, known)
            async for event in AsyncStream.raw_events(parts):  # type: ignore[arg-type]
                take(event, response.headers)
    # The SDK and its connections raise many kinds; `refusal_of` tells them apart.
    except Exception as error:
        raise refusal_of(error, at) from None


def finish_reply(reply: StreamAccumulator, at: Target) -> dict[str, Any]:
    """Return the whole reply. Raises a Refusal if it is incomplete or malformed."""
    if not reply.message:
        raise refuse_bad_reply(at, "no event of the protocol arrived")
    if not reply.is_complete:
        raise refuse_cut_reply(at.display_name)
    if reply.has_cut_input and reply.message.get("stop_reason") not in CUT:
        raise refuse_bad_reply(at, "the input of a tool is no whole JSON")
    return _check_reply(reply.message, at)


def _check_reply(reply: dict[str, Any], at: Target) -> dict[str, Any]:
    """Raise Refusal if a reply is malformed."""
    content = reply.get("content")
    if not isinstance(content, list) or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    ):
        raise refuse_bad_reply(at, "its content is not a list of blocks")
    if not isinstance(reply.get("stop_reason"), str):
        raise refuse_cut_reply(at.display_name)
    if not all(map(_is_whole, content)):
        raise refuse_bad_reply(at, "one of its blocks lacks what its type wants")
    for block in content:
        why = unfit(block) if block["type"] != "tool_use" else None  # the task reports those
        if why is not None:
            raise refuse_bad_reply(at, f"one of its blocks cannot be sent back: {why}")
    usage = reply.get("usage")
    if isinstance(usage, dict) and not all(_is_count(usage.get(key)) for key in COUNTS):
        raise refuse_bad_reply(at, "its usage is not counted in whole numbers")
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
