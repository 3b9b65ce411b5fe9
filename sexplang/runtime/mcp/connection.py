"""A connection to one MCP server, made on demand.

All coroutines of this module run in the thread of `thread.py`.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from math import inf, isfinite
from time import monotonic
from typing import Any

from mcp import Client, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
)

from sexplang.runtime.journal.redaction import clean, shorten
from sexplang.runtime.mcp import http, stdio
from sexplang.runtime.mcp.messages import (
    CUT_OFF,
    MALFORMED,
    MOST_BYTES,
    NO_SESSION,
    NOT_SENT,
    TOO_LARGE,
    WORDS,
)
from sexplang.runtime.mcp.methods import METHODS
from sexplang.runtime.mcp.results import (
    LONGEST,
    check_inputs,
    definition,
    make_server_failure,
    problem,
    value_of_result,
)
from sexplang.runtime.mcp.specs import Server
from sexplang.runtime.refusal import Refusal, make_task_failure, refuse
from sexplang.runtime.scripts.process import Command
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.value import Value

START = 60.0
"""Seconds for a server to start and to list its tools."""

END = 5.0
"""Seconds for a server to end."""

PAUSE = 1.0
"""Seconds before a server that was not reached is called up again."""

OFTEN = 0.1
"""Seconds between two reports of progress."""

MOST_TOOLS = 1000

OnProgress = Callable[[str, float | None], None]
"""Takes the progress of a call: words, and a fraction if it is known."""

_EVENT_TOO_LARGE = f"exceeded the {MOST_BYTES} byte limit"
_EVENTS_ENDED = "SSE stream ended"
"""Beginnings and parts of the library's messages for an answer in events."""

# Our errors report what the library would log.
logging.getLogger("mcp").addHandler(logging.NullHandler())


@frozen(eq=False)
class _Live:
    """An open connection."""

    client: Client
    tools: dict[str, dict[str, Value]]
    repeatable: frozenset[str]
    """The tools that may be called twice, as the server says: they read, or are idempotent."""
    over: asyncio.Event


@define(eq=False)
class Connection:
    """The connection to a server. It is opened at the first use, and again after it was lost."""

    server: Server
    command: Command | None
    _owner: "asyncio.Task[None] | None" = None
    """The task that holds the connection. The library's contexts must be left by the task that
    entered them."""
    _opened: "asyncio.Future[_Live] | None" = None
    _live: _Live | None = None
    """What the task holds, while it holds it."""
    _said: bytearray = field(factory=bytearray)
    _end_reason: str = ""
    """What the server did when its connection was over, if it has a process."""

    async def tools(self) -> dict[str, dict[str, Value]]:
        """Return the tools of the server: `{description input_schema}` by name. Raises Refusal."""
        return (await self._ready()).tools

    async def call(self, tool: str, inputs: Any, on_progress: OnProgress | None = None) -> Any:
        """Call a tool and return its answer. Raises Refusal.

        A connection that was lost is opened again, once. A call that the server may have performed
        is repeated only if the server says that it may be.
        """
        name = f"{self.server.name}:{tool}"
        tried: set[int] = set()
        while True:
            try:
                async with asyncio.timeout(self.server.seconds):
                    live = await self._ready()
            except TimeoutError:
                raise self._refuse_late(name, "is not there yet") from None
            if tool not in live.tools:
                raise refuse_unknown_tool(name, live.tools, self.server.name)
            check_inputs(inputs, name)
            try:
                return await self._ask(live, tool, inputs, on_progress)
            except MCPError as error:
                cause = self._find_cause(error, live)
                if cause == NO_SESSION or live.over.is_set():
                    await self._drop(live)
                is_safe = cause in (NOT_SENT, NO_SESSION) or tool in live.repeatable
                if not (cause and is_safe) or cause in tried:
                    raise self._refusal(error, cause, name) from None
                tried.add(cause)
                await asyncio.sleep(PAUSE if cause == NOT_SENT else 0)

    async def close(self) -> None:
        """Close the connection and end the server's process."""
        if self._owner is None or self._owner.done():
            return
        if self._live is not None:
            self._live.over.set()
            await asyncio.wait([self._owner], timeout=END)
        self._owner.cancel()
        await asyncio.wait([self._owner], timeout=END)

    async def _drop(self, live: _Live) -> None:
        """Close a connection that was lost, unless another call has opened a new one."""
        live.over.set()
        if self._live is live:
            await self.close()

    async def _ready(self) -> _Live:
        if self._live is not None and self._live.over.is_set():
            await self.close()
        if self._owner is None or self._owner.done() or self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._hold(self._opened))
        return await asyncio.shield(self._opened)

    async def _hold(self, opened: "asyncio.Future[_Live]") -> None:
        """Open the connection and hold it until it is closed or lost."""
        self._said.clear()
        self._end_reason = ""
        over = asyncio.Event()

        def end(how: str) -> None:
            self._end_reason = self._end_reason or how
            over.set()

        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(START):
                    client = await stack.enter_async_context(Client(self._streams(end), cache=None))
                    self._live = await self._list_offers(client, over)
                opened.set_result(self._live)
                await over.wait()
        # Any failure between server and library; later calls report it.
        except Exception as error:
            if not opened.done():
                opened.set_exception(self._not_started(error))
        finally:
            over.set()
            self._live = None
            opened.cancel()

    def _streams(self, end: Callable[[str], None]) -> Any:
        if self.command is not None:
            return stdio.open_streams(self.command, self._said, end)
        assert self.server.url is not None
        return http.open_streams(self.server.url, self.server.headers, START, self.server.seconds)

    async def _list_offers(self, client: Client, over: asyncio.Event) -> _Live:
        """List what a server offers. One that offers other things may have no tools."""
        offered = client.server_capabilities
        tools: dict[str, dict[str, Value]] = {}
        repeatable = set()
        is_more, cursor = bool(offered.tools or not (offered.resources or offered.prompts)), None
        while is_more:
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                tools.setdefault(tool.name, definition(tool, self.server.name))
                hints = tool.annotations
                if hints is not None and (hints.read_only_hint or hints.idempotent_hint):
                    repeatable.add(tool.name)
            if len(tools) > MOST_TOOLS:
                raise self._make_failure(f"has more than {MOST_TOOLS} tools", "connection_error")
            is_more = page.next_cursor not in (None, cursor)
            cursor = page.next_cursor
        for name, method in METHODS.items():
            if getattr(offered, method.capability):
                tools[name] = method.definition
                repeatable.add(name)
        return _Live(client, tools, frozenset(repeatable), over)

    async def _ask(
        self, live: _Live, tool: str, inputs: Any, on_progress: OnProgress | None
    ) -> Any:
        """Send one request and return the value of its answer. Raises MCPError and Refusal."""
        name, seconds = f"{self.server.name}:{tool}", self.server.seconds
        try:
            if tool in METHODS:
                async with asyncio.timeout(seconds):
                    return await METHODS[tool].perform(live.client.session, inputs, name)
            asked = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=inputs))
            # Not `call_tool`: it matches results with the server's own patterns, by an
            # engine that may take unbounded time.
            result = await live.client.session.send_request(
                asked,
                CallToolResult,
                request_read_timeout_seconds=seconds,
                progress_callback=None if on_progress is None else _make_reporter(on_progress),
            )
        except (MCPError, Refusal):
            raise
        except TimeoutError:
            raise self._refuse_late(name) from None
        # Failed checks of the library, and other effects of a server: errors of this call.
        except Exception as error:
            raise self._make_failure(
                f"answered `{name}` with no result: {problem(error)}"
            ) from None
        return value_of_result(result, name)

    def _find_cause(self, error: MCPError, live: _Live) -> int:
        """Return the code of a connection that was lost, or 0 for another error."""
        if self.command is not None:
            return CUT_OFF if live.over.is_set() else 0
        if error.code in (NOT_SENT, NO_SESSION, CUT_OFF):
            return error.code
        is_cut = live.over.is_set() or error.message.startswith(_EVENTS_ENDED)
        return CUT_OFF if error.code == CONNECTION_CLOSED and is_cut else 0

    def _refusal(self, error: MCPError, cause: int, name: str) -> Refusal:
        """Return the refusal of a call. `cause` is the code of a connection that was lost, or 0."""
        message, code = shorten(error.message, LONGEST), error.code
        if code == REQUEST_TIMEOUT:
            return self._refuse_late(name)
        if code == TOO_LARGE or _EVENT_TOO_LARGE in error.message:
            return make_task_failure(
                "tool_execution_error",
                "answer-too-large",
                f"the tool `{name}` failed: {WORDS[TOO_LARGE]}",
                hint="ask for less at once; a server may send a text twice, once as structured",
                tool=name,
            )
        if cause == CUT_OFF:
            why = self._end_reason or f"went away ({message})"
            return self._make_failure(
                f"{why} while `{name}` was at work",
                hint="look whether it was done before you call it again; the next call begins "
                "with a new connection",
            )
        if cause:
            return self._make_failure(f"is not there for `{name}`: {message}")
        if code == MALFORMED:
            return self._make_failure(f"answered `{name}` with no result: {message}")
        if code in _STATUSES:
            return self._refuse_status(code, message, "tool_execution_error")
        return make_task_failure(
            "tool_execution_error",
            "tool-failed",
            f"the tool `{name}` failed: {message}",
            hint="give it other inputs; what it says is the server's",
            tool=name,
        )

    def _refuse_status(self, status: int, message: str, reason: str) -> Refusal:
        server = self.server
        if status not in (401, 403):
            return self._make_failure(f"answered {message}", reason)
        hint = (
            "check the credential in its `headers`: the server does not accept it"
            if server.headers
            else 'give it a credential: headers = {Authorization = "Bearer secret:NAME"}'
        )
        words = f"the MCP server `{server.name}` answered {status}: it does not let this run in"
        return make_task_failure(reason, "bad-key", words, hint=hint, server=server.name)

    def _refuse_late(self, name: str, why: str = "") -> Refusal:
        after = f": the MCP server `{self.server.name}` {why}" if why else ""
        return make_task_failure(
            "tool_execution_error",
            "mcp-timeout",
            f"the tool `{name}` did not answer within {self.server.seconds:g} seconds{after}",
            hint="ask for less at once, or give the server a longer `timeout`",
            tool=name,
        )

    def _make_failure(
        self, why: str, reason: str = "tool_execution_error", hint: str | None = None
    ) -> Refusal:
        default = None if self.command is not None else _CHECK_ADDRESS
        return make_server_failure(
            self.server.name, why, bytes(self._said), reason, hint or default
        )

    def _not_started(self, error: BaseException) -> Refusal:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, Refusal):
            return error
        if isinstance(error, TimeoutError):
            return self._make_failure(f"is not there after {START:g} seconds", "connection_error")
        if isinstance(error, MCPError) and error.code in _STATUSES:
            return self._refuse_status(error.code, problem(error), "connection_error")
        is_over = isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
        why = f"it {self._end_reason}" if is_over and self._end_reason else problem(error)
        return self._make_failure(f"cannot be used: {why}", "connection_error")


_STATUSES = range(400, 600)
_CHECK_ADDRESS = "look whether it runs, and whether its address is right"


def _make_reporter(on_progress: OnProgress) -> Any:
    """Return the library's callback for progress. It calls `on_progress` ten times a second at
    most."""
    last = -inf

    async def report(done: float, total: float | None, message: str | None) -> None:
        nonlocal last
        now = monotonic()
        if now - last < OFTEN:
            return
        last = now
        fraction = done / total if total else inf
        words = message or (f"{done:g} of {total:g}" if total else f"{done:g}")
        on_progress(
            clean(words)[:LONGEST], min(max(fraction, 0.0), 1.0) if isfinite(fraction) else None
        )

    return report


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
