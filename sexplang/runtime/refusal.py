"""What went wrong outside → an error record, carried by the one exception performers raise."""

from typing import Any

from sexplang.runtime.journal.redaction import clean
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record


class Refusal(Exception):
    """A performer does not give a value: `error` is the record that the program sees.

    `again` says that another attempt may succeed, `retry_after` when the other side said so; `sent`
    that the other side may have read what was asked, and has not said what came of it.
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
    """A recording does not hold what a run asks for: nothing in the program catches it."""


def refuse(code: str, message: str, *, hint: str | None = None, **details: Any) -> Refusal:
    """The program asked for something that cannot be given: a PROGRAM_ERROR."""
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
    """A model or what lies before it failed: a TASK_FAILURE; `code` stands in its details."""
    known = {"code": code} | {name: value for name, value in details.items() if value is not None}
    error = error_record("TASK_FAILURE", reason, clean(message), details=_clean(known), hint=hint)
    return Refusal(error, again=again, retry_after=retry_after, sent=sent)
