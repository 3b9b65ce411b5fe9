"""Forks of kept runs, and the place where two runs part."""

import os
from contextlib import suppress
from typing import Any

from sexplang.guards.secrets import silence
from sexplang.machine import Failed, Outcome
from sexplang.runs import assembly
from sexplang.runs.durable_run import read_header
from sexplang.runtime.journal.checksum_chain import KEY as CHECKSUM
from sexplang.runtime.journal.checksum_chain import add_checksum
from sexplang.runtime.journal.fold import find_slice, fold
from sexplang.runtime.journal.journal import make_run_id
from sexplang.runtime.journal.rows import CUT, LONE, Row
from sexplang.runtime.journal.run_store import (
    INTERRUPTED,
    RUN_ID,
    RUN_ID_WORDS,
    RunStore,
    StoredRun,
)
from sexplang.runtime.journal.stored_journal import NO_REPLIES, StoredJournal, read_rows
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import frozen
from sexplang.terms.json.tagged import dump, load, pack
from sexplang.terms.program import Program
from sexplang.terms.run_terms import RateBook, Terms
from sexplang.terms.values.value import Fault


def count_rows(run: StoredRun, rows: list[Row], replies: int) -> int:
    """Return the number of rows up to some reply, and what its delivery withdrew. Raises a Refusal
    `no-row` if the run has fewer replies."""
    count, at = 0, 0
    while at < len(rows) and count < replies:
        count += rows[at].operation not in NO_REPLIES
        at += 1
    if count < replies or replies < 0:
        raise refuse(
            "no-row",
            f"the run {run.id} has {count} {'reply' if count == 1 else 'replies'}, not {replies}",
            hint=f"sexplang runs show {run.id} lists them",
        )
    while at < len(rows) and rows[at].operation == CUT:
        at += 1
    return at


def fork_run(store: RunStore, run: StoredRun, replies: int, id: str | None = None) -> StoredRun:
    """Add a run that has the first replies of another one and can be resumed from there. What
    followed in the other run is performed again by this one.

    Raises a Refusal: `no-row`, `run-exists`, `bad-input`, `bad-store`.
    """
    found = read_rows(store, run, whole=True)
    kept = found.rows[: count_rows(run, found.rows, replies)]
    new_id = make_run_id() if id is None else id
    if not RUN_ID.fullmatch(new_id):
        raise refuse("bad-input", f"the id of a run is {RUN_ID_WORDS}", hint="for example night-12")
    header = {name: each for name, each in load(run.header).items() if name != CHECKSUM}
    told = dump(header | {"run": new_id}).encode("utf-8", LONE)
    fork = store.add_run(
        *(new_id, run.project, run.name, run.command, add_checksum(told, b"")[0].decode()),
        run.owner,
        program=run.program,
        priority=run.priority,
    )

    def open_run(_: Terms | None) -> tuple[RunStore, StoredRun]:
        return store, fork

    storage = StoredJournal(open_run)
    for model, usd in found.rates.items():
        storage.note({"rates": model, "usd": usd})
    if found.zones is not None:
        storage.note({"zones": found.zones})
    for row in kept:
        storage.append(row)
    storage.keep()
    with store.explain():
        store.db.execute(
            "update runs set state = ?, replies = ?, tokens = ? where n = ?",
            (INTERRUPTED, storage.replies, storage.tokens, fork.n),
        )
    store.unlock(fork.id)
    return store.find(fork.id)


def find_outcome(
    store: RunStore, run: StoredRun, program: Program, replies: int, *, has_tasks: bool
) -> Outcome:
    """Return the outcome of a run after its first replies. Nothing is performed.

    Raises a Refusal: `no-row`, `program-changed`, `bad-store`.
    """
    terms, found = read_header(run, program), read_rows(store, run)
    before = found.replies - sum(row.operation not in NO_REPLIES for row in found.rows)
    if found.snapshot is not None and before <= replies <= found.replies:
        # A snapshot is a cache: one that fails in any way is dropped.
        with suppress(Fault, Failed, Refusal):
            rows = found.rows[: count_rows(run, found.rows, replies - before)]
            thawed = assembly.thaw(
                program,
                terms,
                found.snapshot,
                key=None,
                conceal=silence,
                book=RateBook(found.rates),
            )
            after: Outcome = fold(thawed, rows)
            return after
    found = read_rows(store, run, whole=True)
    rows = found.rows[: count_rows(run, found.rows, replies)]
    start = assembly.begin(
        program,
        terms,
        has_tasks=has_tasks,
        conceal=silence,
        slice=find_slice(rows, is_last=not rows),
        book=RateBook(found.rates),
    )
    outcome: Outcome = fold(start, rows)
    return outcome


@frozen
class Difference:
    """The place where two runs part: the number of replies that they have in common, and the next
    row of each; None for a run that has no more."""

    same: int
    one: Row | None
    other: Row | None


def find_difference(one: list[Row], other: list[Row]) -> Difference | None:
    """Return the place where two runs part, or None if they have the same rows. Replies that came
    in another order are the same."""
    ones, others = _replies(one), _replies(other)
    by_id = {row.id: row for row in others}
    for same, row in enumerate(ones):
        beside = by_id.get(row.id)
        if beside is None:
            unknown = {each.id for each in ones}
            return Difference(same, row, next((r for r in others if r.id not in unknown), None))
        if not _is_same(row, beside):
            return Difference(same, row, beside)
    known = {row.id for row in ones}
    more = next((row for row in others if row.id not in known), None)
    return None if more is None else Difference(len(ones), None, more)


def _replies(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.operation not in NO_REPLIES]


def _is_same(one: Row, other: Row) -> bool:
    asked = one.operation == other.operation and one.digest == other.digest
    told = one.failed == other.failed and dump(pack(one.reply)) == dump(pack(other.reply))
    return asked and told


def copy_run(store: RunStore, run: StoredRun, to: str) -> None:
    """Write a run to a store of its own, which is a new file. Raises a Refusal `file-exists`,
    `store-failed`."""
    from sexplang.runtime.journal.run_store import open_store

    if os.path.exists(to):
        raise refuse("file-exists", f"{to} already holds something", hint="name a new file")
    read_rows(store, run, whole=True)  # a damaged run is refused
    target = open_store(to)
    try:
        _copy(store, run, target, run.owner)
    finally:
        target.close()
    for ending in ("-wal", "-shm"):
        if os.path.exists(to + ending):
            os.unlink(to + ending)


def import_run(store: RunStore, path: str) -> list[StoredRun]:
    """Add the runs of another store. They are not the person's own: a resumption needs leave.
    Raises a Refusal: `run-exists`, `bad-store`, `store-failed`."""
    from sexplang.runtime.journal.run_store import open_store

    source = open_store(path, must_exist=True)
    try:
        runs = source.runs()
        for run in runs:
            read_rows(source, run, whole=True)
        return [_copy(source, run, store, IMPORTED) for run in runs]
    finally:
        source.close()


IMPORTED = "imported"
"""The owner of a run that came from elsewhere."""


def _copy(source: RunStore, run: StoredRun, target: RunStore, owner: str | None) -> StoredRun:
    made = target.add_run(
        *(run.id, run.project, run.name, run.command, run.header, owner),
        program=run.program,
        priority=run.priority,
    )
    state: Any = INTERRUPTED if run.state == "running" else run.state
    with target.explain(), target.transaction():
        texts = source.db.execute("select * from programs where digest = ?", (run.program,))
        target.db.executemany(
            "insert into programs values (?, ?) on conflict do nothing", texts.fetchall()
        )
        for table, columns in _TABLES.items():
            names = ", ".join(columns)
            rows = source.db.execute(f"select {names} from {table} where run = ?", (run.n,))
            marks = ", ".join("?" * (len(columns) + 1))
            target.db.executemany(
                f"insert into {table} (run, {names}) values ({marks})",
                [(made.n, *row) for row in rows.fetchall()],
            )
        target.db.execute(
            "update runs set state = ?, began = ?, ended = ?, replies = ?, tokens = ?, boots = ?, "
            "error = ?, due = ?, value = ?, successor = ? where n = ?",
            (
                *(state, run.began, run.ended, run.replies, run.tokens, run.boots),
                *(run.error, run.due, run.value, run.successor, made.n),
            ),
        )
    target.unlock(run.id)
    return target.find(run.id)


# A snapshot is a cache, and from elsewhere it would be believed.
_TABLES = {
    "entries": ("seq", "data", "checksum"),
    "blobs": ("digest", "data"),
    "questions": ("request", "data", "opened", "answer", "answered", "is_over"),
}
