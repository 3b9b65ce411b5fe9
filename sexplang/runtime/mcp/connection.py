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
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.mcp import http, stdio
from sexplang.runtime.mcp.failures import Failures, refuse_unknown_tool
from sexplang.runtime.mcp.messages import NO_SESSION, NOT_SENT
from sexplang.runtime.mcp.methods import METHODS
from sexplang.runtime.mcp.results import (
    LONGEST,
    check_inputs,
    definition,
    problem,
    value_of_result,
)
from sexplang.runtime.mcp.specs import Server
from sexplang.runtime.refusal import Refusal
from sexplang.runtime.scripts.process import Command
from sexplang.terms.classes.node import define, frozen
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

IDEMPOTENCY_KEY = "sexplang/idempotency-key"
"""The name of a call's key in its `_meta`."""

OnProgress = Callable[[str, float | None], None]
"""Takes the progress of a call: words, and a fraction if it is known."""

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
    failures: Failures


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

    async def tools(self) -> dict[str, dict[str, Value]]:
        """Return the tools of the server: `{description input_schema}` by name. Raises Refusal."""
        return (await self._ready()).tools

    async def call(
        self,
        tool: str,
        inputs: Any,
        on_progress: OnProgress | None = None,
        key: str | None = None,
    ) -> Any:
        """Call a tool and return its answer. The server is told the idempotency `key`. Raises
        Refusal.

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
                raise Failures(self.server).refuse_late(name, "is not there yet") from None
            if tool not in live.tools:
                raise refuse_unknown_tool(name, live.tools, self.server.name)
            check_inputs(inputs, name)
            try:
                return await self._ask(live, tool, inputs, on_progress, key)
            except MCPError as error:
                cause = live.failures.find_cause(error, live.over.is_set())
                if cause == NO_SESSION or live.over.is_set():
                    await self._drop(live)
                is_safe = cause in (NOT_SENT, NO_SESSION) or tool in live.repeatable
                if not (cause and is_safe) or cause in tried:
                    raise live.failures.refuse_call(error, cause, name) from None
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
        failures = Failures(self.server)
        over = asyncio.Event()

        def end(how: str) -> None:
            failures.end_reason = failures.end_reason or how
            over.set()

        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(START):
                    client = await stack.enter_async_context(
                        Client(self._streams(failures, end), cache=None)
                    )
                    self._live = await self._list_offers(client, over, failures)
                opened.set_result(self._live)
                await over.wait()
        # Any failure between server and library; later calls report it.
        except Exception as error:
            if not opened.done():
                opened.set_exception(failures.refuse_start(error, START))
        finally:
            over.set()
            self._live = None
            opened.cancel()

    def _streams(self, failures: Failures, end: Callable[[str], None]) -> Any:
        if self.command is not None:
            return stdio.open_streams(self.command, failures.said, end)
        assert self.server.url is not None
        return http.open_streams(self.server.url, self.server.headers, START, self.server.seconds)

    async def _list_offers(self, client: Client, over: asyncio.Event, failures: Failures) -> _Live:
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
                raise failures.make(f"has more than {MOST_TOOLS} tools", "connection_error")
            is_more = page.next_cursor not in (None, cursor)
            cursor = page.next_cursor
        for name, method in METHODS.items():
            if getattr(offered, method.capability):
                tools[name] = method.definition
                repeatable.add(name)
        return _Live(client, tools, frozenset(repeatable), over, failures)

    async def _ask(
        self, live: _Live, tool: str, inputs: Any, on_progress: OnProgress | None, key: str | None
    ) -> Any:
        """Send one request and return the value of its answer. Raises MCPError and Refusal."""
        name, seconds = f"{self.server.name}:{tool}", self.server.seconds
        try:
            if tool in METHODS:
                async with asyncio.timeout(seconds):
                    return await METHODS[tool].perform(live.client.session, inputs, name)
            meta: Any = None if key is None else {IDEMPOTENCY_KEY: key}
            params = CallToolRequestParams(name=tool, arguments=inputs, _meta=meta)
            asked = CallToolRequest(params=params)
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
            raise live.failures.refuse_late(name) from None
        # Failed checks of the library, and other effects of a server: errors of this call.
        except Exception as error:
            raise live.failures.make(
                f"answered `{name}` with no result: {problem(error)}"
            ) from None
        return value_of_result(result, name)


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
