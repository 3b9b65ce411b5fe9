"""The requests of a run: their queue, equal calls, calls in flight, and their replies.

A reply is a value or an error record; no exception of a performer passes.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.guards.secrets import KNOWN, redact, redact_text
from sexplang.runtime.driver.events import Event
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.journal.rows import Row, digest, make_withdrawal_row
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.effect import UNCOUNTED, UNMADE, Part, Request, with_sent
from sexplang.terms.task import cut_off, error_of, error_record
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Fault, Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.driver.text_stream import TextStream
    from sexplang.runtime.journal.replay_order import PendingCall, RecordedRun
    from sexplang.runtime.models.retry import Attempts


@define(eq=False)
class RequestQueue:
    """The waiting requests of a run, in order. With `models_first`, model calls precede other
    requests that were opened at the same time."""

    models_first: bool = False
    calls: "OrderedDict[str, Request]" = field(factory=OrderedDict)
    """Model calls that wait for fewer calls in flight. No events exist for them but Queued."""
    _new: "deque[Request]" = field(factory=deque)
    """Requests that have not been looked at."""
    withdrawn_ids: set[str] = field(factory=set)
    """New requests that were withdrawn."""

    def add(self, requests: Iterable[Request]) -> None:
        """Append requests that were opened at the same time."""
        self._new.extend(_models_first(requests) if self.models_first else requests)

    def put_models_first(self) -> None:
        """Sort model calls first from now on."""
        self.models_first = True
        self._new = deque(_models_first(self._new))

    def is_at_model(self) -> bool:
        """Whether the next new request is a model call."""
        return bool(self._new) and self._new[0].operation == "model"

    @property
    def has_new(self) -> bool:
        """Whether a request has not been looked at."""
        return bool(self._new)

    def take(self) -> Request | None:
        """Remove and return the next new request, or None."""
        return self._new.popleft() if self._new else None

    def take_all(self) -> "deque[Request]":
        """Remove and return all new requests."""
        fresh, self._new = self._new, deque()
        return fresh

    def take_call(self) -> Request:
        """Remove and return the model call that has waited longest."""
        return self.calls.popitem(last=False)[1]

    def put_call_first(self, call: Request) -> None:
        """Put a model call at the head of the waiting calls."""
        self.calls[call.id] = call
        self.calls.move_to_end(call.id, last=False)

    def find_new(self, ids: Iterable[str]) -> list[Request]:
        """Return the new requests among these, which nobody has begun."""
        wanted = set(ids) if self._new else ()
        return [each for each in self._new if each.id in wanted]

    def find_equal(self, operation: str, most: int | None) -> list[Request]:
        """Return the next new requests of an operation, at most so many."""
        if most is not None and most < 1:
            return []
        gone = self.withdrawn_ids
        found = [each for each in self._new if each.operation == operation and each.id not in gone]
        return found if most is None else found[:most]

    def withdraw(self, id: str) -> None:
        """Mark a new request as withdrawn."""
        self.withdrawn_ids.add(id)

    def forget(self, id: str) -> None:
        """Drop the mark of a withdrawn request after it was reported."""
        self.withdrawn_ids.discard(id)

    def clear(self) -> None:
        """Drop all new requests and marks."""
        self._new.clear()
        self.withdrawn_ids.clear()


def _models_first(requests: Iterable[Request]) -> list[Request]:
    return sorted(requests, key=lambda request: request.operation != "model")


# -- Replies --------------------------------------------------------------------------------------

Performer: TypeAlias = Callable[[Request], Any]
"""A function from a request to its value, or to an awaitable of it. It raises `Refusal` to fail."""

Performers: TypeAlias = Mapping[str, Performer]

Watch: TypeAlias = Callable[[Event], None]

PLAIN_CLASSES = frozenset((str, int, float, bool, type(None)))
"""Classes whose instances are plain data and hold no other values."""


class OutputLost(BaseException):
    """The run's output has no reader any more, or a listener has failed. The program cannot catch
    it: it ends the run, and `drive` raises the error that the output raised."""

    def __init__(self, error: Exception) -> None:
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
    around = _AROUND.get(operation)
    if around is None:
        person = f"or let a person answer: --pause {operation}"
        around = f"(handle … (({operation} …) resume …)), {person}"
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


# -- Equal calls, and calls in flight -------------------------------------------------------------

ZERO_USAGE: dict[str, Value] = {"input_tokens": 0, "output_tokens": 0}


@define(eq=False)
class SingleFlight:
    """The groups of equal open calls. The first of a group is sent; the others get its reply."""

    _equal: dict[str, dict[str, Request]] = field(factory=dict)
    """Open calls by id, grouped by the digest of the request."""
    _keys: dict[str, str] = field(factory=dict)

    def join(self, request: Request) -> bool:
        """Register a call. Return True if an equal call is already in flight."""
        key = self._keys[request.id] = digest(request.operation, request.arguments)
        equal = self._equal.setdefault(key, {})
        equal[request.id] = request
        return len(equal) > 1

    def share_reply(self, id: str, value: Value, failed: bool) -> list[tuple[str, Value]]:
        """Return replies for the calls coalesced with a finished call, by id. Each reports zero
        usage and names the original in `shared`. The list is empty if the call failed on its own
        deadline or budget."""
        first, *waited = self._equal.get(self._keys.get(id, ""), {}) or [""]
        said = _as_shared(id, value, failed) if first == id and waited else None
        if said is None:
            return []
        for other in waited:
            self._forget(other)
        return [(other, said) for other in waited]

    def release(self, id: str) -> Request | None:
        """Remove a finished or withdrawn call. Return the equal call to send next, or None."""
        equal = self._equal.get(self._keys.get(id, ""), {})
        is_made = next(iter(equal), None) == id
        self._forget(id)
        return next(iter(equal.values()), None) if is_made else None

    def _forget(self, id: str) -> None:
        key = self._keys.pop(id, None)
        if key is not None:
            del self._equal[key][id]
            if not self._equal[key]:
                del self._equal[key]


@frozen
class _InterruptedCall:
    """The partial reply of a call that goes on no further."""

    part: Part

    def so_far(self) -> Part:
        return dict(self.part)


@define(eq=False)
class InFlight:
    """The partial replies of model calls in flight, and of those withdrawn by the last delivery."""

    calls: dict[str, Request] = field(factory=dict)
    """Requests in flight, by id."""
    withdrawal_rows: dict[str, Row] = field(factory=dict)
    """Rows of the calls that the last delivery withdrew, by id."""
    texts: "dict[str, TextStream]" = field(factory=dict)
    """The texts of the calls that somebody listens to, by id."""
    _progress: dict[str, "tuple[Request, Attempts | PendingCall | _InterruptedCall]"] = field(
        factory=dict
    )

    def follow(self, request: Request, lost: "Attempts | PendingCall") -> None:
        """Register the source of a call's partial reply."""
        self._progress[request.id] = request, lost

    def finish(self, id: str) -> None:
        """Remove a call that has its reply or error."""
        self.calls.pop(id, None)
        self.texts.pop(id, None)
        self._progress.pop(id, None)

    def take_part(self, id: str) -> tuple[Request | None, Part]:
        """Remove a call and return its request and partial reply. The usage of a host's own
        function is unknown."""
        self.texts.pop(id, None)
        request, lost = self._progress.pop(id, (self.calls.get(id), None))
        if lost is None:
            return request, dict(UNMADE if request is None else UNCOUNTED)
        return request, lost.so_far()

    def interrupt(self, id: str) -> Part:
        """Return the partial reply of an interrupted call. It stays the call's own until the error
        is delivered: the run may end, or withdraw the call, before that."""
        request, part = self.take_part(id)
        if request is not None:
            self._progress[id] = request, _InterruptedCall(part)
        return part

    def so_far(self, id: str) -> Part:
        """Return the partial reply of a call that is withdrawn now."""
        if id in self.withdrawal_rows:  # an earlier, interrupted delivery has taken it
            return self.withdrawal_rows[id].reply  # type: ignore[no-any-return]
        request, part = self.take_part(id)
        asked = ""
        if request is not None and "unmade" not in part:
            asked = digest(request.operation, request.arguments)
        self.withdrawal_rows[id] = make_withdrawal_row(id, asked, part)
        return part

    def make_withdrawal_rows(self, over: Iterable[Request]) -> list[Row]:
        """Return the rows of withdrawn requests. A replay must not receive replies to them: also to
        those that were not started, since it may be quicker."""
        others = [each for each in over if each.operation != "model"]
        return [
            *self.withdrawal_rows.values(),
            *[
                make_withdrawal_row(each.id, digest(each.operation, each.arguments), {})
                for each in others
            ],
        ]


def _as_shared(id: str, value: Value, failed: bool) -> Value:
    """Return a reply as another caller gets it, or None if the failure concerns its caller
    alone."""
    if not failed and not isinstance(value, dict):
        return value
    if not failed:
        reply = {name: part for name, part in value.items() if name != "lost"}
        return {**reply, "usage": dict(ZERO_USAGE), "shared": id}
    assert isinstance(value, Record)
    details = value.fields["details"]
    if value.fields["type"] != "TASK_FAILURE" or "stopped" in details:
        return None
    known = {name: part for name, part in details.items() if name != "usage"}
    return Record(value.kind, {**value.fields, "details": {**known, "shared": id}})
