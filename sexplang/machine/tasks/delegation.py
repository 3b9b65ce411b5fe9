"""The primitives of `stdlib/` for tasks: to find a task, to run it, to make a result."""

from sexplang.machine.code.application import apply, task_inputs
from sexplang.machine.errors import call_frame, error_from
from sexplang.machine.exits import BeginSpan, EndSpan, ReadLimits
from sexplang.machine.handlers import fail
from sexplang.machine.stack import BOTTOM, Frame, Kind, Linked, Segment, Step, give
from sexplang.machine.tasks.conversation import call_task, continue_task
from sexplang.terms.source import Span
from sexplang.terms.task import STATUSES, error_record, task_result
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import materialize
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import (
    Fault,
    Record,
    Symbol,
    Task,
    Value,
    answer_of,
    has_failed,
)
from sexplang.terms.work import Work


def match_task(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(match-task request)`: `{task inputs found}`, the task that fits a SubtaskRequest, its
    inputs, and the way it was found. Raises an error if none fits."""
    linked = s[3].linked
    if linked.tasks is None:
        error = error_record(
            "TASK_FAILURE",
            "template_not_found",
            "this program has no tasks",
            hint="import a template first",
        )
        return fail(error, k, s)
    request = materialize(arguments[0])
    found = linked.tasks.match(request, s[3].conversations)
    if isinstance(found, Record):
        if isinstance(request, dict) and isinstance(request.get("name"), str):
            _check_allowed(request["name"], linked)
        return fail(found, k, s)
    task = linked.known[found.template.name]
    return k[0], {"task": task, "inputs": found.inputs, "found": found.found}, k, s


def subagent_limits(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(subagent-limits)`: the seconds and the model calls that a subagent may take."""
    raise ReadLimits(k, s)


def task_of(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(task-of subtype)`: the program's one task of a subtype; nil for none, or for several."""
    known, subtype = s[3].linked.known.values(), materialize(arguments[0])
    found = [task for task in known if task.template.subtype == subtype]
    return k[0], found[0] if len(found) == 1 else None, k, s


def run_task(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(run-task task inputs overrides)`: calls a task, by value or name, with overrides."""
    task, inputs, overrides = materialize(arguments)
    if isinstance(task, (Symbol, str)):
        name = task if isinstance(task, str) else task.name
        task = s[3].linked.known.get(name)
        if task is None:
            _check_allowed(name, s[3].linked)
            error = error_record(
                "TASK_FAILURE",
                "template_not_found",
                f"no task here is called `{name}`",
                span=span.plain() if span is not None else None,
                hint="import its template first",
            )
            return fail(error, k, s)
    inputs = _table(inputs)
    if not isinstance(task, Task) or not isinstance(inputs, dict):
        raise Fault(
            "wrong-type",
            "`call-atomic-task` takes a task or its name, and a table of inputs",
            hint="write (call-atomic-task 'name inputs: {param: value})",
        )
    return call_task(task, inputs, _drop_nil(overrides), k, s, "result")


def _check_allowed(name: Value, linked: Linked) -> None:
    """Raise Fault if a program from a model names a task that only its caller may call."""
    while linked.around is not None:
        linked = linked.around
        if name in linked.known:
            raise Fault(
                "plan-denied",
                f"this plan may not call the task `{name}`",
                hint=f"allow it: (eval-plan text allow: ['(task {to_source(name)})])",
            )


def _table(inputs: Value) -> Value:
    """Return inputs quoted in the older form `'((name value) …)` as a table."""
    pairs = inputs if isinstance(inputs, tuple) else ()
    table: dict[str, Value] = {}
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            return inputs
        name = pair[0].name if isinstance(pair[0], Symbol) else pair[0]
        if not isinstance(name, str):
            return inputs
        if name in table:
            raise Fault("wrong-type", f"the input `{name}` is given twice", hint="give it once")
        table[name] = pair[1]
    return table if table else inputs


def run_step(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(run-step function value overrides)`: calls a function. A task also has overrides and gives
    its TaskResult."""
    function, value, overrides = arguments
    if isinstance(function, Task):
        inputs = task_inputs(function, (value,))
        return call_task(function, inputs, _drop_nil(overrides), k, s, "result")
    return apply(function, (value,), k, s, span)


def make_result(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(task-result fields of)`: a TaskResult of a table with its fields. Without the field
    `answer`, it has the answer of the result `of`."""
    fields, *of = materialize(arguments)
    given = fields if isinstance(fields, dict) else {}
    content, status = given.get("content"), given.get("status")
    notes, usage = given.get("notes"), given.get("usage", {})
    if (
        not isinstance(content, str)
        or status not in STATUSES
        or not (isinstance(notes, dict) and isinstance(usage, dict))
    ):
        raise Fault(
            "wrong-type",
            "a TaskResult has `content`, `status`, `notes` and `usage`",
            hint=f"`content` is a text, `notes` and `usage` are tables, and `status` is one of "
            f"{', '.join(STATUSES)}",
        )
    parsed = given.get("parsed_content")
    answer = (given["answer"],) if "answer" in given else None
    if of and isinstance(of[0], Record):
        answer = of[0].answer
    made = task_result(
        content, status, parsed_content=parsed, notes=notes, usage=usage, answer=answer
    )
    return k[0], made, k, s


def go_on(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(continue result words)`: continues the conversation of a TaskResult with another message of
    the user, and gives its next TaskResult."""
    result, words = arguments
    if type(result) is not Record or result.kind != "TaskResult":
        raise Fault(
            "wrong-type",
            f"`continue` takes a TaskResult, not {abbreviate(result)}",
            hint="an answer keeps no conversation: write (define r (call-task task x)), then "
            '(continue r "words")',
        )
    if result.conversation is None:
        raise _cannot_go_on(result)
    words = materialize(words)
    if not isinstance(words, (str, tuple)):
        raise Fault(
            "wrong-type",
            f"`continue` takes a TaskResult and words, not {abbreviate(words)}",
            hint='write (continue result "words"); a list of content blocks may stand for them',
        )
    task, linked = result.conversation[0], s[3].linked
    name = task.template.name
    if linked.known.get(name) != task:
        _check_allowed(name, linked)
    return continue_task(result.conversation, words, call_frame(span, k), s)


def _cannot_go_on(result: Record) -> Fault:
    """Return the reason for which a TaskResult without a conversation has none."""
    if has_failed(result):
        return Fault(
            "no-conversation",
            "the conversation of this TaskResult has failed, and a failed one does not go on",
            hint="call its task again, with what `r.content` and `r.notes` have of it: "
            '(if (failed? r) (call-task task x) (continue r "words"))',
        )
    return Fault(
        "no-conversation",
        "this TaskResult is of no conversation: a script, a plan or the program made it",
        hint='write (define r (call-task task x)), and then (continue r "words")',
    )


def call_result(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(call-task task x…)`: calls a task, and gives its TaskResult."""
    return call_labelled(arguments, (), k, s)


def call_labelled(
    arguments: tuple[Value, ...], labels: tuple[str, ...], k: Frame, s: Segment
) -> Step:
    """The same, with the last arguments by name."""
    task, *given = arguments
    if not isinstance(task, Task):
        raise Fault(
            "wrong-type",
            f"`call-task` takes a task, not {abbreviate(task)}",
            hint="write (call-task task x …), where (task x …) is the call; what calls tasks "
            "itself is called as it is",
        )
    return call_task(task, task_inputs(task, tuple(given), labels), {}, k, s, "result")


def answer(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(answer result)`: the answer of a TaskResult; a FAILED one raises its error."""
    (result,) = arguments
    if has_failed(result):
        return fail(error_from(result, span), k, s)
    return k[0], answer_of(result), k, s


def as_work(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(as-work kind name f)`: calls `f` as a piece of work in traces."""
    kind, name, function = materialize(arguments)
    if not isinstance(kind, str) or not isinstance(name, str):
        raise Fault("wrong-type", "`as-work` takes two texts and a function")
    if s[3].work is None:
        return apply(function, (), k, s, span)
    raise BeginSpan(_work, (function, span), k, s, kind, name, 1)


def _work(begun: tuple[Work, Value, Span | None], k: Frame, s: Segment) -> Step:
    work, function, span = begun
    return apply(function, (), BOTTOM, (WORK, k, s, s[3].with_work(work), None), span)


def _end_work(value: Value, s: Segment) -> Step:
    raise EndSpan(s[3].work, None, give(value, s), 1)


WORK = Kind("work", _end_work)
"""The segment around a piece of traced work. If it is unwound, the work has not come to its end."""

WORK.stripped = Kind("work that is left", give)
WORK.is_traced = WORK.stripped.is_traced = True


def _drop_nil(overrides: Value) -> dict[str, Value]:
    """Return overrides without those that are nil. A history of nil is the symbol `none`."""
    given = overrides if isinstance(overrides, dict) else {}
    kept = {key: value for key, value in given.items() if value is not None}
    if "history" in given:
        history = given["history"]
        if history is None:
            kept["history"] = None
        elif isinstance(history, Symbol) and history.name == "none":
            del kept["history"]
    return kept
