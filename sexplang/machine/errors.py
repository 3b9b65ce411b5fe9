"""Error records: from the arguments of `raise` and `error` (`language.md` §4), and the machine's
own."""

from typing import Any

from sexplang.terms.source import Span
from sexplang.terms.task import error_record
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Symbol, Value


def error_from(value: Value, span: Span | None) -> Record:
    """Return the error record for a raised value: an error itself, the error of a FAILED
    TaskResult, a table with `reason` or `type`, a symbol as the reason, or any other value. Raises
    Fault `wrong-type` for a table that gives a field twice."""
    error = value
    if isinstance(value, Record) and value.kind == "TaskResult":
        notes = value.fields.get("notes")
        error = notes.get("error") if isinstance(notes, dict) else None
    if isinstance(error, Record) and error.kind == "error":
        return error
    if isinstance(value, dict) and ("reason" in value or "type" in value):
        return _from_table(value, span)
    reason = value.name if isinstance(value, Symbol) else "raised"
    return error_record(
        "USER_ERROR", reason, _words(value), details={"value": value}, span=_place(span)
    )


def user_error(arguments: tuple[Value, ...], span: Span | None) -> Record:
    """Return the error of `(error "text" x…)`. The further arguments are `details.values`."""
    words = " ".join(map(_words, arguments))
    return error_record(
        "USER_ERROR", "raised", words, details={"values": arguments[1:]}, span=_place(span)
    )


def limit(reason: str, message: str, hint: str) -> Record:
    """Return the error that ends a run at a limit of the interpreter."""
    return error_record("RESOURCE_EXHAUSTION", reason, message, hint=hint)


_FIELDS = frozenset(("type", "reason", "message", "details", "content", "span", "hint"))


def _from_table(table: dict[str, Value], span: Span | None) -> Record:
    """Return the error of a table. Text fields must be texts. Unknown fields go to the details."""
    more = {name: value for name, value in table.items() if name not in _FIELDS}
    place, hint = table.get("span", _place(span)), table.get("hint")
    given = {} if table.get("details") is None else table["details"]
    if not _is_place(place):
        more["span"], place = place, _place(span)
    if not isinstance(given, dict):
        given = {"value": given}
    details = {**more, **given}
    if len(details) < len(more) + len(given):
        twice = next(name for name in more if name in given)
        words = f"`{twice}` stands both beside the `details` of an error and in them"
        raise Fault("wrong-type", words, hint="what an error has no field for belongs in `details`")
    return error_record(
        _words(table.get("type")) or "USER_ERROR",
        _words(table.get("reason")) or "raised",
        _words(table.get("message")),
        details=details,
        content=table.get("content"),
        span=place,
        hint=None if hint is None else _words(hint),
    )


def _is_place(span: Value) -> bool:
    """Return whether a value is the `span` of an error: a source, a line and a column, or nil."""
    if span is None:
        return True
    if not isinstance(span, dict) or not isinstance(span.get("source"), str):
        return False
    numbers = [span.get("line"), span.get("column")]
    numbers += [span[name] for name in ("end_line", "end_column") if name in span]
    return all(type(one) is int and one > 0 for one in numbers)


def _words(value: Value) -> str:
    """Return the text of a value, abbreviated if it is too long."""
    try:
        return text(value)
    except Fault:
        return abbreviate(value)


def _place(span: Any) -> Value:
    return span.plain() if span is not None else None


def too_many_subtasks(most: int) -> Record:
    """Return the error of a request for one subtask too many."""
    return error_record(
        "TASK_FAILURE",
        "execution_halted",
        f"a run may ask for at most {most} subtasks",
        details={"limit_kind": "subtasks", "limit": most},
        hint="look for a task that asks for itself, or raise the limit: "
        f"--limit subtasks={2 * most}",
    )


def all_failed(values: tuple[Value, ...]) -> Record:
    """Return the error of a race without a winner."""
    errors = tuple([lost.error for lost in values])
    words = "; ".join(str(error.fields["message"]) for error in errors[:3])
    return error_record(
        "TASK_FAILURE",
        "all-failed",
        f"every branch of the race failed: {words}",
        details={"errors": errors},
    )


def not_resumable() -> Fault:
    """Return the fault of resuming where a primitive failed."""
    return Fault(
        "not-resumable",
        "this error was raised inside a primitive and can be caught, but not resumed",
        hint="resume where `raise` or a task failed, or catch it",
    )


def cannot_resume_across(operation: str, span: Span | None, is_tool: bool) -> Record:
    """Return the error of a clause beyond a branch's base that would resume and go on."""
    where, instead = "a `par`", "branches share no state: what one has is its value"
    if is_tool:
        where = "a conversation, which calls its tools in branches,"
        instead = "a tool that keeps state is called in order: (allowed_tools (in-order name))"
    return error_record(
        "PROGRAM_ERROR",
        "resume-across-par",
        f"a handler around {where} takes `{operation}` and does more with its continuation than "
        "resume it last",
        span=span.plain() if span is not None else None,
        hint=f"resume in tail position, forward, or put the handler inside the branch; {instead}",
    )
