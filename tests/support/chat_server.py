"""A small server of the OpenAI protocol on the loopback, whose script is that of MessagesServer.

with chat_server("hello") as server:
    … f"openai:{server.url}#m", server.journal
"""

import json
from typing import Any

from support.messages_server import MessagesServer, Speech

from sexplang.runtime.models.protocols import CHAT

STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}

DONE = "data: [DONE]\n\n"


def chat_server(*script: Any) -> MessagesServer:
    return MessagesServer(*script, speech=SPEECH)


def data(chunk: Any) -> str:
    return f"data: {json.dumps(chunk)}\n\n"


def chunk(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def chunks(said: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks of a reply in the form of the Messages protocol."""
    parts = [chunk({"role": "assistant", "content": ""})]
    calls = 0
    for block in said["content"]:
        match block["type"]:
            case "text":
                pieces = block.get("pieces", [block["text"]])
                parts += [chunk({"content": piece}) for piece in pieces]
            case "thinking":
                parts.append(chunk({"reasoning_content": block["thinking"]}))
            case "tool_use":
                parts += [chunk({"tool_calls": [each]}) for each in _call(calls, block)]
                calls += 1
    parts.append(chunk({}, STOPS[said["stop_reason"]]))
    taken, given = said["usage"].get("input_tokens"), said["usage"].get("output_tokens")
    cached = said["usage"].get("cache_read_input_tokens", 0)
    counts: dict[str, Any] = {"prompt_tokens": taken + cached if cached else taken}
    counts |= {"completion_tokens": given, "prompt_tokens_details": {"cached_tokens": cached}}
    parts.append({"model": said["model"], "choices": [], "usage": counts})
    return [{**part, "model": said["model"]} for part in parts]


def whole_reply(said: dict[str, Any]) -> dict[str, Any]:
    """The same reply where it is not streamed: its text alone."""
    *_, last, counted = chunks(said)
    text = "".join([block["text"] for block in said["content"] if block["type"] == "text"])
    choice = {**last["choices"][0], "message": {"role": "assistant", "content": text}}
    del choice["delta"]
    return {**counted, "id": "c1", "object": "chat.completion", "created": 0, "choices": [choice]}


def _call(at: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """A call in pieces: its name, and its arguments cut in the middle."""
    given = block.get("input", {})
    text = given if isinstance(given, str) else json.dumps(given)
    begun = {"index": at, "id": block["id"], "type": "function"}
    half = len(text) // 2
    return [
        {**begun, "function": {"name": block["name"], "arguments": ""}},
        {"index": at, "function": {"arguments": text[:half]}},
        {"index": at, "function": {"arguments": text[half:]}},
    ]


def _error(kind: str, words: str) -> dict[str, Any]:
    return {"error": {"message": words, "type": kind, "param": None, "code": None}}


SPEECH = Speech(
    CHAT,
    lambda said: [*map(data, chunks(said)), DONE],
    _error,
    data,
    begun=2,
    alive=": alive\n\n",
    malformed=(data({"choices": "none"}), DONE),
)
