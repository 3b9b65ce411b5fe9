"""What happens in a run → records for whoever watches it (progress on a terminal)."""

from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.terms.effect import Request
from sexplang.terms.node import field, node
from sexplang.terms.value import Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal import Row


@node
class Queued:
    """A model call waits: as many as may be are in flight."""

    id: str
    task: str | None


@node
class Started:
    """A request is being performed; `task` and `turn` when it is a conversation's model call."""

    id: str
    operation: str
    task: str | None = None
    turn: int | None = None


@node
class Finished:
    """A request has its answer. `usage` holds `input_tokens` and `output_tokens` if known."""

    id: str
    operation: str
    task: str | None
    turn: int | None
    seconds: float
    model: str | None = None
    usage: dict[str, Any] = field(factory=dict)
    error: Record | None = None
    attempts: int = 1


@node
class Said:
    """A model is writing: so many characters of its reply have arrived."""

    id: str
    characters: int


@node
class Withdrawn:
    """A request whose answer nobody wants any more. `model` and `usage` of a model call that was
    counted in part until then."""

    id: str
    operation: str
    model: str | None = None
    usage: dict[str, Any] = field(factory=dict)


@node
class Retrying:
    """So many attempts failed; the next one starts after `wait` seconds."""

    id: str
    task: str | None
    attempt: int
    wait: float
    error: Record
    held: bool = False
    """Whether it waits because of what others were told by the same server, as `error` says."""


@node
class Progressed:
    """`(progress text fraction)`."""

    text: str
    fraction: float | None = None


Event: TypeAlias = Queued | Started | Said | Finished | Withdrawn | Retrying | Progressed


def task_of(request: Request) -> str | None:
    """The name of the atomic task that a request is for."""
    conversations = request.context.conversations
    return conversations[-1].name if conversations else None


def turn_of(request: Request) -> int | None:
    """Which call of its conversation a model request is, from 1."""
    payload = request.arguments[0] if request.operation == "model" and request.arguments else None
    messages = payload.get("messages") if isinstance(payload, dict) else None
    if not isinstance(messages, (tuple, list)):
        return None
    turn = 1
    for message in messages:
        if isinstance(message, dict) and message.get("role") == "assistant":
            turn += 1
    return turn


def begun(request: Request) -> Started:
    """What is told of a request that is about to be performed."""
    return Started(request.id, request.operation, task_of(request), turn_of(request))


def finished(row: "Row", told: Started) -> Finished:
    """What is told of a request that has its reply."""
    model, usage = row.counted()
    return Finished(
        row.id,
        row.operation,
        told.task,
        told.turn,
        row.ended - row.started,
        model,
        _counts(usage),
        row.reply if row.failed else None,
        row.attempts,
    )


def withdrawal(request: Request, row: "Row | None") -> Withdrawn:
    """What is told of a request that was withdrawn; `row` says what it had got."""
    if row is None:
        return Withdrawn(request.id, request.operation)
    return Withdrawn(request.id, request.operation, row.model, _counts(row.usage))


def _counts(usage: dict[str, Value]) -> dict[str, int]:
    """Only what can be counted: a performer of the host may reply anything."""
    counts: dict[str, int] = {}
    for name, count in usage.items():
        if type(count) is int and count >= 0:
            counts[name] = count
    return counts
