"""The Dispatcher: a task, a tool or a program text, and inputs, to a Program of one call.

A request from outside takes the same path as a call in a program (inventory 8, C6, C46).
"""

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal

from sexplang.pipeline.pipeline import Find, build
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.host.host_operations import HIDDEN_BY_OWN
from sexplang.terms.program import Input, Program
from sexplang.terms.source import Source
from sexplang.terms.task import GIVEN, error_record, make_failed_result, partial_of, task_result
from sexplang.terms.values.boundary import plain, value_of
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Task, Value

if TYPE_CHECKING:
    from sexplang.machine.positions.traceback import Trail

Path = Literal["s_expression", "subtask_template", "direct_tool"]

_TASK = """(define-input name)
(define-input inputs type: json)
(define-input files type: json default: nil)
(call-atomic-task name inputs: inputs file_paths: files)"""

_TOOL = """(define-input name)
(define-input inputs type: json)
(tool name inputs)"""

# The language's own tools, under their names for models.
_SYSTEM = {
    "read_file": "(define-input path)\n(read-file path)",
    "list_files": "(define-input glob)\n(list-files glob)",
    "write_file": "(define-input path)\n(define-input text)\n(write-file path text)",
    "edit_file": "(define-input path)\n(define-input old)\n(define-input new)\n"
    "(edit-file path old new)",
    "fetch": "(define-input url)\n(fetch url)",
    "request_user_input": """(define-input prompt)
(define-input choices type: json default: nil)
(ask-user prompt choices)""",
    "system:run_script": """(define-input command)
(define-input args type: json default: [])
(define-input input default: "")
(define-input timeout type: number default: 300)
(system:run_script command args: args input: input timeout: timeout)""",
    "get_context": """(define-input query default: "")
(define-input inputs type: json default: nil)
(define-input matching_strategy default: "")
(define-input limit type: json default: nil)
(get-context query: query inputs: inputs limit: limit
             matching_strategy: (if (equal? matching_strategy "") nil matching_strategy))""",
}

_NAME = re.compile(r"[^\W\d][\w.-]*")


@frozen
class DispatchedProgram:
    """A program, its inputs, and the execution path (`notes.execution_path`)."""

    program: Program
    inputs: dict[str, Value]
    path: Path
    warnings: tuple[str, ...] = ()
    """Warnings about the library."""


def dispatch(
    identifier: str,
    inputs: Mapping[str, Value],
    *,
    tasks: Mapping[str, Task],
    tools: Collection[str] = (),
    files: tuple[str, ...] | None = None,
    find: Find,
) -> DispatchedProgram:
    """Return the program that calls `identifier`.

    It is a program text if it begins with `(`, with the inputs as names in it; else a task by name
    or `atomic:subtype`; else a tool, maybe one of the language's own (`read_file`,
    `system:run_script`, …). `files` are those for a task to see.

    Raises Diagnostics for a text that is no program, Fault for a name with no meaning or several.
    """
    if identifier.lstrip().startswith("("):
        if files is not None:
            raise _not_seen('a program names them in its calls: file_paths: ["a.md"]')
        wrong = [name for name in inputs if not _NAME.fullmatch(name)]
        if wrong:
            raise _bad_names(wrong)
        declared = "\n".join(f"(define-input {name} type: json)" for name in inputs)
        before = Source("<inputs>", declared) if declared else None
        program = build(Source("<task>", identifier), find, tasks, before=before)
        return DispatchedProgram(program, dict(inputs), "s_expression")
    task = find_task(identifier, tasks)
    own = _SYSTEM.get(identifier)
    if files is not None and task is None and (identifier in tools or own is not None):
        raise _not_seen(f"`{identifier}` is a tool")
    is_fixed = own is not None and identifier not in HIDDEN_BY_OWN
    if task is not None and (identifier in tools or is_fixed):
        raise _failure(
            "configuration_error",
            f"`{identifier}` is a task and a tool",
            "rename one of them",
        )
    if task is not None:
        given = {"name": task.name, "inputs": dict(inputs), "files": files}
        return DispatchedProgram(_build(_TASK, tasks, find), given, "subtask_template")
    if identifier in tools:
        given = {"name": identifier, "inputs": dict(inputs)}
        return DispatchedProgram(_build(_TOOL, tasks, find), given, "direct_tool")
    if own is not None:
        program = _build(own, tasks, find)
        _check_inputs(identifier, program.inputs, inputs)
        return DispatchedProgram(program, dict(inputs), "direct_tool")
    known = ", ".join(f"`{name}`" for name in sorted({*tasks, *tools}))
    others = ", ".join(f"`{name}`" for name in _SYSTEM)
    raise _failure(
        "template_not_found",
        f"there is no task or tool called `{identifier}`",
        f"there are {known or 'no tasks here'}, and the tools {others}; a program begins with (",
    )


def types_of(identifier: str, tasks: Mapping[str, Task], find: Find) -> dict[str, str]:
    """Return the types of the inputs of a task or of the language's own tool; else an empty
    table."""
    task = find_task(identifier, tasks)
    if task is not None:
        return {param.name: param.type for param in task.template.params}
    return {each.name: each.type for each in own_inputs(identifier, find) or ()}


def own_inputs(identifier: str, find: Find) -> tuple[Input, ...] | None:
    """Return the inputs of the language's own tool; None if there is no such tool."""
    own = _SYSTEM.get(identifier)
    return None if own is None else _build(own, {}, find).inputs


def _check_inputs(tool: str, declared: tuple[Input, ...], given: Mapping[str, Value]) -> None:
    """Raise Fault for inputs that the language's own tool does not take."""
    names = [each.name for each in declared]
    unknown = [name for name in given if name not in names]
    missing = [each.name for each in declared if each.required and each.name not in given]
    unfit = [
        f"`{each.name}` takes {wanted}"
        for each in declared
        if each.name in given and (wanted := _wants(each, given[each.name])) is not None
    ]
    said = [
        *[f"it has no `{name}`" for name in unknown],
        *[f"`{name}` is missing" for name in missing],
    ]
    if said or unfit:
        raise bad_input(
            f"the inputs of the tool `{tool}` do not fit: {'; '.join([*said, *unfit])}",
            f"`{tool}` takes {' '.join(names)}",
            missing=tuple(missing),
            unknown=tuple(unknown),
        )


_LISTS = {"args": '["-l"]', "choices": '["small", "large"]'}
"""Inputs of the language's own tools that take a list, with an example."""


def _wants(declared: Input, value: Value) -> str | None:
    """Return the type that an input takes, if the value does not fit; else None."""
    example = _LISTS.get(declared.name)
    if example is None or value is None or isinstance(value, tuple):
        return declared.wants(value)
    return f"a list such as {example}"


def _build(program: str, tasks: Mapping[str, Task], find: Find) -> Program:
    return build(Source("<task>", program), find, tasks)


def find_task(identifier: str, tasks: Mapping[str, Task]) -> Task | None:
    """Return the task of a name, or the only one of `atomic:subtype`."""
    if identifier in tasks:
        return tasks[identifier]
    type_, colon, subtype = identifier.partition(":")
    if not colon or type_ != "atomic":
        return None
    fitting = [task for task in tasks.values() if task.template.subtype == subtype]
    return fitting[0] if len(fitting) == 1 else None


def _bad_names(names: list[str]) -> Fault:
    listed = ", ".join(f"`{name}`" for name in names)
    return bad_input(
        f"a program cannot have an input called {listed}",
        "names are letters, digits, `_`, `-` and `.`, and do not begin with a digit",
        fields=tuple(names),
    )


def _not_seen(why: str) -> Fault:
    """Return the Fault for files that the callee does not see."""
    return bad_input(
        f"`file_context` names files that a task is to see, and {why}",
        "leave it out",
        fields=("file_context",),
    )


def bad_input(message: str, hint: str, **details: Value) -> Fault:
    """Return the Fault for an invalid request."""
    return _failure("input_validation_failure", message, hint, **details)


def _failure(reason: str, message: str, hint: str, **details: Value) -> Fault:
    error = error_record("TASK_FAILURE", reason, message, details=details, hint=hint)
    return Fault(reason, message, error=error)


def make_result(value: Value, path: Path) -> Record:
    """Return the TaskResult of a run that is Done.

    It is the value itself if that is a TaskResult. Any other value is its text, and stands in the
    notes. The notes have the execution path.
    """
    if isinstance(value, Record) and value.kind == "TaskResult":
        if value.fields["status"] == "CONTINUATION":
            message = "a CONTINUATION came out where nobody can go on with it"
            return make_failure(error_record("TASK_FAILURE", "tool_execution_error", message), path)
        notes = {**value.fields["notes"], "execution_path": path}
        return evolve(value, fields={**value.fields, "notes": notes})
    if path == "direct_tool" and isinstance(value, dict) and value.get("status") == "CONTINUATION":
        message = (
            "a tool gave a CONTINUATION, and there is no conversation that could go on with it"
        )
        return make_failure(error_record("TASK_FAILURE", "tool_execution_error", message), path)
    try:
        plain(value)
    except Fault as fault:
        message = f"the result is no data: {fault.message}"
        return make_failure(error_record("TASK_FAILURE", "unexpected_error", message), path)
    kept = "tool_output" if path == "direct_tool" else "sexp_raw_result"
    return task_result(text(value), notes={"execution_path": path, kept: value})


def make_failure(error: Record, path: Path | None, trail: "Trail | None" = None) -> Record:
    """Return the FAILED TaskResult of a run that failed.

    A TaskError keeps its type and reason. An error of the program is a subtask_failure, with the
    error, the calls and the variables of the `trail` in its details.
    """
    if path != "s_expression":  # else the program and its names are the caller's
        error = _of_tasks(error)
    fields = error.fields
    if fields["type"] in ("PROGRAM_ERROR", "USER_ERROR"):
        reason = "tool_execution_error" if path == "direct_tool" else "subtask_failure"
        details: dict[str, Value] = {"originalError": error}
        partial = partial_of(error)
        if partial:
            details["partial_results"] = partial
        if trail is not None and path == "s_expression":
            known = {"calls": trail.calls, "variables": trail.variables}
            details.update({name: value for name, value in known.items() if value})
        error = error_record(
            "TASK_FAILURE", reason, fields["message"], details=details, hint=fields["hint"]
        )
    return (
        make_failed_result(error)
        if path is None
        else make_failed_result(error, execution_path=path)
    )


def unreadable(found: Diagnostics, path: Path | None) -> Record:
    """Return the FAILED TaskResult for a program text or a library that cannot be read."""
    first = found.diagnostics[0]
    error = error_record(
        "TASK_FAILURE",
        "input_validation_failure",
        first.title,
        details={"diagnostics": value_of([each.plain() for each in found.diagnostics])},
        hint=first.hint,
    )
    return make_failure(error, path)


def _of_tasks(error: Record) -> Record:
    """Return the error without variables of the built program: those of the task remain."""
    partial = partial_of(error)
    if not isinstance(partial, dict):
        return error
    given = {name: partial[name] for name in GIVEN if name in partial}
    details = {**error.fields["details"], "partial_results": given}
    if not given:
        del details["partial_results"]
    return evolve(error, fields={**error.fields, "details": details})
