"""The translation of an OpenAI-shaped stream into the events of the Messages protocol.

So the accumulation of a reply, its partial text, its usage and its checks exist once.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from sexplang.runtime.models.server_failures import BadReply
from sexplang.terms.classes.node import define, field

STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}

_THOUGHTS = ("reasoning_content", "reasoning")
"""The names that servers give to the text of thinking."""

_NAMES = frozenset((*_THOUGHTS, "role", "content", "refusal", "tool_calls", "function_call"))
"""The names in a part of a reply."""


@define(eq=False)
class _Call:
    """A tool call. Its block begins when its name is known."""

    id: str
    name: str = ""
    block: int | None = None
    waiting: list[str] = field(factory=list)
    """Parts of the arguments that precede the name."""


@define(eq=False)
class ChatStream:
    """The translator of one reply. Raises BadReply, TypeError, KeyError or AttributeError for
    chunks that violate the protocol."""

    tell: Callable[[dict[str, Any]], object]
    """Called with each event."""
    identity: str
    """The request's identity, from which missing ids of calls are made."""
    model: str | None = None
    """The model's name in the reply; None for the server's own."""
    finish_reason: str | None = None
    has_begun: bool = False
    is_complete: bool = False
    _blocks: int = 0
    _open: tuple[str, int] | None = None
    """The kind and the index of the text or the thinking that goes on."""
    _calls: dict[Any, _Call] = field(factory=dict)
    _last: _Call | None = None
    _has_refused: bool = False
    _other_name: str | None = None
    """A name in the parts of the reply that the protocol lacks."""

    def begin(self, model: Any = None) -> None:
        """Begin the reply."""
        self.has_begun = True
        said = self.model if self.model is not None else model
        self.tell({"type": "message_start", "message": {"model": said, "content": []}})

    def take(self, chunk: dict[str, Any]) -> None:
        """Translate a chunk."""
        choices, usage = chunk.get("choices"), chunk.get("usage")
        if not self.has_begun:
            if choices is None and usage is None:
                raise BadReply("a part of it has no `choices`")
            self.begin(chunk.get("model"))
        for choice in choices or ():
            if choice.get("index", 0) != 0:
                raise BadReply("it has several `choices`, and one was asked for")
            self._take_delta(_delta_of(choice))
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
        if isinstance(usage, dict):
            self.tell({"type": "message_delta", "delta": {}, "usage": _read_usage(usage)})

    def finish(self) -> None:
        """End the reply. Without a `finish_reason` it is incomplete, and stays so."""
        if self.is_complete or self.finish_reason is None:
            return
        stop = STOPS.get(self.finish_reason)
        if stop is None:
            raise BadReply(f"its `finish_reason` is `{self.finish_reason}`")
        self._close()
        for call in self._calls.values():
            if call.block is None:
                raise BadReply("it calls a tool without a name")
            self.tell({"type": "content_block_stop", "index": call.block})
        if not self._blocks and self._other_name is not None:
            raise BadReply(f"what it says is in `{self._other_name}`, and not in `content`")
        if stop == "tool_use" and not self._calls:
            raise BadReply("it says that it calls a tool, and calls none")
        if self._has_refused:
            stop = "refusal"
        elif self._calls and stop == "end_turn":
            stop = "tool_use"
        self.is_complete = True
        self.tell({"type": "message_delta", "delta": {"stop_reason": stop}})
        self.tell({"type": "message_stop"})

    def _take_delta(self, delta: dict[str, Any]) -> None:
        for name in delta.keys() - _NAMES:
            if delta[name]:
                self._other_name = name
        for name in _THOUGHTS:
            if isinstance(delta.get(name), str) and delta[name]:
                self._say("thinking", delta[name])
                break
        self._say("text", _text_of(delta.get("content")))
        refusal = delta.get("refusal")
        if refusal:
            self._has_refused = True
            self._say("text", refusal)
        for part in delta.get("tool_calls") or ():
            self._take_call(part.get("index"), part.get("id"), part.get("function") or {})
        if delta.get("function_call"):
            self._take_call(0, None, delta["function_call"])

    def _say(self, kind: str, piece: str) -> None:
        if not piece:
            return
        if self._open is None or self._open[0] != kind:
            self._close()
            self._open = kind, self._start({"type": kind, kind: ""})
        self._grow(self._open[1], {"type": f"{kind}_delta", kind: piece})

    def _take_call(self, index: Any, id: Any, function: dict[str, Any]) -> None:
        """Take a part of a tool call. A part without an index goes on with the last call, unless
        it has another id."""
        if index is None:
            is_new = self._last is None or (id and id != self._last.id)
            key: Any = id or len(self._calls)
            call = self._calls.get(key) if is_new else self._last
        else:
            key, call = index, self._calls.get(index)
        if call is None:
            call = self._calls[key] = _Call(id or self._make_id())
        self._last = call
        said = function.get("arguments")
        piece = said if isinstance(said, str) else "" if said is None else json.dumps(said)
        if call.block is None and function.get("name"):
            self._close()
            block = {"type": "tool_use", "id": call.id, "name": function["name"], "input": {}}
            call.block = self._start(block)
            piece = "".join([*call.waiting, piece])
        if call.block is None:
            call.waiting.append(piece)
        elif piece:
            self._grow(call.block, {"type": "input_json_delta", "partial_json": piece})

    def _make_id(self) -> str:
        made = sha256(f"{self.identity}/{len(self._calls)}".encode()).hexdigest()[:16]
        return f"call_{made}"

    def _start(self, block: dict[str, Any]) -> int:
        index, self._blocks = self._blocks, self._blocks + 1
        self.tell({"type": "content_block_start", "index": index, "content_block": block})
        return index

    def _grow(self, index: int, delta: dict[str, Any]) -> None:
        self.tell({"type": "content_block_delta", "index": index, "delta": delta})

    def _close(self) -> None:
        if self._open is not None:
            self.tell({"type": "content_block_stop", "index": self._open[1]})
            self._open = None


def _delta_of(choice: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the reply in a choice. Servers that do not stream send one `message`."""
    delta = choice.get("delta") or choice.get("message")
    if delta is None and "delta" not in choice:
        return {name: choice[name] for name in choice if name not in _OF_CHOICES}
    return delta or {}


_OF_CHOICES = ("index", "finish_reason", "logprobs", "stop_reason")


def _text_of(content: Any) -> str:
    """Return the text of a part of the content: a text, or parts of type text."""
    if content is None or isinstance(content, str):
        return content or ""
    if any(part["type"] != "text" for part in content):
        raise BadReply("its content has parts that are no text")
    return "".join([part["text"] for part in content])


def _read_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counts by the names of the Messages protocol, where input excludes what a prompt
    cache gave. Values that are no counts stay as they are, for the check of the reply."""
    taken = usage.get("prompt_tokens")
    made = {"input_tokens": taken, "output_tokens": usage.get("completion_tokens")}
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    if cached and type(taken) is int:
        made |= {"input_tokens": taken - cached, "cache_read_input_tokens": cached}
    thought = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    if thought:
        made["output_tokens_details"] = {"thinking_tokens": thought}
    return made


def _count(details: Any, name: str) -> int:
    said = details.get(name) if isinstance(details, dict) else None
    return said if type(said) is int and said > 0 else 0
