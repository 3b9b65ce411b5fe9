"""The Dispatcher for Python: a task, a tool or a program text by name to its TaskResult.

Law: an error in the request is a FAILED TaskResult, never an exception (inventory 13.31).
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypedDict, Unpack

from sexplang.api import argument_checks
from sexplang.api.performer_table import Model
from sexplang.api.python_tools import tools_of
from sexplang.api.python_values import Functions, TaskResult, python, value
from sexplang.api.run_start import Tools
from sexplang.api.runner import arun, run
from sexplang.guards.secrets import look, redact
from sexplang.machine import Failed, Limits
from sexplang.pipeline import dispatcher
from sexplang.pipeline.dispatcher import (
    DispatchedProgram,
    Path,
    bad_input,
    make_failure,
    make_result,
    unreadable,
)
from sexplang.pipeline.pipeline import Find
from sexplang.pipeline.task_library import Library
from sexplang.pipeline.task_library import library as read_library
from sexplang.runtime import Permissions
from sexplang.runtime.driver.listeners import Listeners
from sexplang.runtime.files.source_finder import list_sources, make_finder
from sexplang.runtime.traces import Target
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.task import error_of
from sexplang.terms.values.value import Fault, Record

Listed = list[str | os.PathLike[str]]
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class Options(TypedDict, total=False):
    """The arguments of `run` that `dispatch` takes too."""

    model: Model | None
    effects: Functions | None
    limits: Limits | None
    budget: Mapping[str, float] | None
    memory: str | os.PathLike[str] | None
    mcp: Mapping[str, Any] | None
    record: str | os.PathLike[str] | None
    on_event: Listeners | None
    event_content: bool
    parallel: int
    single_flight: bool
    run_id: str | None
    trace: "Target | None"
    traceparent: str | None


def dispatch(
    identifier: str,
    inputs: Mapping[str, Any] | None = None,
    *,
    library: Paths = (),
    file_context: Iterable[str] | str | None = None,
    tools: Tools = (),
    permissions: Permissions | None = None,
    **options: Unpack[Options],
) -> TaskResult:
    """Run one task or tool by name, or a program text that begins with `(`.

    - `identifier`: a template of the `library` (files and folders; what only lies in a folder and
      cannot be read is left out with a warning), by name or as `atomic:SUBTYPE`; else one of the
      `tools`, or of the language's own (`read_file`, `list_files`, `request_user_input`,
      `system:run_script`, `get_context`), within what is permitted; or a program, which sees the
      `inputs` as names.
    - `file_context`: paths that a task is to see, as a list or as the JSON text of one.
    - `tools`, `permissions` and all others are as for `run`; the library's own folder may be read.

    Never raises for what is asked: a failure is a TaskResult with status FAILED and its TaskError
    as `notes["error"]`. `notes["execution_path"]` is `s_expression`, `subtask_template` or
    `direct_tool`; any other value than a TaskResult is its text, and stands in the notes itself.
    """
    check_options(options)
    wrong = _misfit(identifier, inputs)
    if wrong is not None:
        return wrong
    library = list_library(library)
    allowed = grant_library(library, permissions)
    argument_checks.tools(tools)
    names = [*tools_of(tools), *_find_server_tool(identifier, options.get("mcp"))]
    asked = _read_request(identifier, inputs, library, file_context, names, allowed)
    if isinstance(asked, TaskResult):
        return asked
    return run_to_end(asked, tools=tools, permissions=allowed, **options)


def run_to_end(
    asked: DispatchedProgram,
    *,
    tools: Tools,
    permissions: Permissions,
    **options: Unpack[Options],
) -> TaskResult:
    """Run a dispatched program and return its TaskResult."""
    try:
        given = run(
            asked.program, inputs=asked.inputs, tools=tools, permissions=permissions, **options
        )
    except Failed as end:
        return to_result(make_failure(end.error, asked.path, end.trail), asked.warnings)
    except Diagnostics as found:
        return to_result(unreadable(found, asked.path), asked.warnings)
    return to_result(make_result(value(given), asked.path), asked.warnings)


async def adispatch(
    identifier: str,
    inputs: Mapping[str, Any] | None = None,
    *,
    library: Paths = (),
    file_context: Iterable[str] | str | None = None,
    tools: Tools = (),
    permissions: Permissions | None = None,
    **options: Unpack[Options],
) -> TaskResult:
    """`dispatch` for a caller with an event loop of asyncio or trio."""
    check_options(options)
    wrong = _misfit(identifier, inputs)
    if wrong is not None:
        return wrong
    library = list_library(library)
    allowed = grant_library(library, permissions)
    argument_checks.tools(tools)
    names = [*tools_of(tools), *_find_server_tool(identifier, options.get("mcp"))]
    asked = _read_request(identifier, inputs, library, file_context, names, allowed)
    if isinstance(asked, TaskResult):
        return asked
    try:
        given = await arun(
            asked.program, inputs=asked.inputs, tools=tools, permissions=allowed, **options
        )
    except Failed as end:
        return to_result(make_failure(end.error, asked.path, end.trail), asked.warnings)
    except Diagnostics as found:
        return to_result(unreadable(found, asked.path), asked.warnings)
    return to_result(make_result(value(given), asked.path), asked.warnings)


def _misfit(identifier: object, inputs: object) -> TaskResult | None:
    """Return the FAILED TaskResult for an invalid identifier or invalid inputs, or None."""
    if not isinstance(identifier, str):
        kind, hint = "identifier", 'dispatch("summarize", {"text": "…"})'
        message = f"the identifier of a dispatch cannot be {type(identifier).__name__}"
    elif not (inputs is None or isinstance(inputs, Mapping)):
        kind, hint = "inputs", _BY_NAME
        message = f"the inputs of a dispatch cannot be {type(inputs).__name__}"
    elif wrong := [name for name in inputs or () if not isinstance(name, str)]:
        kind, hint = "inputs", _BY_NAME
        name = f"{type(wrong[0]).__name__}: {wrong[0]!r:.40}"
        message = f"the name of an input of a dispatch cannot be {name}"
    else:
        return None
    fault = bad_input(message, hint, fields=(kind,))
    return to_result(make_failure(error_of(fault), None))


_BY_NAME = 'write {"text": "…"}, a table by names'


def check_options(options: Collection[str]) -> None:
    """Raise TypeError for an option that `dispatch` does not take."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(
                f"dispatch() has no argument `{name}`; what a task is given stands in its inputs: "
                f'dispatch("summarize", {{"{name}": …}})'
            )


def _read_request(
    identifier: str,
    inputs: Mapping[str, Any] | None,
    library: Listed,
    file_context: Iterable[str] | str | None,
    tools: Collection[str],
    allowed: Permissions,
) -> DispatchedProgram | TaskResult:
    """Return the program to run, or the TaskResult of an error in the request."""
    path: Path | None = "s_expression" if identifier.lstrip().startswith("(") else None
    warnings: tuple[str, ...] = ()
    look()
    try:
        there, find = read(library, allowed)
        there.check(identifier)
        warnings = tuple([str(each.warning()) for each in there.left_out])
        asked = dispatcher.dispatch(
            identifier,
            {name: value(given) for name, given in (inputs or {}).items()},
            tasks=there.tasks,
            tools=tools,
            files=_files(file_context),
            find=find,
        )
        return evolve(asked, warnings=warnings)
    except Diagnostics as found:
        return to_result(unreadable(found, path), warnings)
    except Fault as fault:
        return to_result(make_failure(error_of(fault), path), warnings)


def read(library: Listed, allowed: Permissions) -> tuple[Library, Find]:
    """Return the tasks of files and folders, and the finder of imports. Raises Diagnostics."""
    paths = [os.path.abspath(os.fspath(path)) for path in library]
    find = make_finder(evolve(allowed, read=(*allowed.read, *paths)))
    there = read_library(
        [each for each in paths if not os.path.isdir(each)],
        find,
        [each for folder in paths if os.path.isdir(folder) for each in list_sources(folder)],
    )
    return there, find


def _find_server_tool(identifier: str, mcp: Mapping[str, Any] | None) -> list[str]:
    """Return the identifier in a list if it is a tool of an MCP server, else an empty list."""
    server, _, tool = identifier.partition(":")
    return [identifier] if tool and server in (mcp or {}) else []


def list_library(paths: Paths) -> Listed:
    if isinstance(paths, (bytes, Mapping)) or not isinstance(paths, (str, os.PathLike, Iterable)):
        raise argument_checks.wrong("library", "a path or a list of paths", paths)
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    for path in listed:
        argument_checks.place("a path of the library", path)
    return listed


def grant_library(library: Listed, permissions: Permissions | None) -> Permissions:
    """Return the permissions with those for the library's own folder."""
    argument_checks.permissions(permissions)
    allowed = permissions or Permissions()
    if allowed.folder is not None:
        return allowed
    for path in library:
        whole = os.path.abspath(os.fspath(path))
        return evolve(allowed, folder=whole if os.path.isdir(whole) else os.path.dirname(whole))
    return allowed


def _files(given: Iterable[str] | str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = None
    listed = tuple(given) if isinstance(given, (list, tuple)) else ()
    if given is None or not isinstance(given, (list, tuple)) or not _are_texts(listed):
        raise bad_input(
            "`file_context` is no list of paths", 'write ["a.md", "b.md"]', fields=("file_context",)
        )
    return listed


def _are_texts(items: tuple[Any, ...]) -> bool:
    return all(isinstance(item, str) for item in items)


def to_result(result: Record, warnings: tuple[str, ...] = ()) -> TaskResult:
    if warnings:
        notes = result.fields["notes"]
        notes = {**notes, "warnings": (*(notes.get("warnings") or ()), *warnings)}
        result = Record(result.kind, {**result.fields, "notes": notes})
    shown = python(redact(result))
    assert isinstance(shown, TaskResult)
    return shown
