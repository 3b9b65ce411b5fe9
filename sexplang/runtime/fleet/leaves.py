"""Leaves in the store: the requests of runs that any process may perform, and their replies.

Law: the first reply to a leaf is its reply; another performance of it stands in `late`, for the
bill, as soon as it is known that there may be one. Law: leases
go by the clock of the database. Law: a leaf that another process had begun is performed again only
as its operation says (`Decision`).
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runtime.fleet.engine import Leaf
from sexplang.runtime.journal.compression import compress, decompress
from sexplang.runtime.journal.databases import Database
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.journal.rows import LONE, Row, digest
from sexplang.runtime.journal.run_store import StoredRun
from sexplang.terms.classes.node import frozen
from sexplang.terms.effect import UNCOUNTED, UNMADE, Request, with_sent
from sexplang.terms.json.tagged import dump, load, pack, unpack
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Value

SETTLED = "sexplang_settled"
"""The channel on which settled leaves are told: `RUN REQUEST REPLY`, with the number of the run,
and with the reply if it is short."""

Reply = tuple[Value, bool, int]
"""A value or an error, whether it is an error, and the number of attempts."""

RETRY_LEASES = 10
"""Leases for which a delivered leaf is kept: a performer that lost the connection may ask again
whether its reply was taken."""


@frozen
class NewLeaf:
    """A request that any process may perform."""

    request: Request
    """As it is sent: with the name of the model that was chosen for it."""
    digest: str
    """The digest of the request as the program made it."""
    queue: str
    attempt: int = 1
    """The number of the attempt, for the idempotency key."""
    decision: Decision = "safe"
    """What happens if it was begun and its performer is lost."""
    priority: int = 0


@frozen
class KeptLeaf:
    """A leaf as a run finds it that goes on."""

    request: str
    digest: str
    attempt: int
    queue: str
    priority: int
    is_settled: bool
    is_held: bool
    """Whether a process performs it."""
    claims: int
    """How often it was begun."""

    @property
    def is_in_doubt(self) -> bool:
        """Whether nobody knows what has become of it."""
        return not self.is_settled and not self.is_held and self.claims > 0

    def fits(self, request: Request, attempt: int) -> bool:
        """Whether it is this attempt at this request."""
        is_same = self.digest == digest(request.operation, request.arguments)
        return is_same and self.attempt == attempt


@frozen
class ClaimedLeaf:
    """A leaf that this process performs."""

    run: int
    """The number of its run."""
    run_id: str
    request: Request
    queue: str
    attempt: int
    decision: Decision
    before: str | None
    """The worker that had begun it before, and is lost."""

    @property
    def is_in_doubt(self) -> bool:
        """Whether it was begun before, and must not be performed again."""
        return self.before is not None and self.decision != "safe"


def put_leaves(db: Database, run: StoredRun, leaves: Iterable[NewLeaf]) -> None:
    """Put leaves, within a transaction. One that is there already stays as it is."""
    rows = [
        (
            *(run.n, each.request.id, each.attempt, each.digest, each.queue, each.priority),
            *(each.decision, _shrink([each.request.operation, pack(each.request.arguments)])),
        )
        for each in leaves
    ]
    db.executemany(
        "insert into leaves (run, request, attempt, digest, queue, priority, decision, data) "
        "values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (run, request) do update set "
        "attempt = excluded.attempt, digest = excluded.digest, queue = excluded.queue, "
        "priority = excluded.priority, decision = excluded.decision, data = excluded.data, "
        "worker = null, before = null, until = null, claims = 0, reply = null, settled = null, "
        "settler = null, delivered = null "
        "where leaves.digest <> excluded.digest or leaves.attempt <> excluded.attempt "
        "or leaves.delivered is not null",
        rows,
    )


def find_kept(db: Database, run: StoredRun) -> dict[str, KeptLeaf]:
    """Return the leaves of a run whose replies it has not taken, by request."""
    with db.explain():
        found = db.execute(
            "select request, digest, attempt, queue, priority, settled is not null, "
            f"coalesce(until >= {db.clock}, false), claims "
            "from leaves where run = ? and delivered is null",
            (run.n,),
        )
        return {
            row[0]: KeptLeaf(
                row[0], row[1], row[2], row[3], row[4], bool(row[5]), bool(row[6]), row[7]
            )
            for row in found
        }


def mark_delivered(db: Database, run: StoredRun, requests: Sequence[str]) -> None:
    """Say, within a transaction, that a run needs leaves no more. What they hold is removed."""
    db.executemany(
        f"update leaves set delivered = {db.clock}, data = ?, reply = null "
        "where run = ? and request = ?",
        [(b"", run.n, each) for each in requests],
    )


def take_back(db: Database, run: StoredRun, request: str) -> int | None:
    """Remove a leaf that nobody performs, to perform it here. Return how often it was begun, or
    None if it stays: it has a reply, or somebody performs it."""
    with db.explain():
        taken = db.execute(
            "delete from leaves where run = ? and request = ? and settled is null "
            f"and (until is null or until < {db.clock}) returning claims",
            (run.n, request),
        ).fetchone()
    return None if taken is None else int(taken[0])


def claim_leaf(db: Database, leaf: Leaf, worker: str, lease: float) -> ClaimedLeaf | float | None:
    """Begin a leaf. Return the seconds for which another process has it, or None if it has a reply
    or is needed no more."""
    with db.explain():
        claimed = db.execute(
            f"update leaves set before = worker, worker = ?, until = {db.clock} + ?, "
            "claims = claims + 1 "
            "where run = (select n from runs where id = ?) and request = ? and settled is null "
            f"and delivered is null and (until is null or until < {db.clock}) "
            "returning run, queue, attempt, decision, before, data",
            (worker, lease, leaf.run, leaf.request),
        ).fetchone()
        if claimed is not None:
            run, queue, attempt, decision, before, data = claimed
            operation, arguments = _grow(data)
            request = Request(leaf.request, operation, tuple(map(plain, unpack(arguments))))
            made = ClaimedLeaf(run, leaf.run, request, queue, attempt, decision, before)
            if before is not None and not made.is_in_doubt:
                part = with_sent(UNCOUNTED if operation == "model" else UNMADE)
                _keep_late(db, made, before, None, part["usage"], "do nothing")
            return made
        held = db.execute(
            f"select until - {db.clock} from leaves where run = (select n from runs where id = ?) "
            "and request = ? and settled is null and delivered is null",
            (leaf.run, leaf.request),
        ).fetchone()
    return None if held is None else max(0.0, held[0] or 0.0)


def renew_claim(db: Database, leaf: ClaimedLeaf, worker: str, lease: float) -> bool:
    """Hold a leaf for another lease. Return False if its reply is needed no more."""
    with db.explain():
        found = db.execute(
            f"update leaves set until = {db.clock} + ? "
            "where run = ? and request = ? and attempt = ? and worker = ? and settled is null "
            "and delivered is null returning run",
            (lease, leaf.run, leaf.request.id, leaf.attempt, worker),
        ).fetchone()
    return found is not None


def give_back(db: Database, leaf: ClaimedLeaf, worker: str) -> None:
    """Hand a leaf back that was not begun after all."""
    with db.explain():
        db.execute(
            "update leaves set worker = null, until = null, claims = claims - 1 "
            "where run = ? and request = ? and worker = ? and settled is null",
            (leaf.run, leaf.request.id, worker),
        )


def settle_leaf(db: Database, leaf: ClaimedLeaf, worker: str, reply: Reply) -> bool:
    """Keep a reply, and tell who waits for it. Return False if it is late: then it is kept for the
    bill alone. To settle twice is to settle once."""
    value, failed, attempts = reply
    told = {"error" if failed else "reply": pack(value), "attempts": attempts}
    where = leaf.run, leaf.request.id
    is_ours = "run = ? and request = ? and attempt = ?"
    words = "cast(run as text) || ' ' || request || ' ' || cast(? as text)"
    data = _shrink(told)
    with db.explain():
        settled = db.execute(
            f"update leaves set reply = ?, settled = {db.clock}, settler = ? "
            f"where {is_ours} and settled is null and delivered is null "
            f"returning run, {db.tell(SETTLED, words)}",
            (data, worker, *where, leaf.attempt, *([_encode_notice(data)] if db.tells else [])),
        ).fetchone()
        if settled is not None:
            return True
        before = db.execute(
            f"select 1 from leaves where {is_ours} and settler = ?", (*where, leaf.attempt, worker)
        ).fetchone()
        if before is not None:
            return True
        keep_late(db, leaf, worker, reply)
    return False


def _encode_notice(data: bytes) -> str:
    """Return a reply as text, if a notice has room for it."""
    return b64encode(data).decode() if len(data) <= _MOST_BYTES else ""


_MOST_BYTES = 5000
"""The size of a reply that is told together with the notice. PostgreSQL's has 8,000 bytes."""


def read_notice(words: str) -> tuple[tuple[int, str], Reply | None]:
    """Return the run and the request of a notice, and the reply if it has it."""
    run, request, data = words.split(" ")
    return (int(run), request), _read_reply(b64decode(data)) if data else None


def keep_late(db: Database, leaf: ClaimedLeaf, worker: str, reply: Reply) -> None:
    """Keep what a reply that is not needed has cost."""
    row = Row(leaf.request.id, leaf.request.operation, (), *reply, 0.0, 0.0)
    _keep_late(db, leaf, worker, *row.read_usage(), _REPLACES)


def _keep_late(
    db: Database,
    leaf: ClaimedLeaf,
    worker: str,
    model: str | None,
    usage: Mapping[str, Any],
    known: str,
) -> None:
    told = {"operation": leaf.request.operation, "model": model, "usage": pack(usage)}
    with db.explain():
        db.execute(
            f"insert into late (run, request, worker, at, data) "
            f"select n, ?, ?, {db.clock}, ? from runs where n = ? "
            f"on conflict (run, request, worker) {known}",
            (leaf.request.id, worker, _shrink(told), leaf.run),
        )


_REPLACES = "do update set at = excluded.at, data = excluded.data"
"""What a worker tells itself is more than what others know of it."""


def find_replies(db: Database, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Reply]:
    """Return the replies that are there, by run and request."""
    found: dict[tuple[int, str], Reply] = {}
    with db.explain():
        for run in {run for run, _ in keys}:
            requests = [request for each, request in keys if each == run]
            for start in range(0, len(requests), _MANY):
                some = requests[start : start + _MANY]
                for request, data in db.execute(
                    "select request, reply from leaves where run = ? and reply is not null "
                    f"and request in ({', '.join('?' * len(some))})",
                    (run, *some),
                ):
                    found[run, request] = _read_reply(data)
    return found


_MANY = 500
"""The number of requests in a statement."""


def list_owed(db: Database) -> list[Leaf]:
    """Return the leaves without a reply that nobody performs."""
    with db.explain():
        found = db.execute(
            "select runs.id, request, queue, leaves.priority from leaves "
            "join runs on runs.n = leaves.run where settled is null and delivered is null "
            "and runs.state in ('submitted', 'running', 'waiting', 'interrupted') "
            f"and (until is null or until < {db.clock}) order by leaves.run"
        )
        return [Leaf(*each) for each in found]


def list_waiting(db: Database) -> dict[str, int]:
    """Return how many leaves wait in each queue."""
    waiting: dict[str, int] = {}
    for each in list_owed(db):
        waiting[each.queue] = waiting.get(each.queue, 0) + 1
    return waiting


def forget_delivered(db: Database, lease: float) -> None:
    """Remove leaves whose runs need them no more, when nobody asks for them again."""
    with db.explain():
        db.execute(f"delete from leaves where delivered < {db.clock} - ?", (RETRY_LEASES * lease,))


def list_carried(db: Database, run: StoredRun) -> list[dict[str, Any]]:
    """Return the leaves for which a run waits: request, queue, the worker that has it, and whether
    its model has a limit."""
    with db.explain():
        found = db.execute(
            f"select request, queue, case when until >= {db.clock} then worker end, "
            "exists (select 1 from pressure where model = queue) from leaves "
            "where run = ? and settled is null and delivered is null order by request",
            (run.n,),
        ).fetchall()
    return [
        {"id": id, "queue": queue, "worker": worker, "is_limited": bool(is_limited)}
        for id, queue, worker, is_limited in found
    ]


def list_late(db: Database, run: StoredRun) -> list[dict[str, Any]]:
    """Return what was performed and not needed, or begun by a worker that was lost: request,
    worker, time, operation, model and usage."""
    with db.explain():
        found = db.execute(
            "select request, worker, at, data from late where run = ? order by at", (run.n,)
        )
        return [{"id": id, "worker": by, "at": at, **_grow(data)} for id, by, at, data in found]


def list_late_doubts(db: Database, run: StoredRun) -> list[dict[str, Any]]:
    """Return the same as doubts, of which reports tell what they may have cost."""
    return [
        {
            "id": each["id"],
            "operation": each["operation"],
            "began": each["at"],
            "decision": "safe",
        }
        for each in list_late(db, run)
    ]


def _read_reply(data: bytes) -> Reply:
    told: Mapping[str, Any] = _grow(data)
    failed = "error" in told
    return unpack(told["error" if failed else "reply"]), failed, told["attempts"]


def _shrink(data: Any) -> bytes:
    return compress(dump(redact(data)).encode("utf-8", LONE))


def _grow(data: bytes) -> Any:
    return load(decompress(bytes(data)).decode())
