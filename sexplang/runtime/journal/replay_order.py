"""The order in which a replayed run receives replies.

Law: a run that repeats the recorded requests receives the replies in the recorded order, so all
that depends on the order repeats. Replies of models come from the recording. Other operations are
performed again, and their replies are held until their turn.
"""

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from sexplang.runtime.driver.requests import DeferredReply
from sexplang.runtime.journal.rows import ATTEMPT, digest
from sexplang.runtime.refusal import Refusal, Unrecorded, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import UNCOUNTED, Part, Request
from sexplang.terms.values.value import Record, Value


@define(eq=False)
class RecordedRow:
    """A row of a recording."""

    id: str
    operation: str
    digest: str
    value: Any
    failed: bool = False
    attempts: int = 1


@define(eq=False)
class RecordedRun:
    """The rows of a recording, and the set of those already delivered. Indexes are those of
    `rows`."""

    path: str
    rows: list[RecordedRow] = field(factory=list)
    replies: dict[str, deque[int]] = field(factory=dict)
    """Indexes of model replies, by the digest of the request."""
    other_replies: dict[tuple[str, str], int] = field(factory=dict)
    """Indexes of other replies, by request id and digest."""
    retries: dict[str, deque[int]] = field(factory=dict)
    """Indexes of failed attempts that were followed by another, by request id."""
    withdrawn_calls: dict[str, dict[str, Part]] = field(factory=dict)
    """Partial replies of withdrawn calls, by digest and request id."""
    unstarted_calls: dict[str, Part] = field(factory=dict)
    """Partial replies of calls withdrawn before they started, whose digest is unknown."""
    passed_deadlines: dict[str, tuple[str, int]] = field(factory=dict)
    """The branch and step at which deadlines fired during computation, by scope."""
    interrupted_digests: set[str] = field(factory=set)
    """Digests of requests that a cancellation from outside ended."""
    is_torn: bool = False
    """Whether the last line is incomplete and left out."""
    is_cut: bool = False
    """Whether the recording stops before its run ended."""
    zones: str | None = None
    """The version of the time zones, if the run used any."""
    _delivered: set[int] = field(factory=set)
    _next: int = 0

    def add(self, row: RecordedRow) -> None:
        at = len(self.rows)
        self.rows.append(row)
        if row.operation == "model":
            self.replies.setdefault(row.digest, deque()).append(at)
        elif row.operation == ATTEMPT:
            self.retries.setdefault(row.id, deque()).append(at)
        else:
            self.other_replies[row.id, row.digest] = at

    def repeat_reply(self, request: Request) -> Value:
        """Return the recorded reply of time or chance; None for a request that is withdrawn before
        it has one. Raises Refusal for a recorded failure, and Unrecorded if the recording has no
        such request."""
        asked = digest(request.operation, request.arguments)
        at = self.other_replies.get((request.id, asked))
        if at is None and request.id in self.withdrawn_calls.get(asked, ()):
            return None
        if at is None:
            words = f"{self.path} has no reply to this `{request.operation}`"
            raise Unrecorded(_make_mismatch(self.path, words, request).error)
        if self.rows[at].failed:
            raise Refusal(self.rows[at].value)
        return self.rows[at].value

    def check_request(self, request: Request) -> None:
        """Raise Unrecorded if the recording is cut and lacks the request."""
        if self.is_cut:
            asked = digest(request.operation, request.arguments)
            known = (request.id, asked) in self.other_replies
            if not known and request.id not in self.withdrawn_calls.get(asked, ()):
                words = f"{self._stop} and has no reply to this `{request.operation}`"
                refusal = _make_mismatch(self.path, words, request, hint=_TO_THE_END)
                raise Unrecorded(refusal.error)

    def check_deadlines(self, passed: int) -> None:
        """Raise Unrecorded if the recording is cut, and `passed` deadlines and all its rows are
        delivered: whether another deadline fires is unknown."""
        is_told = self._next == len(self.rows) and passed == len(self.passed_deadlines)
        if self.is_cut and is_told:
            words = f"{self._stop} and does not say whether a deadline passed here"
            raise Unrecorded(
                refuse("journal-mismatch", words, hint=_TO_THE_END, path=self.path).error
            )

    @property
    def _stop(self) -> str:
        return f"{self.path} stops before its run ended"

    def mark_delivered(self, at: int) -> None:
        """Mark a row as delivered."""
        self._delivered.add(at)
        while self._next in self._delivered:
            self._delivered.remove(self._next)
            self._next += 1

    def is_delivered(self, at: int) -> bool:
        return at < self._next or at in self._delivered

    def is_next(self, at: int) -> bool:
        """Whether all rows before this one are delivered."""
        return at == self._next

    def has_deadline(self) -> bool:
        """Whether an undelivered timer remains."""
        return any(
            self.rows[at].operation == "timer" and not self.is_delivered(at)
            for at in range(self._next, len(self.rows))
        )

    def expects(self, id: str, asked: str, others: int) -> bool:
        """Whether the recording has one more equal call than the `others` that are open."""
        known = len(self.replies.get(asked, ())) + len(self.withdrawn_calls.get(asked, ()))
        return known > others or bool(self.unstarted_calls)

    def take_part(self, id: str, asked: str) -> Part:
        """Remove and return the partial reply of a call that is withdrawn now."""
        same = self.withdrawn_calls.get(asked, {})
        if id not in same and id in self.unstarted_calls:
            return self.unstarted_calls.pop(id)
        if same:
            return same.pop(id if id in same else next(iter(same)))
        return dict(UNCOUNTED)


@define(eq=False)
class PendingCall:
    """A model call that waits for its recorded reply or withdrawal."""

    request: Request
    deferred: DeferredReply
    digest: str

    def so_far(self) -> Part:
        """Return the partial reply of the call, which is withdrawn now."""
        return self.deferred.recorded.take_part(self.request.id, self.digest)

    def make_mismatch(self, words: str, that: str) -> Refusal:
        """Return the refusal of a call that the recording does not contain."""
        path, last = self.deferred.recorded.path, self.deferred.last_message
        words = f"{path} {words} this request: {last}"
        return _make_mismatch(path, words, self.request, that, last_message=last)


_TO_THE_END = "record the run again, to its end"


def _make_mismatch(
    path: str,
    words: str,
    request: Request,
    that: str = "that were",
    hint: str | None = None,
    **details: Any,
) -> Refusal:
    """Return the refusal of a request that differs from the recording."""
    refusal = refuse(
        "journal-mismatch",
        words,
        hint=hint or f"replay with the program and inputs {that} recorded",
        path=path,
        request=request.id,
        **details,
    )
    if request.span is not None:
        fields = {**refusal.error.fields, "span": request.span.plain()}
        refusal.error = Record(refusal.error.kind, fields)
    return refusal


Delivery = tuple[str, Value, bool, int]
"""Request id, value or error, whether it failed, number of attempts."""


@define(eq=False)
class ReplayOrder:
    """The open requests of a run that wait for their turn in recordings. Mutable."""

    _recordings: list[RecordedRun] = field(factory=list)
    _calls: dict[str, PendingCall] = field(factory=dict)
    _equal_calls: dict[tuple[int, str], dict[str, None]] = field(factory=dict)
    """Ids of open equal calls in the order of opening, by recording and digest."""
    _other_requests: dict[str, list[tuple[int, int]]] = field(factory=dict)
    """Rows of other open requests, by request id."""
    _to_withdraw: dict[str, tuple[Request, str]] = field(factory=dict)
    """Requests that wait for their withdrawal, with the path of the recording, by id."""
    _held_replies: dict[str, Delivery] = field(factory=dict)
    """Replies that wait for their turn, by request id."""
    _heap: list[tuple[int, int]] = field(factory=list)
    """Rows that may be delivered: for each digest, the first undelivered one."""

    def follow(self, recorded: RecordedRun, open: Iterable[Request]) -> None:
        """Add a recording; `open` are the requests that are open at this time."""
        if recorded not in self._recordings:
            self._recordings.append(recorded)
            for other in open:
                self.add_request(other)

    def add_call(self, request: Request, later: DeferredReply) -> PendingCall:
        """Add a model call. Raises Refusal if it was not recorded."""
        recorded = later.recorded
        which, asked = (
            self._recordings.index(recorded),
            digest(request.operation, request.arguments),
        )
        call, equal = (
            PendingCall(request, later, asked),
            self._equal_calls.setdefault((which, asked), {}),
        )
        if not recorded.expects(request.id, asked, len(equal)):
            if asked in recorded.interrupted_digests:
                words = "is of a run that was interrupted while it waited for the reply to"
                raise call.make_mismatch(words, "of a run that came to its end, and was")
            further = "reply" if asked not in recorded.replies else "further reply"
            raise call.make_mismatch(f"holds no {further} to", "that were")
        self._calls[request.id], equal[request.id] = call, None
        self._push(which, recorded.replies.get(asked))
        self._push(which, recorded.retries.get(request.id))
        return call

    def add_request(self, request: Request) -> None:
        """Add another request, which is performed."""
        if request.operation == "model":
            return
        asked = digest(request.operation, request.arguments)
        for which, recorded in enumerate(self._recordings):
            at = recorded.other_replies.get((request.id, asked))
            if at is not None and not recorded.is_delivered(at):
                self._other_requests.setdefault(request.id, []).append((at, which))
                heappush(self._heap, (at, which))
            elif request.id in recorded.withdrawn_calls.get(asked, ()):
                self._to_withdraw[request.id] = request, recorded.path

    def hold(self, *told: Any) -> bool:
        """Hold a reply until its turn. Return False if it has no turn and is delivered at once."""
        if told[0] in self._to_withdraw:
            return True
        if told[0] not in self._other_requests:
            return False
        self._held_replies[told[0]] = told
        return True

    def forget(self, id: str) -> None:
        """Remove a request whose reply is delivered or withdrawn."""
        call = self._calls.pop(id, None)
        if call is not None:
            which = self._recordings.index(call.deferred.recorded)
            self._equal_calls[which, call.digest].pop(id, None)
        self._other_requests.pop(id, None)
        self._to_withdraw.pop(id, None)
        self._held_replies.pop(id, None)

    def next(self, *, exactly: bool) -> tuple[RecordedRow, Delivery] | None:
        """Return the next deliverable row and its delivery, or None. With `exactly`, all rows
        before it must be delivered; otherwise none of them may be awaited."""
        while self._heap:
            at, which = self._heap[0]
            recorded, told = self._recordings[which], self._delivery_of(at, which)
            if told is None:
                heappop(self._heap)
                continue
            if exactly and not recorded.is_next(at):
                return None
            if told[0] in self._other_requests:
                if told[0] not in self._held_replies:
                    return None
                told = self._held_replies[told[0]]
            heappop(self._heap)
            recorded.mark_delivered(at)
            self._advance(recorded.rows[at], told[0], which)
            return recorded.rows[at], told
        return None

    def _delivery_of(self, at: int, which: int) -> Delivery | None:
        """Return the delivery of a row, or None if no open request waits for it."""
        recorded = self._recordings[which]
        row = recorded.rows[at]
        if recorded.is_delivered(at):
            return None
        id: str | None = None
        if row.operation == "model":
            equal = self._equal_calls[which, row.digest]
            id = row.id if row.id in equal else next(iter(equal), None)
        elif row.operation == ATTEMPT:
            id = row.id if row.id in self._calls else None
        elif (at, which) in self._other_requests.get(row.id, ()):
            id = row.id
        return None if id is None else (id, row.value, row.failed, row.attempts)

    def _advance(self, row: RecordedRow, id: str, which: int) -> None:
        """Admit the row that follows a delivered one."""
        recorded = self._recordings[which]
        if row.operation == ATTEMPT:
            recorded.retries[id].popleft()
            self._push(which, recorded.retries[id])
            return
        self.forget(id)
        if row.operation == "model":
            recorded.replies[row.digest].popleft()
            if self._equal_calls[which, row.digest]:
                self._push(which, recorded.replies[row.digest])

    def _push(self, which: int, places: deque[int] | None) -> None:
        if places:
            heappush(self._heap, (places[0], which))

    def find_mismatch(self, open: list[Request]) -> Refusal | None:
        """Return the mismatch if no row can be delivered and no performed request can go on."""
        going = [
            each for each in open if each.id not in self._calls and each.id not in self._to_withdraw
        ]
        if len(going) == len(open) or any(each.operation != "timer" for each in going):
            return None
        if going and any(recorded.has_deadline() for recorded in self._recordings):
            return None
        call = next(iter(self._calls.values()), None)
        if call is not None:
            return call.make_mismatch("holds no reply at this place to", "that were")
        request, path = next(iter(self._to_withdraw.values()))
        words = f"{path} holds no reply to `{request.operation}` here, and nothing withdraws it"
        return _make_mismatch(path, words, request)
