"""Program text to what the machine makes of it, in the oracle's terms, for the laws to compare."""

from collections.abc import Callable
from typing import Any

from attrs import field, frozen

from sexplang.machine import Done, Failed, Limits, Suspended, start
from sexplang.pipeline import build
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.task import error_record
from sexplang.terms.text import plain
from sexplang.terms.value import Fault, Record

Answer = Callable[[str, tuple[Any, ...]], Any]
Choose = Callable[[int], int]


UNANSWERED = error_record("TASK_FAILURE", "odd", "nobody knows")


@frozen
class Seen:
    """What can be compared: the value or the error, and what the host was asked, in order."""

    value: Any = None
    error: Any = None
    trace: list[tuple[str, Any]] = field(factory=list)
    ids: list[str] = field(factory=list, eq=False)


def answer(operation: str, arguments: tuple[Any, ...]) -> Any:
    """The world of the laws: a pure function. Some questions fail."""
    if operation == "ask" and arguments and arguments[0] in (4, 13):
        return UNANSWERED
    return smooth_answer(operation, arguments)


def smooth_answer(operation: str, arguments: tuple[Any, ...]) -> Any:
    """The same without failures."""
    if operation in ("note", "enter", "leave"):
        return None
    x = arguments[0] if arguments else 0
    return (x * 7 + 3) % 11 - 2 if type(x) is int else 0


def comparable(value: Any) -> Any:
    """A value without what the oracle does not know: messages, hints, spans, which function."""
    if isinstance(value, tuple):
        return [comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, Record) and value.kind == "error":
        given = value.fields["details"].get("value")
        return ("error", value.fields["type"], value.fields["reason"], comparable(given))
    if isinstance(value, Record):
        error = value.fields["notes"].get("error")
        return (value.kind, value.fields["status"], comparable(error))
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    return value if isinstance(value, (int, float)) else "function"


def built(text: str) -> Program:
    """A program that imports nothing."""
    return build(Source("program", text), _no_file)


def _no_file(path: str, importer: str) -> tuple[Source, ...]:
    raise Fault("file-not-found", f"there is no `{path}`")


def begun(text: str, limits: Limits = Limits(steps=1_000_000)) -> Any:  # noqa: B008
    """The outcome of the program up to its first requests."""
    return start(built(text), {}, limits=limits)


def in_order(outcome: Suspended) -> list[Request]:
    """The open requests in the order of their branches; in these worlds no deadline passes."""
    waiting = [request for request in outcome.requests if request.operation != "timer"]
    return sorted(waiting, key=lambda request: [*map(int, request.id.split("."))])


def seen(outcome: Any, reply: Answer = answer, choose: Choose = lambda open_requests: 0) -> Seen:
    """Drives an outcome to its end, answering one request at a time."""
    trace: list[tuple[str, Any]] = []
    ids: list[str] = []
    while isinstance(outcome, Suspended):
        waiting = in_order(outcome)
        request = waiting[choose(len(waiting))]
        arguments = tuple(plain(argument) for argument in request.arguments)
        trace.append((request.operation, arguments))
        ids.append(request.id)
        outcome = delivered(outcome, request.id, reply(request.operation, arguments))
    return Seen(*end(outcome), trace, ids)


def delivered(outcome: Suspended, id: str, reply: Any) -> Any:
    if isinstance(reply, Record):
        return outcome.fail(id, reply)
    return outcome.resume(id, reply)


def end(outcome: Any) -> tuple[Any, Any]:
    if isinstance(outcome, Failed):
        return None, comparable(outcome.error)
    assert isinstance(outcome, Done)
    return comparable(outcome.value), None
