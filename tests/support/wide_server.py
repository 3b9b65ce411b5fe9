"""A server of both protocols that carries thousands of connections, in a process of its own.

    with WideServer(latency=0.1) as server:
        … server.url, server.counts()

Replies are streamed and short; with `echoes` they repeat the text of the request. How long each
takes and whether it fails follows from the seed, the body and how often that body came before, so a
run repeats whatever the order of arrival.
"""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import Any
from urllib.request import urlopen

from support.chat_server import SPEECH as CHAT
from support.chat_server import whole_reply
from support.messages_server import SPEECH, TYPES, message

HERE = Path(__file__).resolve()


class WideServer:
    """The process. `latency` in seconds; with `spread`, from 0 to twice as much. `failing` is the
    share of requests that get a failure instead. With `together`, replies are held until so many
    requests are open."""

    def __init__(
        self,
        latency: float = 0.0,
        spread: bool = False,
        failing: float = 0.0,
        together: int = 0,
        echoes: bool = False,
    ) -> None:
        settings = {"latency": latency, "spread": spread, "failing": failing, "together": together}
        settings["echoes"] = echoes
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.wide_server", json.dumps(settings)],
            cwd=HERE.parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def counts(self) -> dict[str, Any]:
        """Since the last time that somebody asked: `requests`, `distinct` bodies, and the `most`
        that were open at once."""
        with urlopen(f"{self.url}/counts", timeout=30) as reply:
            found: dict[str, Any] = json.load(reply)
        return found

    def calls(self) -> list[tuple[str, float, float | None]]:
        """All calls since the beginning: the text of the request, and the times at which it came
        and was answered or given up; None is for one that is open."""
        with urlopen(f"{self.url}/calls", timeout=30) as reply:
            return [tuple(each) for each in json.load(reply)]

    def __enter__(self) -> "WideServer":
        return self

    def __exit__(self, *_: Any) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()  # the server ends with it
        self._process.wait(30)
        self._process.stdout.close()


CUT = 0
"""The status that stands for a reply of which only the first events arrive."""

FAILURES = (429, 529, 500, CUT)


class _Served:
    """What all connections share."""

    def __init__(
        self, latency: float, spread: bool, failing: float, together: int, echoes: bool
    ) -> None:
        self.latency, self.spread, self.failing = latency, spread, failing
        self.together, self.echoes = together, echoes
        self.calls: list[list[Any]] = []
        self.held: list[Callable[[], None]] = []
        self.seen: Counter[bytes] = Counter()
        self.open = 0
        self.forget()

    def forget(self) -> None:
        self.requests = self.most = 0
        self.distinct: set[bytes] = set()

    def counts(self) -> bytes:
        counted = {"requests": self.requests, "distinct": len(self.distinct), "most": self.most}
        self.forget()
        return _head(200, "application/json", json.dumps(counted).encode())

    def begin_call(self, body: bytes) -> int:
        """Note a call; return its number."""
        messages = json.loads(body)["messages"]
        said = messages[-1]["content"] if messages else ""
        self.calls.append([said if isinstance(said, str) else said[0]["text"], time(), None])
        return len(self.calls) - 1

    def list_calls(self) -> bytes:
        return _head(200, "application/json", json.dumps(self.calls).encode())

    def drawn(self, body: bytes) -> tuple[float, int]:
        """How long the reply to a body takes, and its status."""
        self.requests += 1
        self.distinct.add(body)
        self.seen[body] += 1
        drawn = blake2b(b"%d %b" % (self.seen[body], body)).digest()
        seconds = self.latency * (drawn[0] / 127.5 if self.spread else 1.0)
        fails = int.from_bytes(drawn[1:5]) < self.failing * 2**32
        return seconds, FAILURES[drawn[5] % len(FAILURES)] if fails else 200


def _head(status: int, kind: str, data: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n"
        "request-id: req_test\r\n\r\n"
    )
    return head.encode() + data


def _reply(body: bytes, status: int, is_chat: bool, text: str) -> bytes:
    speech = CHAT if is_chat else SPEECH
    if status not in (200, CUT):
        error = speech.error(TYPES[status], "as the test wants it")
        return _head(status, "application/json", json.dumps(error).encode())
    asked = json.loads(body)
    said = message(asked, text)
    if asked.get("stream"):
        sent = speech.events(said)[: speech.begun if status == CUT else None]
        return _head(200, "text/event-stream", "".join(sent).encode())
    whole = whole_reply(said) if is_chat else said
    return _head(200, "application/json", json.dumps(whole).encode())


class _Connection(asyncio.Protocol):
    def __init__(self, served: _Served) -> None:
        self.served = served
        self.read = b""
        self.waits: asyncio.TimerHandle | None = None
        self.call = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self.waits is not None:
            self.waits.cancel()
            self.served.open -= 1
            self.served.calls[self.call][2] = time()

    def data_received(self, data: bytes) -> None:
        self.read += data
        head, found, body = self.read.partition(b"\r\n\r\n")
        if not found:
            return
        if head.startswith(b"GET"):
            self.read = b""
            is_calls = head.startswith(b"GET /calls ")
            served = self.served
            self.transport.write(served.list_calls() if is_calls else served.counts())
            self.transport.close()
            return
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) < length:
            return
        self.read = body[length:]
        served = self.served
        seconds, status = served.drawn(body[:length])
        self.call = served.begin_call(body[:length])
        served.open += 1
        served.most = max(served.most, served.open)
        is_chat = b"/chat/completions " in head.partition(b"\r\n")[0]
        served.held.append(partial(self.begin, seconds, body[:length], status, is_chat))
        if len(served.held) >= served.together:
            held, served.held = served.held, []
            for begin in held:
                begin()

    def begin(self, seconds: float, body: bytes, status: int, is_chat: bool) -> None:
        loop = asyncio.get_running_loop()
        self.waits = loop.call_later(seconds, self.answer, body, status, is_chat)

    def answer(self, body: bytes, status: int, is_chat: bool) -> None:
        self.waits = None
        served = self.served
        served.open -= 1
        call = served.calls[self.call]
        call[2] = time()
        text = call[0] if served.echoes else "It is tea."
        self.transport.write(_reply(body, status, is_chat, text))


async def _serve(settings: dict[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    served = _Served(**settings)
    server = await loop.create_server(lambda: _Connection(served), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(json.loads(sys.argv[1])))
