"""The replies of performers as values or error records; no exception of a performer passes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.guards.secrets import KNOWN, redact, redact_text
from sexplang.runtime.driver.events import Event
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define
from sexplang.terms.effect import UNCOUNTED, UNMADE, Part, Request, with_sent
from sexplang.terms.task import cut_off, error_of, error_record
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Fault, Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal.replay_order import RecordedRun

Performer: TypeAlias = Callable[[Request], Any]
"""A function from a request to its value, or to an awaitable of it. It raises `Refusal` to fail."""

Performers: TypeAlias = Mapping[str, Performer]

Watch: TypeAlias = Callable[[Event], None]

PLAIN_CLASSES = frozenset((str, int, float, bool, type(None)))
"""Classes whose instances are plain data and hold no other values."""


class OutputLost(BaseException):
    """The run's output has no reader any more. The program cannot catch it: it ends the run, and
    `drive` raises the error that the output raised."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


@define(eq=False)
class RetriedReply:
    """A reply that took more than one attempt, as `call_with_retries` returns it."""

    value: Value
    attempts: int


@define(eq=False)
class DeferredReply:
    """A reply that comes from a recording when the replay order allows it. With `perform`, the
    operation is performed and its reply is held until its turn."""

    recorded: "RecordedRun"
    last_message: str = ""
    perform: Performer | None = None


def read_reply(reply: Any, operation: str) -> tuple[Value, bool, int]:
    """Convert a performer's reply to (value or error, failed, attempts). Credentials are
    redacted."""
    attempts = 1
    if reply.__class__ is RetriedReply:
        reply, attempts = reply.value, reply.attempts
    if reply.__class__ in PLAIN_CLASSES and reply.__class__ is not int:
        return redact(reply) if KNOWN.secrets else reply, False, attempts
    try:
        value = value_of(reply)
        return redact(value) if KNOWN.secrets else value, False, attempts
    except Fault as fault:
        return failure(fault, operation), True, attempts


def failure(error: BaseException, operation: str) -> Record:
    """Return the error record for an exception of a performer. An exception of a model that reports
    no usage counts as uncounted."""
    if isinstance(error, Refusal):
        return redact(error.error)  # type: ignore[no-any-return]
    part = with_sent(UNCOUNTED if operation == "model" else UNMADE)
    if isinstance(error, Fault):
        words = redact_text(f"the reply to `{operation}`: {error.message}")
        return cut_off(error_of(Fault(error.code, words, hint=error.hint)), part)
    failed = error_record(
        "TASK_FAILURE",
        "unexpected_error",
        clean(f"what answers `{operation}` failed: {type(error).__name__}: {error}"),
        details={"code": "performer-failed", "operation": operation},
        hint="correct the function; to fail on purpose, it raises sexplang.error(reason, message)",
    )
    return cut_off(failed, part)


def make_interruption(request: Request, part: Part) -> Record:
    """Return the error of an interrupted request for a waiter that continues. `part` is the partial
    reply."""
    words = f"`{request.operation}` was interrupted"
    return cut_off(error_record("TASK_FAILURE", "cancelled", words), with_sent(part))


def attempts_of(error: BaseException) -> int:
    """Return the number of attempts that an error reports; 1 if it reports none."""
    return error.attempts if isinstance(error, Refusal) else 1


def refuse_unhandled(operation: str, performers: Performers) -> Refusal:
    """Return the refusal of an operation that has neither a handler nor a performer."""
    names = sorted(performers.keys() - {"timer"})  # performed for deadlines, not for programs
    known = ", ".join(names) or "none"
    guess = did_you_mean(operation, names)
    around = _AROUND.get(operation, f"(handle … (({operation} …) resume …))")
    return refuse(
        "unhandled-effect",
        f"nobody answers `{operation}`",
        hint=f"{guess} put a handler around it: {around}; this host answers: {known}".lstrip(),
        operation=operation,
    )


_CELLS = "(with-state initial (lambda () …)), or (with-cells {name: initial} (lambda () …)), of "
_AROUND = dict.fromkeys(("get-cell", "put-cell"), _CELLS + "std/state")
"""Handlers in `stdlib/` for the operations of the library."""


def close_awaitable(awaitable: Any) -> None:
    """Close an abandoned awaitable. A coroutine that was never awaited would warn."""
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
