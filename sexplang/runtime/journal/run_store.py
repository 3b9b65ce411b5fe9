"""The store of runs: one SQLite file with the journals of many runs.

Law: what `commit` wrote is on the disk when it returns. An entry is what one commit wrote: rows and
intents as compressed JSON lines, with a checksum that continues that of the entry before.
"""

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING, Any

from sexplang.guards.secrets import redact_text
from sexplang.runtime.journal.rows import LONE
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, evolve, field, frozen

if TYPE_CHECKING:
    import sqlite3  # loaded when a run does something that is worth keeping

VERSION = 3
"""2 has the questions of parked runs; 3 has the runs that replace others."""
_APPLICATION = 0x73787072
"""The application id of the file: `sxpr`."""

BUSY = 60
"""Seconds to wait for another process that writes."""

# The tables keep their rowid: without it, SQLite gives each row of more than a quarter page one or
# more pages of its own.
_SCHEMA = """
create table runs (
    n integer primary key, id text not null unique, project text not null, name text not null,
    command text not null, header text not null, state text not null, began real not null,
    ended real, replies integer not null default 0, tokens integer not null default 0,
    boots integer not null default 1, error text, owner text, token integer, due real,
    value text, successor text
) strict;
create index runs_by_project on runs (project, began);
create table entries (
    run integer not null, seq integer not null, data blob not null, checksum blob not null,
    primary key (run, seq)
) strict;
create table blobs (
    run integer not null, digest blob not null, data blob not null, primary key (run, digest)
) strict;
create table snapshots (
    run integer primary key, seq integer not null, data blob not null, checksum blob not null
) strict;
"""

_QUESTIONS = """
create table questions (
    run integer not null, request text not null, data text not null, opened real not null,
    answer text, answered real, is_over integer not null default 0, primary key (run, request)
) strict;
"""

_MIGRATIONS = {
    1: "alter table runs add column due real; alter table runs add column value text;" + _QUESTIONS,
    2: "alter table runs add column successor text",
}
"""The statements that make the next version of a store."""

RUNNING, WAITING, INTERRUPTED = "running", "waiting", "interrupted"
"""The states of a run that can go on. A waiting one is parked: it needs an answer, or its time."""

DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
"""The states of a run that is over. A failed one can be resumed."""

REPLACED = "replaced"
"""The state of a run whose changed program runs on as another run, its successor."""

UNKEPT = "unkept"
"""The state of a run that went on when the store had failed: the store does not know what it did
then."""


@frozen
class StoredRun:
    """A run of the store. Times are seconds since the epoch."""

    n: int
    id: str
    project: str
    name: str
    command: str
    header: str
    state: str
    began: float
    ended: float | None
    replies: int
    tokens: int
    boots: int
    error: str | None
    owner: str | None
    """None for a run that was begun here."""
    due: float | None
    """The time at which a waiting run goes on without an answer."""
    value: str | None
    """The value of a run that is done, as source."""
    successor: str | None
    """The id of the run that replaced this one."""

    @property
    def has_command(self) -> bool:
        """Whether the run was begun on the command line."""
        return self.command != "{}"


_COLUMNS = (
    "n, id, project, name, command, header, state, began, ended, replies, tokens, boots, error, "
    "owner, due, value, successor"
)


@define(eq=False)
class RunStore:
    """An open store."""

    path: str
    db: "sqlite3.Connection"
    is_new: bool = False
    """Whether the file was made just now."""
    _locks: dict[str, int] = field(factory=dict)

    def add_run(
        self,
        id: str,
        project: str,
        name: str,
        command: str,
        header: str,
        owner: str | None = None,
    ) -> StoredRun:
        """Add a run and lock it. Raises a Refusal `run-exists`."""
        id, project, name = map(_encodable, (id, project, name))
        if not self.lock(id):
            raise self._refuse_id(id) or refuse_busy(id)
        from sqlite3 import IntegrityError

        with explain(self.path):
            with suppress(OSError):  # of an earlier file with this name
                os.unlink(self._lock_path(id) + _UNKEPT_END)
            try:
                self.db.execute(
                    "insert into runs (id, project, name, command, header, state, began, owner) "
                    "values (?, ?, ?, ?, ?, ?, ?, ?)",
                    (id, project, name, command, header, RUNNING, time(), owner),
                )
            except IntegrityError:
                self.unlock(id)
                raise (self._refuse_id(id) or refuse_busy(id)) from None
        return self.find(id)

    def _refuse_id(self, id: str) -> Any:
        """Return the refusal of an id that a run of the store has; None if no run has it."""
        with suppress(Refusal):
            found = self.find(id)
            if found.id == id:
                return refuse(
                    "run-exists",
                    f"the store has a run {id} already",
                    hint=f"{self.describe_resumption(found)}; or give another id",
                )
        return None

    def find(self, id: str) -> StoredRun:
        """Return a run by its id, or by the beginning of one. Raises a Refusal `unknown-run`."""
        id = _encodable(id)
        with explain(self.path):
            wanted = "id = ? or (substr(id, 1, length(?)) = ? and length(?) > 3)"
            found = self.db.execute(
                f"select {_COLUMNS} from runs where {wanted} order by id = ? desc limit 2",
                (id,) * 5,
            ).fetchall()
        runs = [self._make(*each) for each in found]
        if not runs or (len(runs) > 1 and runs[0].id != id):
            words = "has several runs that begin with" if runs else "has no run"
            raise refuse(
                "unknown-run",
                f"the store {words} {id}",
                hint="the beginning of an id needs four characters; sexplang runs list shows the "
                "runs of this project, --all those of every project",
            )
        return runs[0]

    def runs(self, project: str | None = None) -> list[StoredRun]:
        """Return the runs of a project, or all, the newest first."""
        with explain(self.path):
            where, given = "", tuple[str, ...]()
            if project is not None:
                where, given = "where project = ?", (_encodable(project),)
            told = self.db.execute(
                f"select {_COLUMNS} from runs {where} order by began desc, n desc", given
            )
            return [self._make(*each) for each in told]

    def find_old(self, until: float) -> list[StoredRun]:
        """Return the runs that ended, or of which nothing more is known, before a time. One that
        waits is not old."""
        with explain(self.path):
            asked = f"select {_COLUMNS} from runs where coalesce(ended, began) < ? and state != ?"
            return [self._make(*each) for each in self.db.execute(asked, (until, WAITING))]

    def find_before(self, run: StoredRun) -> StoredRun | None:
        """Return the run of the same command in the same project before this one."""
        with explain(self.path):
            found = self.db.execute(
                f"select {_COLUMNS} from runs where project = ? and command = ? and n < ? "
                "order by n desc limit 1",
                (run.project, run.command, run.n),
            ).fetchone()
        return None if found is None else self._make(*found)

    def _make(self, *columns: Any) -> StoredRun:
        run = StoredRun(*columns)
        is_marked = run.state != UNKEPT and os.path.exists(self._lock_path(run.id) + _UNKEPT_END)
        return evolve(run, state=UNKEPT) if is_marked else run

    def mark_unkept(self, run: StoredRun) -> None:
        """Say that a run goes on without the store. The name of its lock file says it too: the
        store may have no room."""
        path = self._lock_path(run.id)
        with suppress(OSError):
            os.rename(path, path + _UNKEPT_END)
        with suppress(Refusal), explain(self.path):
            self.db.execute("update runs set state = ? where n = ?", (UNKEPT, run.n))

    def replace_run(self, run: StoredRun, successor: StoredRun) -> None:
        """Say, within a transaction, that a run that can go on does so as another one, which has
        the answers that came meanwhile. The caller has locked it."""
        self.db.execute(
            "update runs set state = ?, successor = ?, ended = ? where n = ? "
            "and state in (?, ?, ?, ?)",
            (REPLACED, successor.id, time(), run.n, RUNNING, WAITING, INTERRUPTED, FAILED),
        )
        self.db.execute(
            "insert into questions (run, request, data, opened, answer, answered, is_over) "
            "select ?, request, data, opened, answer, answered, 1 from questions "
            "where run = ? and answered is not null and is_over = 0",
            (successor.n, run.n),
        )

    def cancel_run(self, run: StoredRun) -> None:
        """Cancel a run without its program. Raises a Refusal: `run-busy`, `run-ended`."""
        if not self.lock(run.id):
            raise refuse_busy(run.id)
        with explain(self.path), self.transaction():
            run = self.find(run.id)
            check_not_ended(run, (DONE, CANCELLED, REPLACED))
            self.db.execute(
                "update runs set state = ?, ended = ?, due = null where n = ?",
                (CANCELLED, time(), run.n),
            )
            self.db.execute("update questions set is_over = 1 where run = ?", (run.n,))
        self.unlock(run.id)

    def resume_command(self, run: StoredRun) -> str:
        """Return the command that resumes a run."""
        from shlex import join

        named = self.name_store()
        words = ["sexplang", "runs", "resume", run.id, *named]
        is_trusted = not named and is_private(self.path) and run.owner is None
        return join([*words, *([] if is_trusted else ["--as-recorded"])])

    def name_store(self) -> list[str]:
        """Return the option that names the store; none for the person's own."""
        own = default_store()
        is_default = own is not None and os.path.realpath(own) == os.path.realpath(self.path)
        return [] if is_default else ["--store", self.path]

    def describe_resumption(self, run: StoredRun) -> str:
        """Return what a person does to resume a run."""
        if run.has_command:
            return f"resume with: {self.resume_command(run)}"
        given = f"program, {run.id!r}, store={self.path!r}"
        return f"resume it from Python: sexplang.resume({given})"

    def is_alive(self, run: StoredRun) -> bool:
        """Whether a process drives the run."""
        if run.state != RUNNING:
            return False
        if run.id in self._locks or not self.lock(run.id):
            return True
        self.unlock(run.id)
        return False

    def lock(self, id: str) -> bool:
        """Lock a run until this process ends. Return False if another drive has it."""
        if id in self._locks:
            return False
        path = self._lock_path(id)
        with explain(self.path):
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._locks[id] = file
        return True

    def unlock(self, id: str) -> None:
        """Release a run."""
        file = self._locks.pop(id, None)
        if file is not None:
            os.close(file)

    def _lock_path(self, id: str) -> str:
        """Return the lock file of a run. An id that is no plain file name has a digest there: a
        store that came from elsewhere may hold any id."""
        if not _FILE_NAME.fullmatch(id):
            id = sha256(id.encode()).hexdigest()
        return os.path.join(f"{self.path}.locks", id)

    def remove(self, runs: list[StoredRun]) -> None:
        """Remove runs with all that belongs to them."""
        with explain(self.path), self.transaction():
            for run in runs:
                for table in ("entries", "blobs", "snapshots", "questions"):
                    self.db.execute(f"delete from {table} where run = ?", (run.n,))
                self.db.execute("delete from runs where n = ?", (run.n,))
        for run in runs:
            for end in ("", _UNKEPT_END):
                with suppress(OSError):
                    os.unlink(self._lock_path(run.id) + end)

    def size(self) -> int:
        """Return the bytes of the data in the file."""
        with explain(self.path):
            (pages,), (free,), (page,) = [
                self.db.execute(f"pragma {name}").fetchone()
                for name in ("page_count", "freelist_count", "page_size")
            ]
        return int((pages - free) * page)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write several statements as one."""
        self.db.execute("begin immediate")
        try:
            yield
        except BaseException:
            with suppress(Exception):  # what went wrong first is told
                self.db.execute("rollback")
            raise
        self.db.execute("commit")

    def close(self) -> None:
        """Close the file and release all runs."""
        for id in [*self._locks]:
            self.unlock(id)
        self.db.close()


_UNKEPT_END = "~unkept"
"""The end of the name of a lock file, which no id has."""

RUN_ID = re.compile(r"\w[\w.-]{0,63}")
"""The ids that a person may give."""

RUN_ID_WORDS = "at most 64 letters, digits, `-`, `_` and `.`, with a letter, digit or `_` first"

_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")


def _encodable(text: str) -> str:
    """Return a text that the store can keep. The name of a folder or a file may have bytes that are
    no UTF-8, and credentials."""
    return redact_text(text).encode("utf-8", LONE).decode()


def default_store() -> str | None:
    """Return the path of the person's own store, or None if runs are not to be kept."""
    said = os.environ.get("SEXPLANG_STORE")
    if said is not None:
        return os.path.abspath(said) if said else None
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(home, "sexplang", "runs.db")


def is_own(path: str) -> bool:
    """Whether a store is the person's own: it is the default one, and nobody else can write it."""
    own = default_store()
    return own is not None and os.path.realpath(own) == os.path.realpath(path) and is_private(path)


def is_private(path: str) -> bool:
    """Whether a file and its folder belong to the person, who alone can write them."""
    file = os.path.realpath(path)
    with suppress(OSError):
        found = [os.stat(each) for each in (file, os.path.dirname(file))]
        return all(each.st_uid == os.geteuid() and not each.st_mode & _OTHERS for each in found)
    return False


_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def open_store(path: str, *, must_exist: bool = False) -> RunStore:
    """Open a store, and make it if it is not there. Raises a Refusal `store-failed` or
    `bad-store`."""
    is_new = not os.path.exists(path)
    if is_new and must_exist:
        raise refuse(
            "store-failed", f"there is no store {path}", hint="runs are kept there by `run`"
        )
    with explain(path):
        if is_new:
            os.makedirs(os.path.dirname(path) or ".", 0o700, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        elif not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError(None, "it is no file")
        from sqlite3 import connect

        db = connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db, path)
        except BaseException:
            db.close()
            raise
    return RunStore(path, db, is_new)


def _prepare(db: "sqlite3.Connection", path: str) -> None:
    """Set a connection up, and make the tables of a new file."""
    db.text_factory = _decode
    identity = _identity(db)
    if identity == (0, 0, 0):
        db.execute("pragma journal_mode = wal")
        db.execute("begin immediate")
        if _identity(db) == (0, 0, 0):
            for statement in (_SCHEMA + _QUESTIONS).split(";"):
                db.execute(statement)
            db.execute(f"pragma application_id = {_APPLICATION}")
            db.execute(f"pragma user_version = {VERSION}")
        db.execute("commit")
        identity = _identity(db)
    application, version, _ = identity
    if application != _APPLICATION:
        raise refuse(
            "bad-store", f"{path} is no store of runs", hint="name another file with --store FILE"
        )
    if version > VERSION:
        raise refuse(
            "bad-store", f"{path} is of a newer version of sexplang", hint="update this one"
        )
    if version < VERSION:
        _migrate(db)
    db.execute("pragma synchronous = full")


def _decode(data: bytes) -> str:
    """Return a text of the store. A damaged one damages its own run alone."""
    return data.decode("utf-8", "replace")


def _migrate(db: "sqlite3.Connection") -> None:
    """Bring a store to this version, as one transaction."""
    db.execute("begin immediate")
    for version in range(_identity(db)[1], VERSION):  # another process may have done it
        for statement in _MIGRATIONS[version].split(";"):
            db.execute(statement)
        db.execute(f"pragma user_version = {version + 1}")
    db.execute("commit")


def _identity(db: "sqlite3.Connection") -> tuple[int, int, int]:
    """Return application, version and number of tables, all of one state."""
    found: tuple[int, int, int] = db.execute(
        "select application_id, user_version, (select count(*) from sqlite_master) "
        "from pragma_application_id, pragma_user_version"
    ).fetchone()
    return found


@contextmanager
def explain(path: str) -> Iterator[None]:
    """Turn an error of SQLite or of a file into a Refusal."""
    from sqlite3 import DatabaseError, IntegrityError

    try:
        yield
    except IntegrityError:
        raise refuse(
            "store-failed",
            f"another process has written to this run in the store {path}",
            hint="sexplang runs show ID tells how the run stands",
        ) from None
    except DatabaseError as error:
        is_bad = type(error) is DatabaseError
        raise refuse(
            "bad-store" if is_bad else "store-failed",
            f"the store of runs {path} cannot be used: {error}",
            hint="name another file with --store FILE, or keep nothing with --no-record",
        ) from None
    except OSError as error:
        raise refuse(
            "store-failed",
            f"the store of runs {path} cannot be used: {error.strerror}",
            hint="name another file with --store FILE, or keep nothing with --no-record",
        ) from None


def check_not_ended(run: StoredRun, states: tuple[str, ...]) -> None:
    """Raise a Refusal `run-ended` for a run in one of these states."""
    if run.state not in states:
        return
    if run.successor is not None:
        message = f"the run {run.id} was replaced by {run.successor}"
        hint = f"go on with that one; sexplang runs fork {run.id} --at N makes a run of this one"
    else:
        what = "its value" if run.state == DONE else "how"
        message, hint = f"the run {run.id} has ended", f"sexplang runs show {run.id} tells {what}"
    raise refuse("run-ended", message, hint=hint)


def refuse_busy(id: str) -> Any:
    """Return the refusal of a run that another process drives."""
    return refuse(
        "run-busy",
        f"another process drives the run {id}",
        hint="wait until it has ended, or stop it first",
    )
