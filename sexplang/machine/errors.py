"""What `raise` and `error` are given (`language.md` §4), and what the machine raises itself, to
error records."""

from typing import Any

from sexplang.terms.brief import shown
from sexplang.terms.source import Span
from sexplang.terms.task import error_record
from sexplang.terms.text import text
from sexplang.terms.value import Fault, Record, Value


def raised(value: Value, span: Span | None) -> Record:
    """An error as it is; a FAILED TaskResult's own; a table with `reason`; anything else."""
    if isinstance(value, Record):
        if value.kind == "error":
            return value
        error = value.fields.get("notes", {}).get("error") if value.kind == "TaskResult" else None
        if isinstance(error, Record):
            return error
    if isinstance(value, dict) and "reason" in value:
        return _from_table(value, span)
    return error_record(
        "USER_ERROR", "raised", _words(value), details={"value": value}, span=_place(span)
    )


def user_error(arguments: tuple[Value, ...], span: Span | None) -> Record:
    """`(error "text" x…)`: the arguments after the text are `details.values`."""
    words = " ".join(map(_words, arguments))
    return error_record(
        "USER_ERROR", "raised", words, details={"values": arguments[1:]}, span=_place(span)
    )


def limit(reason: str, message: str, hint: str) -> Record:
    """What ends a run that exceeds a limit of the interpreter."""
    return error_record("RESOURCE_EXHAUSTION", reason, message, hint=hint)


def _from_table(table: dict[str, Value], span: Span | None) -> Record:
    details = table.get("details")
    return error_record(
        text(table.get("type")) or "USER_ERROR",
        text(table["reason"]),
        text(table.get("message")),
        details=details if isinstance(details, dict) else {},
        content=table.get("content"),
        span=table["span"] if "span" in table else _place(span),
        hint=table.get("hint"),
    )


def _words(value: Value) -> str:
    """The text of a value; a few words where that is too long."""
    try:
        return text(value)
    except Fault:
        return shown(value)


def _place(span: Any) -> Value:
    return span.plain() if span is not None else None


def too_many_subtasks(most: int) -> Record:
    """The error of a run that begins one more."""
    return error_record(
        "TASK_FAILURE",
        "execution_halted",
        f"a run may begin at most {most} subtasks",
        details={"limit_kind": "subtasks", "limit": most},
    )


def all_failed(values: tuple[Value, ...]) -> Record:
    """The error of a race that nobody has won."""
    errors = tuple([lost.error for lost in values])
    words = "; ".join(str(error.fields["message"]) for error in errors[:3])
    return error_record(
        "TASK_FAILURE",
        "all-failed",
        f"every branch of the race failed: {words}",
        details={"errors": errors},
    )
