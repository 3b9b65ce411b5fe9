"""The events of a run, for observers such as the terminal's progress view.

What was sent and said is content. Only listeners that ask for it see it.
"""

from collections.abc import Sequence
from time import monotonic, time
from typing import Any, TypeAlias

from sexplang.runtime.driver.partial_json import read_answer
from sexplang.runtime.journal.rows import Row
from sexplang.terms.effect import Request
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Record, Value


class _RequestEvent:
    """The base of all events: `id` and `operation` of the request. A model call of a conversation
    also has the name of its `task` and its `turn`; what the program performs itself, its `place`.
    Properties are computed when they are read, since most events are not read. Without
    `has_content`, those of the content are None."""

    __slots__ = ("has_content", "request")
    __match_args__: tuple[str, ...] = ("id", "operation", "task", "turn")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.has_content = False

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
        return _turn_of(self.request)

    @property
    def place(self) -> str | None:
        """The place of the request in the program, `file:line`, if it has one."""
        return place_of(self.request)

    def __repr__(self) -> str:
        said = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__match_args__])
        return f"{type(self).__name__}({said})"


class Queued(_RequestEvent):
    """A model call waits because `parallel` calls are in flight."""

    __slots__ = ()


class Started(_RequestEvent):
    """A request is being performed."""

    __slots__ = ("_clock", "_since")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.has_content = False
        self._since = time()
        self._clock = monotonic()

    @property
    def arguments(self) -> list[Any] | None:
        """The arguments of the operation as plain data."""
        return [plain(each) for each in self.request.arguments] if self.has_content else None

    def make_row(self, value: Value, failed: bool, attempts: int) -> Row:
        """Return the journal row of the request with its reply."""
        asked, since = self.request, self._since
        ended = since + monotonic() - self._clock
        return Row(
            asked.id, asked.operation, asked.arguments, value, failed, attempts, since, ended
        )


class Finished(_RequestEvent):
    """A request has its reply. `usage` holds `input_tokens` and `output_tokens` if known."""

    __slots__ = ("_row",)
    # fmt: off
    __match_args__ = (
        "id", "operation", "task", "turn", "seconds", "model", "usage", "error", "attempts",
    )
    # fmt: on

    def __init__(self, request: Request, row: Row) -> None:
        self.request = request
        self.has_content = False
        self._row = row

    @property
    def reply(self) -> Any:
        """The reply as plain data; None if it is an error."""
        is_shown = self.has_content and not self._row.failed
        return plain(self._row.reply) if is_shown else None

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


class Said(_RequestEvent):
    """A model is writing; `characters` of its reply have arrived. A later attempt at the call
    begins anew, after a Retrying."""

    __slots__ = ("_end", "_pieces", "_start", "characters")
    __match_args__ = ("id", "operation", "task", "turn", "characters")

    def __init__(
        self, request: Request, pieces: Sequence[str], start: int, end: int, characters: int
    ) -> None:
        self.request = request
        self.has_content = False
        self._pieces = pieces
        self._start = start
        self._end = end
        self.characters = characters

    @property
    def text(self) -> str | None:
        """The text that has arrived since the last Said."""
        return "".join(self._pieces[self._start : self._end]) if self.has_content else None

    @property
    def value(self) -> Any:
        """What is whole so far of a typed answer; None for one without a JSON schema."""
        schema = self.request.arguments[0].get("output_schema") if self.has_content else None
        return None if schema is None else read_answer("".join(self._pieces[: self._end]), schema)

    def join(self, earlier: "Said") -> "Said":
        """Return the event for this piece and those of an event before it."""
        start = earlier._start if earlier._pieces is self._pieces else self._start
        joined = Said(self.request, self._pieces, start, self._end, self.characters)
        joined.has_content = self.has_content
        return joined


class Withdrawn(_RequestEvent):
    """A request was withdrawn. `model` and `usage` are those of a partial reply, if any was
    counted."""

    __slots__ = ("_row",)
    __match_args__ = ("id", "operation", "task", "turn", "model", "usage")

    def __init__(self, request: Request, row: Row | None = None) -> None:
        super().__init__(request)
        self._row = row

    @property
    def model(self) -> str | None:
        return None if self._row is None else self._row.model

    @property
    def usage(self) -> dict[str, int]:
        return {} if self._row is None else _counts(self._row.usage)


class Retrying(_RequestEvent):
    """An attempt failed, and the next one starts after `wait` seconds. `held` is true if the
    circuit breaker imposes the wait because of another call's error."""

    __slots__ = ("attempt", "error", "held", "wait")
    __match_args__ = ("id", "operation", "task", "turn", "attempt", "wait", "error", "held")

    def __init__(
        self, request: Request, attempt: int, wait: float, error: Record, held: bool = False
    ) -> None:
        super().__init__(request)
        self.attempt = attempt
        self.wait = wait
        self.error = error
        self.held = held


class Progressed(_RequestEvent):
    """`(progress text fraction)`."""

    __slots__ = ("fraction", "text")
    __match_args__ = ("id", "operation", "task", "turn", "text", "fraction")

    def __init__(self, request: Request, text: str, fraction: float | None = None) -> None:
        super().__init__(request)
        self.text = text
        self.fraction = fraction


Event: TypeAlias = Queued | Started | Said | Finished | Withdrawn | Retrying | Progressed


def task_of(request: Request) -> str | None:
    """Return the name of the atomic task that a request belongs to, or None."""
    conversations = request.context.conversations
    return conversations[-1].name if conversations else None


def place_of(request: Request) -> str | None:
    """Return the place of a request in the program, `file:line`, or None."""
    if request.span is None:
        return None
    place = request.span.plain()
    return f"{place['source']}:{place['line']}"


def model_name_of(request: Request | Row) -> str | None:
    """Return the model name that a model request contains, or None."""
    payload = request.arguments[0] if request.operation == "model" and request.arguments else None
    named = payload.get("model") if isinstance(payload, dict) else None
    return named if isinstance(named, str) and named else None


def _turn_of(request: Request) -> int | None:
    """Return the number of a model request in its conversation, from 1."""
    payload = request.arguments[0] if request.operation == "model" and request.arguments else None
    messages = payload.get("messages") if isinstance(payload, dict) else None
    if not isinstance(messages, (tuple, list)):
        return None
    turn = 1
    for message in messages:
        if isinstance(message, dict) and message.get("role") == "assistant":
            turn += 1
    return turn


def _counts(usage: dict[str, Value]) -> dict[str, int]:
    """Return the valid counts of a usage. A host's performer may return anything."""
    counts: dict[str, int] = {}
    for name, count in usage.items():
        if type(count) is int and count >= 0:
            counts[name] = count
    return counts
