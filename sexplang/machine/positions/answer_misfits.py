"""The fault of a function that gets the answer of a task with the wrong type.

It names the task and the way to declare another type. The binding of a variable to an answer is
looked up when the fault occurs. Running code does not know it.
"""

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sexplang.machine.stack import Linked
from sexplang.terms.core import Call, Const, Core, Local
from sexplang.terms.program import Program
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Primitive, Task, Value

Tasks = tuple[tuple[int, Task], ...]
"""The indexes of the arguments that are answers, each with its task."""

Answers = tuple[tuple[Local, Task], ...]
"""The arguments of a call that are variables, each with the task whose answer it holds."""

_answers_by_program: WeakKeyDictionary[Linked, dict[Span, Answers]] = WeakKeyDictionary()

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


def name_task(fault: Fault, linked: Linked) -> Fault:
    """Return the fault with the name of the task, if the misfit is a variable bound to its
    answer."""
    if fault.code != "wrong-type" or fault.span is None or fault.span.source.is_library:
        return fault
    found = _answers(linked).get(fault.span)
    if not found or fault.env is None:
        return fault
    tasks = tuple([(at, task) for at, (_, task) in enumerate(found)])
    return misfit(fault, tasks, [_value(fault.env, local) for local, _ in found])


def _answers(linked: Linked) -> dict[Span, Answers]:
    """Return the calls of the program that take such variables, by place."""
    if linked not in _answers_by_program:
        _answers_by_program[linked] = _find_answers(linked)
    return _answers_by_program[linked]


def _find_answers(linked: Linked) -> dict[Span, Answers]:
    program = linked.program()
    if not isinstance(program, Program) or not program.tasks:
        return {}
    made: dict[Span, Answers] = {}
    for call, scope in linked.sites.environments.calls():
        answers: list[tuple[Local, Task]] = []
        for each in call.arguments:
            if isinstance(each, Local):
                origin = scope.origin(each)
                answers += [(each, task) for _, task in tasks_of([origin] if origin else [])]
        if answers:
            made[call.span] = tuple(answers)
    return made


def _value(env: Any, local: Local) -> Any:
    """Return the value of a variable; None if the environment belongs to another place."""
    for _ in range(local.depth):
        env = env[0] if type(env) is tuple and env else None
    return env[local.index] if type(env) is tuple and local.index < len(env) else None
