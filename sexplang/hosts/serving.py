"""`--mcp` and the configuration → the MCP servers of a run, and how models see their tools."""

import os
from typing import TYPE_CHECKING, Any

from sexplang.hosts.configuration import section
from sexplang.hosts.options import Settings
from sexplang.hosts.programs import permissions_of
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.value import Fault

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers


def servers_of(settings: Settings, folder: str | None) -> "Servers | None":
    """The servers that a program may name; None if there are none. Raises Diagnostics."""
    given = section("mcp", folder or os.getcwd())
    for each in settings.mcp:
        name, equals, said = each.partition("=")
        if not equals or not said.strip():
            raise Diagnostics(
                [
                    Diagnostic(
                        "bad-server",
                        f"`{each}` names no MCP server",
                        hint="write --mcp NAME='COMMAND …', or --mcp NAME=http://HOST:PORT/mcp",
                    )
                ]
            )
        given[name] = said
    if not given:
        return None
    from sexplang.runtime.mcp import Servers, servers_of

    return Servers(servers_of(given), permissions_of(settings, folder))


def described(servers: "Servers | None", program: Program) -> dict[str, Any]:
    """The servers' tools that the program's tasks may use, described. Raises Fault."""
    if servers is None:
        return {}
    from sexplang.runtime import Refusal

    tools = [tool for task in program.tasks for tool in task.template.allowed_tools]
    try:
        return servers.describe(tools)
    except Refusal as refusal:
        fields = refusal.error.fields
        raise Fault(fields["reason"], fields["message"], error=refusal.error) from None
