"""Values of the language as plain Python data, and back; a TaskResult is an object on both
sides."""

from typing import Any

from sexplang.api import argument_checks
from sexplang.guards.secrets import redact
from sexplang.machine import Done, Failed, Outcome, Suspended
from sexplang.terms.classes.node import field, fields, frozen
from sexplang.terms.task import error_of, error_record
from sexplang.terms.values.boundary import plain, value_of, writable_value
from sexplang.terms.values.value import Fault, Value


@frozen
class TaskResult:
    """An atomic task's result; its text is its content.

    `status` is COMPLETE, CONTINUATION or FAILED; `parsed_content` is what a declared output
    format made of the content; `usage` holds `input_tokens` and `output_tokens`. A FAILED result
    has its error, a dict, as `notes["error"]`.
    """

    status: str
    content: str
    parsed_content: Any = None
    notes: dict[str, Any] = field(factory=dict)
    usage: dict[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        argument_checks.text("the status of a TaskResult", self.status)
        if not isinstance(self.content, str):
            raise argument_checks.wrong("the content of a TaskResult", "a text", self.content)
        argument_checks.by_name("the notes of a TaskResult", self.notes)
        argument_checks.by_name("the usage of a TaskResult", self.usage)

    def __str__(self) -> str:
        return self.content


_FIELDS = tuple([each.name for each in fields(TaskResult)])


def result(outcome: Outcome) -> Any:
    """Return the value of a run that is Done, as plain Python data.

    The data are list, dict, str (also for symbols), int, float, bool and None. TaskResults stay,
    errors are dicts.

    Raises Failed: the run's own, or with the reason `not-data` for a value with a function in it.
    Raises TypeError for a run that still waits.
    """
    if isinstance(outcome, Failed):
        raise outcome
    if isinstance(outcome, Suspended):
        raise TypeError("the run still waits: answer its requests first")
    if not isinstance(outcome, Done):
        raise argument_checks.wrong("outcome", "what start, resume or fail gives", outcome)
    try:
        return python(redact(outcome.value))
    except Fault as fault:
        raise Failed(error_of(fault)) from None


def error(reason: str, message: str, *, type: str = "USER_ERROR", **details: Any) -> Failed:
    """Return a Failed to raise in a function that a program calls; its `.error` is for
    `Suspended.fail`.

    The program sees the error `{type reason message details …}` and may catch it by its reason.
    Raises Failed, reason `not-data`, for details that are not data.
    """
    for what, given in (("reason", reason), ("message", message), ("type", type)):
        argument_checks.text(what, given)
    try:
        return Failed(error_record(type, reason, message, details=dict(value(details))))
    except Fault as fault:
        raise Failed(error_of(fault)) from None


def python(value: Value) -> Any:
    """Return a value as plain Python data. Raises Fault `not-data`."""
    return plain(value, _object)


def value(data: Any) -> Value:
    """Return plain Python data as a value.

    Raises Fault: `not-data`, `not-text`, `limit-data`, `limit-integer`.
    """
    return writable_value(data, _record)


def from_model(data: Any) -> Value:
    """Return the value of a model's data; a lone surrogate in it becomes `?`."""
    try:
        return value(data)
    except Fault as fault:
        if fault.code != "not-text":
            raise
    from sexplang.runtime.journal.redaction import clean_data

    return value_of(clean_data(plain(value_of(data, _record))))


def _object(kind: str, found: dict[str, Any]) -> Any:
    is_result = kind == "TaskResult" and tuple(found) == _FIELDS
    return TaskResult(**found) if is_result else found


def _record(item: Any) -> tuple[str, dict[str, Any]] | None:
    if not isinstance(item, TaskResult):
        return None
    return "TaskResult", {name: getattr(item, name) for name in _FIELDS}
