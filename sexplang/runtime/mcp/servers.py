"""The MCP servers of a run: started on demand and ended with the run."""

import shlex
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from sexplang.runtime.driver.current_request import find_key
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.mcp.specs import Server
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.values.value import Value

INSTALL = "pip install 'sexplang[mcp]'"

Described = dict[str, dict[str, Value]]
"""`{description input_schema}` by `server:name`."""


@define(eq=False)
class Servers:
    """The servers of a run by name, and their connections."""

    known: Mapping[str, Server]
    permissions: Permissions
    _background: Any = None
    _connections: dict[str, Any] = field(factory=dict)

    def select_server_tools(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the tool names that belong to a server."""
        return tuple([name for name in dict.fromkeys(names) if self._parts(name)[1]])

    def describe(self, names: Iterable[str]) -> Described:
        """Return the definitions of tools. Waits for their servers. Raises Refusal."""
        wanted = self.select_server_tools(names)
        return self._begin_describe(wanted).result() if wanted else {}

    async def adescribe(self, names: Iterable[str]) -> Described:
        """Return the definitions of tools, from a coroutine."""
        wanted = self.select_server_tools(names)
        if not wanted:
            return {}
        from sexplang.runtime.mcp.thread import wait_for

        return await wait_for(self._begin_describe(wanted))

    def tool(
        self, name: str, on_progress: Callable[[str, float | None], None] | None = None
    ) -> Callable[[dict[str, Any]], Any] | None:
        """Return the function of a tool, or None if its server is unknown. `on_progress` is called
        with what the server says meanwhile: words, and a fraction if it is known."""
        server, tool = self._parts(name)
        if not tool:
            return None

        async def answer(inputs: dict[str, Any]) -> Any:
            from sexplang.runtime.mcp.thread import Inbox

            self._permit(server)
            inbox = Inbox(on_progress)
            put = None if on_progress is None else inbox.put
            call = self._call(server, tool, inputs, put, find_key())
            return await inbox.wait_for(self._begin(call))

        return answer

    def list_decisions(self) -> dict[str, Decision]:
        """Return what becomes of calls in doubt, by `tool:NAME`."""
        return {
            f"tool:{server.name}:{tool}": decision
            for server in self.known.values()
            for tool, decision in server.replay.items()
        }

    def close(self) -> None:
        """Close all connections and end all started servers."""
        if self._background is not None:
            with suppress(Exception):  # they are ended in any case
                self._begin(self._close_all()).result()
            self._background.stop()
            self._background = None

    async def aclose(self) -> None:
        """Close all connections from a coroutine, even a cancelled one."""
        if self._background is None:
            return
        import anyio

        from sexplang.runtime.mcp.thread import wait_for

        with anyio.CancelScope(shield=True), suppress(Exception):
            await wait_for(self._begin(self._close_all()))
        self._background.stop()
        self._background = None

    def _parts(self, name: str) -> tuple[str, str]:
        server, _, tool = name.partition(":")
        return (server, tool) if server in self.known else ("", "")

    def _begin_describe(self, names: tuple[str, ...]) -> "Future[Described]":
        for name in names:
            self._permit(self._parts(name)[0])
        return self._begin(self._describe(names))

    def _begin(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        if self._background is None:
            from sexplang.runtime.mcp.thread import Background

            self._background = Background()
        begun: Future[Any] = self._background.begin(work)
        return begun

    def _permit(self, name: str) -> None:
        """Check the permission for a server: configuring it grants none."""
        from sexplang.runtime.scripts.process import can_supervise
        from sexplang.runtime.scripts.script_request import grant_name, not_permitted

        server = self.known[name]
        if server.url is not None:
            if not set(server.host) & set(self.permissions.net):
                raise refuse(
                    "net-denied",
                    f"{server.host[0]} may not be reached, where the MCP server `{name}` is",
                    hint=f"allow it with --allow-net {shlex.quote(server.host[0])}",
                    host=server.host[0],
                )
            return
        if grant_name(server.words[0], self.permissions) not in self.permissions.run:
            raise not_permitted(server.words[0], "--allow-run")
        if not can_supervise():
            raise refuse(
                "not-available",
                "MCP servers are started on Linux alone: elsewhere they could not be ended",
                hint="start it outside the program, and give its address",
            )

    # -- in the thread

    async def _describe(self, names: tuple[str, ...]) -> Described:
        import asyncio

        wanted = dict.fromkeys(self._parts(name)[0] for name in names)
        connections = [self._connection(server) for server in wanted]
        offers = dict(
            zip(wanted, await asyncio.gather(*[each.tools() for each in connections]), strict=True)
        )
        found: Described = {}
        for name in names:
            server, tool = self._parts(name)
            if tool not in offers[server]:
                from sexplang.runtime.mcp.failures import refuse_unknown_tool

                raise refuse_unknown_tool(name, offers[server], server)
            found[name] = offers[server][tool]
        return found

    async def _call(
        self,
        server: str,
        tool: str,
        inputs: dict[str, Any],
        on_progress: Any,
        key: str | None,
    ) -> Any:
        return await self._connection(server).call(tool, inputs, on_progress, key)

    async def _close_all(self) -> None:
        import asyncio

        await asyncio.gather(*[each.close() for each in self._connections.values()])

    def _connection(self, name: str) -> Any:
        if name not in self._connections:
            self._connections[name] = self._make_connection(self.known[name])
        return self._connections[name]

    def _make_connection(self, server: Server) -> Any:
        try:
            from sexplang.runtime.mcp.connection import Connection
        except ModuleNotFoundError as missing:
            raise _not_installed(missing) from None
        if server.url is not None:
            return Connection(server, None)
        from math import inf

        from sexplang.runtime.scripts.script_request import command_of

        command = command_of(server.words, self.permissions.base, inf, dict(server.environment))
        return Connection(server, command)


def _not_installed(missing: ModuleNotFoundError) -> Refusal:
    return refuse(
        "not-available",
        f"MCP servers need a library that is not installed: {missing.name}",
        hint=f"type: {INSTALL}",
    )
