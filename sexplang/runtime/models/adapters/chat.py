"""The adapter of the OpenAI protocol (chat completions), which many servers speak.

Law: replies are always streamed, so that an incomplete one is detected. Law: one call is one
request; `retry.py` makes and counts further ones.
"""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from sexplang.runtime.models import Endpoint
from sexplang.runtime.models.adapters.chat_request import build_chat_body
from sexplang.runtime.models.adapters.chat_stream import ChatStream
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.adapters.streamed_reply import (
    bound_attempt,
    finish_reply,
    read_events,
)
from sexplang.runtime.models.protocols import Target, read_target
from sexplang.runtime.models.server_failures import (
    BadReply,
    refuse_bad_reply,
    refuse_other_protocol,
    refuse_stream_error,
)
from sexplang.runtime.refusal import make_task_failure
from sexplang.terms.effect import Request
from sexplang.terms.model.payload import is_embedding, is_forced

INSTALL = "pip install 'sexplang[openai]'"

_DONE = "[DONE]"


def chat(
    name: str,
    endpoint: Endpoint,
    *,
    with_key: bool = True,
    address: str | None = None,
) -> Callable[[dict[str, Any], Request, StreamAccumulator], Awaitable[dict[str, Any]]]:
    """Return the model `openai:ID` or `openai:http(s)://HOST:PORT[/PATH][#ID]`. `address` is the
    same with credentials. Raises a Refusal if the SDK is not installed."""
    from importlib.util import find_spec

    at = read_target(name, with_key=with_key, address=address)
    if find_spec("openai") is None:
        raise make_task_failure(
            "configuration_error",
            "not-available",
            f"{name} needs the package `openai`, which is not installed",
            hint=f"type: {INSTALL}",
            model=name,
        )

    async def reply(
        payload: dict[str, Any], request: Request, said: StreamAccumulator
    ) -> dict[str, Any]:
        if is_embedding(payload):
            from sexplang.runtime.models.embeddings.openai_embedder import embed_at_server

            return await embed_at_server(payload, at, endpoint)
        body = build_chat_body(payload, at.model, is_provider=at.is_provider)
        chunks = ChatStream(said.take, request.id)
        made = await bound_attempt(_call(at, endpoint, body, chunks, said), at, endpoint)
        _check_tools(made, payload, at)
        return made

    return reply


async def _call(
    at: Target,
    endpoint: Endpoint,
    body: dict[str, Any],
    chunks: ChatStream,
    said: StreamAccumulator,
) -> dict[str, Any]:
    """Stream a reply."""

    def take(event: Any, headers: Any) -> None:
        if not event.data or event.data == _DONE:
            if event.data and chunks.has_begun and chunks.finish_reason is None:
                raise BadReply("it has no `finish_reason`")
            return
        chunk = event.json()
        if event.event == "error" or chunk.get("error"):
            raise refuse_stream_error(chunk, headers, at, begun=chunks.has_begun)
        if "choices" not in chunk and chunk.get("type") in ("message_start", "ping"):
            raise refuse_other_protocol(at)
        chunks.take(chunk)

    await read_events(at, endpoint, body, take, tells_names=True)
    try:
        chunks.finish()
    except BadReply as why:
        raise refuse_bad_reply(at, str(why)) from None
    return finish_reply(said, at)


# -- Tools ----------------------------------------------------------------------------------------


def _check_tools(reply: dict[str, Any], payload: dict[str, Any], at: Target) -> None:
    """Raise a Refusal if the server has no tools for the model: the call is text, or the model did
    not call although it had to."""
    tools, choice = payload.get("tools"), payload.get("tool_choice")
    if not tools or reply["stop_reason"] != "end_turn":
        return
    text = "".join([block["text"] for block in reply["content"] if block["type"] == "text"])
    if _is_call(text, [tool["name"] for tool in tools]):
        raise refuse_bad_reply(at, "the call of a tool is written as text", _TOOLS)
    if choice and is_forced(choice):
        raise refuse_bad_reply(at, "it calls no tool, which `tool_choice` demands", _TOOLS)


_TOOLS = (
    "start the server with tools for this model (llama.cpp: --jinja; vLLM: "
    "--enable-auto-tool-choice), or use another --model"
)

_MARKS = re.compile(r"\s*(<tool_call>|\[TOOL_CALLS\]|<\|python_tag\|>|<function=)")
"""The marks with which models begin a call, and which a server reads."""


def _is_call(text: str, names: list[str]) -> bool:
    if _MARKS.match(text):
        return True
    if not text.lstrip().startswith("{"):
        return False
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return False
    is_call = isinstance(read, dict) and read.keys() & {"arguments", "parameters", "input"}
    return bool(is_call) and read.get("name") in names
