"""The exception of performers: it carries an error record."""

from typing import Any

from sexplang.runtime.journal.redaction import clean
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record


class Refusal(Exception):
    """A performer has no value; `error` is the record that the program sees.

    `again`: another attempt may succeed. `retry_after`: the seconds that the server asked for.
    `sent`: the server may have read the request and has not said what came of it.
    """

    def __init__(
        self,
        error: Record,
        *,
        again: bool = False,
        retry_after: float | None = None,
        sent: bool = False,
    ) -> None:
        super().__init__(error.fields["message"])
        self.error = error
        self.again = again
        self.retry_after = retry_after
        self.sent = sent
        self.attempts = 1


class Unrecorded(Refusal):
    """A recording lacks a request of the run. The program cannot catch it."""


def refuse(code: str, message: str, *, hint: str | None = None, **details: Any) -> Refusal:
    """Return a PROGRAM_ERROR: the program asked for something impossible."""
    known = _clean(details)
    return Refusal(error_record("PROGRAM_ERROR", code, clean(message), details=known, hint=hint))


def _clean(details: dict[str, Any]) -> dict[str, Any]:
    return {
        name: clean(value) if isinstance(value, str) else value for name, value in details.items()
    }


def make_task_failure(
    reason: str,
    code: str,
    message: str,
    *,
    hint: str | None = None,
    again: bool = False,
    retry_after: float | None = None,
    sent: bool = False,
    **details: Any,
) -> Refusal:
    """Return a TASK_FAILURE of a model or of the way to it. `code` stands in its details."""
    known = {"code": code} | {name: value for name, value in details.items() if value is not None}
    error = error_record("TASK_FAILURE", reason, clean(message), details=_clean(known), hint=hint)
    return Refusal(error, again=again, retry_after=retry_after, sent=sent)
