"""`sexplang task`: one task, tool or program text by name, run or previewed."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.hosts.cli.output import say_all, say_fault
from sexplang.hosts.cli.run import perform
from sexplang.hosts.settings.mcp_options import in_json, servers_of
from sexplang.hosts.settings.path_arguments import folder_of, status_of, text_at
from sexplang.hosts.settings.run_arguments import Settings, budget_of, find_unused
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.package.process import hide
from sexplang.tasks.start.call_settings import values_of
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.template import FILES
from sexplang.terms.values.value import Fault, Task, Value, has_failed

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers

EXTRA = "file_context"
"""The argument that names files for a task to see, as in the documents."""


def task(
    settings: Settings,
    name: str,
    arguments: tuple[str, ...],
    places: tuple[str, ...],
    preview: bool,
) -> int:
    """Run the task `name` with `name=value` arguments, or preview its first request."""
    opened: list[Servers] = []
    try:
        return _task(settings, name, arguments, places, preview, opened)
    finally:
        for each in opened:
            each.close()


def _task(
    settings: Settings,
    name: str,
    arguments: tuple[str, ...],
    places: tuple[str, ...],
    preview: bool,
    opened: "list[Servers]",
) -> int:
    """Do the same; add the servers that were started to `opened`."""
    from sexplang.pipeline.dispatcher import dispatch, find_task, types_of

    settings = evolve(settings, task=(name, *arguments), places=places, way="")
    places = places or (".",)
    settings = evolve(settings, folder=_folder(places[0]))
    source = Source("<task>", name)
    try:
        find = _make_finder(places, settings)
        tasks = _tasks(places, find, name, settings.quiet)
    except Diagnostics as wrong:
        return say_all(wrong.diagnostics, status_of(wrong.diagnostics), settings)
    try:
        servers = servers_of(settings, settings.folder)
        tools = servers.select_server_tools([name]) if servers is not None else ()
        known = find_task(name, tasks)
        if tools and servers is not None and known is None:
            opened += [servers] if arguments else []
            types = _of_server(servers, name, preview) if arguments else {}
        else:
            types = types_of(name, tasks, find)
        inputs = _inputs(arguments, types)
        is_extra = known is not None and not _has(known, EXTRA)
        files = _files(inputs.pop(EXTRA, None)) if is_extra else None
        budget = budget_of(settings.budget) if settings.budget is not None else None
        if known is not None:
            values_of(known.template, inputs)
    except Diagnostics as wrong:
        return say_all(wrong.diagnostics, MISUSE, settings)
    except Fault as fault:
        return say_fault(fault, _status(fault), settings)
    try:
        asked = dispatch(name, inputs, tasks=tasks, tools=tools, files=files, find=find)
    except Diagnostics as wrong:
        return say_all(wrong.diagnostics, status_of(wrong.diagnostics), settings)
    except Fault as fault:
        return say_fault(_with_definition(fault, name, places, find), _status(fault), settings)
    odd = find_unused(settings.model, asked.program, arguments)
    if odd and not settings.quiet:
        say_all(odd, DONE)
    settings = evolve(settings, way=asked.path)
    if asked.path != "s_expression":
        source = asked.program.units[-1].items[0].span.source
    if preview:
        from sexplang.hosts.cli.preview import show_preview

        return show_preview(settings, asked, source)

    asked_already = opened[0] if opened else None
    return perform(
        settings,
        asked.program,
        asked.inputs,
        source,
        budget,
        _make_shape(settings),
        asked_already,
        is_kept=True,
    )


def _make_shape(settings: Settings) -> Callable[[Value], Value]:
    """Return the function from the value of a dispatched program to a TaskResult."""
    from sexplang.pipeline.dispatcher import make_result

    def shape(value: Value) -> Value:
        assert settings.way
        result = make_result(value, settings.way)
        if has_failed(result) and not has_failed(value):  # the error is in the value itself
            error = result.fields["notes"]["error"]
            raise Fault(error.fields["reason"], error.fields["message"], error=error)
        if not (settings.json or settings.quiet):
            for warning in result.fields["notes"].get("warnings") or ():
                print(f"warning: {draw_hidden(warning)}", file=sys.stderr)
        return result

    return shape


def build_task(
    settings: Settings, inputs: dict[str, Value]
) -> tuple[Settings, Source, Program, Callable[[Value], Value]]:
    """Return the settings and the program of a task that is kept, and what shapes its value.
    `inputs` are those of the program. Raises Diagnostics and Fault."""
    from sexplang.pipeline.dispatcher import dispatch

    name, places = settings.task[0], settings.places or (".",)
    find = _make_finder(places, settings)
    tasks = _tasks(places, find, name, quiet=True)
    servers = servers_of(settings, settings.folder)
    tools = () if servers is None else servers.select_server_tools([name])
    asked = dispatch(name, inputs, tasks=tasks, tools=tools, find=find)
    settings = evolve(settings, way=asked.path)
    source = asked.program.units[-1].items[0].span.source
    return settings, source, asked.program, _make_shape(settings)


def _with_definition(fault: Fault, name: str, places: tuple[str, ...], find: Any) -> Fault:
    """Return the fault with a hint that names the program file which defines the task, if one
    does."""
    from sexplang.runtime.files.missing_imports import find_definition

    for place in filter(os.path.isdir, places if fault.code == "template_not_found" else ()):
        file = find_definition(name, os.path.abspath(place), find)
        if file is not None:
            shown = os.path.join(place, os.path.basename(file))
            hint = f"a folder stands for its .xml files; `{shown}` defines it: --from {shown}"
            error = fault.error and evolve(fault.error, fields={**fault.error.fields, "hint": hint})
            return Fault(fault.code, fault.message, hint=hint, details=fault.details, error=error)
    return fault


_TEXTS = ("any", "string", *FILES)
"""The types of an input that take text."""


def _status(fault: Fault) -> int:
    """Return MISUSE if the arguments do not fit what is there."""
    misuse = fault.code in ("template_not_found", "input_validation_failure")
    return MISUSE if misuse else FAILED


def _of_server(servers: "Servers", tool: str, preview: bool) -> dict[str, str]:
    """Return the inputs of a server's tool that are written as JSON.

    Raises Fault if the server cannot be asked; a preview returns an empty table then.
    """
    hide()  # it may start a server
    try:
        return dict.fromkeys(in_json(servers, tool), "json")
    except Fault:
        if preview:
            return {}
        raise


def describe_task(settings: Settings, places: tuple[str, ...], name: str | None) -> int:
    """List the tasks, or the parameters of one task or tool."""
    places = places or (".",)
    settings = evolve(settings, folder=_folder(places[0]))
    try:
        find = _make_finder(places, settings)
        tasks = _tasks(places, find, name or "", settings.quiet)
        tool = () if name is None or name in tasks else _tool(settings, name, find)
    except Diagnostics as found:
        return say_all(found.diagnostics, status_of(found.diagnostics))
    except Fault as fault:  # the server of the tool
        return say_fault(fault, FAILED, settings)
    if tool:
        print("\n".join(map(draw_hidden, tool)))
        return DONE
    if name is not None and name in tasks:
        template = tasks[name].template
        print(f"{template.name}: {template.description or 'no description'}")
        for param in template.params:
            needed = "required" if param.required else f"default {param.default!r}"
            print(f"  {param.name}=<{param.type}>  {param.doc}  [{needed}]")
        return DONE
    if name is not None:
        say(f"there is no task called `{name}`")
    print("Tasks here:" if tasks else "No tasks here; name a file or folder with --from.")
    for each in sorted(tasks):
        print(f"  {each}  {tasks[each].template.description}".rstrip())
    return DONE if name is None else MISUSE


def _tool(settings: Settings, name: str, find: Any) -> tuple[str, ...]:
    """Return the lines that describe a tool; empty if it is no tool.

    Raises Fault if its server cannot be asked.
    """
    from sexplang.hosts.settings.input_arguments import describe_inputs as inputs_described
    from sexplang.pipeline.dispatcher import own_inputs
    from sexplang.runtime import Refusal

    servers = servers_of(settings, settings.folder)
    if servers is not None and servers.select_server_tools([name]):
        try:
            known = servers.describe([name])[name]
        except Refusal as refusal:
            fields = refusal.error.fields
            raise Fault(fields["reason"], fields["message"], error=refusal.error) from None
        finally:
            servers.close()
        schema = _table(known.get("input_schema"))
        required = schema.get("required")
        needed = required if isinstance(required, (list, tuple)) else ()
        fields = {each: _table(said) for each, said in _table(schema.get("properties")).items()}
        rows = [
            (f"{each}=<{said.get('type', 'any')}>", str(said.get("description") or ""))
            for each, said in fields.items()
        ]
        rows = [
            (way, f"{said}  [required]") if way.partition("=")[0] in needed else (way, said)
            for way, said in rows
        ]
        about = known.get("description") or "no description"
    else:
        inputs = own_inputs(name, find)
        if inputs is None:
            return ()
        rows, about = inputs_described(inputs), "a tool of the language"
    return (f"{name}: {about}", *[f"  {each}  {said}".rstrip() for each, said in rows])


def _table(said: Any) -> dict[str, Any]:
    """Return the part of a schema if it is a table, else an empty one."""
    return said if isinstance(said, dict) else {}


def _has(task: Task, name: str) -> bool:
    return task.template.param(name) is not None


def _folder(place: str) -> str:
    return os.path.abspath(place) if os.path.isdir(place) else folder_of(place)


def _tasks(places: Iterable[str], find: Any, asked: str, quiet: bool) -> Mapping[str, Task]:
    """Return the tasks by name and warn of files left out. Raises Diagnostics.

    A folder stands for its templates: its programs are there to be run, not imported.
    """
    from sexplang.pipeline.task_library import library
    from sexplang.runtime.files.source_finder import list_sources

    named: list[str] = []
    lying: list[str] = []
    for place in map(os.path.abspath, places):
        if os.path.isdir(place):
            lying += [each for each in list_sources(place) if each.endswith(".xml")]
        elif os.path.exists(place):
            named.append(place)
        else:
            hint = "name a file, or a folder of templates"
            raise Diagnostics([Diagnostic("file-not-found", f"there is no {place}", hint=hint)])
    there = library(named, find, lying)
    there.check(asked)
    if there.left_out and not quiet:
        say_all(tuple([each.warning() for each in there.left_out]), DONE)
    return there.tasks


def _make_finder(places: Iterable[str], settings: Settings) -> Any:
    from sexplang.runtime import Permissions
    from sexplang.runtime.files.source_finder import make_finder

    read = (*settings.allow_read, *[_folder(place) for place in places])
    python = settings.allow_python
    return make_finder(Permissions(read=read, folder=settings.folder, python=python))


def _inputs(arguments: tuple[str, ...], types: Mapping[str, str]) -> dict[str, Value]:
    """Return the values by name: JSON if the type takes no text, else text; `name:=` is always
    JSON."""
    values: dict[str, Value] = {}
    for argument in arguments:
        name, _, given = argument.partition("=")
        type_ = types.get(name.removesuffix(":"), "any")
        is_json = name.endswith(":") or type_ not in _TEXTS
        name = name.removesuffix(":")
        if name in values:
            raise _bad(f"the input `{name}` is given twice", f"give {name}= once")
        if given == "-" or given.startswith("@"):
            given = text_at(given.removeprefix("@"))
        values[name] = _json(name, given, _form(argument, name, type_)) if is_json else given
    return values


_SAMPLES = {"integer": "3", "number": "1.5", "boolean": "true", "object": "'{\"a\": 1}'"}


def _form(argument: str, name: str, type_: str) -> str:
    """Return how to write JSON of a type for an input."""
    sample = _SAMPLES.get(type_, "'[1, 2]'")
    if argument.startswith(f"{name}:=") and type_ in _TEXTS:
        return f"write {name}:={sample}, or {name}=… for text"
    more = f" or {name}=true" if type_ in ("json", "any") else ""
    return f"write {name}={sample}{more}"


def _json(name: str, given: str, hint: str) -> Value:
    from sexplang.hosts.settings.input_arguments import json_given

    try:
        return json_given(given)
    except Fault as fault:
        shown = given if len(given) <= 60 else given[:59] + "…"
        title = f"the input `{name}` takes JSON, not `{shown}`"
        raise _bad(title, hint, fault.message) from None


def _files(given: Value) -> tuple[str, ...] | None:
    if given is None:
        return None
    listed = _json(EXTRA, given, _PATHS) if isinstance(given, str) else given
    if not isinstance(listed, tuple) or not all(isinstance(path, str) for path in listed):
        raise _bad(f"`{EXTRA}` is no list of paths", _PATHS)
    return listed


_PATHS = f"write {EXTRA}='[\"a.md\"]'"


def _bad(title: str, hint: str, *notes: str) -> Diagnostics:
    return Diagnostics([Diagnostic("bad-input", title, notes=notes, hint=hint)])
