"""What answered a tool call or a subtask to what is said of it: to the model, in the notes."""

from sexplang.tasks.plans.ledger import results_of, strip_error
from sexplang.tasks.prompt.substitution import value_text
from sexplang.tasks.requests.match import describe_substitute
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.task import MISTAKES
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Value


def outcome(value: Value) -> tuple[str, bool]:
    """What answered, as a model reads it, and whether it is a failure: then the TaskError. Raises
    Fault for what no data is: that is a mistake of the program."""
    try:
        if isinstance(value, Record) and value.fields.get("status") == "FAILED":
            return error_words(value), True
        if (fields_of(value) or {}).get("status") == "CONTINUATION":
            return json_text(_GOES_ON), True
        said = "; ".join(_instead(value))
        return value_text(value) + (f"\n\n[{said}]" if said else ""), False
    except Fault as fault:
        if fault.code in MISTAKES:
            raise
        error = {"type": "TASK_FAILURE", "reason": "tool_execution_error", "message": fault.message}
        return json_text({**error, "details": {"code": fault.code}}), True


_GOES_ON: dict[str, Value] = {
    "type": "TASK_FAILURE",
    "reason": "tool_execution_error",
    "message": "the tool gave a CONTINUATION, and nobody can go on with it: only a conversation "
    "asks for a subtask",
}


def _instead(value: Value) -> tuple[str, ...]:
    """What is said where a task has a result that was asked for by another name. All else that a
    subtask was warned of is for the notes: its answer may be JSON that somebody asked for."""
    notes = _notes(value)
    if "asked_for" not in notes:
        return ()
    said = describe_substitute(notes["asked_for"], notes.get("template_used"))
    return (said,) if said else ()


def _warnings_of(value: Value) -> tuple[str, ...]:
    """What a subtask was warned of, but for what is said in any case."""
    listed = _notes(value).get("warnings")
    if not isinstance(listed, tuple):
        return ()
    before = _instead(value)
    return tuple([text(each) for each in listed if each not in before])


def _notes(value: Value) -> dict[str, Value]:
    is_result = isinstance(value, Record) and value.kind == "TaskResult"
    return (fields_of(value.fields.get("notes")) or {}) if is_result else {}


def _find_unanswered(value: Value) -> tuple[str, ...]:
    """What is said where the model asked the user, and nobody is there."""
    error = fields_of(_notes(value).get("error")) or {}
    if error.get("reason") != _NOBODY:
        return ()
    return (f"the user was asked and did not answer: {text(error.get('message'))}",)


def collect_warnings(replies: tuple[Value, ...]) -> tuple[str, ...]:
    """What is to be noted of how subtasks and plans among the replies were understood."""
    found: list[Value] = []
    for value in replies:
        task = _notes(value).get("template_used")
        about = f"subtask `{text(task)}`: " if task is not None else "subtask: "
        found += _instead(value)
        found += [about + said for said in _warnings_of(value)]
        found += _find_unanswered(value)
    for plan in [fields_of(value) or {} for value in replies if results_of(value)]:
        listed = plan.get("warnings")
        found += listed if isinstance(listed, tuple) else ()
    return tuple(found)


def sum_usage(replies: tuple[Value, ...]) -> tuple[int, int]:
    """Input and output tokens that subtasks among what answered took, with theirs; a failed one
    says so in the details of its error."""
    taken = given = 0
    work = list(replies)
    while work:
        value = work.pop()
        work.extend(results_of(value))
        if not isinstance(value, Record) or value.kind != "TaskResult":
            continue
        notes = fields_of(value.fields.get("notes")) or {}
        error = fields_of(notes.get("error")) or {}
        details = fields_of(error.get("details")) or {}
        usage = notes.get("chain_usage") or details.get("usage") or value.fields.get("usage")
        counts = fields_of(usage) or {}
        taken += _count(counts.get("input_tokens"))
        given += _count(counts.get("output_tokens"))
    return taken, given


def _count(value: Value) -> int:
    return value if type(value) is int and value > 0 else 0


def halting(value: Value) -> Record | None:
    """The error that stopped a chain of subtasks, if that is what answered."""
    if not isinstance(value, Record) or value.fields.get("status") != "FAILED":
        return None
    error = _notes(strip_error(value)).get("error")
    is_halt = isinstance(error, Record) and error.fields.get("reason") == "execution_halted"
    return error if is_halt else None


def error_words(failed: Record) -> str:
    """The TaskError of a FAILED result as JSON, with what was done until then as its content."""
    notes = fields_of(failed.fields.get("notes")) or {}
    error = fields_of(notes.get("error"))
    content = failed.fields.get("content")
    if error is None:
        error = {
            "type": "TASK_FAILURE",
            "reason": "unexpected_error",
            "message": "it failed and did not say why",
            "content": content,
            "details": notes,
        }
    # Places in our program's text mean nothing to a model; what to allow is the operator's.
    hidden = ("span", "hint") if error.get("reason") in _DENIED else ("span",)
    if error.get("reason") == _NOBODY:
        error = {**error, "hint": _ON_YOUR_OWN}
    details = fields_of(error.get("details")) or {}
    known = {key: item for key, item in details.items() if not _is_own(key, item)}
    if len(known) < len(details):
        error = {**error, "details": known}
    told = {
        key: item for key, item in error.items() if key not in hidden and item not in (None, {}, "")
    }
    try:
        return json_text(told)
    except Fault:  # what it says matters more than details that no model can be given
        return json_text({key: told[key] for key in told if key not in ("details", "content")})


def _is_own(detail: str, item: Value) -> bool:
    """Whether a detail is for the program alone: a model knows what it asked for itself, and what
    is bound in a program's text is no work of a subtask."""
    return detail == "subtaskRequest" or (detail == "partial_results" and type(item) is dict)


_DENIED = frozenset({"path-denied", "run-denied", "net-denied"})
_NOBODY = "no-answer"
_ON_YOUR_OWN = (
    "nobody can be asked now: go on with what you know and say what you assumed, or say what is "
    "missing"
)
