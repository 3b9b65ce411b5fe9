"""The fault of a function that gets a variable bound to the answer of a task: it names the task.

The binding is looked up when the fault occurs. Running code does not know it.
"""

from typing import Any
from weakref import WeakKeyDictionary

from sexplang.machine.positions.answer_misfits import misfit, tasks_of
from sexplang.machine.stack import Linked
from sexplang.terms.core import Local
from sexplang.terms.program import Program
from sexplang.terms.source import Span
from sexplang.terms.values.value import Fault, Task

Answers = tuple[tuple[Local, Task], ...]
"""The arguments of a call that are variables, each with the task whose answer it holds."""

_known: WeakKeyDictionary[Linked, dict[Span, Answers]] = WeakKeyDictionary()


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
    if linked not in _known:
        _known[linked] = _find_answers(linked)
    return _known[linked]


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
