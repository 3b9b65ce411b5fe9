"""The MCP servers of a run, from `--mcp` and the configuration, and the descriptions of their
tools."""

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sexplang.hosts.cli.guard import DONE
from sexplang.hosts.cli.output import say_all
from sexplang.hosts.cli.programs import permissions_of
from sexplang.hosts.settings.configuration import NAME, OWN_HINT, Files, sections, wrong
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.streams import wrap
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.program import Program
from sexplang.terms.values.value import Fault

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers


def servers_of(settings: Settings, folder: str | None) -> "Servers | None":
    """Return the servers that a program may name; None if there are none. Raises Diagnostics."""
    named: dict[str, Any] = {}
    for each in settings.mcp:
        name, equals, said = each.partition("=")
        if not equals or not name.strip() or not said.strip() or " " in name.strip():
            raise _nameless(each)
        if name in named:
            title = f"the MCP server `{name}` is named twice"
            raise Diagnostics([Diagnostic("bad-server", title, hint="give each a name of its own")])
        named[name] = _parse_table(name, said) if said.lstrip().startswith("{") else said
    given = read_configured(folder, named) | named
    if not given:
        return None
    from sexplang.runtime.mcp import Servers, servers_of

    known = servers_of(given)
    wrap()
    return Servers(known, permissions_of(settings, folder))


def read_configured(
    folder: str | None, named: Collection[str] = (), files: Files = None
) -> dict[str, Any]:
    """Return the servers that configurations name, beside those `named` otherwise. Raises
    Diagnostics."""
    given: dict[str, Any] = {}
    for table, is_own in sections("mcp", folder or os.getcwd(), files):
        for name, said in table.items():
            if not is_own and name not in named and _has_secret(said):
                raise _refuse_secret(name, said)
        given |= table
    return given


def _has_secret(said: Any) -> bool:
    """Return whether a server is given a variable of the environment."""
    tables = [said.get(key) for key in ("env", "headers")] if isinstance(said, dict) else []
    values = [value for each in tables if isinstance(each, dict) for value in each.values()]
    return any(isinstance(each, str) and _ends_in_secret(each) for each in values)


def _ends_in_secret(value: str) -> bool:
    return value.rpartition(" ")[2].startswith("secret:")


def _refuse_secret(name: str, said: dict[str, Any]) -> Diagnostics:
    """Return the Diagnostics for a project's configuration that gives a secret to a server."""
    from shlex import quote

    way = said.get("url", said.get("command"))
    allowed = f" {permit(way)}" if isinstance(way, str) and way.strip() else ""
    words = f"only a person gives a secret to a server, and `{name}` is given one here"
    typed = quote(f"{name}={_write_table(said)}")
    own = OWN_HINT.replace("put", "move")
    return wrong(NAME, words, f"type: --mcp {typed}{allowed}, or {own}")


def _write_table(value: Any) -> str:
    """Return a value of a configuration in one line of TOML."""
    from json import dumps

    if isinstance(value, dict):
        parts = [f"{_write_key(key)} = {_write_table(each)}" for key, each in value.items()]
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_write_table, value))}]"
    return dumps(value, default=str)


def _write_key(key: str) -> str:
    from json import dumps

    return key if key.isascii() and key.replace("-", "_").isidentifier() else dumps(key)


def _parse_table(name: str, said: str) -> dict[str, Any]:
    """Return the table that describes a server, `{url = "…", headers = {…}}` in TOML."""
    import tomllib

    try:
        table: dict[str, Any] = tomllib.loads(f"server = {said.strip()}")["server"]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        title = f"the table of the MCP server `{name}` is not TOML: {error}"
        hint = """write --mcp 'docs={url = "http://HOST:PORT/mcp", headers = {NAME = "VALUE"}}'"""
        raise Diagnostics([Diagnostic("bad-server", title, hint=hint)]) from None
    return table


def _nameless(given: str) -> Diagnostics:
    """Return the Diagnostics for an `--mcp` without a name or without a server.

    The hint has the half that was given, and the option that permits a server: to name one does not
    permit it.
    """
    from shlex import quote

    from sexplang.terms.texts.address import split_credentials

    given, _, _ = split_credentials(given)
    name, equals, said = given.partition("=")
    if " " in name.strip() or (not equals and "/" in name):
        name, said = "", given
    ways = [said.strip()] if said.strip() else ["COMMAND", "http://HOST:PORT/mcp"]
    written = [f"--mcp {quote(name.strip() or 'files')}={quote(way)} {permit(way)}" for way in ways]
    hint = f"write {', or '.join(written)}"
    title = f"`{given}` does not name an MCP server"
    return Diagnostics([Diagnostic("bad-server", title, hint=hint)])


def permit(server: str) -> str:
    """Return the option that permits a server, by its address or command."""
    from shlex import quote

    _, is_address, rest = server.partition("://")
    return (
        f"--allow-net {quote(rest.partition('/')[0])}"
        if is_address
        else f"--allow-run {quote(server.split()[0])}"
    )


def in_json(servers: "Servers", tool: str) -> set[str]:
    """Return the inputs of a server's tool that take no text and are written as JSON.

    Raises Fault if the server cannot be asked.
    """
    schema: Any = _describe(servers, [tool])[tool].get("input_schema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    known = properties if isinstance(properties, dict) else {}
    return {name for name, said in known.items() if not _takes_text(said, schema)}


def _takes_text(said: Any, whole: Any) -> bool:
    """Return whether a text may fit a schema; true for one without a type and for a cycle."""
    from sexplang.terms.schemas import References  # a run without servers needs none

    references = References(whole)
    work, seen = [said], set[int]()
    is_said = False
    while work:
        each = work.pop()
        if not isinstance(each, dict):
            return True
        if id(each) in seen:
            continue
        seen.add(id(each))
        kinds = each.get("type")
        choices = each.get("anyOf", each.get("oneOf"))
        if kinds is not None:
            is_text = "string" in (kinds if isinstance(kinds, (list, tuple)) else (kinds,))
        elif "enum" in each or "const" in each:
            listed = each.get("enum", [each.get("const")])
            is_text = not isinstance(listed, (list, tuple)) or any(
                isinstance(choice, str) for choice in listed
            )
        elif "$ref" in each:
            work.append(references.at(each["$ref"]))
            continue
        elif isinstance(choices, (list, tuple)):
            work += choices
            continue
        else:
            is_text = True
        if is_text:
            return True
        is_said = True
    return not is_said


def describe_tools(servers: "Servers | None", program: Program) -> dict[str, Any]:
    """Return descriptions of the servers' tools that the program's tasks may use. Raises Fault."""
    if servers is None:
        return {}
    return _describe(
        servers, [tool for task in program.tasks for tool in task.template.allowed_tools]
    )


def say_unprovided(settings: Settings, program: Program, tools: Collection[str]) -> None:
    """Warn of tools that tasks of a program allow and that do not exist.

    A run of one task has the warning in its result.
    """
    if settings.quiet or settings.way is not None or program.handles("tool"):
        return
    found = []
    for task in program.tasks:
        if not task.template.allowed_tools:
            continue
        from sexplang.tasks.turns.tools import missing_tools

        label = (Label(task.template.span),) if task.template.span is not None else ()
        for name in missing_tools(task.template.allowed_tools, tools):
            if program.has_tool(name):
                continue
            title = f"there is no tool `{name}`, which `{task.name}` may use"
            hint = "correct its name, or answer it with a handler of `tool`"
            if any(name in unit.tools for unit in program.units):  # a function without a doc
                hint = f'say what it is for, as its model reads it: (define ({name} …) "…" …)'
            found.append(Diagnostic("unknown-tool", title, label, hint=hint, severity="warning"))
    if found:
        say_all(tuple(found), DONE)


def _describe(servers: "Servers", tools: list[str]) -> dict[str, Any]:
    from sexplang.runtime import Refusal

    try:
        return servers.describe(tools)
    except Refusal as refusal:
        fields = refusal.error.fields
        raise Fault(fields["reason"], fields["message"], error=refusal.error) from None
