"""What the default of `subtask` and `call-atomic-task` are made of: finding a task, running it."""

from sexplang.machine.control import fail
from sexplang.machine.converse import call_task
from sexplang.machine.stack import Frame, Segment, Step
from sexplang.terms.source import Span
from sexplang.terms.task import error_record
from sexplang.terms.value import Fault, Record, Symbol, Task, Value


def match_task(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(match-task request)`: the task that fits a SubtaskRequest, or its error is raised."""
    linked = s[3].linked
    if linked.tasks is None:
        error = error_record(
            "TASK_FAILURE",
            "template_not_found",
            "this program has no tasks",
            hint="import a template first",
        )
        return fail(error, k, s)
    templates = tuple([task.template for task in linked.known.values()])
    found = linked.tasks.match(arguments[0], templates)
    if isinstance(found, Record):
        return fail(found, k, s)
    return k[0], linked.known[found.name], k, s


def run_task(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(run-task task inputs overrides)`: calls a task, by value or name, with overrides."""
    task, inputs, overrides = arguments
    if isinstance(task, (Symbol, str)):
        name = task if isinstance(task, str) else task.name
        task = s[3].linked.known.get(name)
        if task is None:
            error = error_record(
                "TASK_FAILURE",
                "template_not_found",
                f"no task here is called `{name}`",
                hint="import its template first",
            )
            return fail(error, k, s)
    if not isinstance(task, Task) or not isinstance(inputs, dict):
        raise Fault(
            "wrong-type", "`call-atomic-task` takes a task or its name, and a table of inputs"
        )
    given = overrides if isinstance(overrides, dict) else {}
    kept = {key: value for key, value in given.items() if value is not None}
    return call_task(task, inputs, kept, k, s)
