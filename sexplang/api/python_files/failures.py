"""The failures of Python functions as errors of the program, with the place in their file."""

from collections.abc import Callable, Generator
from functools import wraps
from typing import Any

from sexplang.guards.interrupt import GraceOver
from sexplang.guards.secrets import redact_text
from sexplang.machine import Failed
from sexplang.runtime import Refusal
from sexplang.runtime.driver.requests import close_awaitable
from sexplang.runtime.journal.redaction import clean
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Fault

LONGEST = 2_000
"""The characters of an exception that are shown."""


_STOPS = (KeyboardInterrupt, GraceOver)
"""Exceptions that end the run, whatever it calls."""


def _is_cancellation(error: BaseException) -> bool:
    """Whether the run has cancelled a call that waits. A function may also raise the exception by
    itself."""
    if isinstance(error, Exception | SystemExit):
        return False
    from asyncio import CancelledError, current_task

    if not isinstance(error, CancelledError):
        return True  # trio's own
    task = current_task()
    return task is None or task.cancelling() > 0


def line_of(error: BaseException, file: str) -> int | None:
    """Return the innermost line of an exception in a file, from 1; None if it was not there."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def describe_exception(error: BaseException) -> str:
    """Return the class and the words of an exception."""
    try:
        words = str(error)
    except Exception:  # its own `__str__` fails
        words = ""
    text = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return clean(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def with_places(function: Callable[..., Any], name: str, file: str) -> Callable[..., Any]:
    """Return a function whose exceptions are Failed, reason `python-failed`, with the place in its
    file. A Failed, as `sexplang.error` makes it, stays."""

    def explain(error: BaseException) -> Failed:
        line = line_of(error, file)
        at = file if line is None else f"{file}:{line}"
        details = {"function": name, "exception": type(error).__name__, "file": file, "line": line}
        return Failed(
            error_record(
                "PROGRAM_ERROR",
                "python-failed",
                redact_text(f"`{name}` failed at {at}: {describe_exception(error)}"),
                details=details,
                hint="correct the function; to fail on purpose, it raises "
                "sexplang.error(reason, message)",
            )
        )

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            made = function(*arguments, **named)
        except (Failed, Fault, Refusal, *_STOPS):
            raise
        # A function of a person's may raise anything, also what ends other code.
        except BaseException as error:
            raise explain(error) from error
        return AwaitableCall(made, explain) if hasattr(made, "__await__") else made

    return call


class AwaitableCall:
    """An awaitable whose exceptions are explained. Closed before it is awaited, it closes the
    coroutine."""

    def __init__(self, made: Any, explain: Callable[[BaseException], Failed]) -> None:
        self._made = made
        self._explain = explain

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            return (yield from self._made.__await__())
        except (Failed, Fault, Refusal, GeneratorExit, *_STOPS):
            raise
        # The same, but for the run's own cancellation.
        except BaseException as error:
            if _is_cancellation(error):
                raise
            raise self._explain(error) from error

    def close(self) -> None:
        close_awaitable(self._made)
