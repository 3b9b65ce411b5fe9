"""A small server of the Messages protocol on the loopback, for tests of what goes wrong there.

    with MessagesServer("hello") as server:
        … server.url, server.journal

Each item of the script answers one request; the last one answers all that follow. An item is
    a string                       a reply with that text
    {"tool_use": {"name", "input"}}  a reply that calls a tool
    a list of blocks               a reply that calls several
    {"content": [{"type": "text", "text", "pieces"}]}  a reply whose text arrives in these pieces
    {"paced": wait, "content"}     a reply event by event; wait(number) is called before each
    {"chunks": [5, 80, …], "content"}  a reply in writes of so many bytes; one more has the rest
    {"status": 429, "headers": {…}, "type": "rate_limit_error"}
    {"fail": "hang" | "reset" | "close" | "cut" | "garbage" | "html" | "error" | "malformed" |
              "silence" | "trickle" | "flood"}
    {"cut": 3, "then": "end" | "torn" | "error" | "silence", "content", "usage"}
                                   a reply of which only so many events arrive
    {"events": [a text, …], "size"}  a stream of these, as they are, in pieces of so many bytes
    a function of the request's body that gives one of these
"""

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import frozen

from sexplang.runtime.models.protocols import MESSAGES, Protocol

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class _Server(ThreadingHTTPServer):
    """One to which a client may hang up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@frozen
class Speech:
    """What the servers of one protocol write."""

    protocol: Protocol
    events: Callable[[dict[str, Any]], list[str]]
    """The events of a reply."""
    error: Callable[[str, str], dict[str, Any]]
    """An error of a type, with a message."""
    event: Callable[[dict[str, Any]], str]
    begun: int
    """The events until the first words have been said."""
    alive: str
    """A sign of life."""
    malformed: tuple[str, ...]
    """A whole stream of another shape."""


class MessagesServer:
    """A script of replies, and the journal of what was asked."""

    def __init__(self, *script: Any, speech: Speech | None = None) -> None:
        self.script = script or ("ok",)
        self.speech = speech or SPEECH
        self.journal: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        """The same, byte for byte."""
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.ended = threading.Event()
        self.left = threading.Event()
        """Somebody hung up before the end of a reply."""
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True  # headers and body are two packets: 40 ms between them
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                owner._answer(self)

            def do_GET(self) -> None:
                owner._list(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "MessagesServer":
        from sexplang.runtime.models.adapters.sdk_loader import wait

        wait(self.speech.protocol)  # deadlines of a second are not to be over before a call is made
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, to: BaseHTTPRequestHandler) -> None:
        sent = to.rfile.read(int(to.headers["content-length"]))
        body = json.loads(sent)
        with self._lock:
            item = self.script[min(len(self.journal), len(self.script) - 1)]
            self.journal.append(body)
            self.bodies.append(sent)
            self.paths.append(to.path)
            self.headers.append({name.lower(): value for name, value in to.headers.items()})
        if callable(item):
            item = item(body)
        try:
            if isinstance(item, dict) and "fail" in item:
                getattr(self, "_" + item["fail"])(to, body)
            elif isinstance(item, dict) and "cut" in item:
                self._partly(to, message(body, item), item["cut"], item.get("then", "end"))
            elif isinstance(item, dict) and ("paced" in item or "chunks" in item):
                self._in_parts(to, message(body, item), item)
            elif isinstance(item, dict) and "events" in item:
                self._raw(to, item)
            elif isinstance(item, dict) and "status" in item:
                self._status(to, item)
            else:
                self._reply(to, body, message(body, item))
        except (BrokenPipeError, ConnectionResetError):
            self.left.set()

    def _list(self, to: BaseHTTPRequestHandler) -> None:
        """The models that are here, as most servers of both protocols list them."""
        self._send(to, 200, json.dumps({"data": [{"id": "small"}, {"id": "large"}]}))

    def _status(self, to: BaseHTTPRequestHandler, item: dict[str, Any]) -> None:
        status = item["status"]
        kind = item.get("type", TYPES.get(status, "api_error"))
        error = self.speech.error(kind, item.get("message", "as the test wants it"))
        text = json.dumps(item.get("body", error))
        self._send(to, status, text, headers=item.get("headers"))

    def _reply(
        self, to: BaseHTTPRequestHandler, body: dict[str, Any], said: dict[str, Any]
    ) -> None:
        if not body.get("stream"):
            self._send(to, 200, json.dumps(said))
            return
        self._send(to, 200, "".join(self.speech.events(said)), "text/event-stream")

    def _send(
        self,
        to: BaseHTTPRequestHandler,
        status: int,
        text: str,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        data = text.encode()
        to.send_response(status)
        to.send_header("content-type", kind)
        to.send_header("content-length", str(len(data) if length is None else length))
        to.send_header("request-id", "req_test")
        for name, value in (headers or {}).items():
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(data)
        to.wfile.flush()

    def _raw(self, to: BaseHTTPRequestHandler, item: dict[str, Any]) -> None:
        """A stream as it is, in pieces of a size."""
        parts = [each.encode() if isinstance(each, str) else each for each in item["events"]]
        sent = b"".join(parts)
        size = item.get("size", len(sent) or 1)
        self._send(to, 200, "", "text/event-stream", length=len(sent))
        for at in range(0, len(sent), size):
            to.wfile.write(sent[at : at + size])
            to.wfile.flush()

    def _hang(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Nothing at all."""
        self.ended.wait(30)
        to.close_connection = True

    def _partly(
        self, to: BaseHTTPRequestHandler, said: dict[str, Any], count: int, then: str
    ) -> None:
        """The first events of a reply, and then: the end, in good order as far as HTTP goes; the
        end before the length that was promised; an error; or nothing more."""
        last = [self._failure()] if then == "error" else []
        text = "".join([*self.speech.events(said)[:count], *last])
        longer = 10_000 if then in ("torn", "silence") else None
        self._send(to, 200, text, "text/event-stream", length=longer)
        if then == "silence":
            self.ended.wait(30)
        to.close_connection = True

    def _in_parts(
        self, to: BaseHTTPRequestHandler, said: dict[str, Any], item: dict[str, Any]
    ) -> None:
        """A reply event by event, or in pieces that are cut anywhere."""
        parts = [each.encode() for each in self.speech.events(said)]
        if "chunks" in item:
            data, at, parts = b"".join(parts), 0, []
            for size in item["chunks"]:
                parts.append(data[at : at + size])
                at += size
            parts.append(data[at:])
        self._send(to, 200, "", "text/event-stream", length=sum(map(len, parts)))
        for number, part in enumerate(parts):
            if "paced" in item and number:
                item["paced"](number)
            to.wfile.write(part)
            to.wfile.flush()

    def _silence(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """A beginning, and then nothing."""
        text = self._half(body)
        self._send(to, 200, text, "text/event-stream", length=10_000)
        self.ended.wait(30)
        to.close_connection = True

    def _trickle(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """A beginning, and then signs of life for ever."""
        text = self._half(body)
        self._send(to, 200, text, "text/event-stream", length=10_000_000)
        while not self.ended.wait(0.05):
            to.wfile.write(self.speech.alive.encode())
            to.wfile.flush()
        to.close_connection = True

    def _flood(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Text without end, on one line."""
        self._send(to, 200, "data: ", "text/event-stream", length=1 << 40)
        while not self.ended.is_set():
            to.wfile.write(b"x" * 65536)
        to.close_connection = True

    def _reset(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        linger = struct.pack("ii", 1, 0)
        to.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        to.connection.close()
        to.close_connection = True

    def _close(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """No answer at all, and the end of the connection."""
        to.close_connection = True

    def _cut(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """A stream that ends, in good order as far as HTTP goes, before its last events."""
        self._send(to, 200, self._half(body), "text/event-stream")

    def _torn(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """A body shorter than its length."""
        text = self._half(body)
        self._send(to, 200, text, "text/event-stream", length=10_000)
        to.close_connection = True

    def _garbage(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self._send(to, 200, "\x00\x01 {{{ this is nothing")

    def _html(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self._send(to, 200, "<html><body>Log in to the network</body></html>", "text/html")

    def _badjson(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self._send(to, 200, "event: message_start\ndata: {nonsense\n\n", "text/event-stream")

    def _half(self, body: dict[str, Any]) -> str:
        return "".join(self.speech.events(message(body, "half"))[: self.speech.begun])

    def _failure(self) -> str:
        return self.speech.event(self.speech.error("overloaded_error", "Overloaded"))

    def _malformed(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self._send(to, 200, "".join(self.speech.malformed), "text/event-stream")

    def _error(self, to: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """An error in the midst of a stream."""
        self._send(to, 200, self._half(body) + self._failure(), "text/event-stream")


def message(body: dict[str, Any], item: Any) -> dict[str, Any]:
    """The whole reply for an item of a script."""
    if isinstance(item, str):
        content, stop = [{"type": "text", "text": item}], "end_turn"
    elif isinstance(item, list):
        content, stop = item, "tool_use"
    elif "tool_use" in item:
        content = [{"type": "tool_use", "id": "toolu_1", **item["tool_use"]}]
        stop = "tool_use"
    else:
        content, stop = item["content"], item.get("stop_reason", "end_turn")
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3} | _usage(item),
    }


def _usage(item: Any) -> dict[str, Any]:
    return item.get("usage", {}) if isinstance(item, dict) else {}


def event(data: dict[str, Any]) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


def events(said: dict[str, Any]) -> list[str]:
    """The events of a streamed reply."""
    begun = {**said["usage"], "output_tokens": 1}
    empty = {**said, "content": [], "stop_reason": None, "usage": begun}
    parts = [event({"type": "message_start", "message": empty})]
    for at, block in enumerate(said["content"]):
        start: dict[str, Any] = block
        deltas: list[dict[str, Any]] = []
        if block["type"] == "text":
            start = {"type": "text", "text": ""}
            pieces = block.get("pieces", [block["text"]])
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
        elif block["type"] == "thinking":
            start = {**block, "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        elif block["type"] == "tool_use":
            given = block.get("input", {})  # a text is sent as it is
            text = given if isinstance(given, str) else json.dumps(given)
            start = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": text}]
        parts.append(event({"type": "content_block_start", "index": at, "content_block": start}))
        for delta in deltas:
            parts.append(event({"type": "content_block_delta", "index": at, "delta": delta}))
        parts.append(event({"type": "content_block_stop", "index": at}))
    ending = {"stop_reason": said["stop_reason"], "stop_sequence": None}
    parts.append(event({"type": "message_delta", "delta": ending, "usage": said["usage"]}))
    return [*parts, event({"type": "message_stop"})]


_MALFORMED = {"role": "assistant", "content": "not a list", "stop_reason": None}

SPEECH = Speech(
    MESSAGES,
    events,
    lambda kind, words: {"type": "error", "error": {"type": kind, "message": words}},
    event,
    begun=3,
    alive=event({"type": "ping"}),
    malformed=(
        event({"type": "message_start", "message": _MALFORMED}),
        event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}),
        event({"type": "message_stop"}),
    ),
)
