"""Task calls, followed: how often a conversation may ask the model, and what else it performs."""

from sexplang.analysis.bounds import Bound, number, unbounded
from sexplang.analysis.calls import SHAPES
from sexplang.analysis.following import Costs, Follower, Steps
from sexplang.analysis.handlers import failing, perform
from sexplang.analysis.stack import Handling
from sexplang.analysis.values import ANY, Abstract, Answer
from sexplang.analysis.work import Work, either, repeated, together
from sexplang.terms.source import Span
from sexplang.terms.template import Template
from sexplang.terms.value import Task

TOOLS = {
    "read_file": "read-file",
    "list_files": "list-files",
    "request_user_input": "ask-user",
    "spawn_subtask": "subtask",
    "propose_subplan": "subplan",
    "system:run_script": "run-script",
}
"""What a conversation performs for the tools that have an operation of their own."""

LOOKUPS = {
    "command": "run-script",
    "description": "search-memory",
    "context_description": "search-memory",
}
"""What a conversation performs to find its files, by the source that its template names."""


def turns_of(template: Template, costs: Costs) -> int:
    """How many times a conversation may ask the model, as the tasks room has it."""
    if template.limits.max_turns is not None:
        return template.limits.max_turns
    if template.allowed_tools:
        return costs.turns
    return 1 + (costs.repairs if template.asks_again else 0)


def converse(
    m: Follower,
    task: Task,
    handling: Handling | None,
    span: Span,
    reads: bool = False,
) -> Steps:
    """One conversation. Every call of a tool is under `attempt`: its failure is told the model."""
    template = task.template
    turns = turns_of(template, m.costs)
    # A clause that answers works for the conversation: a task in it inherits its files.
    reads = reads or (m.conversing > 0 and _is_taken(handling, "read-file"))
    m.conversing += 1
    _, asking = yield perform(m, "model", (ANY,), handling, span)
    works = [repeated(asking, number(turns, span))]
    if task.name in m.tasking:
        m.hits += 1
        m.conversing -= 1
        first = m.tasking[task.name]
        why = unbounded(f"`{task.name}` may have itself done as a subtask", first)
        return ANY, repeated(together(*works), why)
    m.tasking[task.name] = span
    inside = Handling(m.number(), handling, m.values.environment(None, ()), {"error": ()})
    inside.solid = handling.solid if handling is not None else None
    for operation, count in _performed(m, task, turns, reads, span):
        _, work = yield perform(m, operation, (ANY,), inside, span)
        works.append(repeated(work, count))
    del m.tasking[task.name]
    m.conversing -= 1
    answer = m.values.made(Answer, task, False)
    value, work = yield failing(m, (), handling, span, given=answer)
    return value, together(*works, work)


def _is_taken(handling: Handling | None, operation: str) -> bool:
    while handling is not None:
        if operation in handling.clauses:
            return True
        handling = handling.outer
    return False


def _performed(
    m: Follower, task: Task, turns: int, reads: bool, span: Span
) -> list[tuple[str, Bound]]:
    """What it performs beside `model`. One turn may call tools any number of times."""
    template = task.template
    found: list[tuple[str, Bound]] = []
    paths, source = len(template.file_paths.paths), template.file_paths.source
    looked = LOOKUPS.get(source)
    if looked is not None:
        found.append((looked, number(1, span)))
        found.append(("read-file", unbounded(f"`{task.name}` looks for its files", span)))
    elif reads:
        found.append(("read-file", unbounded(f"`{task.name}` may be given any files", span)))
    elif paths:
        found.append(("read-file", number(paths, span)))
    if turns < 2:
        # What a tool gives after the last turn nobody reads: it is not called.
        return found
    for tool in dict.fromkeys(template.allowed_tools):
        does = "ask for subtasks" if tool == "spawn_subtask" else "use its tools"
        why = f"`{task.name}` may {does} any number of times in one turn"
        found.append((TOOLS.get(tool, "tool"), unbounded(why, span)))
    return found


def any_task(m: Follower, handling: Handling | None, span: Span, reads: bool) -> Steps:
    """Any task of the program."""
    works: list[Work] = []
    for task in m.program.tasks:
        _, work = yield converse(m, task, handling, span, reads)
        works.append(work)
    _, failed = yield failing(m, (), handling, span)
    return ANY, together(either(*works), failed)


def _task(
    m: Follower,
    shape: Task,
    arguments: tuple[Abstract, ...],
    handling: Handling | None,
    span: Span,
) -> Steps:
    return converse(m, shape, handling, span)


SHAPES[Task] = _task
