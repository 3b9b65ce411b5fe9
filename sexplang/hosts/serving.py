"""`--mcp` and the configuration → the MCP servers of a run, and how models see their tools."""

import os
import shlex
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
        if not equals or not name.strip() or not said.strip() or " " in name.strip():
            raise _nameless(each)
        given[name] = said
    if not given:
        return None
    from sexplang.runtime.mcp import Servers, servers_of

    return Servers(servers_of(given), permissions_of(settings, folder))


def _nameless(given: str) -> Diagnostics:
    """What `--mcp` was given lacks a name or a server: with the half that is there, and with what
    permits it, since naming a server permits nothing."""
    name, equals, said = given.partition("=")
    if " " in name.strip() or (not equals and "/" in name):
        name, said = "", given
    ways = [said.strip()] if said.strip() else ["COMMAND", "http://HOST:PORT/mcp"]
    written = [
        f"--mcp {name.strip() or 'files'}={shlex.quote(way)} {_permission(way)}" for way in ways
    ]
    hint = f"write {', or '.join(written)}"
    return Diagnostics([Diagnostic("bad-server", f"`{given}` names no MCP server", hint=hint)])


def _permission(server: str) -> str:
    _, is_address, rest = server.partition("://")
    return (
        f"--allow-net {rest.partition('/')[0]}"
        if is_address
        else f"--allow-run {server.split()[0]}"
    )


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
