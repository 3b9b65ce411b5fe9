"""The SQLite file of an index.

Law: a reader sees the index before or after a change, never between. A process killed while it
writes leaves the index unchanged. A file may come from anyone: reading does not change it, only our
own tables are accepted, and the work of reading is bounded.
"""

import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from time import monotonic, sleep
from typing import Any

from sexplang.runtime.memory.entries import put_words
from sexplang.runtime.memory.index_paths import FOLDER
from sexplang.runtime.refusal import Refusal, refuse

VERSION = 3
APPLICATION = 0x73657870
"""The application id in the file's header: `sexp`."""

PATIENCE = 60.0
"""Seconds to wait for another process that changes the index."""
_TICK = 0.05
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
"""Error codes of a locked database. The last one occurs when several processes create the file at
once."""

MOST_STEPS = 100_000_000
"""Maximum SQLite instructions for one opened index; they take some seconds."""
_MOST_OPENING = 10_000
"""Maximum SQLite instructions for opening. Our index takes a few hundred."""
_TOO_LONG_TO_OPEN = f"opening it takes more than {_MOST_OPENING:,} steps, ours takes hundreds"
_BETWEEN = 1_000
"""SQLite instructions between two checks of the maximum."""

LONGEST = 32_000_000
"""Maximum bytes of a value, also of a list of ids."""
_LONGEST_STATEMENT = 100_000

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
# `words` splits the text. For this tokenizer a word is anything without a space.
_WORDS = """create virtual table words using fts5 (
        names, summary, identifiers, facts, tokenize = 'porter {}')"""
_TOKENIZERS = {1: "unicode61", 2: "ascii", VERSION: "ascii"}
"""Tokenizers by the version of an index."""

_VECTORS = """create table vectors (
        id integer primary key, model text not null, numbers blob not null)"""

# One statement sees one state: a concurrent creation is seen as a whole or not at all.
_IDENTITY = """select application_id, user_version, (select count(*) from sqlite_master)
    from pragma_application_id, pragma_user_version"""

_SMALLEST = 512
"""Bytes of the smallest database: one page."""


def missing(path: str) -> bool:
    """Whether there is no index: no file, or an empty one after an interrupted first update."""
    try:
        status = os.stat(path)
    except OSError:
        return not os.path.lexists(path)
    return status.st_size == 0 and stat.S_ISREG(status.st_mode)


@contextmanager
def open_to_read(path: str) -> Iterator[sqlite3.Connection | None]:
    """Yield a connection for reading, or None if there is no index. An older version is upgraded
    first if the file is writable. Raises a Refusal: `bad-index`, `index-too-new`, `index-failed`.
    """
    if missing(path):
        yield None
        return
    with _explain_errors(path, _TOO_LONG_TO_OPEN):
        connection, version = _open_known(path)
    with _explain_errors(path, f"looking into it takes more than {MOST_STEPS:,} steps"):
        try:
            _allow(connection, MOST_STEPS)
            yield connection if version else None
        finally:
            connection.close()


def _open_known(path: str) -> tuple[sqlite3.Connection, int]:
    """Open an index for reading. Return the connection and the version of the file."""
    _check_kind(path)
    _check_beside(path)
    connection = _open(path)
    try:
        version = _version(connection, path)
        if 0 < version < VERSION:
            connection.close()
            with suppress(Refusal), open_to_change(path):
                pass
            connection = _open(path)
    # The connection is closed whatever is raised.
    except BaseException:
        connection.close()
        raise
    return connection, version


@contextmanager
def open_to_change(path: str, patience: float = PATIENCE) -> Iterator[sqlite3.Connection]:
    """Yield a connection for changing; a missing index is created. All changes are committed at the
    end, or none after an exception. Writers take turns. Raises a Refusal as `open_to_read` does,
    and `index-busy`."""
    _make_folder(path)
    with _explain_errors(path, _TOO_LONG_TO_OPEN):
        _check_kind(path)
        _check_beside(path)
        connection = _limit(sqlite3.connect(path, timeout=0, isolation_level=None))
        try:
            _begin(connection, path, patience)
            connection.set_progress_handler(None, 0)  # no limit for our own work
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
    """Create the tables of an empty index, or those that an older version lacks or has made
    otherwise."""
    if version == 0:
        for statement in _FILES:
            connection.execute(statement)
    if version < VERSION:
        connection.execute("drop table if exists words")
        connection.execute(_WORDS.format(_TOKENIZERS[VERSION]))
        connection.execute(_VECTORS)
        connection.execute(f"pragma user_version = {VERSION}")
        put_words(connection)


def _begin(connection: sqlite3.Connection, path: str, patience: float) -> None:
    """Begin a write transaction. Waiting for other writers can be interrupted with Ctrl-C."""
    until = monotonic() + patience
    while True:
        try:
            _version(connection, path)  # a foreign database is not changed
            connection.execute("pragma journal_mode = wal")
            connection.execute("begin immediate")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            if monotonic() > until:
                raise refuse(
                    "index-busy",
                    f"another process has been changing {path} for {patience:g} seconds",
                    hint="wait for it, or end it: the index then stays as it was",
                    path=path,
                ) from None
        sleep(_TICK)


def _open(path: str) -> sqlite3.Connection:
    """Open an existing file for reading; in a read-only folder, without locks."""
    from pathlib import Path  # imports much; making an index does not need it

    uri = Path(os.path.abspath(path)).as_uri()
    # A writable connection would play back a journal that came with the file, and remove
    # the file that it names.
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=5, isolation_level=None)
    try:
        _limit(connection).execute("begin")  # all queries see the same state
        connection.execute("select count(*) from sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if _is_busy(error) or os.access(os.path.dirname(path) or ".", os.W_OK):
            raise
        return _limit(sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None))
    # The connection is closed whatever is raised.
    except BaseException:
        connection.close()
        raise
    return connection


def _limit(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Limit the work of a connection before its first read."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_STATEMENT)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    _allow(connection, _MOST_OPENING)
    connection.execute("pragma trusted_schema = off")
    return connection


def _allow(connection: sqlite3.Connection, steps: int) -> None:
    """Set the maximum of SQLite instructions for a connection. More work ends with an error."""
    rest = iter(range(steps // _BETWEEN))
    connection.set_progress_handler(lambda: next(rest, None) is None, _BETWEEN)


def _check_beside(path: str) -> None:
    """Refuse foreign files beside an index. SQLite would open them, play back a journal, and remove
    the file that it names. Raises a Refusal for a link, a pipe, or a journal that names another
    file."""
    for end in ("-journal", "-wal", "-shm"):
        place = os.path.realpath(path) + end
        try:
            status = os.lstat(place)
            if not stat.S_ISREG(status.st_mode):
                raise _bad(path, f"{path}{end} is not a regular file")
            if end != "-journal":  # closing it would release its locks, as for the file itself
                continue
            with open(place, "rb") as file:
                file.seek(max(0, status.st_size - len(_NAMES_ANOTHER)))
                if file.read() == _NAMES_ANOTHER:
                    raise _bad(path, f"the journal {path}{end} names another file")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _make_failure(path, error.strerror or str(error)) from None


_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""The end of a journal that names another file."""


def _check_kind(path: str) -> None:
    """Refuse a short file of another kind, which SQLite would replace as an empty database.

    The file is not opened: closing it would release the locks of other connections of this process.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _make_failure(path, error.strerror or str(error)) from None
    if stat.S_ISDIR(status.st_mode):
        raise _make_failure(path, "it is a folder")
    if not os.access(path, os.R_OK):
        raise _make_failure(path, "it may not be read")
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would block
        raise _bad(path, "it is not a regular file")
    if 0 < status.st_size < _SMALLEST:
        raise _bad(path, "it is not a database")


def _version(connection: sqlite3.Connection, path: str) -> int:
    """Return the version of an index; 0 for an empty database. Raises a Refusal for other files."""
    application, version, tables = connection.execute(_IDENTITY).fetchone()
    if application == 0 and version == 0 and tables == 0:
        return 0
    if application != APPLICATION:
        raise _bad(path, "it is the database of another program")
    if version > VERSION:
        raise refuse(
            "index-too-new",
            f"{path} was made by a newer version of sexplang",
            hint="update sexplang, or name another file with --index FILE",
            path=path,
            version=version,
            known=VERSION,
        )
    _check_tables(connection, path, version)
    return int(version)


def _check_tables(connection: sqlite3.Connection, path: str, version: int) -> None:
    """Raise a Refusal for schema objects that are not ours. A view or a computed column may take
    any time, and a trigger may do anything."""
    rows = connection.execute("select type, name, tbl_name, sql from sqlite_master limit 100")
    found = Counter(_read_declaration(row) for row in rows)
    odd = next(iter((found - _tables(version)) + (_tables(version) - found)), None)
    if odd is not None:
        raise _bad(path, f"its {odd[0]} `{odd[1]}` is not one that `sexplang index` makes")


@cache
def _tables(version: int) -> Counter[tuple[str, str, str, str]]:
    """Return SQLite's declarations of the tables of a version."""
    with closing(sqlite3.connect(":memory:")) as connection:
        vectors = () if version < VERSION else (_VECTORS,)
        for statement in (*_FILES[:2], _WORDS.format(_TOKENIZERS[version]), *vectors):
            connection.execute(statement)
        rows = connection.execute("select type, name, tbl_name, sql from sqlite_master")
        return Counter(_read_declaration(row) for row in rows)


def _read_declaration(row: tuple[Any, ...]) -> tuple[str, str, str, str]:
    kind, name, table, sql = (" ".join(str(each).split()) for each in row)
    return kind, name[:60], table, sql


def _make_folder(path: str) -> None:
    """Create the folder of an index. Our own folder excludes itself from git."""
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
            raise _make_failure(path, f"{folder} is no folder") from None
    except OSError as error:
        raise _make_failure(path, error.strerror or str(error)) from None


@contextmanager
def _explain_errors(path: str, too_long: str) -> Iterator[None]:
    """Convert SQLite errors to refusals. `too_long` are the words for too much work."""
    try:
        yield
    except sqlite3.OperationalError as error:
        # A plain error is one of the statement: the index lacks its tables. An error
        # without a code is Python's: a value is not valid text.
        code = _code(error)
        if code == sqlite3.SQLITE_INTERRUPT:
            raise _bad(path, too_long) from None
        if code == sqlite3.SQLITE_READONLY:
            raise _make_failure(path, "a change of it was broken off", _REPAIR) from None
        explain = _bad if code in (0, sqlite3.SQLITE_ERROR) else _make_failure
        raise explain(path, str(error)) from None
    except sqlite3.DatabaseError as error:
        if type(error) not in (sqlite3.DatabaseError, sqlite3.DataError):
            raise
        raise _bad(path, str(error)) from None
    except UnicodeDecodeError:  # SQLite's message quotes damaged text, which Python cannot decode
        raise _bad(path, "its text is damaged") from None


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return _code(error) in _BUSY


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _bad(path: str, why: str) -> Refusal:
    return refuse(
        "bad-index",
        f"{path} is not a usable index: {why}",
        hint="if it was an index, remove it and type `sexplang index PATH`; "
        "else name another file with --index FILE",
        path=path,
    )


_REPAIR = "if it is yours, `sexplang index PATH` mends it; else remove it"
_ELSEWHERE = "name a file in a folder that you may write, with --index FILE"


def _make_failure(path: str, why: str, hint: str = _ELSEWHERE) -> Refusal:
    words = f"the index {path} cannot be used: {why}"
    return refuse("index-failed", words, hint=hint, path=path)
