"""The replies of an earlier run, served to another one that asks the same.

A reply is found by what was asked. The request of the same identity comes first, then one of the
same branch, then any, each once and in order. So an edit costs what it changed and what follows
from that. Law: a request that acts is served by identity and question alone; another one may have
been done, or not, and a person decides.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sexplang.machine import Outcome, Suspended, state_of
from sexplang.runs.durable_run import describe_decision
from sexplang.runtime.driver.requests import Performer, RetriedReply
from sexplang.runtime.driver.waits import Paused
from sexplang.runtime.journal.doubts import Decision, decide, make_doubt_error
from sexplang.runtime.journal.questions import list_questions
from sexplang.runtime.journal.rows import Row, digest
from sexplang.runtime.journal.run_store import (
    REPLACED,
    RunStore,
    StoredRun,
    check_not_ended,
    refuse_busy,
)
from sexplang.runtime.journal.stored_journal import NO_REPLIES, StoredRows, read_rows
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.effect import Request
from sexplang.terms.host.host_operations import SHOWN, find_operations
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Record, Value

READS = find_operations(effect="reads")
"""Operations that are performed anew: they cost nothing, and what they read may have changed."""

_ANYWHERE = (find_operations(repeat="free") | find_operations(repeat="safe")) - READS
"""Operations whose replies serve any request that asks the same; beside them, those at which the
run pauses for a person."""

_SILENT = SHOWN | find_operations(effect="waits")
"""Operations whose value is nil."""

SERVED = 0
"""The attempts of a reply that was served."""


@define(eq=False)
class ReplyPool:
    """The replies of a run that are not served yet, and how many are."""

    rows: list[Row]
    anywhere: frozenset[str] = _ANYWHERE
    served: int = 0
    _by_identity: dict[tuple[str, str], int] = field(factory=dict)
    _by_branch: dict[tuple[str, str], deque[int]] = field(factory=dict)
    _by_question: dict[str, deque[int]] = field(factory=dict)
    _by_id: dict[str, Row] = field(factory=dict)
    _used: set[int] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        for at, row in enumerate(self.rows):
            if row.operation in NO_REPLIES or row.operation in READS:
                continue
            asked = _question(row.operation, row.arguments)
            self._by_identity[row.id, asked] = at
            self._by_id[row.id] = row
            if row.operation in self.anywhere and not row.failed:
                branch = row.id.rpartition(".")[0]
                self._by_branch.setdefault((branch, asked), deque()).append(at)
                self._by_question.setdefault(asked, deque()).append(at)

    def take(self, request: Request) -> Row | None:
        """Return the reply for a request, which serves no other one, or None."""
        return self._take(request.id, request.operation, request.arguments)

    def _take(self, id: str, operation: str, arguments: tuple[Value, ...]) -> Row | None:
        if operation in READS:
            return None
        asked = _question(operation, arguments)
        at = self._by_identity.get((id, asked))
        if at is None or at in self._used:
            branch = id.rpartition(".")[0]
            at = self._next(self._by_branch.get((branch, asked)))
            if at is None:
                at = self._next(self._by_question.get(asked))
        if at is None:
            return None
        self._used.add(at)
        self.served += 1
        return self.rows[at]

    def skip(self, rows: Iterable[Row]) -> None:
        """Leave out the replies that a run has already."""
        for row in rows:
            if row.operation not in NO_REPLIES:
                self._take(row.id, row.operation, row.arguments)
        self.served = 0

    def expect(self, request: Request) -> Row | None:
        """Return what the request of this identity was told, when it asked otherwise."""
        row = self._by_id.get(request.id)
        return row if row is not None and row.operation == request.operation else None

    def _next(self, found: "deque[int] | None") -> int | None:
        while found:
            at = found.popleft()
            if at not in self._used:
                return at
        return None


def _question(operation: str, arguments: tuple[Value, ...]) -> str:
    """Return the digest of what is asked. The name of a task is no part of it."""
    if operation == "model" and arguments and isinstance(arguments[0], dict):
        payload = {name: each for name, each in arguments[0].items() if name != "task"}
        arguments = (payload, *arguments[1:])
    return digest(operation, arguments)


@frozen
class Announcement:
    """What a run with the replies of another one will do, as far as it is known beforehand: an
    edited request is expected to be told the same as before."""

    served: int
    calls: tuple[Request, ...]
    """The calls of models to perform."""
    acts: tuple[Request, ...]
    """The requests to perform that act."""
    tokens: int
    """Estimated tokens of the calls."""
    usd: float | None
    """Estimated price of the calls; None if it is not known."""
    is_whole: bool = True
    """Whether nothing else follows, as far as the old replies tell."""
    questions: tuple[Request, ...] = ()
    """The requests that a person is to answer."""

    def describe(self) -> str:
        """Return one sentence."""
        calls = f"{len(self.calls):,} model {'call' if len(self.calls) == 1 else 'calls'}"
        price = "" if self.usd is None else f", ${self.usd:.4f}"
        cost = f" (about {self.tokens:,} tokens{price})" if self.calls else ""
        others = "request" if len(self.acts) == 1 else "requests"
        acts = f", {len(self.acts):,} other {others}" if self.acts else ""
        asked = "question" if len(self.questions) == 1 else "questions"
        acts += f"; {len(self.questions):,} {asked} to a person" if self.questions else ""
        replies = "reply" if self.served == 1 else "replies"
        more = "" if self.is_whole else "; what follows from their replies is asked about then"
        return f"{self.served:,} {replies} served; to perform: {calls}{cost}{acts}{more}"


def announce(
    outcome: Outcome,
    rows: list[Row],
    performers: Mapping[str, Performer],
    rates: Mapping[str, Any],
    replay: Mapping[str, Decision],
) -> Announcement:
    """Return what a run will do with the replies of another one. Nothing is performed but reads.

    `rates` are the prices of the other run's models, by their names. `replay` says which requests
    are not to be performed.
    """
    pool = _make_pool(rows, performers)
    calls: list[Request] = []
    acts: list[Request] = []
    questions: list[Request] = []

    def reply_to(request: Request) -> "tuple[Value, bool] | None":
        row = pool.take(request)
        if row is not None:
            return row.reply, row.failed
        if request.operation in READS:
            return _read(request, performers)
        if _is_refused(request, performers, replay):
            return make_unserved_error(request).error, True
        if request.operation == "model":
            calls.append(request)
        elif _is_asked(request, performers):
            questions.append(request)
        elif request.operation not in _ANYWHERE:
            acts.append(request)
        expected = pool.expect(request)
        if expected is not None:
            return expected.reply, expected.failed
        if request.operation in _SILENT:
            return None, False
        return None

    waiting = deque(outcome.requests if isinstance(outcome, Suspended) else ())
    gone: set[str] = set()
    while waiting:
        request = waiting.popleft()
        if request.id in gone or not isinstance(outcome, Suspended):
            continue
        said = reply_to(request)
        if said is None:
            continue
        value, failed = said
        outcome = (
            outcome.fail(request.id, value)
            if failed
            else outcome.resume(request.id, value, is_value=True)
        )
        gone.update(outcome.withdrawn)
        if isinstance(outcome, Suspended):
            waiting.extend(state_of(outcome).opened)
    asked = [row for row in rows if row.operation == "model" and not row.failed]
    mean = sum(map(_count_tokens, asked)) / len(asked) if asked else 0.0
    tokens = [_expect_tokens(pool, each, mean) for each in calls]
    usd = _estimate(asked, rates, len(calls))
    is_whole = not isinstance(outcome, Suspended) or not outcome.requests
    told = pool.served, tuple(calls), tuple(acts), round(sum(tokens)), usd, is_whole
    return Announcement(*told, tuple(questions))


def _make_pool(rows: list[Row], performers: Mapping[str, Performer]) -> ReplyPool:
    paused = [name for name, each in performers.items() if isinstance(each, Paused)]
    return ReplyPool(rows, _ANYWHERE.union(paused))


def _is_asked(request: Request, performers: Mapping[str, Performer]) -> bool:
    """Whether a person answers a request."""
    is_paused = isinstance(performers.get(request.operation), Paused)
    return is_paused or request.operation == "ask-user"


def _is_refused(
    request: Request, performers: Mapping[str, Performer], replay: Mapping[str, Decision]
) -> bool:
    """Whether a request that acts or asks a person is not to be performed."""
    is_safe = request.operation in READS | _ANYWHERE and not _is_asked(request, performers)
    return not is_safe and decide(request, replay, {}) == "never"


def make_unserved_error(request: Request) -> Refusal:
    """Return the error of a request that the earlier run did not make, and a person refuses."""
    return make_doubt_error(
        request,
        f"as {request.id} is not served by the earlier run, and is not to be done",
        "to perform it after all, resume the new run",
    )


def _read(request: Request, performers: Mapping[str, Performer]) -> "tuple[Value, bool] | None":
    if request.operation == "timer" or request.operation not in performers:
        return None
    try:
        reply = performers[request.operation](request)
    except Refusal as refusal:
        return refusal.error, True
    if hasattr(reply, "close"):
        reply.close()
        return None
    from sexplang.terms.values.boundary import value_of

    return value_of(reply), False


def _expect_tokens(pool: ReplyPool, request: Request, mean: float) -> float:
    row = pool.expect(request)
    return mean if row is None else _count_tokens(row)


def _count_tokens(row: Row) -> int:
    return sum([count for count in _usage(row).values() if isinstance(count, int)])


def _usage(row: Row) -> dict[str, Any]:
    """Return what a reply took when it was paid, in whatever run."""
    usage = row.reply.get("usage") if isinstance(row.reply, dict) else None
    kinds = ("input_tokens", "output_tokens")
    return {} if not isinstance(usage, dict) else {name: usage.get(name) for name in kinds}


def _estimate(asked: list[Row], rates: Mapping[str, Any], calls: int) -> float | None:
    """Return the price of some calls by the mean of those that were made."""
    if not calls or not asked:
        return 0.0 if not calls else None
    total = 0.0
    for row in asked:
        price = rates.get(row.model or "")
        if price is None:
            return None
        usage = _usage(row)
        for kind, name in (("input", "input_tokens"), ("output", "output_tokens")):
            count = usage.get(name)
            total += (count if isinstance(count, int) else 0) * float(price[kind])
    return total / len(asked) * calls


def lock_replaceable(store: RunStore, id: str) -> StoredRun:
    """Lock a run that another one is to replace, until the store is closed; return it. Raises a
    Refusal for one that another process drives, or that was replaced already."""
    run = store.find(id)
    if not store.lock(run.id):
        raise refuse_busy(run.id)
    run = store.find(run.id)
    check_not_ended(run, (REPLACED,))
    return run


def read_replies(store: RunStore, run: StoredRun) -> StoredRows:
    """Return the rows of a run as another one takes them: without the failure that ended it, which
    is asked for again, and with the answers that it has not taken. Raises Refusal."""
    found = read_rows(store, run, whole=True)
    if run.error is not None and found.rows and found.rows[-1].failed:
        del found.rows[-1]
    taken = {row.id for row in found.rows}
    for each in list_questions(store, run):
        if each.is_answered and each.request not in taken:
            assert each.answered is not None
            given = each.arguments, each.answer, False, SERVED, each.opened, each.answered
            found.rows.append(Row(each.request, each.operation, *given))
    return found


def reuse(
    outcome: Outcome,
    performers: Mapping[str, Performer],
    found: StoredRows,
    replay: Mapping[str, Decision],
    agree: Callable[[Announcement], bool],
    admit: Callable[[Request], None],
) -> dict[str, Performer]:
    """Return performers that serve the replies of an earlier run first, if a person agrees.

    `replay` decides on requests that act and are not served, as for those in doubt. `agree` is
    asked before anything is performed, and `admit` raises for a request that comes up later and is
    not to be performed. Raises a Refusal `in-doubt` or `not-agreed`.
    """
    announced = announce(outcome, found.rows, performers, found.rates, replay)
    undecided = [each for each in announced.acts if decide(each, replay, {}) == "ask"]
    if undecided:
        ids = [each.id for each in undecided]
        raise refuse(
            "in-doubt",
            "the changed program makes requests that the old run did not make: "
            + ", ".join([describe_request(each) for each in undecided[:5]]),
            hint=f"to perform them: {describe_decision('--again', ids)}; to let them fail: "
            f"{describe_decision('--never', ids)}; '*' means all of them. Nothing was performed",
            requests=tuple(ids),
        )
    if not agree(announced):
        raise refuse(
            "not-agreed",
            "nobody approved the requests to perform and their cost",
            hint="add --yes to approve them; nothing was performed",
        )
    calls = {each.id for each in announced.calls}
    acts = {(each.id, _question(each.operation, each.arguments)) for each in announced.acts}

    def admit_others(request: Request) -> None:
        is_act = request.operation != "model"
        asked = (request.id, _question(request.operation, request.arguments)) if is_act else None
        if not (asked in acts if is_act else request.id in calls):
            admit(request)

    return serve(performers, _make_pool(found.rows, performers), replay, admit_others)


def describe_request(request: Request) -> str:
    """Return a request as a person reads it."""
    given = [request.operation, *[abbreviate(each) for each in request.arguments]]
    return f"({' '.join(given)}) as {request.id}"


def serve(
    performers: Mapping[str, Performer],
    pool: ReplyPool,
    replay: Mapping[str, Decision],
    admit: Callable[[Request], None] = lambda request: None,
) -> dict[str, Performer]:
    """Return performers that serve the replies of a pool first. `admit` raises for a request that
    is not to be performed."""

    def serve_first(perform: Performer) -> Performer:
        def serve_or_perform(request: Request) -> Any:
            row = pool.take(request)
            if row is not None:
                if row.failed:
                    assert isinstance(row.reply, Record)
                    raise Refusal(row.reply)
                return RetriedReply(row.reply, SERVED)
            if _is_refused(request, performers, replay):
                raise make_unserved_error(request)
            if request.operation == "model" or request.operation not in READS | _ANYWHERE:
                admit(request)
            return perform(request)

        return serve_or_perform

    def take_or_refuse(request: Request) -> Row | None:
        row = pool.take(request)
        if row is None and _is_refused(request, performers, replay):
            raise make_unserved_error(request)
        return row

    for each in performers.values():
        if isinstance(each, Paused):
            each.find_earlier = take_or_refuse
    return {
        operation: perform
        if operation in READS or isinstance(perform, Paused)
        else serve_first(perform)
        for operation, perform in performers.items()
    }
