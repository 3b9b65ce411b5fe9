"""The table of performers for a host's permissions, outputs and models."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sexplang.guards.secrets import look, redact_text
from sexplang.runtime import world
from sexplang.runtime.driver.deadlines import Deadlines
from sexplang.runtime.driver.requests import Performer, Performers, Watch
from sexplang.runtime.driver.waits import Paused, WallClock
from sexplang.runtime.files import file_reader, file_writer
from sexplang.runtime.files.surrogates import require_text
from sexplang.runtime.models import Endpoint, OnNamed, make_model
from sexplang.runtime.models.circuit_breaker import Retries
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.person import Person, make_ask_user
from sexplang.runtime.refusal import refuse
from sexplang.runtime.scripts import list_named_files, make_run_script
from sexplang.runtime.secret_headers import read_page_headers
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.effect import Request
from sexplang.terms.host.host_operations import Right, find_operations
from sexplang.terms.model.roles import ALL, Models

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers
    from sexplang.runtime.models.adapters.replay import ReplayedRun

Tool = Callable[[dict[str, Any]], Any]
"""A tool of the host: a function from inputs to a value, or to an awaitable of it."""


def _discard(*_: str) -> None:
    """Discard output."""


@frozen(kw_only=True)
class Settings:
    """The host's settings for a run."""

    run_id: str
    """The id of the run's journal. `random` is derived from it."""
    permissions: Permissions = Permissions()
    write: world.Write = _discard
    """Takes the output of `print`: text with its line break."""
    log: world.Log = _discard
    """Takes the output of `log`: level and text."""
    on_event: Watch | None = None
    models: Models = Models()
    """The models that answer to names."""
    on_named: OnNamed | None = None
    """Called once for each name that another model answers."""
    endpoint: Endpoint = Endpoint()
    retries: Retries = Retries()
    person: Person | None = None
    """The person who answers `ask-user`."""
    tools: Mapping[str, Tool] = field(factory=dict)
    servers: "Servers | None" = None
    """The MCP servers, whose tools are called `server:name`. Their owner closes them."""
    pause: frozenset[str] = frozenset()
    """Operations that a person answers: a run that waits for nothing else is parked."""
    parks: bool = False
    """Whether a run that waits for a far moment is parked."""
    memory: str | None = None
    """The index for `search-memory`; None is the index that the program's folder sees."""


def performers(
    settings: Settings, own: Mapping[str, Performer] = MappingProxyType({})
) -> dict[str, Performer]:
    """Return the performer of each operation of this host. `own` takes precedence."""
    look()
    permissions = settings.permissions
    repeated, clock = _find_replayed_run(settings), WallClock(world.wait, parks=settings.parks)
    table: dict[str, Performer] = {
        "print": world.make_print(settings.write),
        "log": world.make_log(settings.log, settings.run_id),
        "progress": world.make_progress(settings.on_event),
        "now": world.now,
        "sleep": clock,
        "wait-until": clock,
        "timer": Deadlines(world.wait),
        "random": world.make_random(settings.run_id),
        "ask-user": make_ask_user(settings.person),
        "read-file": lambda request: _read(request, permissions),
        "write-file": lambda request: _write(request, permissions),
        "edit-file": lambda request: _edit(request, permissions),
        "list-files": lambda request: _list(request, permissions),
        "run-script": make_run_script(permissions),
        "fetch": _make_fetch(permissions),
        "search-memory": _make_search(settings),
        "tool": _make_tool(settings.tools, settings.servers, settings.on_event),
        "model": make_model(
            settings.models,
            permissions,
            settings.endpoint,
            settings.on_event,
            settings.retries,
            settings.log,
            settings.on_named,
            repeated,
        ),
    }
    table = {**check_permissions(table, permissions), **own}
    table |= {name: Paused() for name in settings.pause}
    return table if repeated is None else repeated.performers(table)


def _find_replayed_run(settings: Settings) -> "ReplayedRun | None":
    """Return the recording that a person names as the model of the whole run, or None."""
    models = settings.models
    default = models.default if models.is_own_default else None
    name = models.own.get(ALL) or default or ""
    if not name.startswith("replay:"):
        return None
    from sexplang.runtime.models.adapters.replay import ReplayedRun

    return ReplayedRun(name, settings.log)


def _path(request: Request, default: Any = None) -> Any:
    given = request.arguments[0] if request.arguments else None
    return default if given is None else require_text(given, request.operation)


def _read(request: Request, permissions: Permissions) -> str:
    path = _path(request)
    encoding = (*request.arguments, None)[1] if request.arguments else None
    if encoding in (None, "utf-8"):
        return file_reader.read_file(path, permissions)
    if encoding == "base64":
        return file_reader.read_base64(path, permissions)
    raise refuse(
        "wrong-type",
        "`read-file` gives text, or base64 where that is asked for",
        hint='write (read-file "a.txt") or (read-file "a.png" "base64")',
    )


def _list(request: Request, permissions: Permissions) -> Any:
    given = request.arguments[0] if request.arguments else None
    if isinstance(given, tuple | list):
        return list_named_files(tuple(given), permissions)
    return file_reader.list_files(_path(request, "*"), permissions)


def _write(request: Request, permissions: Permissions) -> None:
    path, words = (*request.arguments, None, None)[:2]
    if not isinstance(words, str):
        raise refuse(
            "wrong-type",
            "`write-file` takes a path and a text",
            hint='(write-file "out.txt" (str x)) writes any value as text',
        )
    words = require_text(words, request.operation)
    file_writer.write_file(require_text(path, request.operation), redact_text(words), permissions)


def _edit(request: Request, permissions: Permissions) -> None:
    path, old, new = (*request.arguments, None, None, None)[:3]
    if not isinstance(old, str) or not isinstance(new, str):
        raise refuse(
            "wrong-type",
            "`edit-file` takes a path, the passage and what stands there instead",
            hint='for example (edit-file "a.txt" "tea" "milk")',
        )
    old, new = require_text(old, request.operation), require_text(new, request.operation)
    file_writer.edit_file(require_text(path, request.operation), old, redact_text(new), permissions)


def _make_search(settings: Settings) -> Performer:
    """Return the performer of `search-memory`. It warns once if there is no index."""
    warned: list[bool] = []

    def perform(request: Request) -> Any:
        from sexplang.runtime.memory.search_performer import (  # loads SQLite
            describe_lack,
            search,
        )

        asked = request.arguments[0] if request.arguments else None
        found = search(asked, settings.memory, settings.permissions)
        lack = describe_lack(found, settings.memory, settings.permissions)
        if lack is not None and not warned:
            warned.append(True)
            settings.log("warning", lack)
        return found

    return perform


def _make_fetch(permissions: Permissions) -> Performer:
    """Return the performer of `fetch`, whose libraries are loaded at its first request."""
    headers = read_page_headers(permissions.headers)

    @cache
    def load() -> Performer:
        from sexplang.runtime.web.page_request import make_fetch

        return make_fetch(permissions, headers)

    return lambda request: load()(request)


def _make_tool(
    tools: Mapping[str, Tool], servers: "Servers | None", on_event: Watch | None
) -> Performer:
    def perform(request: Request) -> Any:
        name, inputs = (*request.arguments, None, None)[:2]
        if not isinstance(name, str):
            raise refuse(
                "wrong-type",
                "`tool` takes the name of a tool and a table of inputs",
                hint='for example (tool "look-up" {word: "tea"})',
            )
        tool = tools.get(name)
        if tool is None and servers is not None:
            tool = servers.tool(name, world.make_progress_report(request, on_event))
        if tool is None:
            known = ", ".join(sorted(tools)) or "none"
            raise refuse(
                "unknown-tool",
                f"the host has no tool `{name}`",
                hint=f"tools of this host: {known}; a handler of `tool` can answer it too",
            )
        return tool(inputs or {})

    return perform


# -- Permissions ----------------------------------------------------------------------------------

_FILE_RIGHTS: tuple[Right, ...] = ("read", "write")

FLAGS = {name: right for right in _FILE_RIGHTS for name in find_operations(right=right)}
"""The permission that each file operation needs for at least one place."""


def check_permissions(performers: Performers, permissions: Permissions) -> dict[str, Performer]:
    """Wrap performers: an operation without any granted place is refused before it runs."""

    def deny(operation: str, right: str) -> Performer:
        def perform(request: Request) -> Any:
            raise refuse(
                "path-denied",
                f"`{operation}` is not permitted here: no folder to {right} was given",
                hint=f"allow one with --allow-{right} FOLDER",
            )

        return perform

    shut = {name: right for name, right in FLAGS.items() if not permissions.grants(right)}
    return {**performers, **{name: deny(name, right) for name, right in shut.items()}}
