"""A connection to one MCP server, made on demand.

All coroutines of this module run in the thread of `thread.py`.
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
"""Seconds for a server to start and to list its tools."""

END = 5.0
"""Seconds for a server to end."""

MOST_TOOLS = 1000

_LARGE = (too_large(MOST_BYTES), f"exceeded the {MOST_BYTES} byte limit")
"""Messages for an answer that is too large, of this package and of the library for events."""

_CLOSED = (CONNECTION_CLOSED, "Connection closed")
"""The library's error when a server's output has ended."""

# Our errors report what the library would log.
logging.getLogger("mcp").addHandler(logging.NullHandler())


@frozen(eq=False)
class _Live:
    """An open connection."""

    client: Client
    tools: dict[str, dict[str, Value]]
    over: asyncio.Event


@define(eq=False)
class Connection:
    """The connection to a server. It is opened at the first use, and again after it was lost."""

    server: Server
    command: Command | None
    _owner: "asyncio.Task[None] | None" = None
    """The task that holds the connection. The library's contexts must be left by the task that
    entered them."""
    _live: "asyncio.Future[_Live] | None" = None
    _said: bytearray = field(factory=bytearray)

    async def tools(self) -> dict[str, dict[str, Value]]:
        """Return the tools of the server: `{description input_schema}` by name. Raises Refusal."""
        return (await self._ready()).tools

    async def call(self, tool: str, inputs: Any) -> Any:
        """Call a tool and return its answer. Raises Refusal."""
        name = f"{self.server.name}:{tool}"
        try:
            async with asyncio.timeout(self.server.seconds):
                live = await self._ready()
        except TimeoutError:
            raise self._refuse_late(name, "is not there yet") from None
        if tool not in live.tools:
            raise refuse_unknown_tool(name, live.tools, self.server.name)
        check_inputs(inputs, name)
        asked = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=inputs))
        try:
            # Not `call_tool`: it matches results with the server's own patterns, by an
            # engine that may take unbounded time.
            result = await live.client.session.send_request(
                asked, CallToolResult, request_read_timeout_seconds=self.server.seconds
            )
        except MCPError as error:
            raise await self._refusal(error, name, live) from None
        # Failed checks of the library, and other effects of a server: errors of this call.
        except Exception as error:
            raise self._make_failure(
                f"answered `{name}` with no result: {problem(error)}"
            ) from None
        return value_of_result(result, name)

    async def close(self) -> None:
        """Close the connection and end the server's process."""
        if self._owner is None or self._owner.done():
            return
        if self._live is not None and self._live.done() and not self._live.cancelled():
            self._live.result().over.set()  # the live owner has set it
            await asyncio.wait([self._owner], timeout=END)
        self._owner.cancel()
        await asyncio.wait([self._owner], timeout=END)

    async def _ready(self) -> _Live:
        if self._owner is None or self._owner.done() or self._live is None:
            self._live = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._hold(self._live))
        return await asyncio.shield(self._live)

    async def _hold(self, live: "asyncio.Future[_Live]") -> None:
        """Open the connection and hold it until it is closed or lost."""
        self._said.clear()
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(START):
                    client = await stack.enter_async_context(Client(self._streams(), cache=None))
                    tools = await self._list_tools(client)
                over = asyncio.Event()
                live.set_result(_Live(client, tools, over))
                await over.wait()
        # Any failure between server and library; later calls report it.
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
            return self._refuse_late(name)
        if any(words in error.message for words in _LARGE):
            return make_task_failure(
                "tool_execution_error",
                "answer-too-large",
                f"the tool `{name}` failed: {too_large(MOST_BYTES)}",
                hint="ask for less at once; a server may send a text twice, once as structured",
                tool=name,
            )
        if not self._says_lost(error) or await self._is_there(live):  # servers can send it too
            return make_task_failure(
                "tool_execution_error",
                "tool-failed",
                f"the tool `{name}` failed: {message}",
                hint="give it other inputs; what it says is the server's",
                tool=name,
            )
        # The next call opens a new connection.
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

    def _refuse_late(self, name: str, why: str = "") -> Refusal:
        after = f": the MCP server `{self.server.name}` {why}" if why else ""
        return make_task_failure(
            "tool_execution_error",
            "mcp-timeout",
            f"the tool `{name}` did not answer within {self.server.seconds:g} seconds{after}",
            hint="ask for less at once, or give the server a longer `timeout`",
            tool=name,
        )

    def _says_lost(self, error: MCPError) -> bool:
        """Whether an error is the library's message for a lost connection."""
        if self.command is not None:
            return (error.code, error.message) == _CLOSED
        return error.code in (CONNECTION_CLOSED, INVALID_REQUEST)

    async def _is_there(self, live: _Live) -> bool:
        """Whether the connection is open. The connection to an own process is open until its end is
        reported; such a server may not support pings."""
        try:
            async with asyncio.timeout(END):
                await live.client.session.send_ping()
        except MCPError as error:
            return not self._says_lost(error) and error.code != REQUEST_TIMEOUT
        except TimeoutError:
            return self.command is not None
        except Exception:  # the rest of a lost connection
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


def refuse_unknown_tool(name: str, known: Any, server: str) -> Refusal:
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
    """Yield the streams of a server at an address, with bounded answers."""
    timeout = Timeout(START, read=seconds)
    async with (
        AsyncClient(timeout=timeout, event_hooks={"response": [_bound]}) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MOST_BYTES) as streams,
    ):
        yield streams


async def _bound(response: Response) -> None:
    if "text/event-stream" in response.headers.get("content-type", ""):
        return  # each event is bounded
    pieces: Any = response.aiter_bytes

    async def read_bounded(*arguments: Any) -> AsyncIterator[bytes]:
        size = 0
        async for piece in pieces(*arguments):
            size += len(piece)
            if size > MOST_BYTES:
                raise StreamError(too_large(MOST_BYTES))  # the library's error of one answer
            yield piece

    vars(response)["aiter_bytes"] = read_bounded
