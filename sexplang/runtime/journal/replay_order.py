"""A recording that is a model, and a run that asks it → what this run is told next.

Law: a run that asks for what was recorded is told it in the order of the recording, so that all
that follows from the order follows again. Replies of models come out of the recording; what else
is performed is performed again, and its reply held until its turn.
"""

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from sexplang.runtime.driver.answers import DeferredReply
from sexplang.runtime.journal.journal import ATTEMPT, digest
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
    """What a recording says, and how much of it nobody has been told yet."""

    path: str
    rows: list[RecordedRow] = field(factory=list)
    replies: dict[str, deque[int]] = field(factory=dict)
    """Places among the rows of replies of models, by what was asked."""
    others: dict[tuple[str, str], int] = field(factory=dict)
    """Those of all other replies, by their ids and what was asked."""
    retries: dict[str, deque[int]] = field(factory=dict)
    """Those of attempts that failed and were followed by another, by the ids of the calls."""
    cut: dict[str, dict[str, Part]] = field(factory=dict)
    """What calls had got that were withdrawn, by what was asked and their ids."""
    unmade: dict[str, Part] = field(factory=dict)
    """The same of those that nobody had begun with: of these only the ids are known."""
    passed: dict[str, tuple[str, int]] = field(factory=dict)
    """Where deadlines passed while the run computed, by their scopes."""
    interrupted: set[str] = field(factory=set)
    """What was asked for in vain, because the run was cancelled from outside."""
    is_torn: bool = False
    """Whether its last line has no end, and is left out."""
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
            self.others[row.id, row.digest] = at

    def repeat_reply(self, request: Request) -> Value:
        """What time or chance gave there. Raises a Refusal: Unrecorded where nothing is said."""
        at = self.others.get((request.id, digest(request.operation, request.arguments)))
        if at is None:
            words = f"{self.path} does not say what `{request.operation}` gave here"
            raise Unrecorded(_misfit(self.path, words, request).error)
        if self.rows[at].failed:
            raise Refusal(self.rows[at].value)
        return self.rows[at].value

    def mark_delivered(self, at: int) -> None:
        """A row is told, once."""
        self._delivered.add(at)
        while self._next in self._delivered:
            self._delivered.remove(self._next)
            self._next += 1

    def is_delivered(self, at: int) -> bool:
        return at < self._next or at in self._delivered

    def is_next(self, at: int) -> bool:
        """Whether everything before a row has been told."""
        return at == self._next

    def has_deadline(self) -> bool:
        """Whether a deadline is still to pass."""
        return any(
            self.rows[at].operation == "timer" and not self.is_delivered(at)
            for at in range(self._next, len(self.rows))
        )

    def expects(self, id: str, asked: str, others: int) -> bool:
        """Whether a call was recorded, beside so many equal ones that are open."""
        known = len(self.replies.get(asked, ())) + len(self.cut.get(asked, ()))
        return known > others or bool(self.unmade)

    def part(self, id: str, asked: str) -> Part:
        """What a call had got that is withdrawn now."""
        same = self.cut.get(asked, {})
        if id not in same and id in self.unmade:
            return self.unmade.pop(id)
        if same:
            return same.pop(id if id in same else next(iter(same)))
        return dict(UNCOUNTED)


@define(eq=False)
class PendingCall:
    """A call that waits for its turn, or to be withdrawn."""

    request: Request
    later: DeferredReply
    asked: str

    def so_far(self) -> Part:
        """What it has got when it is withdrawn now."""
        return self.later.recorded.part(self.request.id, self.asked)

    def missing(self, words: str, that: str) -> Refusal:
        """The recording does not fit."""
        path, last = self.later.recorded.path, self.later.last_message
        words = f"{path} {words} this request: {last}"
        return _misfit(path, words, self.request, that, last_message=last)


def _misfit(
    path: str, words: str, request: Request, that: str = "that were", **details: Any
) -> Refusal:
    """A request that is not what was recorded."""
    refusal = refuse(
        "journal-mismatch",
        words,
        hint=f"replay with the program and inputs {that} recorded",
        path=path,
        request=request.id,
        **details,
    )
    if request.span is not None:
        fields = {**refusal.error.fields, "span": request.span.plain()}
        refusal.error = Record(refusal.error.kind, fields)
    return refusal


Told = tuple[str, Value, bool, int]
"""An id, a value or an error, whether it failed, and attempts."""


@define(eq=False)
class ReplayOrder:
    """What a run waits for that is in recordings. Mutable."""

    _recorded: list[RecordedRun] = field(factory=list)
    _calls: dict[str, PendingCall] = field(factory=dict)
    _equal: dict[tuple[int, str], dict[str, None]] = field(factory=dict)
    """The ids of calls that ask for the same, in the order in which they were opened."""
    _others: dict[str, list[tuple[int, int]]] = field(factory=dict)
    """The places of other requests that are open, by their ids."""
    _cut: dict[str, tuple[Request, str]] = field(factory=dict)
    """Those of them that wait to be withdrawn, and the recordings that say so, by their ids."""
    _here: dict[str, Told] = field(factory=dict)
    """Replies to them that wait for their turn."""
    _heap: list[tuple[int, int]] = field(factory=list)
    """A heap of the rows that may be told: of those with equal digests the first."""

    def follow(self, recorded: RecordedRun, open: Iterable[Request]) -> None:
        """A recording is asked, while these are open."""
        if recorded not in self._recorded:
            self._recorded.append(recorded)
            for other in open:
                self.performs(other)

    def asks(self, request: Request, later: DeferredReply) -> PendingCall:
        """A call is made. Raises a Refusal for one that was not recorded."""
        recorded = later.recorded
        which, asked = self._recorded.index(recorded), digest(request.operation, request.arguments)
        call, equal = PendingCall(request, later, asked), self._equal.setdefault((which, asked), {})
        if not recorded.expects(request.id, asked, len(equal)):
            if asked in recorded.interrupted:
                words = "is of a run that was interrupted while it waited for the reply to"
                raise call.missing(words, "of a run that came to its end, and was")
            further = "reply" if asked not in recorded.replies else "further reply"
            raise call.missing(f"holds no {further} to", "that were")
        self._calls[request.id], equal[request.id] = call, None
        self._push(which, recorded.replies.get(asked))
        self._push(which, recorded.retries.get(request.id))
        return call

    def performs(self, request: Request) -> None:
        """Something else is asked for, and performed."""
        if request.operation == "model":
            return
        asked = digest(request.operation, request.arguments)
        for which, recorded in enumerate(self._recorded):
            at = recorded.others.get((request.id, asked))
            if at is not None and not recorded.is_delivered(at):
                self._others.setdefault(request.id, []).append((at, which))
                heappush(self._heap, (at, which))
            elif request.id in recorded.cut.get(asked, ()):
                self._cut[request.id] = request, recorded.path

    def holds(self, *told: Any) -> bool:
        """Whether a reply that is there waits for its turn, if that comes."""
        if told[0] in self._cut:
            return True
        if told[0] not in self._others:
            return False
        self._here[told[0]] = told
        return True

    def forget(self, id: str) -> None:
        """Nobody wants a reply any more."""
        call = self._calls.pop(id, None)
        if call is not None:
            which = self._recorded.index(call.later.recorded)
            self._equal[which, call.asked].pop(id, None)
        self._others.pop(id, None)
        self._cut.pop(id, None)
        self._here.pop(id, None)

    def next(self, *, exactly: bool) -> tuple[RecordedRow, Told] | None:
        """The first row that can be told now, and what it tells; with `exactly` only if all rows
        before it have been told, else as soon as none of them is waited for."""
        while self._heap:
            at, which = self._heap[0]
            recorded, told = self._recorded[which], self._delivery_of(at, which)
            if told is None:
                heappop(self._heap)
                continue
            if exactly and not recorded.is_next(at):
                return None
            if told[0] in self._others:
                if told[0] not in self._here:
                    return None
                told = self._here[told[0]]
            heappop(self._heap)
            recorded.mark_delivered(at)
            self._after(recorded.rows[at], told[0], which)
            return recorded.rows[at], told
        return None

    def _delivery_of(self, at: int, which: int) -> Told | None:
        """What a row tells, and whom; None if nobody waits for it."""
        recorded = self._recorded[which]
        row = recorded.rows[at]
        if recorded.is_delivered(at):
            return None
        id: str | None = None
        if row.operation == "model":
            equal = self._equal[which, row.digest]
            id = row.id if row.id in equal else next(iter(equal), None)
        elif row.operation == ATTEMPT:
            id = row.id if row.id in self._calls else None
        elif (at, which) in self._others.get(row.id, ()):
            id = row.id
        return None if id is None else (id, row.value, row.failed, row.attempts)

    def _after(self, row: RecordedRow, id: str, which: int) -> None:
        """A row has been told: the one behind it may be."""
        recorded = self._recorded[which]
        if row.operation == ATTEMPT:
            recorded.retries[id].popleft()
            self._push(which, recorded.retries[id])
            return
        self.forget(id)
        if row.operation == "model":
            recorded.replies[row.digest].popleft()
            if self._equal[which, row.digest]:
                self._push(which, recorded.replies[row.digest])

    def _push(self, which: int, places: deque[int] | None) -> None:
        if places:
            heappush(self._heap, (places[0], which))

    def stuck(self, open: list[Request]) -> Refusal | None:
        """Nothing can be told: the mismatch, if nothing is performed either that could go on."""
        going = [each for each in open if each.id not in self._calls and each.id not in self._cut]
        if len(going) == len(open) or any(each.operation != "timer" for each in going):
            return None
        if going and any(recorded.has_deadline() for recorded in self._recorded):
            return None
        call = next(iter(self._calls.values()), None)
        if call is not None:
            return call.missing("holds no reply at this place to", "that were")
        request, path = next(iter(self._cut.values()))
        words = f"{path} holds no reply to `{request.operation}` here, and nothing withdraws it"
        return _misfit(path, words, request)
