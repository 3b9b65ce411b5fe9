"""The file of an index → a connection to it: SQLite, one transaction for whatever changes.

Law: whoever reads sees the index before a change or after it, never between; a process that is
killed while it writes leaves the index as it was.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep

from sexplang.runtime.memory.entries import put_words
from sexplang.runtime.memory.places import FOLDER
from sexplang.runtime.refusal import Refusal, refused

VERSION = 2
APPLICATION = 0x73657870
"""What tells this kind of file from other databases: `sexp`."""

PATIENCE = 60.0
"""Seconds for which another process that changes the index is waited for."""
_TICK = 0.05
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
"""The last is several who open a new file at the same moment."""

_FILES = (
    """create table roots (
        path text primary key, include text not null, exclude text not null,
        head text not null, indexed real not null)""",
    """create table files (
        id integer primary key, path text not null unique, size integer, mtime_ns integer,
        digest text, summary text not null, identifiers text not null,
        commit_id text not null, author text not null, date text not null,
        given text, skipped text)""",
    f"pragma application_id = {APPLICATION}",
)
# What is a word is said by `terms.words` alone: to this tokenizer it is whatever has no space.
_WORDS = (
    "drop table if exists words",
    """create virtual table words using fts5 (
        names, summary, identifiers, facts, tokenize = 'porter ascii')""",
    f"pragma user_version = {VERSION}",
)

# One statement sees one state: who makes the index meanwhile is seen as a whole or not at all.
_IDENTITY = """select application_id, user_version, (select count(*) from sqlite_master)
    from pragma_application_id, pragma_user_version"""

_SMALLEST = 512
"""Bytes of the shortest database: one page."""


def missing(path: str) -> bool:
    """Whether there is no index yet: no file, or one that an interrupted first run left empty."""
    try:
        status = os.stat(path)
    except OSError:
        return not os.path.lexists(path)
    return status.st_size == 0 and stat.S_ISREG(status.st_mode)


@contextmanager
def reading(path: str) -> Iterator[sqlite3.Connection | None]:
    """The index to look into; None where there is none. One of an older version is renewed first,
    if it can be written. Raises a Refusal: `bad-index`, `index-too-new`, `index-failed`."""
    if missing(path):
        yield None
        return
    with _explained(path):
        _check_kind(path)
        connection = _opened(path)
        try:
            version = _version(connection, path)
            if 0 < version < VERSION:
                connection.close()
                with suppress(Refusal), changing(path):
                    pass
                connection = _opened(path)
            connection.execute("pragma trusted_schema = off")
            yield connection if version else None
        finally:
            connection.close()


@contextmanager
def changing(path: str, patience: float = PATIENCE) -> Iterator[sqlite3.Connection]:
    """The index to change, made where there is none. All changes are kept at the end, or none if
    anything is raised. Those who change it take turns. Raises a Refusal as `reading` does, and
    `index-busy`."""
    _make_folder(path)
    with _explained(path):
        _check_kind(path)
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            _begin(connection, path, patience)
            try:
                _renew(connection, _version(connection, path))
                yield connection
                connection.execute("commit")
            finally:
                if connection.in_transaction:
                    connection.execute("rollback")
        finally:
            connection.close()


def _renew(connection: sqlite3.Connection, version: int) -> None:
    """Makes the tables of an index that has none, or its words anew from what it knows of files."""
    if version == 0:
        for statement in _FILES:
            connection.execute(statement)
    if version < VERSION:
        for statement in _WORDS:
            connection.execute(statement)
        put_words(connection)


def _begin(connection: sqlite3.Connection, path: str, patience: float) -> None:
    """Begins to change; between two looks whether it is our turn, Ctrl-C is heard."""
    until = monotonic() + patience
    while True:
        try:
            _version(connection, path)  # nobody else's database is touched
            connection.execute("pragma journal_mode = wal")
            connection.execute("begin immediate")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            if monotonic() > until:
                raise refused(
                    "index-busy",
                    f"another process has been changing {path} for {patience:g} seconds",
                    hint="wait for it, or end it: the index then stays as it was",
                    path=path,
                ) from None
        sleep(_TICK)


def _opened(path: str) -> sqlite3.Connection:
    """An existing file. Where nothing can be written, not even beside it, the file as it is."""
    from pathlib import Path  # with all that knows of addresses; an index is made without it

    uri = Path(os.path.abspath(path)).as_uri()
    connection = sqlite3.connect(f"{uri}?mode=rw", uri=True, timeout=5, isolation_level=None)
    try:
        connection.execute("pragma query_only = on")
        connection.execute("begin")  # whatever is asked sees what the first question saw
        connection.execute("select count(*) from sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if _is_busy(error) or os.access(os.path.dirname(path) or ".", os.W_OK):
            raise
        return sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_kind(path: str) -> None:
    """SQLite takes a short file of any kind for an empty database, and would replace it.

    The file is not opened for that: closing it would take the locks of whoever in this process is
    at work on it.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _failed(path, error.strerror or str(error)) from None
    if stat.S_ISDIR(status.st_mode):
        raise _failed(path, "it is a folder")
    if not os.access(path, os.R_OK):
        raise _failed(path, "it may not be read")
    if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
        raise _bad(path, "it is no regular file")
    if 0 < status.st_size < _SMALLEST:
        raise _bad(path, "it is no database")


def _version(connection: sqlite3.Connection, path: str) -> int:
    """The version of an index of ours; 0 for an empty database, which is none yet. Raises a Refusal
    for whatever else it is."""
    application, version, tables = connection.execute(_IDENTITY).fetchone()
    if application == 0 and version == 0 and tables == 0:
        return 0
    if application != APPLICATION:
        raise _bad(path, "it is a database of something else")
    if version > VERSION:
        raise refused(
            "index-too-new",
            f"{path} was made by a newer version of sexplang",
            hint="update sexplang, or name another file with --index FILE",
            path=path,
            version=version,
            known=VERSION,
        )
    return int(version)


def _make_folder(path: str) -> None:
    """The folder of an index. Our own keeps itself out of git."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(folder):
        return
    try:
        os.makedirs(folder)
        if os.path.basename(folder) == FOLDER:
            with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as file:
                file.write("*\n")
    except FileExistsError:
        if not os.path.isdir(folder):
            raise _failed(path, f"{folder} is no folder") from None
    except OSError as error:
        raise _failed(path, error.strerror or str(error)) from None


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Whatever SQLite says, as a Refusal."""
    try:
        yield
    except sqlite3.OperationalError as error:
        # A plain error is one of the statement: the tables are not those that it speaks of. One
        # without a code is Python's: a text in them is none.
        explain = _bad if _code(error) in (0, sqlite3.SQLITE_ERROR) else _failed
        raise explain(path, str(error)) from None
    except sqlite3.DatabaseError as error:
        if type(error) not in (sqlite3.DatabaseError, sqlite3.DataError):
            raise
        raise _bad(path, str(error)) from None
    except UnicodeDecodeError:  # SQLite quotes what is damaged, and Python cannot read that
        raise _bad(path, "a text in it is damaged") from None


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return _code(error) in _BUSY


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _bad(path: str, why: str) -> Refusal:
    return refused(
        "bad-index",
        f"{path} is no index that can be used: {why}",
        hint="if it was an index, remove it and make it again with `sexplang index PATH`; "
        "else name another file with --index FILE",
        path=path,
    )


def _failed(path: str, why: str) -> Refusal:
    return refused(
        "index-failed",
        f"the index {path} cannot be used: {why}",
        hint="name a file in a folder that you may write, with --index FILE",
        path=path,
    )
