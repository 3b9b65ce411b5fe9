"""Rules for tasks and plans that run other tasks: which tasks, and how many model calls."""

from typing import Any

from sexplang.analysis.domain.bounds import no_bound
from sexplang.analysis.domain.effects_and_calls import add_counts, repeat_work
from sexplang.analysis.domain.handler_stack import ActiveHandle, push_budget
from sexplang.analysis.domain.primitive_results import part_of
from sexplang.analysis.domain.typed_values import task_of
from sexplang.analysis.domain.values import ANY, DATA, Abstract, Constant, Result, SizedList, Typed
from sexplang.analysis.interpreter.call_rules import HIGHER, apply
from sexplang.analysis.interpreter.handler_rules import interpret_failure, perform
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter, Steps, without_effects
from sexplang.analysis.interpreter.model_call_rules import any_task, converse
from sexplang.analysis.interpreter.node_rules import calls_of, within_budget
from sexplang.terms.source import Span
from sexplang.terms.values.value import Symbol, Task

Arguments = tuple[Abstract, ...]


def _match_task(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Any:
    """`{task …}` of a request: the named task, else any task."""
    found = _find_task(m, part_of(m.values, given[0], "name"))
    return without_effects(m.values.constant({"task": ANY_TASK if found is None else found}))


def _task_of(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Any:
    """The one task of a subtype, or nil."""
    subtype = given[0].value if isinstance(given[0], Constant) else None
    found = [task for task in m.program.tasks if task.template.subtype == subtype]
    return without_effects(m.values.constant(found[0] if len(found) == 1 else None))


ANY_TASK = Symbol("\x01any task")
"""A symbol for a task that is not known statically. No program can write it."""


def _find_task(m: AbstractInterpreter, value: Abstract) -> Task | None:
    if not isinstance(value, Constant):
        return None
    if isinstance(value.value, Task):
        return value.value
    name = getattr(value.value, "name", value.value)
    return next((task for task in m.program.tasks if task.name == name), None)


def _run_task(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(run-task task inputs overrides)`. Overrides can only lower limits."""
    task, _, overrides = given
    paths = part_of(m.values, overrides, "file_paths")
    reads = not (isinstance(paths, Constant) and paths.value is None)
    known = _find_task(m, task)
    if known is not None:
        value, work = yield from converse(m, known, handling, span, reads)
        return _result(m, value), work
    if isinstance(task, Constant) and task.value is not ANY_TASK:
        # An unknown task fails.
        return without_effects(DATA)
    return (yield from any_task(m, handling, span, True))


def _run_step(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(run-step function value overrides)`. The results of earlier steps cause no model call."""
    return (yield from apply(m, given[0], (given[1],), (), handling, span))


def _call_task(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(call-task task x…)` makes the model calls of the task's call."""
    value, work = yield from apply(m, given[0], given[1:], labels, handling, span)
    return _result(m, value), work


def _continue(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(continue result words)` makes the model calls of a call of the result's task."""
    task = task_of(given[0]) if given else None
    if task is not None:
        value, work = yield from converse(m, task, handling, span)
        return _result(m, value), work
    return (yield from any_task(m, handling, span, False))


def _result(m: AbstractInterpreter, value: Abstract) -> Abstract:
    """Return the TaskResult that has the answer of a task."""
    task = task_of(value)
    return m.values.make(Result, task) if task is not None else value


def _answer(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(answer result)`: a FAILED result raises its error."""
    value: Abstract = m.values.within(given)
    task = task_of(given[0]) if given else None
    if task is not None:
        value = m.values.make(Typed, task, ())
    value, work = yield interpret_failure(m, (), handling, span, None, value)
    return value, work


def _task_result(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Any:
    return without_effects(m.values.within(given))


def _run_plan(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(run-plan text inputs allow budget)`: any number of the allowed operations, and as many
    model calls as the budget allows."""
    allow, budget = given[2:]
    words = allow.words if isinstance(allow, SizedList) else None
    if isinstance(allow, Constant):
        words = (str(getattr(allow.value, "name", allow.value)),)
    if words is None:
        return DATA, m.anything("this plan may perform nobody knows what", span, handling)
    why = no_bound("a plan may perform what it is allowed any number of times", span)
    calls = calls_of(budget)
    inside = handling
    if calls is not None:
        inside = push_budget(m.number(), handling, m.values.environment(None, ()))
    works = []
    for operation in words:
        _, work = yield perform(m, operation, (ANY,), inside, span)
        works.append(repeat_work(work, why))
    work = add_counts(*works)
    if calls is not None and inside is not None:
        work = within_budget(work, calls, inside, span)
    return DATA, work


HIGHER.update(
    {
        "run-plan": _run_plan,
        "match-task": _match_task,
        "task-of": _task_of,
        "run-task": _run_task,
        "run-step": _run_step,
        "call-task": _call_task,
        "continue": _continue,
        "answer": _answer,
        "task-result": _task_result,
    }
)
