"""The requests of a driven run that other processes perform.

Law: a request is carried in the transaction of its intent, and goes with the row of its reply. So
the journal of a run is the same, whoever performs its requests.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any

from sexplang.runtime.driver.requests import (
    Performer,
    Performers,
    RetriedReply,
    refuse_unhandled,
)
from sexplang.runtime.driver.waits import Paused
from sexplang.runtime.fleet.engine import Engine, Leaf
from sexplang.runtime.fleet.leaves import (
    KeptLeaf,
    NewLeaf,
    Reply,
    mark_delivered,
    put_leaves,
    take_back,
)
from sexplang.runtime.fleet.reply_watch import ReplyWatch
from sexplang.runtime.journal.doubts import Decision, decide, make_doubt_error
from sexplang.runtime.journal.rows import CANCEL, CUT, Row, digest
from sexplang.runtime.journal.run_store import RunStore, StoredRun
from sexplang.runtime.models import choose_model
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, evolve, field
from sexplang.terms.effect import Request
from sexplang.terms.model.roles import Models

CARRIED = ("model", "tool", "run-script")
"""The operations that any process with the ability may perform."""


@define(eq=False)
class Places:
    """The requests that this process performs itself, at most so many at a time."""

    most: int
    _taken: set[Any] = field(factory=set)
    _lock: Lock = field(factory=Lock)

    def take(self, name: Any) -> bool:
        """Take a place, if one is free."""
        with self._lock:
            if len(self._taken) >= self.most:
                return False
            self._taken.add(name)
            return True

    def free(self, name: Any) -> None:
        """Give a place back."""
        with self._lock:
            self._taken.discard(name)


def make_queue_finder(models: Models) -> Callable[[Request], tuple[str, Request] | None]:
    """Return the function that finds the queue of a request, and the request as it is sent there:
    with the name of the model, because another process may have other names. None is for a request
    that is not carried: it is invalid, or several models are asked in turn."""

    def find_queue(request: Request) -> tuple[str, Request] | None:
        first = request.arguments[0] if request.arguments else None
        if request.operation == "run-script":
            return "script", request
        if request.operation == "tool":
            return (f"tool:{first}", request) if isinstance(first, str) else None
        if not isinstance(first, dict):
            return None
        try:
            answer = choose_model(models, first.get("model") or None)
        except Refusal:
            return None
        if answer.fallbacks or answer.model is None:
            return None
        sent = {**first, "model": answer.model}
        return f"model:{answer.model}", evolve(request, arguments=(sent, *request.arguments[1:]))

    return find_queue


@define(eq=False)
class CarriedRequests:
    """The carrier of one run's journal."""

    engine: Engine | None
    """What offers leaves to other processes. Without one, the run only takes those that were put
    before."""
    watch: ReplyWatch
    places: Places
    find_queue: Callable[[Request], tuple[str, Request] | None]
    always: Collection[str] = ()
    """Queues whose requests are carried also if a place is free."""
    declared: Mapping[str, Decision] = field(factory=dict)
    """The decisions of tools and operations."""
    priority: int = 0
    failures: Mapping[str, int] = field(factory=dict)
    """For each request that is made again, how often it has failed."""
    take_back: Callable[[str], int | None] | None = None
    """Take a request back that nobody performs, if there is no engine. Return how often it was
    begun, or None if it stays."""
    _run: StoredRun | None = None
    _new: list[NewLeaf] = field(factory=list)
    _over: list[str] = field(factory=list)
    _awaited: "dict[str, Future[Reply] | None]" = field(factory=dict)
    """The replies to carried requests; None until the leaf is put."""
    _here: set[str] = field(factory=set)
    """Requests that have a place in this process."""
    _is_cancelled: bool = False

    def begin(self, run: StoredRun, kept: Mapping[str, KeptLeaf]) -> None:
        """Take the leaves that a run has which goes on, within a transaction."""
        self._run = run
        for id in kept:
            self._awaited[id] = self.watch.expect((run.n, id), look=True)
        if self.engine is not None:
            left = [each for each in kept.values() if not each.is_settled]
            self.engine.carry(
                [Leaf(run.id, each.request, each.queue, each.priority) for each in left]
            )

    # -- What the journal calls ----------------------------------------------------------------

    def intend(self, requests: Sequence[Request]) -> None:
        """Choose who performs requests that are about to begin."""
        for each in requests:
            if each.operation not in CARRIED or each.id in self._awaited or self.engine is None:
                continue
            found = self.find_queue(each)
            if found is None:
                continue
            queue, sent = found
            if queue not in self.always and self.places.take((id(self), each.id)):
                self._here.add(each.id)
                continue
            self._awaited[each.id] = None
            attempt = self.failures.get(each.id, 0) + 1
            asked = digest(each.operation, each.arguments)
            decision = decide(each, {}, self.declared)
            self._new.append(NewLeaf(sent, asked, queue, attempt, decision, self.priority))

    def append(self, row: Row) -> None:
        """Take note of a row. What a cancellation withdraws stays: a resumption takes its
        reply."""
        self._free(row.id)
        self._is_cancelled = self._is_cancelled or row.operation == CANCEL
        is_kept = row.operation == CUT and self._is_cancelled
        if row.id in self._awaited and row.operation != "attempt":
            future = self._awaited.pop(row.id)
            if not is_kept and (future is not None or self._run is not None):
                self._over.append(row.id)
            self._new = [each for each in self._new if each.request.id != row.id]

    @property
    def has_news(self) -> bool:
        """Whether leaves are to be put, or are needed no more."""
        return bool(self._new or self._over)

    def write(self, store: RunStore, run: StoredRun) -> None:
        """Put leaves and mark others, within the transaction of a commit."""
        self._run = run
        for each in self._new:
            self._awaited[each.request.id] = self.watch.expect((run.n, each.request.id))
        if self._new:
            put_leaves(store.db, run, self._new)
            assert self.engine is not None
            self.engine.carry(
                [Leaf(run.id, each.request.id, each.queue, each.priority) for each in self._new]
            )
        if self._over:
            mark_delivered(store.db, run, self._over)

    def finish(self) -> None:
        """Take note that the commit was made."""
        assert self._run is not None
        for id in self._over:
            self.watch.forget((self._run.n, id))
        self._new.clear()
        self._over.clear()

    def is_carried(self, id: str) -> bool:
        """Whether another process performs a request."""
        return self._awaited.get(id) is not None

    def close(self) -> None:
        """Give all places back."""
        for id in [*self._here]:
            self._free(id)
        for id in (*self._awaited, *self._over):
            if self._run is not None:
                self.watch.forget((self._run.n, id))

    # -- What the driver calls -----------------------------------------------------------------

    def wrap(self, performers: Performers) -> dict[str, Performer]:
        """Return performers that wait for the replies of requests that are carried."""
        table = dict(performers)
        for operation in CARRIED:
            performer = table.get(operation)
            if not isinstance(performer, Paused):
                table[operation] = self._wrap(performer)
        return {name: each for name, each in table.items() if each is not None}

    def _wrap(self, perform: Performer | None) -> Any:
        if perform is None and self.engine is None:
            return None

        def perform_or_wait(request: Request) -> Any:
            future = self._awaited.get(request.id)
            if future is not None:
                return self._wait(request, perform)
            if perform is None:
                raise refuse_unhandled(request.operation, {})
            if request.id not in self._here:
                return perform(request)
            reply = perform(request)
            if hasattr(reply, "__await__"):
                return self._hold(request.id, reply)
            self._free(request.id)
            return reply

        return perform_or_wait

    async def _hold(self, id: str, reply: Any) -> Any:
        try:
            return await reply
        finally:
            self._free(id)

    async def _wait(self, request: Request, perform: Performer | None) -> Any:
        import anyio

        from sexplang.runtime.mcp.thread import wait_for

        assert self._run is not None
        key = self._run.n, request.id
        while True:
            begun = None if self.take_back is None else self.take_back(request.id)
            if begun is not None:  # nobody else looks for what became of it
                if (begun and decide(request, {}, self.declared) != "safe") or perform is None:
                    raise make_doubt_error(request)
                reply = perform(request)
                return await reply if hasattr(reply, "__await__") else reply
            future = self.watch.expect(key, look=True)
            with anyio.move_on_after(None if self.take_back is None else self.watch.lease):
                value, failed, attempts = await wait_for(future)
                break
            self.watch.forget(key)
        if failed:
            refusal = Refusal(value)
            refusal.attempts = attempts
            raise refusal
        return value if attempts == 1 else RetriedReply(value, attempts)

    def _free(self, id_: str) -> None:
        if id_ in self._here:
            self._here.discard(id_)
            self.places.free((id(self), id_))


def keep_up(store: RunStore, run: StoredRun, declared: Mapping[str, Decision]) -> CarriedRequests:
    """Return the carrier of a run that puts no leaves, and takes the replies to those that were
    put before."""
    return CarriedRequests(
        None,
        ReplyWatch(store.db.reopen),
        Places(0),
        lambda request: None,
        declared=declared,
        take_back=lambda request: take_back(store.db, run, request),
    )
