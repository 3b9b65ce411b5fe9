"""Rules for task calls: the model calls of a conversation, and its other operations."""

from sexplang.analysis.domain.bounds import Bound, no_bound, number
from sexplang.analysis.domain.effects_and_calls import (
    EffectCounts,
    add_counts,
    max_counts,
    repeat_work,
)
from sexplang.analysis.domain.handler_stack import ActiveHandle
from sexplang.analysis.domain.values import ANY, DATA, Abstract, Closure, Typed
from sexplang.analysis.interpreter.call_rules import SHAPES, enter_function
from sexplang.analysis.interpreter.handler_rules import interpret_failure, perform
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter, Costs, Steps
from sexplang.terms.classes.node import frozen
from sexplang.terms.host.host_operations import ALONE, FIXED_TOOLS, HOST_TOOLS
from sexplang.terms.program import Function
from sexplang.terms.source import Span
from sexplang.terms.template import Template
from sexplang.terms.values.value import Task

LOOKUPS = {
    "command": "list-files",
    "description": "search-memory",
    "context_description": "search-memory",
}
"""The operations that a conversation performs to find its files, by source in the template."""


def turns_of(template: Template, costs: Costs) -> int:
    """Return the greatest number of model calls of a conversation, as `tasks` limits it."""
    if template.limits.max_turns is not None:
        return template.limits.max_turns
    if template.allowed_tools:
        return costs.turns
    return 1 + (costs.repairs if template.asks_again else 0)


def converse(
    m: AbstractInterpreter,
    task: Task,
    handling: ActiveHandle | None,
    span: Span,
    reads: bool = False,
) -> Steps:
    """Interpret one conversation. Every tool call is under `attempt`: the model is told of its
    failure."""
    template = task.template
    turns = turns_of(template, m.costs)
    # A clause that answers works for the conversation: a task in it inherits its files.
    reads = reads or (m.conversing > 0 and _is_taken(handling, "read-file"))
    searches = template.context_management.fresh_context != "disabled" and _is_taken(
        handling, "search-memory"
    )
    m.conversing += 1
    _, asking = yield perform(m, "model", (ANY,), handling, span)
    works = [repeat_work(asking, number(turns, span))]
    if task.name in m.tasking:
        m.hits += 1
        m.conversing -= 1
        first = m.tasking[task.name]
        why = no_bound(f"`{task.name}` may have itself done as a subtask", first)
        return ANY, repeat_work(add_counts(*works), why)
    m.tasking[task.name] = span
    inside = ActiveHandle(m.number(), handling, m.values.environment(None, ()), {"error": ()})
    inside.answering = handling.answering if handling is not None else None
    called = _functions(m, task, turns)
    own = () if _is_taken(handling, "tool") else tuple([name for name, _ in called])
    if _is_taken(handling, "compact"):
        _, work = yield perform(m, "compact", (ANY,) * 3, inside, span)
        works.append(repeat_work(work, number(turns, span)))
    branch = ActiveHandle(m.number(), inside, inside.environment)
    branch.answering, branch.branches, branch.conversing = inside.answering, True, True
    if searches:
        m.unsure += 1
        _, work = yield perform(m, "search-memory", (ANY,), branch, span)
        works.append(work)
        m.unsure -= 1
    for each in _list_performs(m, task, turns, reads or searches, own, span):
        m.unsure += each.unsure
        place = inside if each.alone else branch
        before, m.direct = m.direct, "" if each.alone else each.operation
        _, work = yield perform(m, each.operation, each.arguments, place, span)
        m.direct = before
        works.append(repeat_work(work, each.count))
        m.unsure -= each.unsure
    for name, function in called:
        place = inside if name in template.in_order else branch
        callee = m.values.make(Closure, function.index, m.top or m.values.environment(None, ()))
        given = (ANY,) * (len(function.params) + (function.rest is not None))
        _, work = yield enter_function(m, callee, function, given, place, span)
        works.append(repeat_work(work, _any_number(task, "use its tools", span)))
    answer = m.values.make(Typed, task, ())
    judging = m.program.validators.get(task)
    if judging is not None:
        callee = m.values.make(Closure, judging.index, m.top or m.values.environment(None, ()))
        _, work = yield enter_function(m, callee, judging, (answer,), inside, span)
        works.append(repeat_work(work, number(turns, span)))
    del m.tasking[task.name]
    m.conversing -= 1
    value, work = yield interpret_failure(m, (), handling, span, given=answer)
    return value, add_counts(*works, work)


def _is_taken(handling: ActiveHandle | None, operation: str) -> bool:
    while handling is not None:
        if operation in handling.clauses:
            return True
        handling = handling.outer
    return False


@frozen(eq=False)
class PerformCount:
    """An operation that a conversation performs beside `model`, and its count."""

    operation: str
    count: Bound
    arguments: tuple[Abstract, ...] = (ANY,)
    alone: bool = False
    """Whether it is performed in the conversation's own branch."""
    unsure: bool = False
    """Whether it may never be performed."""


def _list_performs(
    m: AbstractInterpreter, task: Task, turns: int, reads: bool, own: tuple[str, ...], span: Span
) -> list[PerformCount]:
    """Return all operations but those of its `own` functions as tools. One turn may call any number
    of tools."""
    template = task.template
    found: list[PerformCount] = []
    paths, source = len(template.file_paths.paths), template.file_paths.source
    looked = LOOKUPS.get(source)
    if looked is not None:
        found.append(PerformCount(looked, number(1, span)))
        why = f"`{task.name}` looks for its files"
        found.append(PerformCount("read-file", no_bound(why, span)))
    elif reads:
        why = f"`{task.name}` may be given any files"
        found.append(PerformCount("read-file", no_bound(why, span), unsure=True))
    elif paths:
        found.append(PerformCount("read-file", number(paths, span)))
    if turns < 2:
        # The result of a tool after the last turn is not read, so the tool is not called.
        return found
    tasks = {each.name for each in m.program.tasks}
    for tool in dict.fromkeys(template.allowed_tools):
        does = "ask for subtasks" if tool == "spawn_subtask" else "use its tools"
        count = _any_number(task, does, span)
        if tool not in FIXED_TOOLS and tool in tasks and m.program.has_tool(tool):
            fields = {**dict.fromkeys(_REQUEST, DATA), "name": m.values.constant(tool)}
            found.append(PerformCount("subtask", count, (m.values.table(fields),), alone=True))
        elif tool not in own:
            operation = HOST_TOOLS.get(tool, "tool")
            alone = operation in ALONE or tool in template.in_order
            given = (ANY, m.values.table({})) if operation == "tool" else (ANY,)
            found.append(PerformCount(operation, count, given, alone=alone))
    return found


_REQUEST = ("type", "inputs", "depth", "result")


def _any_number(task: Task, does: str, span: Span) -> Bound:
    return no_bound(f"`{task.name}` may {does} any number of times in one turn", span)


def _functions(m: AbstractInterpreter, task: Task, turns: int) -> list[tuple[str, Function]]:
    """Return the functions of the program that the model may call, by tool name."""
    if turns < 2:
        return []
    tools = m.program.tools
    tasks = {each.name for each in m.program.tasks}
    names = [name for name in dict.fromkeys(task.template.allowed_tools) if name not in FIXED_TOOLS]
    return [(name, tools[name]) for name in names if name in tools and name not in tasks]


def any_task(
    m: AbstractInterpreter, handling: ActiveHandle | None, span: Span, reads: bool
) -> Steps:
    """Interpret a call of any task of the program."""
    works: list[EffectCounts] = []
    m.unsure += 1
    for task in m.program.tasks:
        _, work = yield converse(m, task, handling, span, reads)
        works.append(work)
    m.unsure -= 1
    _, failed = yield interpret_failure(m, (), handling, span)
    return ANY, add_counts(max_counts(*works), failed)


def _task(
    m: AbstractInterpreter,
    shape: Task,
    arguments: tuple[Abstract, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    return converse(m, shape, handling, span)


SHAPES[Task] = _task
