"""What happens in a run → records for whoever watches it (progress on a terminal)."""

from time import monotonic, time
from typing import Any, TypeAlias

from sexplang.runtime.journal import Row
from sexplang.terms.effect import Request
from sexplang.terms.node import field, node
from sexplang.terms.value import Record, Value


@node
class Queued:
    """A model call waits: as many as may be are in flight."""

    id: str
    task: str | None


class _Told:
    """Of a request. What an event says is read off what it holds when somebody asks: most events
    are never read."""

    __slots__ = ("request",)
    __match_args__: tuple[str, ...] = ("id", "operation", "task", "turn")

    request: Request

    @property
    def id(self) -> str:
        return self.request.id

    @property
    def operation(self) -> str:
        return self.request.operation

    @property
    def task(self) -> str | None:
        return task_of(self.request)

    @property
    def turn(self) -> int | None:
        return turn_of(self.request)

    def __repr__(self) -> str:
        said = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__match_args__])
        return f"{type(self).__name__}({said})"


class Started(_Told):
    """A request is being performed; `task` and `turn` when it is a conversation's model call."""

    __slots__ = ("_clock", "_since")

    def __init__(self, request: Request) -> None:
        self.request = request
        self._since = time()
        self._clock = monotonic()

    def answered(self, value: Value, failed: bool, attempts: int) -> Row:
        """Its row, now that its reply is there."""
        asked, since = self.request, self._since
        ended = since + monotonic() - self._clock
        return Row(
            asked.id, asked.operation, asked.arguments, value, failed, attempts, since, ended
        )


class Finished(_Told):
    """A request has its answer. `usage` holds `input_tokens` and `output_tokens` if known."""

    __slots__ = ("_row",)
    # fmt: off
    __match_args__ = (
        "id", "operation", "task", "turn", "seconds", "model", "usage", "error", "attempts",
    )
    # fmt: on

    def __init__(self, request: Request, row: Row) -> None:
        self.request = request
        self._row = row

    @property
    def seconds(self) -> float:
        return self._row.ended - self._row.started

    @property
    def model(self) -> str | None:
        return self._row.model

    @property
    def usage(self) -> dict[str, int]:
        return _counts(self._row.usage)

    @property
    def error(self) -> Record | None:
        return self._row.reply if self._row.failed else None

    @property
    def attempts(self) -> int:
        return self._row.attempts


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


def withdrawal(request: Request, row: Row | None) -> Withdrawn:
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
