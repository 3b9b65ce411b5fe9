"""The components of the five documents under their names.

Law: nothing here does work of its own. All else is as for `run` and `dispatch`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from sexplang.api import argument_checks
from sexplang.api.memory_index import Memory
from sexplang.api.python_values import TaskResult, value
from sexplang.api.run_start import Settings, Tools
from sexplang.api.runner import run
from sexplang.api.task_dispatch import (
    Options,
    Paths,
    check_options,
    dispatch,
    grant_library,
    list_library,
    read,
    run_to_end,
    to_result,
)
from sexplang.guards.secrets import Concealment
from sexplang.pipeline import dispatcher
from sexplang.runtime import Permissions
from sexplang.terms.classes.node import fields
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.task import error_of
from sexplang.terms.template import Template
from sexplang.terms.values.value import Fault, Task

MemorySystem = Memory
"""An index of files; `get_relevant_context_for` serves the fresh context of tasks."""


class Handler:
    """The connection of tasks to models, files and tools: an immutable configuration.

    It takes the `model`, `tools`, `permissions`, `limits`, `budget` and so on of `dispatch`.
    """

    def __init__(
        self,
        *,
        tools: Tools = (),
        permissions: Permissions | None = None,
        **options: Unpack[Options],
    ) -> None:
        check_options(options)
        _check(tools=tools, permissions=permissions, **options)
        self._tools = tools
        self._permissions = permissions
        self._options = options

    def execute_prompt(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Call the model with a payload `{messages …}` and return its reply. Raises Failed."""
        argument_checks.table("payload", payload)
        options: Any = self._options
        reply: dict[str, Any] = run(
            _PROMPT, inputs={"payload": dict(payload)}, permissions=self._permissions, **options
        )
        return reply

    def execute_tool(self, name: str, inputs: Mapping[str, Any] | None = None) -> TaskResult:
        """Call one of the tools, or of the language's own, such as `read_file`."""
        return self._dispatch(name, inputs, ())

    def _dispatch(
        self,
        identifier: str,
        inputs: Mapping[str, Any] | None,
        library: Paths,
        file_context: Iterable[str] | str | None = None,
    ) -> TaskResult:
        return dispatch(
            identifier,
            inputs,
            library=library,
            file_context=file_context,
            tools=self._tools,
            permissions=self._permissions,
            **self._options,
        )

    def _grant(self, library: list[Any]) -> Permissions:
        return grant_library(library, self._permissions)


def _check(
    *,
    parallel: Any = 1,
    single_flight: Any = False,
    on_event: Any = None,
    event_content: Any = False,
    **given: Any,
) -> None:
    argument_checks.drive_options(parallel, single_flight, on_event, event_content)
    argument_checks.check(Settings(**{**{each.name: None for each in fields(Settings)}, **given}))


def _handler(given: Any) -> Handler:
    if not (given is None or isinstance(given, Handler)):
        raise argument_checks.wrong("handler", "a Handler", given)
    return given or Handler()


_PROMPT = "(define-input payload type: json) (model payload)"


class TaskSystem:
    """The templates of a library (files and folders), and the Handler of their tasks."""

    def __init__(self, library: Paths, handler: Handler | None = None) -> None:
        self._library = list_library(library)
        self._handler = _handler(handler)

    def find_template(self, identifier: str) -> Template | None:
        """Return the template of a name, or the only one of `atomic:SUBTYPE`.

        Raises Diagnostics for a file that cannot be read.
        """
        argument_checks.string("identifier", identifier)
        with Concealment():
            there, _ = read(self._library, self._handler._grant(self._library))
            there.check(identifier)
        task = dispatcher.find_task(identifier, there.tasks)
        return None if task is None else task.template

    def execute_atomic_template(self, request: Mapping[str, Any]) -> TaskResult:
        """Run the task for a SubtaskRequest: that of its `name`, else the one that matches best.

        A failure is a TaskResult; nothing is raised for the request.
        """
        argument_checks.table("request", request)
        return self._handler._dispatch(_REQUEST, {"request": dict(request)}, self._library)


_REQUEST = "(subtask request)"


class AtomicTaskExecutor:
    """The execution of one atomic task: its template is filled with its parameters alone and given
    to the Handler."""

    def __init__(self, handler: Handler | None = None) -> None:
        self._handler = _handler(handler)

    def execute_body(self, template: Template, params: Mapping[str, Any]) -> TaskResult:
        """Run the conversation of a template with these values. A failure is a TaskResult."""
        if not isinstance(template, Template):
            raise argument_checks.wrong(
                "template", "a Template, as find_template gives it", template
            )
        argument_checks.table("params", params)
        handler = self._handler
        allowed = handler._grant([])
        _, find = read([], allowed)
        try:
            asked = dispatcher.dispatch(
                template.name,
                {name: value(given) for name, given in params.items()},
                tasks={template.name: Task(template)},
                find=find,
            )
        except Fault as fault:
            return to_result(dispatcher.make_failure(error_of(fault), "subtask_template"))
        return run_to_end(asked, tools=handler._tools, permissions=allowed, **handler._options)


class SexpEvaluator:
    """The evaluation of program texts with the tasks of a TaskSystem in scope."""

    def __init__(self, tasks: TaskSystem | None = None) -> None:
        self._tasks = TaskSystem(()) if tasks is None else _task_system(tasks)

    def evaluate(self, text: str, inputs: Mapping[str, Any] | None = None) -> Any:
        """Return the value of a program; the inputs are names in it.

        Raises Diagnostics for a text that is no program or for inputs that cannot be names, and
        Failed with the error that ended the program.
        """
        argument_checks.string("text", text)
        argument_checks.by_name("inputs", inputs)
        library, handler = self._tasks._library, self._tasks._handler
        allowed = handler._grant(library)
        given = inputs or {}
        with Concealment():
            there, find = read(library, allowed)
            there.check(text)
            try:
                asked = dispatcher.dispatch(_as_program(text), given, tasks=there.tasks, find=find)
            except Fault as fault:
                wrong = Diagnostic("bad-input", fault.message, hint=fault.hint)
                raise Diagnostics([wrong]) from None
        return run(
            asked.program,
            inputs=given,
            tools=handler._tools,
            permissions=allowed,
            **handler._options,
        )


def _task_system(given: Any) -> TaskSystem:
    if not isinstance(given, TaskSystem):
        raise argument_checks.wrong("tasks", "a TaskSystem", given)
    return given


def _as_program(text: str) -> str:
    """Return the text in a form that begins with a bracket, as the Dispatcher expects of a
    program."""
    return text if text.lstrip().startswith("(") else f"(begin {text})"


class Dispatcher:
    """The dispatch of a request by name: a program if it begins with `(`, else a task of the
    TaskSystem, else a tool of its Handler."""

    def __init__(self, tasks: TaskSystem) -> None:
        self._tasks = _task_system(tasks)

    def dispatch(
        self,
        identifier: str,
        inputs: Mapping[str, Any] | None = None,
        file_context: Iterable[str] | str | None = None,
    ) -> TaskResult:
        """Call `dispatch` with the components' settings. A failure is a TaskResult."""
        tasks = self._tasks
        return tasks._handler._dispatch(identifier, inputs, tasks._library, file_context)
