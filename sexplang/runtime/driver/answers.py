"""Whatever a performer gives or raises → a value, or an error record; never an exception."""

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
from sexplang.terms.values.text import value_of
from sexplang.terms.values.value import Fault, Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal.replay_order import RecordedRun

Performer: TypeAlias = Callable[[Request], Any]
"""A request → its value, or an awaitable of it. Raises `Refusal` to fail."""

Performers: TypeAlias = Mapping[str, Performer]

Watch: TypeAlias = Callable[[Event], None]

FLAT = frozenset((str, int, float, bool, type(None)))
"""Classes of which every instance is plain data: nothing to look into."""


class OutputLost(BaseException):
    """Nobody takes the run's output any more. Not for the program: it ends the run, and `drive`
    raises what was raised where the output went."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


@define(eq=False)
class RetriedReply:
    """A reply that took more than one attempt, as `retried` gives it."""

    value: Value
    attempts: int


@define(eq=False)
class DeferredReply:
    """What a performer gives that asks a recording: the run says when the reply comes. `perform`
    gives the reply of what is no model."""

    recorded: "RecordedRun"
    last_message: str = ""
    perform: Performer | None = None


def read_reply(reply: Any, operation: str) -> tuple[Value, bool, int]:
    """What a performer gave, as (value or error, failed, attempts), without credentials."""
    attempts = 1
    if reply.__class__ is RetriedReply:
        reply, attempts = reply.value, reply.attempts
    if reply.__class__ in FLAT and reply.__class__ is not int:
        return redact(reply) if KNOWN.secrets else reply, False, attempts
    try:
        value = value_of(reply)
        return redact(value) if KNOWN.secrets else value, False, attempts
    except Fault as fault:
        return failure(fault, operation), True, attempts


def failure(error: BaseException, operation: str) -> Record:
    """The error record for whatever a performer raised. Of a model, where that does not say what it
    took, nobody knows."""
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
    """The error of a request that was cut short for whoever goes on without its reply. `part` is
    what it had got."""
    words = f"`{request.operation}` was interrupted"
    return cut_off(error_record("TASK_FAILURE", "cancelled", words), with_sent(part))


def attempts_of(error: BaseException) -> int:
    return error.attempts if isinstance(error, Refusal) else 1


def refuse_unhandled(operation: str, performers: Performers) -> Refusal:
    """Nobody answers this operation."""
    names = sorted(performers.keys() - {"timer"})  # what a deadline asks, and no program
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
"""The handlers that `stdlib/` has for its own operations."""


def close_awaitable(awaitable: Any) -> None:
    """Nobody awaits it any more; a coroutine that was never awaited would warn."""
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
