"""What a worker does with leaves: it performs requests of runs that others drive.

Law: a leaf is claimed, performed, settled. A claim ends after a lease without a sign of life, and
the reply of a worker that lost its claim is late.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import Any, TypeVar, cast

from sexplang.runtime.driver.current_request import PERFORMED, AttemptHistory
from sexplang.runtime.driver.events import Event, Retrying
from sexplang.runtime.driver.requests import (
    Performers,
    attempts_of,
    failure,
    make_interruption,
    read_reply,
    refuse_unhandled,
)
from sexplang.runtime.fleet.engine import Later, Leaf
from sexplang.runtime.fleet.leaves import (
    ClaimedLeaf,
    Reply,
    claim_leaf,
    give_back,
    keep_late,
    renew_claim,
    settle_leaf,
)
from sexplang.runtime.fleet.pressure import FleetLimits, Permit
from sexplang.runtime.journal.databases import Database
from sexplang.runtime.journal.doubts import make_doubt_error
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import UNCOUNTED, UNMADE, with_sent

T = TypeVar("T")

BEATS = 4
"""Signs of life in a lease."""

PATIENCE_LEASES = 3
"""Leases for which a reply is offered to a database that is not there."""

AGAIN = 0.2
"""Seconds between two tries."""


def name_worker() -> str:
    """Return the name of this process, which no other one has."""
    return f"{socket.gethostname()}:{os.getpid()}:{os.urandom(3).hex()}"


@define(eq=False)
class LeafPerformer:
    """The leaves that this process performs. Its statements are made by a thread of their own, so
    that a slow database does not hold up what is performed."""

    open: Callable[[], Database]
    """Return a connection of its own."""
    performers: Performers
    lease: float = 30.0
    limits: FleetLimits = field(factory=FleetLimits)
    worker: str = field(factory=name_worker)
    on_late: Callable[[ClaimedLeaf], None] = lambda leaf: None
    """Told a leaf that was performed in vain."""
    _db: Database | None = None
    _statements: ThreadPoolExecutor = field(
        factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="sexplang-leaves")
    )
    _claims: "dict[tuple[int, str], tuple[ClaimedLeaf, asyncio.Task[Reply]]]" = field(factory=dict)
    _asked: dict[int, str] = field(factory=dict)
    """The queues of the requests that are performed, by the identity of the request."""
    _permits: set[Permit] = field(factory=set)
    _beats: Thread | None = None
    _is_over: Flag = field(factory=Flag)

    async def perform(self, leaf: Leaf) -> Later:
        """Perform a leaf, if nobody else does and it has no reply. Return the seconds after which
        it is offered again, or None."""
        if self._beats is None:
            self._beats = Thread(target=self._renew, name="sexplang-claims", daemon=True)
            self._beats.start()
        permit: Permit | None = None
        if self.limits.bounds(leaf.queue):
            name = f"{self.worker} {leaf.run}/{leaf.request}"
            taken = await self._call(self.limits.take, leaf.queue, name, self.lease)
            if not isinstance(taken, Permit):
                return taken
            permit = taken
            self._permits.add(permit)
        reply: Reply | None = None
        try:
            claimed = await self._call(claim_leaf, leaf, self.worker, self.lease)
            if not isinstance(claimed, ClaimedLeaf):
                return claimed
            reply = await self._perform(claimed)
        finally:
            if permit is not None:
                self._permits.discard(permit)
                given = self._call(self.limits.give_back, permit, reply)
                with suppress(Refusal):
                    await asyncio.shield(given)
        return None

    async def _perform(self, leaf: ClaimedLeaf) -> Reply | None:
        """Return the reply to a claimed leaf, which is settled; None if it is needed no more."""
        if leaf.is_in_doubt:
            error = make_doubt_error(
                leaf.request, "was begun by a worker that is lost, and may have been performed"
            )
            reply: Reply = failure(error, leaf.request.operation), True, 1
        else:
            task = asyncio.ensure_future(self._ask(leaf))
            key = leaf.run, leaf.request.id
            self._claims[key] = leaf, task
            try:
                reply = await task
            except asyncio.CancelledError:
                if key not in self._claims:  # it is needed no more
                    part = with_sent(UNCOUNTED if leaf.request.operation == "model" else UNMADE)
                    lost = make_interruption(leaf.request, part), True, 1
                    await self._call(keep_late, leaf, self.worker, lost)
                    self.on_late(leaf)
                    return None
                task.cancel()
                with suppress(Refusal):
                    await asyncio.shield(self._call(give_back, leaf, self.worker))
                raise
            finally:
                self._claims.pop(key, None)
        if not await asyncio.shield(self._settle(leaf, reply)):
            self.on_late(leaf)
        return reply

    async def _ask(self, leaf: ClaimedLeaf) -> Reply:
        request = leaf.request
        history = AttemptHistory(leaf.run_id, {request.id: leaf.attempt - 1})
        PERFORMED.set((request, leaf.run_id, history))
        performer = self.performers.get(request.operation)
        self._asked[id(request)] = leaf.queue
        try:
            if performer is None:
                raise refuse_unhandled(request.operation, self.performers)
            given = performer(request)
            if hasattr(given, "__await__"):
                given = await given
            return read_reply(given, request.operation)
        # Performers may be a host's functions: an exception fails the request, not the worker.
        except Exception as error:
            return failure(error, request.operation), True, attempts_of(error)
        finally:
            del self._asked[id(request)]

    async def _settle(self, leaf: ClaimedLeaf, reply: Reply) -> bool:
        """Settle a leaf, also when the connection is lost meanwhile."""
        until = monotonic() + PATIENCE_LEASES * self.lease
        while True:
            try:
                return await self._call(settle_leaf, leaf, self.worker, reply)
            except Refusal:
                if monotonic() > until:
                    raise
            await asyncio.sleep(AGAIN)

    async def _call(self, statement: Callable[..., T], *given: Any) -> T:
        """Make a statement on the connection of this worker."""
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(self._statements, self._state, statement, given)
        return cast(T, made)

    def _state(self, statement: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        if self._db is None:
            self._db = self.open()
        try:
            return statement(self._db, *given)
        except Refusal:
            db, self._db = self._db, None  # the connection may be lost
            with suppress(Exception):  # and may be closed already
                db.close()
            raise

    def watch(self, event: Event) -> None:
        """Take the events of the performers: a server that wants no calls for a while is left alone
        by the whole fleet."""
        if isinstance(event, Retrying) and not event.held:
            queue = self._asked.get(id(event.request))
            details = event.error.fields["details"]
            if queue is not None and details.get("status") == 429 and self.limits.bounds(queue):
                self._statements.submit(self._state, self.limits.shut, (queue, event.wait))

    def _renew(self) -> None:
        """Hold what is claimed, until the worker ends."""
        while not self._is_over.wait(self.lease / BEATS):
            for key, (leaf, task) in [*self._claims.items()]:
                is_held = self._try(renew_claim, leaf, self.worker, self.lease)
                if is_held is False and self._claims.pop(key, None) is not None:
                    task.get_loop().call_soon_threadsafe(task.cancel)
            for permit in [*self._permits]:
                self._try(self.limits.renew, permit, self.lease)

    def _try(self, statement: Callable[..., Any], *given: Any) -> Any:
        """Make a statement from another thread; return None if the database is not there."""
        with suppress(Refusal, RuntimeError):
            return self._statements.submit(self._state, statement, given).result()

    def close(self) -> None:
        """End the connection. What is claimed and not settled is offered again after a lease."""
        self._is_over.set()
        self._statements.shutdown()
        if self._db is not None:
            with suppress(Refusal):
                self._db.close()
