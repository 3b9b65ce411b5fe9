"""Program text to what the machine makes of it, in the oracle's terms, for the laws to compare."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from attrs import field, frozen

from sexplang.machine import Done, Failed, Limits, Suspended, start, state_of
from sexplang.machine.scheduler.branches import Queued, Waiting, sort_key
from sexplang.pipeline.pipeline import build
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.task import TaskSystem, error_record
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Record

Answer = Callable[[str, tuple[Any, ...]], Any]
Asked = tuple[str, tuple[Any, ...]]
Choose = Callable[[list[Asked], int], int]
"""What happens next, of what waits: so many requests, then deadlines."""


UNANSWERED = error_record("TASK_FAILURE", "odd", "nobody knows")


@frozen
class Seen:
    """What can be compared: the value or the error, what the host was asked, in order, and what
    was open before each answer: operations and arguments, deadlines last."""

    value: Any = None
    error: Any = None
    trace: list[Asked] = field(factory=list)
    waits: list[list[Asked]] = field(factory=list)
    ids: list[str] = field(factory=list, eq=False)


def answer(operation: str, arguments: tuple[Any, ...]) -> Any:
    """The world of the laws: a pure function. Some questions fail."""
    if operation in ("ask", "model") and arguments and arguments[0] in (4, 13):
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
        details = value.fields["details"]
        told = details.get("value"), details.get("errors"), details.get("metrics", {}).get("limit")
        refused = sorted(map(repr, map(comparable, details.get("suppressed", ()))))
        said = ("error", value.fields["type"], value.fields["reason"], comparable(told))
        return (*said, refused if len(refused) < 8 else "many") if refused else said
    if isinstance(value, Record):
        error = value.fields["notes"].get("error")
        return (value.kind, value.fields["status"], comparable(error))
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    return value if isinstance(value, (int, float)) else "function"


@lru_cache(maxsize=16)
def built(text: str) -> Program:
    """A program that imports no file. It is a value: laws run the same one again and again."""
    return build(Source("program", text), _no_file)


def _no_file(path: str, importer: str) -> tuple[Source, ...]:
    raise Fault("file-not-found", f"there is no `{path}`")


def limits(places: int = 3) -> Limits:
    """Those of the laws."""
    return Limits(steps=1_000_000, places=places)


def begun(
    text: str,
    limits: Limits = limits(),  # noqa: B008
    system: TaskSystem | None = None,
) -> Any:
    """The outcome of the program up to its first requests."""
    return start(built(text), {}, system, limits)


def in_order(outcome: Suspended) -> list[Request]:
    """The open requests in the order of their branches, without deadlines."""
    waiting = [request for request in outcome.requests if request.operation != "timer"]
    return sorted(waiting, key=lambda request: sort_key(request.id))


def deadlines(outcome: Suspended) -> list[Request]:
    """The open deadlines, shortest first; of equal ones the outermost over the first branch that
    waits, for the host or for a place."""
    timers = state_of(outcome).scheduler.times.timers
    branches = sorted(state_of(outcome).scheduler.branches.values(), key=lambda branch: branch.path)
    above = [each.s[3].scopes for each in branches if isinstance(each, (Waiting, Queued))]
    open_ones = dict.fromkeys(id for scopes in above for id in scopes if id in timers)
    assert {*open_ones} == {r.id for r in outcome.requests if r.operation == "timer"}
    return sorted([timers[id].timer() for id in open_ones], key=lambda timer: timer.arguments)


def asked(request: Request) -> Asked:
    return request.operation, tuple(plain(argument) for argument in request.arguments)


def first(waits: list[Asked], requests: int) -> int:
    """A schedule in which branches are answered in order and no deadline passes."""
    return 0


def seen(
    outcome: Any,
    reply: Answer = answer,
    choose: Choose = first,
    pause: Callable[[Suspended], Suspended] = lambda outcome: outcome,
    told: Callable[[Request], Asked] = asked,
) -> Seen:
    """Drives an outcome to its end: one request is answered at a time, or one deadline passes.
    `pause` gives what goes on in place of each that waits; `told` what is seen of a request."""
    trace: list[Asked] = []
    waits: list[list[Asked]] = []
    ids: list[str] = []
    while isinstance(outcome, Suspended):
        outcome = pause(outcome)
        waiting = in_order(outcome)
        open_ones = [*waiting, *deadlines(outcome)]
        if not open_ones:
            return Seen(None, "it waits for nothing", trace, waits, ids)
        waits.append([*map(told, open_ones)])
        chosen = choose(waits[-1], len(waiting))
        request = open_ones[chosen]
        trace.append(waits[-1][chosen])
        ids.append(request.id)
        replied = None if request.operation == "timer" else reply(*trace[-1])
        outcome = delivered(outcome, request.id, replied)
    return Seen(*end(outcome), trace, waits, ids)


def delivered(outcome: Suspended, id: str, reply: Any) -> Any:
    if isinstance(reply, Record):
        return outcome.fail(id, reply)
    return outcome.resume(id, reply)


def end(outcome: Any) -> tuple[Any, Any]:
    if isinstance(outcome, Failed):
        return None, comparable(outcome.error)
    assert isinstance(outcome, Done)
    return comparable(outcome.value), None
