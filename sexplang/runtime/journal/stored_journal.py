"""The journal of one run in the store: what is written, and what is read for a resumption."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import takewhile
from time import monotonic, thread_time, time
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runtime.journal.blobs import SIZE, BlobReader, BlobWriter, is_blob
from sexplang.runtime.journal.checksum_chain import read_checksum
from sexplang.runtime.journal.compression import compress, decompress
from sexplang.runtime.journal.journal import Carrier
from sexplang.runtime.journal.questions import keep_questions
from sexplang.runtime.journal.rows import ATTEMPT, CANCEL, CUT, LONE, PASSED, Row
from sexplang.runtime.journal.run_store import (
    INTERRUPTED,
    RUNNING,
    UNKEPT,
    WAITING,
    RunStore,
    StoredRun,
)
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.host.host_operations import SHOWN, find_operations
from sexplang.terms.json.tagged import dump, load, pack, unpack
from sexplang.terms.run_terms import Terms
from sexplang.terms.values.value import Fault, Record, Value

KEPT_NOTES = ("zones", "rates")
"""First keys of the notes that a fold needs."""

NO_REPLIES = frozenset({ATTEMPT, CANCEL, CUT, PASSED})
"""Operations of rows that are no replies to requests."""

CHEAP = SHOWN | find_operations(effect="tells") | find_operations(right="read")
"""Operations that a run may repeat from its beginning: for them alone no store is opened."""

SNAPSHOT_SHARE = 20
"""A snapshot is made when the run has computed so many times as long as making one takes."""

LEAST_SECONDS = 0.02
"""Seconds of computing before the first snapshot."""

KINDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

Usage = dict[str, list[int]]
"""Tokens of each of the KINDS, by the own name of a model; empty where it is not known."""

Begun = tuple[float, float, int]
"""The beginning of a request: the clock of the run, seconds since the epoch, the boot."""

CutRequest = tuple[str | None, float]
"""The digest of a request, None if not known, and its beginning in seconds since the epoch."""


@define(eq=False)
class StoredJournal:
    """A storage in the store of runs. The store is opened at the first commit, so a run without
    requests touches no disk."""

    open_run: "Callable[[Terms | None], tuple[RunStore, StoredRun]]"
    """Return the store and the run; a new run with these terms."""
    freeze: Callable[[Any], dict[str, Any]] | None = None
    """Return an outcome as data. Raises Fault."""
    on_failure: Callable[[Refusal], None] | None = None
    """What is told once when the store fails; then the run goes on without it. Without it, the
    failure ends the run."""
    seq: int = 0
    before: bytes = b""
    boot: int = 0
    open: dict[str, Begun] = field(factory=dict)
    """The beginnings of the requests that have no row."""
    rates: dict[str, Any] = field(factory=dict)
    """The prices that the run counts with."""
    failures: dict[str, int] = field(factory=dict)
    """For each request that is made again after it has failed, how often it has."""
    pauses: dict[str, Any] = field(factory=dict)
    """The pauses before another attempt, by request: model, attempt, end."""
    replies: int = 0
    tokens: int = 0
    usage: Usage = field(factory=dict)
    find_doubt: Callable[[Request], dict[str, Any] | None] | None = None
    """Return what is said of a request that begins and was made before; None of another one."""
    carrier: Carrier | None = None
    """What carries requests to other processes."""
    has_ended: bool = False
    """Whether it is said how the run ended."""
    is_off: bool = False
    """Whether the run goes on without the store."""
    _terms: Terms | None = None
    _opened: "tuple[RunStore, StoredRun] | None" = None
    _failure: Refusal | None = None
    """The failure that ended the run. The store is not tried again: the write that failed may be
    there or not."""
    _is_worth: bool = False
    """Whether something was begun that is worth keeping."""
    _lines: list[str] = field(factory=list)
    _has_own: bool = False
    """Whether the lines have more than replies that other processes keep too."""
    _blobs: BlobWriter = field(factory=BlobWriter)
    _since: float = field(factory=thread_time)
    _cost: float = 0.0
    """Seconds that the last snapshot took."""
    _due: float = 0.0
    """The monotonic time before which no snapshot is made. Reading the clock of the thread is
    slow."""

    @property
    def run(self) -> StoredRun | None:
        """The run in the store, if it is there."""
        return None if self._opened is None else self._opened[1]

    @property
    def opened(self) -> "tuple[RunStore, StoredRun]":
        """The store and the run. Raises Refusal."""
        return self._open()

    @property
    def ahead(self) -> float:
        """The seconds by which the clock of the store is ahead of this process's."""
        return 0.0 if self._opened is None else self._opened[0].db.now() - time()

    def open_new(self) -> None:
        """Keep the run from now on, whether or not it does anything worth it. Raises Refusal."""
        self._open()

    def begin(self, terms: Terms) -> None:
        self._terms = terms

    def append(self, row: Row) -> None:
        if row.operation == CANCEL:  # a resumption goes on before it
            self.freeze = None
        has_own = self._has_own or not self._is_kept_elsewhere(row)
        if self.carrier is not None:
            self.carrier.append(row)
        arguments = pack(row.arguments)
        if row.operation == "model":
            arguments = self._blobs.shorten(arguments, row.arguments)
        self._add(
            {
                "id": row.id,
                "operation": row.operation,
                "arguments": arguments,
                "attempts": row.attempts,
                "error" if row.failed else "reply": pack(row.reply),
                "started": row.started,
                "ended": row.ended,
                "clock": row.clock,
            }
        )
        self._has_own = has_own
        if row.operation != ATTEMPT:
            self.open.pop(row.id, None)
            self.pauses.pop(row.id, None)
        self.replies += row.operation not in NO_REPLIES
        self.tokens += count_tokens(row)
        add_usage(self.usage, row)

    def intend(self, requests: Sequence[Request], clock: float) -> None:
        at = time() + self.ahead
        ids = [each.id for each in requests]
        self._is_worth = self._is_worth or requests[0].operation not in CHEAP
        if self.find_doubt is not None:
            doubts = [doubt for doubt in map(self.find_doubt, requests) if doubt is not None]
            if doubts:
                self.resume({"resumes": self.boot, "rows": None, "at": at, "doubts": doubts})
        self._add({"intends": ids, "clock": clock, "at": at})
        if self.carrier is not None:
            self.carrier.intend(requests)
        for id in ids:
            self.open.setdefault(id, (clock, at, self.boot))

    def note(self, data: dict[str, Any]) -> None:
        if not data.keys().isdisjoint(KEPT_NOTES):
            self._add(data)
        if "rates" in data:
            self.rates[data["rates"]] = data["usd"]

    def note_pause(self, id: str, model: str, attempt: int, until: float) -> None:
        """Note that another attempt at a model call follows, and commit. Raises Refusal."""
        self.pauses[id] = [model, attempt, until + self.ahead]
        self._add({"pauses": id, "until": self.pauses[id]})
        self.commit()

    def resume(self, data: dict[str, Any]) -> None:
        """Note that another process goes on with the run."""
        self._add(data)

    def commit(self) -> None:
        if not self._lines or self.is_off or not (self._is_worth or self.boot):
            return
        if self._failure is not None:
            raise self._failure
        try:
            store, run = self._open()
            data = compress("\n".join(self._lines).encode("utf-8", LONE))
            checksum = sha256(self.before + data).digest()[:SIZE]
            entry = run.n, self.seq + 1, data, checksum
            with store.explain():
                carrier = self.carrier
                is_carrying = carrier is not None and carrier.has_news
                if not self._blobs.new and not is_carrying:
                    store.db.execute(_ENTRY, entry)
                else:
                    with store.transaction():
                        blobs = [(run.n, name, compress(text)) for name, text in self._blobs.new]
                        store.db.executemany(_BLOB, blobs)
                        store.db.execute(_ENTRY, entry)
                        if carrier is not None and is_carrying:
                            carrier.write(store, run)
            if carrier is not None and is_carrying:
                carrier.finish()
        except Refusal as refusal:
            self._fail(refusal)
            return
        self._lines.clear()
        self._has_own = False
        self._blobs.new.clear()
        self.seq, self.before = self.seq + 1, checksum

    @property
    def may_wait(self) -> bool:
        return bool(self._lines) and not self._has_own

    def keep(self) -> None:
        """Commit also what is worth little. Raises Refusal."""
        self._is_worth = True
        self.commit()

    def snap(self, outcome: Any, clock: float) -> None:
        if monotonic() < self._due or self.freeze is None or self.is_off:
            return
        if self._opened is None or self._lines:
            return
        began = thread_time()
        left = max(LEAST_SECONDS, SNAPSHOT_SHARE * self._cost) - (began - self._since)
        if left > 0:
            self._due = monotonic() + left  # a thread computes no longer than time passes
            return
        self._write_snapshot(outcome, clock)
        self._cost = thread_time() - began

    def park(
        self, outcome: Any, clock: float, questions: Sequence[Request], due: float | None
    ) -> None:
        self.keep()
        if self.is_off:
            raise refuse(
                "store-failed",
                "the run waits for an answer, and cannot be kept",
                hint="name another file with --store FILE, or answer at a terminal",
            )
        store, run = self._open()
        if self.freeze is not None:
            self._write_snapshot(outcome, clock)
        with store.explain(), store.transaction():
            keep_questions(store, run, questions)
            store.db.execute(
                "update runs set state = ?, due = ?, replies = ?, tokens = ? where n = ?",
                (WAITING, due, *self._counts(), run.n),
            )

    def go_on(self) -> None:
        """Say that a parked run is driven again. Raises Refusal."""
        store, run = self._open()
        with store.explain():
            store.db.execute("update runs set state = ?, due = null where n = ?", (RUNNING, run.n))

    def _write_snapshot(self, outcome: Any, clock: float) -> None:
        assert self._opened is not None and self.freeze is not None
        store, run = self._opened
        # A snapshot is a cache: without one, the whole journal is folded.
        with suppress(Fault, Refusal, ValueError, TypeError, RecursionError):
            kept = {
                "clock": clock,
                "open": self.open,
                "boot": self.boot,
                "rates": self.rates,
                "failures": self.failures,
                "pauses": self.pauses,
                "replies": self.replies,
                "tokens": self.tokens,
                "usage": self.usage,
                "frozen": self.freeze(outcome),
            }
            data = compress(json.dumps(kept).encode())
            checksum = sha256(self.before + data).digest()[:SIZE]
            with store.explain():
                store.db.execute(
                    "insert into snapshots values (?, ?, ?, ?) on conflict (run) do update set "
                    "seq = excluded.seq, data = excluded.data, checksum = excluded.checksum",
                    (run.n, self.seq, data, checksum),
                )
        self._since = thread_time()

    def end(self, state: str, error: str | None = None, value: str | None = None) -> None:
        """Set how the run ended. A run that the store does not know stays unknown."""
        self.has_ended = True
        with suppress(Refusal):  # the driver has told it
            self.commit()
        if self._opened is not None and not self.is_off:
            store, run = self._opened
            try:
                with store.explain(), store.transaction():
                    if state != INTERRUPTED:  # a run that is over is not read from a snapshot
                        store.db.execute("delete from snapshots where run = ?", (run.n,))
                        store.db.execute(_NEEDED_NO_MORE.format(now=store.db.clock), (run.n,))
                    store.db.execute(
                        "update runs set state = ?, ended = ?, replies = ?, tokens = ?, error = ?, "
                        "value = ? where n = ?",
                        (state, time(), *self._counts(), error, value, run.n),
                    )
            except Refusal as refusal:
                # The journal says how the run ended, and a resumption finds it there.
                if self.on_failure is not None:
                    self._fail(refusal)

    def close(self) -> None:
        opened = self._opened
        self.release()
        if opened is not None:
            opened[0].close()

    def release(self) -> None:
        """End the storage, and leave the store open."""
        with suppress(Refusal):
            self.commit()
        if self.carrier is not None:
            self.carrier.close()
        if self._opened is not None:
            store, run = self._opened
            with suppress(Refusal), store.explain():
                store.db.execute(
                    "update runs set state = ?, replies = ?, tokens = ? "
                    "where n = ? and state = 'running'",
                    (UNKEPT if self.is_off else INTERRUPTED, *self._counts(), run.n),
                )
            store.unlock(run.id)
            self._opened = None

    def _counts(self) -> tuple[int, int]:
        """Return the replies and tokens as SQLite's integers. A server may report any count."""
        return self.replies, min(self.tokens, _GREATEST)

    def _is_kept_elsewhere(self, row: Row) -> bool:
        is_reply = row.operation not in NO_REPLIES
        return is_reply and self.carrier is not None and self.carrier.is_carried(row.id)

    def _add(self, data: dict[str, Any]) -> None:
        self._has_own = True
        if not self.is_off:
            self._lines.append(dump(redact(data)))

    def _open(self) -> tuple[RunStore, StoredRun]:
        if self._opened is None:
            self._opened = self.open_run(self._terms)
            self.before = self.before or first_checksum(self._opened[1])
        return self._opened

    def _fail(self, refusal: Refusal) -> None:
        """Go on without the store, or end the run."""
        if self.on_failure is None:
            self._failure = refusal
            raise refusal
        self.is_off = True
        self._lines.clear()
        if self._opened is not None:
            store, run = self._opened
            store.mark_unkept(run)
        self.on_failure(refusal)


def count_tokens(row: Row) -> int:
    """Return the tokens of a row, input and output."""
    counts = [row.usage.get(name) for name in ("input_tokens", "output_tokens")]
    return sum([count for count in counts if isinstance(count, int)])


def add_usage(usage: Usage, row: Row, sign: int = 1) -> None:
    """Add the tokens of a row to those of its model, or take them away."""
    model, counts = row.read_usage()
    if counts:
        total = usage.setdefault(model or "", [0] * len(KINDS))
        for at, kind in enumerate(KINDS):
            count = counts.get(kind)
            total[at] += sign * count if isinstance(count, int) else 0


_GREATEST = 2**63 - 1

_NEEDED_NO_MORE = "update leaves set delivered = {now} where run = ? and delivered is null"

_ENTRY = "insert into entries values (?, ?, ?, ?)"
_BLOB = "insert into blobs values (?, ?, ?) on conflict do nothing"


@define(eq=False)
class StoredRows:
    """What the journal of a stored run says, from its beginning or behind a snapshot."""

    seq: int = 0
    before: bytes = b""
    snapshot: dict[str, Any] | None = None
    rows: list[Row] = field(factory=list)
    open: dict[str, Begun] = field(factory=dict)
    """The beginnings of the requests without a row."""
    boots: int = 0
    clock: float = 0.0
    rates: dict[str, Any] = field(factory=dict)
    failures: dict[str, int] = field(factory=dict)
    """For each request that is made again after it has failed, how often it has."""
    pauses: dict[str, Any] = field(factory=dict)
    """The pauses before another attempt, by request: model, attempt, end."""
    zones: str | None = None
    replies: int = 0
    tokens: int = 0
    usage: Usage = field(factory=dict)
    doubts: list[Any] = field(factory=list)
    """The doubts of earlier resumptions."""
    cut_off: dict[str, CutRequest] = field(factory=dict)
    """The requests that began behind the row at which the journal was cut, by id: those of
    `finally` bodies. The run may come to them again."""
    _closed: dict[str, Begun] = field(factory=dict)
    """The beginnings of the requests with a row."""
    _places: dict[str, int] = field(factory=dict)
    """The number of rows when a request began, by its id."""

    def list_begun(self) -> dict[str, Begun]:
        """Return the beginnings of the requests that were under way when the process ended, or when
        the run was cancelled."""
        at = next((at for at, row in enumerate(self.rows) if row.operation == CANCEL), None)
        if at is None:
            return dict(self.open)
        withdrawn = takewhile(lambda row: row.operation == CUT, self.rows[at + 1 :])
        return {row.id: self._closed[row.id] for row in withdrawn if row.id in self._closed}

    def cut(self, kept: int) -> None:
        """Remove the rows from one that ended the run: a cancellation, or a reply. The requests
        that were under way then are open again. That of the reply is over only if it failed."""
        gone = self.rows[kept:]
        del self.rows[kept:]
        is_cancelled = gone[0].operation == CANCEL
        for row in gone:
            is_over = row is gone[0] and row.failed and not _is_in_doubt(row)
            if is_over:
                self.failures[row.id] = self.failures.get(row.id, 0) + 1
                self.pauses.pop(row.id, None)
                continue
            if row.id not in self._closed:
                continue
            begun = self._closed.pop(row.id)
            if self._places.get(row.id, 0) <= kept:
                self.open[row.id] = begun
            elif not is_cancelled:
                asked = str(row.arguments[0]) if row.operation == CUT else row.digest
                self.cut_off[row.id] = asked, begun[1]
        for id in [id for id in self.open if self._places.get(id, 0) > kept]:
            begun = self.open.pop(id)
            if not is_cancelled:
                self.cut_off[id] = None, begun[1]
        self.replies -= sum(row.operation not in NO_REPLIES for row in gone)
        self.tokens -= sum(map(count_tokens, gone))
        for row in gone:
            add_usage(self.usage, row, -1)

    def take(self, line: dict[str, Any], blobs: BlobReader) -> None:
        """Add a line."""
        if "intends" in line:
            for id in line["intends"]:
                if id not in self.open:
                    self.open[id] = line["clock"], line["at"], self.boots
                    self._places[id] = len(self.rows)
        elif "resumes" in line:
            self.boots = line["resumes"]
            self.doubts += line["doubts"]
            if line["rows"] is not None:
                self.cut(line["rows"])
        elif "pauses" in line:
            self.pauses[line["pauses"]] = line["until"]
        elif "zones" in line:
            self.zones = line["zones"]
        elif "rates" in line:
            self.rates[line["rates"]] = line["usd"]
        else:
            self._add_row(line, blobs)

    def _add_row(self, line: dict[str, Any], blobs: BlobReader) -> None:
        given = line["arguments"]
        if line["operation"] == "model":
            given = blobs.restore(given)
        failed = "error" in line
        reply: Value = unpack(line["error" if failed else "reply"])
        row = Row(
            line["id"],
            line["operation"],
            unpack(given),
            reply,
            failed,
            line["attempts"],
            line["started"],
            line["ended"],
            line["clock"],
        )
        self.clock = max(self.clock, row.clock)
        self.rows.append(row)
        if row.id in self.open and row.operation != ATTEMPT:
            self._closed[row.id] = self.open.pop(row.id)
        self.tokens += count_tokens(row)
        add_usage(self.usage, row)
        self.replies += row.operation not in NO_REPLIES


def _is_in_doubt(row: Row) -> bool:
    """Whether a request failed because nobody knows whether it was performed, or was performed and
    its reply could not be taken."""
    fields = row.reply.fields if isinstance(row.reply, Record) else {}
    is_taken = not str(fields.get("message")).startswith(f"the reply to `{row.operation}`: ")
    return fields.get("reason") == "in-doubt" or not is_taken


def read_rows(store: RunStore, run: StoredRun, *, whole: bool = False) -> StoredRows:
    """Return the newest snapshot and what follows it; with `whole`, or if the snapshot is damaged,
    all from the beginning. Raises a Refusal `bad-store`."""
    blobs = BlobReader(lambda name: _find_blob(store, run, name), _load_blob)
    found = None if whole else _read_snapshot(store, run)
    found = found or StoredRows(before=first_checksum(run))
    with store.explain():
        for seq, data, checksum in store.db.execute(
            "select seq, data, checksum from entries where run = ? and seq > ? order by seq",
            (run.n, found.seq),
        ):
            try:
                if seq != found.seq + 1 or not _fits(found.before, data, checksum):
                    raise ValueError(seq)
                for line in decompress(data).decode("utf-8").split("\n"):
                    found.take(load(line), blobs)
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as wrong:
                raise refuse(
                    "bad-store",
                    f"the journal of run {run.id} is damaged: entry {seq} cannot be read",
                    hint="run the program again; sexplang runs list shows other runs",
                    entry=seq,
                ) from wrong
            found.seq, found.before = seq, bytes(checksum)
    return found


def first_checksum(run: StoredRun) -> bytes:
    """Return the checksum of a run's header, with which the chain of its entries begins; empty for
    a header without one."""
    return read_checksum(run.header.encode(), b"") or b""


def _fits(before: bytes, data: bytes, checksum: bytes) -> bool:
    return bool(sha256(before + data).digest()[:SIZE] == checksum)


def _read_snapshot(store: RunStore, run: StoredRun) -> StoredRows | None:
    with store.explain():
        found = store.db.execute(
            "select s.seq, s.data, s.checksum, e.checksum from snapshots s "
            "join entries e on e.run = s.run and e.seq = s.seq where s.run = ?",
            (run.n,),
        ).fetchone()
    if found is None:
        return None
    seq, data, checksum, before = found
    try:
        if not _fits(before, data, checksum):
            return None
        kept = json.loads(decompress(data))
        rows = StoredRows(seq=seq, before=before, snapshot=kept["frozen"], clock=kept["clock"])
        rows.open = {id: (each[0], each[1], each[2]) for id, each in kept["open"].items()}
        rows.boots, rows.rates = kept["boot"], kept["rates"]
        rows.failures, rows.pauses = kept["failures"], kept["pauses"]
        rows.replies, rows.tokens, rows.usage = kept["replies"], kept["tokens"], kept["usage"]
        return rows
    # A snapshot is a cache: one that fails in any way is dropped.
    except Exception:
        return None


def _load_blob(data: bytes) -> Any:
    return load(data.decode())


def _find_blob(store: RunStore, run: StoredRun, name: bytes) -> bytes:
    found = store.db.execute(
        "select data from blobs where run = ? and digest = ?", (run.n, name)
    ).fetchone()
    text = b"" if found is None else decompress(found[0])
    if found is None or not is_blob(name, text):
        raise LookupError(name.hex())
    return text
