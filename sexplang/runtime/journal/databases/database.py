"""What a store of runs needs of a database."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sexplang.runtime.refusal import refuse


class Rows(Protocol):
    """The rows that a statement gave."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the other rows."""

    def __iter__(self) -> Any: ...


class Database(Protocol):
    """An open database. The marks of a statement's arguments are `?`."""

    @property
    def address(self) -> str:
        """The path or URL that names it, without a password."""

    @property
    def is_new(self) -> bool:
        """Whether it was made just now."""

    @property
    def clock(self) -> str:
        """The expression for the time by the clock of the database, in seconds since the epoch."""

    def now(self) -> float:
        """Return the time by the clock of the database, in seconds since the epoch, without asking
        it."""

    @property
    def tells(self) -> bool:
        """Whether it can tell what has happened to those who listen."""

    def tell(self, channel: str, words: str) -> str:
        """Return the expression that tells those who listen on a channel, as a part of the
        statement. `words` is an expression too."""

    def listen(self, channel: str, on_words: Callable[[str], None]) -> int | None:
        """Call `on_words` with what is told on a channel. Return the file that is readable when
        something has come, or None if nothing is told: one has to look."""

    def hear(self) -> None:
        """Take what has come."""

    def reopen(self) -> "Database":
        """Return another connection to it. Raises a Refusal."""

    def execute(self, statement: str, arguments: Sequence[Any] = ()) -> Rows:
        """Execute a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each row."""

    def transaction(self, run: int | None = None) -> AbstractContextManager[None]:
        """Execute several statements as one. Nobody else writes to the run meanwhile."""

    @property
    def is_lost(self) -> bool:
        """Whether the connection is known to be lost, with its locks."""

    def explain(self) -> AbstractContextManager[None]:
        """Turn an error of the database into a Refusal `store-failed` or `bad-store`."""

    def lock(self, id: str) -> bool:
        """Lock a run until this process ends. Return False if another drive has it."""

    def unlock(self, id: str) -> None:
        """Release a run."""

    def is_locked(self, id: str) -> bool:
        """Whether a process drives a run."""

    def mark_unkept(self, id: str) -> None:
        """Say, outside the tables, that a run goes on without the store."""

    def is_marked(self, id: str) -> bool:
        """Whether a run is said to go on without the store."""

    def forget_mark(self, id: str) -> None:
        """Remove the mark of an earlier run with this id."""

    def forget(self, id: str) -> None:
        """Remove what is kept of a run outside the tables."""

    def size(self) -> int:
        """Return the bytes of the data."""

    def close(self) -> None:
        """Close the database and release all runs."""


VERSION = 4
"""The version of the tables. 2 has the questions of parked runs; 3 has the runs that replace
others; 4 has what the fleet needs: programs of runs, and leaves."""

_SCHEMA = """
create table runs (
    n {key}, id text not null unique, project text not null, name text not null,
    command text not null, header text not null, state text not null, began {real} not null,
    ended {real}, replies {integer} not null default 0, tokens {integer} not null default 0,
    boots {integer} not null default 1, error text, owner text, token {integer}, due {real},
    value text, successor text, program text, priority {integer} not null default 0, held text,
    is_stuck {integer} not null default 0, wish text
) {strict};
create index runs_by_project on runs (project, began);
create table entries (
    run {integer} not null, seq {integer} not null, data {bytes} not null,
    checksum {bytes} not null, primary key (run, seq)
) {strict};
create table blobs (
    run {integer} not null, digest {bytes} not null, data {bytes} not null,
    primary key (run, digest)
) {strict};
create table snapshots (
    run {integer} primary key, seq {integer} not null, data {bytes} not null,
    checksum {bytes} not null
) {strict};
"""

_QUESTIONS = """
create table questions (
    run {integer} not null, request text not null, data text not null, opened {real} not null,
    answer text, answered {real}, is_over {integer} not null default 0, primary key (run, request)
) {strict};
"""

_PROGRAMS = """
create index runs_by_state on runs (state);
create table programs (digest text primary key, data {bytes} not null) {strict};
"""

_LEAVES = """
create table leaves (
    run {integer} not null, request text not null, attempt {integer} not null,
    digest text not null, queue text not null, priority {integer} not null, decision text not null,
    data {bytes} not null, worker text, until {real}, before text,
    claims {integer} not null default 0, reply {bytes}, settled {real}, settler text,
    delivered {real}, primary key (run, request)
) {strict};
create table late (
    run {integer} not null, request text not null, worker text not null, at {real} not null,
    data {bytes} not null, primary key (run, request, worker)
) {strict};
create table pressure (
    model text primary key, holders {texts} not null, ends {reals} not null,
    slots {integers} not null, calls {integers} not null, tokens {integers} not null,
    shut {real} not null default 0, failures {integer} not null default 0,
    openings {integer} not null default 0
) {strict};
"""

_MIGRATIONS = {
    1: "alter table runs add column due {real}; alter table runs add column value text;"
    + _QUESTIONS,
    2: "alter table runs add column successor text",
    3: "alter table runs add column program text;"
    "alter table runs add column priority {integer} not null default 0;"
    "alter table runs add column held text;"
    "alter table runs add column is_stuck {integer} not null default 0;"
    "alter table runs add column wish text;" + _PROGRAMS + _LEAVES,
}


def list_statements(types: dict[str, str], version: int | None = None) -> list[str]:
    """Return the statements that make the tables, or the next version of them."""
    text = _SCHEMA + _QUESTIONS + _PROGRAMS + _LEAVES if version is None else _MIGRATIONS[version]
    return [each for each in text.format(**types).split(";") if each.strip()]


def refuse_missing(address: str) -> Any:
    """Return the refusal of a store that is not there."""
    return refuse(
        "store-failed", f"there is no store {address}", hint="runs are kept there by `run`"
    )


_ELSEWHERE = "name another one with --store, or keep nothing with --no-record"


def refuse_failed(address: str, why: object, hint: str = _ELSEWHERE) -> Any:
    """Return the refusal of a store that cannot be used."""
    message = f"the store of runs {address} cannot be used: {why}"
    return refuse("store-failed", message, hint=hint)


def refuse_written(address: str) -> Any:
    """Return the refusal of a write to a run to which another process has written."""
    return refuse(
        "store-failed",
        f"another process has written to this run in the store {address}",
        hint="sexplang runs show ID tells how the run stands",
    )


def refuse_newer(address: str) -> Any:
    """Return the refusal of tables of a newer version."""
    return refuse(
        "bad-store", f"{address} is of a newer version of sexplang", hint="update this one"
    )
