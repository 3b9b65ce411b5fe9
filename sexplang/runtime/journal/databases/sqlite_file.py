"""A store of runs in one SQLite file, with a folder of lock files beside it."""

import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING, Any

from sexplang.runtime.journal.databases.database import (
    VERSION,
    list_statements,
    refuse_failed,
    refuse_newer,
    refuse_written,
)
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import define, field

if TYPE_CHECKING:
    import sqlite3  # loaded when a run does something that is worth keeping

_APPLICATION = 0x73787072
"""The application id of the file: `sxpr`."""

BUSY = 60
"""Seconds to wait for another process that writes."""

# The tables keep their rowid: without it, SQLite gives each row of more than a quarter page one or
# more pages of its own.
_TYPES = {
    "key": "integer primary key",
    "integer": "integer",
    "real": "real",
    "bytes": "blob",
    "reals": "text",
    "integers": "text",
    "texts": "text",
    "strict": "strict",
}

_UNKEPT_END = "~unkept"
"""The end of the name of a lock file, which no id has."""

_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")


@define(eq=False)
class SqliteFile:
    """An open file of SQLite."""

    address: str
    connection: "sqlite3.Connection"
    is_new: bool
    _locks: dict[str, int] = field(factory=dict)

    @property
    def clock(self) -> str:
        return "(julianday('now') - 2440587.5) * 86400.0"

    def now(self) -> float:
        return time()

    @property
    def tells(self) -> bool:
        return False

    def tell(self, channel: str, words: str) -> str:
        return "null"

    def listen(self, channel: str, on_words: Callable[[str], None]) -> None:
        """Nobody is told anything."""

    def hear(self) -> None:
        """Nothing comes."""

    def reopen(self) -> "SqliteFile":
        return open_file(self.address)

    def execute(self, statement: str, arguments: Sequence[Any] = ()) -> Any:
        return self.connection.execute(statement, arguments)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self.connection.executemany(statement, rows)

    @contextmanager
    def transaction(self, run: int | None = None) -> Iterator[None]:
        self.connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            with suppress(Exception):  # what went wrong first is told
                self.connection.execute("rollback")
            raise
        self.connection.execute("commit")

    @property
    def is_lost(self) -> bool:
        return False

    def explain(self) -> Any:
        return explain_file(self.address)

    def lock(self, id: str) -> bool:
        if id in self._locks:
            return False
        path = self._lock_path(id)
        with self.explain():
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
        file = self._locks.pop(id, None)
        if file is not None:
            os.close(file)

    def is_locked(self, id: str) -> bool:
        if not self.lock(id):
            return True
        self.unlock(id)
        return False

    def mark_unkept(self, id: str) -> None:
        """The name of the lock file says it: the file may have no room."""
        path = self._lock_path(id)
        with suppress(OSError):
            os.rename(path, path + _UNKEPT_END)

    def is_marked(self, id: str) -> bool:
        return os.path.exists(self._lock_path(id) + _UNKEPT_END)

    def forget(self, id: str) -> None:
        """The lock stays with who has it."""
        for end in ("", _UNKEPT_END):
            with suppress(OSError):
                os.unlink(self._lock_path(id) + end)

    def forget_mark(self, id: str) -> None:
        """Remove the mark of an earlier file with this name."""
        with suppress(OSError):
            os.unlink(self._lock_path(id) + _UNKEPT_END)

    def _lock_path(self, id: str) -> str:
        """Return the lock file of a run. An id that is no plain file name has a digest there: a
        store that came from elsewhere may hold any id."""
        if not _FILE_NAME.fullmatch(id):
            id = sha256(id.encode()).hexdigest()
        return os.path.join(f"{self.address}.locks", id)

    def size(self) -> int:
        (pages,), (free,), (page,) = [
            self.connection.execute(f"pragma {name}").fetchone()
            for name in ("page_count", "freelist_count", "page_size")
        ]
        return int((pages - free) * page)

    def close(self) -> None:
        for id in [*self._locks]:
            self.unlock(id)
        self.connection.close()


def open_file(path: str) -> SqliteFile:
    """Open a file, and make it if it is not there. Raises a Refusal `store-failed` or
    `bad-store`."""
    is_new = not os.path.exists(path)
    with explain_file(path):
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
    return SqliteFile(path, db, is_new)


def _prepare(db: "sqlite3.Connection", path: str) -> None:
    """Set a connection up, and make the tables of a new file."""
    db.text_factory = _decode
    identity = _identity(db)
    if identity == (0, 0, 0):
        db.execute("pragma journal_mode = wal")
        db.execute("begin immediate")
        if _identity(db) == (0, 0, 0):
            for statement in list_statements(_TYPES):
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
        raise refuse_newer(path)
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
        for statement in list_statements(_TYPES, version):
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
def explain_file(path: str) -> Iterator[None]:
    """Turn an error of SQLite or of a file into a Refusal."""
    from sqlite3 import DatabaseError, IntegrityError

    try:
        yield
    except IntegrityError:
        raise refuse_written(path) from None
    except DatabaseError as error:
        if type(error) is not DatabaseError:
            raise refuse_failed(path, error) from None
        raise refuse(
            "bad-store",
            f"the store of runs {path} cannot be used: {error}",
            hint="name another one with --store, or keep nothing with --no-record",
        ) from None
    except OSError as error:
        raise refuse_failed(path, error.strerror) from None
