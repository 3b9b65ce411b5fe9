"""A server → its tools and their answers, over one connection that is made when it is wanted.

Everything here runs in the thread of `thread.py`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from httpx2 import AsyncClient, Response, StreamError, Timeout
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
)

from sexplang.runtime.mcp.results import (
    LONGEST,
    MOST_BYTES,
    check_inputs,
    definition,
    make_server_failure,
    problem,
    too_large,
    value_of_result,
)
from sexplang.runtime.mcp.specs import Server
from sexplang.runtime.mcp.stdio import open_streams
from sexplang.runtime.refusal import Refusal, make_task_failure, refuse
from sexplang.runtime.scripts.process import Command
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.value import Value

START = 60.0
"""Seconds for a server to be there and to say what it has."""

END = 5.0
"""Seconds for one to go."""

MOST_TOOLS = 1000

_LARGE = (too_large(MOST_BYTES), f"exceeded the {MOST_BYTES} byte limit")
"""What we, and the library for events, say of an answer that is too large."""

_CLOSED = (CONNECTION_CLOSED, "Connection closed")
"""What the library says of a server whose output has ended."""

# What the library has to say about a server, our errors do.
logging.getLogger("mcp").addHandler(logging.NullHandler())


@frozen(eq=False)
class _Live:
    """A connection that has been made."""

    client: Client
    tools: dict[str, dict[str, Value]]
    over: asyncio.Event


@define(eq=False)
class Connection:
    """A server that is started, or called up, when it is first asked, and again when it is gone."""

    server: Server
    command: Command | None
    _owner: "asyncio.Task[None] | None" = None
    """Who holds it: what enters the library's contexts has to leave them, too."""
    _live: "asyncio.Future[_Live] | None" = None
    _said: bytearray = field(factory=bytearray)

    async def tools(self) -> dict[str, dict[str, Value]]:
        """What the server offers: `{description input_schema}` by name. Raises a Refusal."""
        return (await self._ready()).tools

    async def call(self, tool: str, inputs: Any) -> Any:
        """The answer of a tool. Raises a Refusal."""
        name = f"{self.server.name}:{tool}"
        try:
            async with asyncio.timeout(self.server.seconds):
                live = await self._ready()
        except TimeoutError:
            raise self._late(name, "is not there yet") from None
        if tool not in live.tools:
            raise unknown(name, live.tools, self.server.name)
        check_inputs(inputs, name)
        asked = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=inputs))
        try:
            # Not `call_tool`, which matches what comes with the server's own patterns, by an
            # engine that may take any time for them.
            result = await live.client.session.send_request(
                asked, CallToolResult, request_read_timeout_seconds=self.server.seconds
            )
        except MCPError as error:
            raise await self._refusal(error, name, live) from None
        # The library's own checks, and whatever a server can do to it: errors of this call.
        except Exception as error:
            raise self._make_failure(
                f"answered `{name}` with no result: {problem(error)}"
            ) from None
        return value_of_result(result, name)

    async def close(self) -> None:
        """Ends the connection, and a server that we started with it."""
        if self._owner is None or self._owner.done():
            return
        if self._live is not None and self._live.done() and not self._live.cancelled():
            self._live.result().over.set()  # an owner that is there has made it
            await asyncio.wait([self._owner], timeout=END)
        self._owner.cancel()
        await asyncio.wait([self._owner], timeout=END)

    async def _ready(self) -> _Live:
        if self._owner is None or self._owner.done() or self._live is None:
            self._live = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._hold(self._live))
        return await asyncio.shield(self._live)

    async def _hold(self, live: "asyncio.Future[_Live]") -> None:
        """Makes the connection and keeps it until it is over."""
        self._said.clear()
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(START):
                    client = await stack.enter_async_context(Client(self._streams(), cache=None))
                    tools = await self._list_tools(client)
                over = asyncio.Event()
                live.set_result(_Live(client, tools, over))
                await over.wait()
        # Whatever goes wrong between a server and the library; later, calls say what.
        except Exception as error:
            if not live.done():
                live.set_exception(self._not_started(error))
        finally:
            live.cancel()

    def _streams(self) -> Any:
        if self.command is not None:
            return open_streams(self.command, MOST_BYTES, self._said)
        assert self.server.url is not None
        return _open_http_streams(self.server.url, self.server.seconds)

    async def _list_tools(self, client: Client) -> dict[str, dict[str, Value]]:
        tools: dict[str, dict[str, Value]] = {}
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                tools.setdefault(tool.name, definition(tool, self.server.name))
            if len(tools) > MOST_TOOLS:
                raise self._make_failure(f"has more than {MOST_TOOLS} tools", "connection_error")
            if page.next_cursor is None or page.next_cursor == cursor:
                return tools
            cursor = page.next_cursor

    async def _refusal(self, error: MCPError, name: str, live: _Live) -> Refusal:
        message = error.message[:LONGEST]
        if error.code == REQUEST_TIMEOUT:
            return self._late(name)
        if any(words in error.message for words in _LARGE):
            return make_task_failure(
                "tool_execution_error",
                "answer-too-large",
                f"the tool `{name}` failed: {too_large(MOST_BYTES)}",
                hint="ask for less at once; a server may send a text twice, once as structured",
                tool=name,
            )
        if not self._says_lost(error) or await self._is_there(live):  # anybody can say so
            return make_task_failure(
                "tool_execution_error",
                "tool-failed",
                f"the tool `{name}` failed: {message}",
                hint="give it other inputs; what it says is the server's",
                tool=name,
            )
        # The next call begins with a new connection.
        live.over.set()
        if self._owner is not None:
            await asyncio.wait([self._owner], timeout=END)
        why = "ended" if self.command is not None else f"went away ({message})"
        return make_server_failure(
            self.server.name,
            f"{why} while `{name}` was at work",
            bytes(self._said),
            "tool_execution_error",
            "look at what it said last; the next call begins with a new connection",
        )

    def _late(self, name: str, why: str = "") -> Refusal:
        after = f": the MCP server `{self.server.name}` {why}" if why else ""
        return make_task_failure(
            "tool_execution_error",
            "mcp-timeout",
            f"the tool `{name}` did not answer within {self.server.seconds:g} seconds{after}",
            hint="ask for less at once, or give the server a longer `timeout`",
            tool=name,
        )

    def _says_lost(self, error: MCPError) -> bool:
        """Whether this is what the library says of a connection that has ended."""
        if self.command is not None:
            return (error.code, error.message) == _CLOSED
        return error.code in (CONNECTION_CLOSED, INVALID_REQUEST)

    async def _is_there(self, live: _Live) -> bool:
        """Whether the connection is open. That of a server of our own is, until its end is told: it
        may know no pings."""
        try:
            async with asyncio.timeout(END):
                await live.client.session.send_ping()
        except MCPError as error:
            return not self._says_lost(error) and error.code != REQUEST_TIMEOUT
        except TimeoutError:
            return self.command is not None
        except Exception:  # whatever is left of a connection that is gone
            return False
        return True

    def _make_failure(self, why: str, reason: str = "tool_execution_error") -> Refusal:
        return make_server_failure(self.server.name, why, bytes(self._said), reason)

    def _not_started(self, error: BaseException) -> Refusal:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, Refusal):
            return error
        if isinstance(error, TimeoutError):
            return self._make_failure(f"is not there after {START:g} seconds", "connection_error")
        return self._make_failure(f"cannot be used: {problem(error)}", "connection_error")


def unknown(name: str, known: Any, server: str) -> Refusal:
    """There is no such tool."""
    listed = sorted(known)
    guess = did_you_mean(name.partition(":")[2], listed, shape=f"`{server}:{{}}`")
    return refuse(
        "unknown-tool",
        f"there is no tool `{name}`",
        hint=f"{guess} the server has {', '.join(listed) or 'none'}".lstrip(),
        tool=name,
    )


@asynccontextmanager
async def _open_http_streams(url: str, seconds: float) -> AsyncIterator[Any]:
    """The streams of a server at an address, whose answers have an end."""
    timeout = Timeout(START, read=seconds)
    async with (
        AsyncClient(timeout=timeout, event_hooks={"response": [_bound]}) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MOST_BYTES) as streams,
    ):
        yield streams


async def _bound(response: Response) -> None:
    if "text/event-stream" in response.headers.get("content-type", ""):
        return  # of events each is bounded
    pieces: Any = response.aiter_bytes

    async def read_bounded(*arguments: Any) -> AsyncIterator[bytes]:
        size = 0
        async for piece in pieces(*arguments):
            size += len(piece)
            if size > MOST_BYTES:
                raise StreamError(too_large(MOST_BYTES))  # as the library expects: of one answer
            yield piece

    vars(response)["aiter_bytes"] = read_bounded
