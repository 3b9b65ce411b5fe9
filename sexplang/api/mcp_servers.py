"""The MCP servers of one run."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sexplang.api.python_values import bad_function
from sexplang.guards.secrets import Concealment
from sexplang.machine import Failed, Suspended
from sexplang.runtime import Permissions, Refusal
from sexplang.terms.classes.node import frozen
from sexplang.terms.program import Program
from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers

Described = Mapping[str, dict[str, Value]]
"""Descriptions of tools for a model, by name: `{description input_schema}`."""


@frozen(eq=False)
class RunServers:
    """The servers, if there are any."""

    servers: "Servers | None"

    def check(self, tools: Iterable[str]) -> None:
        """Raise Diagnostics for a function with the name of a server's tool."""
        taken = () if self.servers is None else self.servers.select_server_tools(tools)
        if taken:
            raise bad_function(taken[0], "it is called like a tool of an MCP server")

    def describe(self, program: Program | Suspended) -> Described:
        """Return descriptions of the servers' tools that the program's tasks may use. Raises
        Failed."""
        if self.servers is None or isinstance(program, Suspended):
            return {}
        try:
            return self.servers.describe(_list_allowed(program))
        except Refusal as refusal:
            raise Failed(refusal.error) from None

    async def adescribe(self, program: Program | Suspended) -> Described:
        """Do the same in an event loop."""
        if self.servers is None or isinstance(program, Suspended):
            return {}
        try:
            return await self.servers.adescribe(_list_allowed(program))
        except Refusal as refusal:
            raise Failed(refusal.error) from None

    def close(self) -> None:
        """Stop the servers that were started."""
        if self.servers is not None:
            self.servers.close()

    async def aclose(self) -> None:
        """Do the same in an event loop."""
        if self.servers is not None:
            await self.servers.aclose()


def make_servers(given: Mapping[str, Any] | None, permissions: Permissions) -> RunServers:
    """Return the servers of a mapping from names. Raises Diagnostics for an invalid server."""
    if not given:
        return RunServers(None)
    from sexplang.runtime.mcp import Servers, servers_of

    with Concealment():
        return RunServers(Servers(servers_of(given), permissions))


def _list_allowed(program: Program) -> list[str]:
    return [tool for task in program.tasks for tool in task.template.allowed_tools]
