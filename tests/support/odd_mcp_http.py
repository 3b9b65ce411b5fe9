"""A server of the protocol over HTTP on the loopback, which does not do what it should.

    with OddServer("cut") as server:
        … server.url, server.methods, server.headers

The kind is what it does with every request, or with calls of its tool `ping`.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REFUSALS = {"401": 401, "403": 403, "500": 500}
"""Kinds of servers that answer everything with a status."""


class OddServer:
    """The server, and what was asked of it. It can be left and entered again, at the same port."""

    def __init__(self, kind: str = "good") -> None:
        self.kind = kind
        self.port = 0
        self.methods: list[str] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def __enter__(self) -> "OddServer":
        owner = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True  # headers and body are two packets: 40 ms between them

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                self.send_error(405)

            def do_DELETE(self) -> None:
                self.send_error(405)

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                owner.methods.append(asked["method"])
                owner.headers.append({name.lower(): value for name, value in self.headers.items()})
                owner.answer(self, asked)

        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, at: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        method, kind = asked["method"], self.kind
        made = {"jsonrpc": "2.0", "id": asked.get("id")}
        if kind in REFUSALS:
            say(at, REFUSALS[kind], "no")
        elif kind == "page":
            say(at, 200, "<html>", "text/html")
        elif "id" not in asked or kind == "accepted":
            say(at, 202, "")
        elif method == "initialize":
            result = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            }
            say(at, 200, {**made, "result": result}, session=f"s{len(self.methods)}")
        elif method == "tools/list":
            tool = {"name": "ping", "inputSchema": {"type": "object"}}
            say(at, 200, {**made, "result": {"tools": [tool]}})
        elif method == "tools/call":
            self.call(at, asked["params"].get("arguments") or {}, made)
        else:
            say(at, 404, {**made, "error": {"code": -32601, "message": "not found"}})

    def call(
        self, at: BaseHTTPRequestHandler, inputs: dict[str, Any], made: dict[str, Any]
    ) -> None:
        kind, pong = self.kind, {"content": [{"type": "text", "text": "pong"}]}
        if kind == "call 401":
            say(at, 401, {"error": "invalid_token"})
        elif kind == "call 502":
            say(at, 502, "x" * 5_000_000 if self.methods.count("tools/call") > 1 else "<html>")
        elif kind == "other id":
            say(at, 200, {**made, "id": 999, "result": pong})
        elif kind == "no message":
            say(at, 200, {**made, "result": "x"})
        elif kind == "no JSON":
            say(at, 200, "{nonsense")
        elif kind == "large":
            say(at, 200, {**made, "result": {"content": [], "x": "x" * 5_000_000}})
        elif kind == "cut":
            say(at, 200, '{"json', length=100)
        elif kind == "cut events":
            say(at, 200, 'event: message\ndata: {"json', "text/event-stream")
        elif kind == "closed":
            at.close_connection = True
        elif kind == "forgets" or (kind == "forgets once" and self.methods.count("initialize") < 2):
            say(at, 404, {"error": "no such session"})
        else:
            say(at, 200, {**made, "result": pong})


def say(
    at: BaseHTTPRequestHandler,
    status: int,
    body: Any,
    kind: str = "application/json",
    length: int | None = None,
    session: str | None = None,
) -> None:
    """Answer a request of HTTP."""
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    at.send_response(status)
    at.send_header("content-type", kind)
    at.send_header("content-length", str(length or len(data)))
    if session is not None:
        at.send_header("mcp-session-id", session)
    at.end_headers()
    at.wfile.write(data)
