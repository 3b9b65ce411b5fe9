"""The file of an index → a connection to it: SQLite, one transaction for whatever changes.

Law: whoever reads sees the index before a change or after it, never between; a process that is
killed while it writes leaves the index as it was. A file may come from anybody, with a folder: who
reads it changes nothing, it has our tables and nothing else, and looking into it is bounded.
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

VERSION = 2
APPLICATION = 0x73657870
"""What tells this kind of file from other databases: `sexp`."""

PATIENCE = 60.0
"""Seconds for which another process that changes the index is waited for."""
_TICK = 0.05
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
"""The last is several who open a new file at the same moment."""

MOST_STEPS = 100_000_000
"""Instructions of SQLite for all that is asked of an index that was opened once: some seconds."""
_MOST_OPENING = 100_000
"""Those of telling what it is, a few hundred of an index of ours."""
_BETWEEN = 1_000
"""Instructions between two looks at the account."""

LONGEST = 32_000_000
"""Bytes of a value, a list of ids too."""
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
# What is a word is said by `terms.words` alone: to this tokenizer it is whatever has no space.
_WORDS = """create virtual table words using fts5 (
        names, summary, identifiers, facts, tokenize = 'porter {}')"""
_TOKENIZERS = {1: "unicode61", VERSION: "ascii"}
"""By the version of an index."""

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
def open_to_read(path: str) -> Iterator[sqlite3.Connection | None]:
    """The index to look into; None where there is none. One of an older version is renewed first,
    if it can be written. Raises a Refusal: `bad-index`, `index-too-new`, `index-failed`."""
    if missing(path):
        yield None
        return
    with _explain_errors(path):
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
            _allow(connection, MOST_STEPS)
            yield connection if version else None
        finally:
            connection.close()


@contextmanager
def open_to_change(path: str, patience: float = PATIENCE) -> Iterator[sqlite3.Connection]:
    """The index to change, made where there is none. All changes are kept at the end, or none if
    anything is raised. Those who change it take turns. Raises a Refusal as `reading` does, and
    `index-busy`."""
    _make_folder(path)
    with _explain_errors(path):
        _check_kind(path)
        _check_beside(path)
        connection = _limit(sqlite3.connect(path, timeout=0, isolation_level=None))
        try:
            _begin(connection, path, patience)
            connection.set_progress_handler(None, 0)  # what is done now is ours
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
        connection.execute("drop table if exists words")
        connection.execute(_WORDS.format(_TOKENIZERS[VERSION]))
        connection.execute(f"pragma user_version = {VERSION}")
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
                raise refuse(
                    "index-busy",
                    f"another process has been changing {path} for {patience:g} seconds",
                    hint="wait for it, or end it: the index then stays as it was",
                    path=path,
                ) from None
        sleep(_TICK)


def _open(path: str) -> sqlite3.Connection:
    """An existing file, to read. Where nothing can be written beside it, the file as it is."""
    from pathlib import Path  # with all that knows of addresses; an index is made without it

    uri = Path(os.path.abspath(path)).as_uri()
    # With the right to write, SQLite would play back a journal that came with the file, and remove
    # whatever other file that names.
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=5, isolation_level=None)
    try:
        _limit(connection).execute("begin")  # all that is asked sees what the first question saw
        connection.execute("select count(*) from sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if _is_busy(error) or os.access(os.path.dirname(path) or ".", os.W_OK):
            raise
        return _limit(sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None))
    except BaseException:
        connection.close()
        raise
    return connection


def _limit(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The same, before the first look at what may be anything."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_STATEMENT)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    _allow(connection, _MOST_OPENING)
    connection.execute("pragma trusted_schema = off")
    return connection


def _allow(connection: sqlite3.Connection, steps: int) -> None:
    """Gives a connection an account of instructions; what would take more ends."""
    rest = iter(range(steps // _BETWEEN))
    connection.set_progress_handler(lambda: next(rest, None) is None, _BETWEEN)


def _check_beside(path: str) -> None:
    """What lies beside an index is SQLite's to open, and a journal SQLite's to play back, with the
    removal of whatever file that names. Raises a Refusal for what SQLite did not put there for an
    index of ours: a link, a pipe, a journal that names another file."""
    for end in ("-journal", "-wal", "-shm"):
        place = os.path.realpath(path) + end
        try:
            status = os.lstat(place)
            if not stat.S_ISREG(status.st_mode):
                raise _bad(path, f"{path}{end} is no regular file")
            if end != "-journal":  # as with the file itself: the locks would go with it
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
"""How a journal ends that does."""


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
        raise _make_failure(path, error.strerror or str(error)) from None
    if stat.S_ISDIR(status.st_mode):
        raise _make_failure(path, "it is a folder")
    if not os.access(path, os.R_OK):
        raise _make_failure(path, "it may not be read")
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
    """Raises a Refusal where something else than our tables is in an index: a view or a column that
    is computed may take any time, and a trigger does what it likes."""
    rows = connection.execute("select type, name, tbl_name, sql from sqlite_master limit 100")
    found = Counter(_read_declaration(row) for row in rows)
    odd = next(iter((found - _tables(version)) + (_tables(version) - found)), None)
    if odd is not None:
        raise _bad(path, f"the {odd[0]} `{odd[1]}` in it is not as it is made")


@cache
def _tables(version: int) -> Counter[tuple[str, str, str, str]]:
    """What SQLite says of an index of a version."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (*_FILES[:2], _WORDS.format(_TOKENIZERS[version])):
            connection.execute(statement)
        rows = connection.execute("select type, name, tbl_name, sql from sqlite_master")
        return Counter(_read_declaration(row) for row in rows)


def _read_declaration(row: tuple[Any, ...]) -> tuple[str, str, str, str]:
    kind, name, table, sql = (" ".join(str(each).split()) for each in row)
    return kind, name[:60], table, sql


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
            raise _make_failure(path, f"{folder} is no folder") from None
    except OSError as error:
        raise _make_failure(path, error.strerror or str(error)) from None


@contextmanager
def _explain_errors(path: str) -> Iterator[None]:
    """Whatever SQLite says, as a Refusal."""
    try:
        yield
    except sqlite3.OperationalError as error:
        # A plain error is one of the statement: the tables are not those that it speaks of. One
        # without a code is Python's: a text in them is none.
        code = _code(error)
        if code == sqlite3.SQLITE_INTERRUPT:
            words = f"looking into it takes more than {MOST_STEPS:,} steps"
            raise _bad(path, words) from None
        if code == sqlite3.SQLITE_READONLY:
            raise _make_failure(path, "a change of it was broken off", _REPAIR) from None
        explain = _bad if code in (0, sqlite3.SQLITE_ERROR) else _make_failure
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
    return refuse(
        "bad-index",
        f"{path} is no index that can be used: {why}",
        hint="if it was an index, remove it and make it again with `sexplang index PATH`; "
        "else name another file with --index FILE",
        path=path,
    )


_REPAIR = "if it is yours, `sexplang index PATH` mends it; else remove it"
_ELSEWHERE = "name a file in a folder that you may write, with --index FILE"


def _make_failure(path: str, why: str, hint: str = _ELSEWHERE) -> Refusal:
    words = f"the index {path} cannot be used: {why}"
    return refuse("index-failed", words, hint=hint, path=path)
