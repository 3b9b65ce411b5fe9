"""The specifications of MCP servers, as a person writes them. Functions raise Diagnostics."""

import re
import shlex
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from sexplang.guards.secrets import credentials_of, is_plausible, learn
from sexplang.package.process import CREDENTIALS, is_named
from sexplang.runtime.journal.doubts import DECISIONS, Decision
from sexplang.runtime.permissions import host_of
from sexplang.runtime.secret_headers import SECRET, declare_secret, read_header
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics

SECONDS = 300.0
"""Default seconds for one call."""

RESERVED = "system"
"""A reserved server name: `system:run_script` is a tool of the language itself."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_KEYS = ("command", "args", "env", "url", "headers", "timeout", "replay")


@frozen(kw_only=True)
class Server:
    """A server: a command that speaks over standard input and output, or an address."""

    name: str
    words: tuple[str, ...] = ()
    """The executable and its arguments."""
    environment: Mapping[str, str] = field(factory=dict, repr=False)
    """Variables in addition to those that every script sees. They may hold credentials."""
    url: str | None = None
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    """Headers of each request to the address. They may hold credentials."""
    seconds: float = SECONDS
    """Maximum seconds of a call."""
    replay: Mapping[str, Decision] = field(factory=dict)
    """By the names of tools, what becomes of a call in doubt."""

    @property
    def host(self) -> tuple[str, str]:
        """Return the address as permissions name it: HOST, or HOST:PORT."""
        assert self.url is not None
        return host_of(self.url)


def servers_of(given: Mapping[str, Any]) -> dict[str, Server]:
    """Return servers by name. Each is a command line, an address, or a table with `command` (and
    `args`, `env`) or `url` (and `headers`), and an optional `timeout` in seconds and `replay`, a
    table of decisions by tool."""
    return {name: server_of(name, said) for name, said in given.items()}


def server_of(name: str, given: Any) -> Server:
    """Return the server of one specification."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == RESERVED:
        why = "a name is made of letters, digits, `-` and `_`; `system` is taken"
        raise _bad(name, why, "call it `files`, say: its tools are then called files:TOOL")
    if isinstance(given, str):
        address = given.startswith(("http://", "https://"))
        given = {"url" if address else "command": given}
        words = _split(name, given.get("command", ""))
    elif isinstance(given, Mapping):
        words = _words(name, given)
    else:
        raise _bad(name, "it is a command line, an address or a table")
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise _bad(name, f"there is no `{unknown[0]}`; it has {', '.join(_KEYS)}")
    if ("url" in given) is bool(words):
        raise _bad(name, "it has either a `command` or a `url`")
    if "headers" in given and "url" not in given:
        raise _bad(name, "`headers` are sent to a `url`; a command has `env`")
    seconds = given.get("timeout", SECONDS)
    if type(seconds) not in (int, float) or not 0 < seconds < float("inf"):
        raise _bad(name, "`timeout` is a number of seconds")
    return Server(
        name=name,
        words=words,
        environment=_environment(name, given.get("env", {})),
        url=_address(name, given["url"]) if "url" in given else None,
        headers=_headers(name, given.get("headers", {})),
        seconds=float(seconds),
        replay=_decisions(name, given.get("replay", {})),
    )


def _split(name: str, line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError:
        why = "a quotation mark in its command is never closed"
        raise _bad(name, why, "close it, or take it away") from None


def _words(name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    command, arguments = given.get("command"), given.get("args", ())
    if command is None:
        return ()
    if not isinstance(command, str) or not command:
        raise _bad(name, "`command` is the name of an executable")
    if not isinstance(arguments, (list, tuple)) or not all(isinstance(x, str) for x in arguments):
        raise _bad(name, "`args` is a list of texts")
    return (command, *arguments)


def _environment(name: str, given: Any) -> dict[str, str]:
    variables = _texts(name, "env", given)
    for each in variables:
        # These variables select the file to run, or code to load into it.
        if each == "PATH" or each.startswith("LD_"):
            raise _bad(name, f"`{each}` decides what is run, and cannot be set here")
    return {each: _variable(name, each, value) for each, value in variables.items()}


def _headers(name: str, given: Any) -> dict[str, str]:
    headers = _texts(name, "headers", given)
    return {each: read_header(each, value, partial(_bad, name)) for each, value in headers.items()}


def _decisions(name: str, given: Any) -> Mapping[str, Decision]:
    decisions: Any = _texts(name, "replay", given)
    for tool, each in decisions.items():
        if each not in DECISIONS:
            words = " or ".join([f'"{known}"' for known in DECISIONS])
            raise _bad(name, f"`replay` of `{tool}` is {words}")
    return decisions  # type: ignore[no-any-return]


def _texts(name: str, key: str, given: Any) -> Mapping[str, str]:
    if isinstance(given, Mapping) and all(isinstance(value, str) for value in given.values()):
        return given
    raise _bad(name, f"`{key}` is a table of texts")


def _variable(name: str, variable: str, value: str) -> str:
    """Return the value of a server's variable. A credential is registered for redaction."""
    if value.startswith(SECRET):
        example = f'env = {{{variable} = "secret:NAME"}}'
        return declare_secret(value.removeprefix(SECRET), example, partial(_bad, name))
    if is_named(variable, CREDENTIALS) and is_plausible(value):
        learn([value])
    return value


def _address(name: str, given: Any) -> str:
    try:
        parts = urlsplit(given)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            learn(credentials_of(given))
            return str(given)
    except (TypeError, ValueError, AttributeError):
        pass
    why = "its address is not of the form http://HOST:PORT/PATH"
    raise _bad(name, why, "write it like http://127.0.0.1:8000/mcp")


_TABLE = '[mcp.files] command = "npx" args = ["server"], or url = "http://HOST/mcp"'


def _bad(name: object, why: str, hint: str = _TABLE) -> Diagnostics:
    title = f"the MCP server `{name}` cannot be used: {why}"
    return Diagnostics([Diagnostic("bad-server", title, hint=hint)])
