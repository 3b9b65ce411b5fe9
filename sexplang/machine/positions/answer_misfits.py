"""The fault of a function that gets the answer of a task with the wrong type: it names the task and
the way to declare another type."""

from collections.abc import Callable, Sequence
from typing import Any

from sexplang.terms.core import Call, Const, Core
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Primitive, Task, Value

Tasks = tuple[tuple[int, Task], ...]
"""The indexes of the arguments that are answers, each with its task."""

_TYPES = (
    ("number", "integer"),
    ("integer", "integer"),
    ("table", "{name: string}"),
    ("list", "[string]"),
)
"""A word in a function's expectation, and the answer type that would fit."""


def tasks_of(arguments: Sequence[Core]) -> Tasks:
    """Return the arguments that are calls of tasks."""
    found: list[tuple[int, Task]] = []
    for at, argument in enumerate(arguments):
        if type(argument) is Call and type(argument.callee) is Const:
            task = argument.callee.value
            if type(task) is Task:
                found.append((at, task))
    return tuple(found)


def name_tasks(primitive: Primitive, tasks: Tasks) -> Primitive:
    """Return the primitive with faults that name the task whose answer does not fit."""
    function: Callable[..., Value] = primitive.function

    def name_answer(*values: Value) -> Value:
        try:
            return function(*values)
        except Fault as fault:
            raise misfit(fault, tasks, values) from None

    return Primitive(primitive.name, name_answer, primitive.least, primitive.most, primitive.doc)


def misfit(fault: Fault, tasks: Tasks, values: Sequence[Any]) -> Fault:
    """Return the fault with the name of the task whose answer has the wrong type."""
    if fault.code != "wrong-type" or fault.error is not None:
        return fault
    for at, task in tasks:
        if type(values[at]) is not str or abbreviate(values[at]) not in fault.message:
            continue
        takes = fault.message.partition(", not ")[0]
        type_ = next((each for word, each in _TYPES if word in takes), None)
        hint = fault.hint
        if type_ is not None and task.template.returns is None:
            hint = f"`{task.name}` answers with a text; (returns {type_}) in it says what it gives"
        words = f"{fault.message}, which is the answer of `{task.name}`"
        made = Fault(fault.code, words, hint=hint, details=fault.details)
        made.span, made.env, made.calls = fault.span, fault.env, fault.calls
        return made
    return fault
