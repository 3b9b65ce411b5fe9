"""A store of runs in a database of PostgreSQL.

Its tables are in a schema of their own, so that it may share a database. Law: a run is locked for
the connection on which its commits are made. So a process that lost its lock cannot commit. Law:
the server ends the connection of a process that is silent for LEASE, by its own clock.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from threading import Event, Thread
from time import monotonic
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sexplang.runtime.journal.databases.database import (
    VERSION,
    list_statements,
    refuse_failed,
    refuse_newer,
    refuse_written,
)
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import define, field

SCHEMA = "sexplang"
"""The schema of the tables."""

LEASE = 30.0
"""Seconds after which a silent process loses its connection, and the runs that it drives."""

BEATS = 4
"""Signs of life in a lease."""

CONNECT = 10
"""Seconds to wait for a connection."""

_TYPES = {
    "key": "bigint generated always as identity primary key",
    "integer": "bigint",
    "real": "double precision",
    "bytes": "bytea",
    "reals": "double precision[]",
    "integers": "bigint[]",
    "texts": "text[]",
    "strict": "",
}


@define(eq=False)
class Server:
    """An open connection to a server."""

    address: str
    connection: "psycopg.Connection[Any]"
    is_new: bool
    lease: float
    epoch: float
    """The time of the server when the monotonic clock of this process stood at zero."""
    _url: str = field(repr=False)
    _locks: set[str] = field(factory=set)
    _is_closed: Event = field(factory=Event)

    @property
    def clock(self) -> str:
        return "extract(epoch from clock_timestamp())::double precision"

    def now(self) -> float:
        return self.epoch + monotonic()

    @property
    def tells(self) -> bool:
        return True

    def tell(self, channel: str, words: str) -> str:
        return f"pg_notify('{channel}', {words})"

    def listen(self, channel: str, on_words: Callable[[str], None]) -> int:
        self.connection.add_notify_handler(lambda notice: on_words(notice.payload))
        with self.explain():
            self.connection.execute(f"listen {channel}")
            return self.connection.fileno()

    def reopen(self) -> "Server":
        return open_server(self._url)

    def hear(self) -> None:
        with self.explain(), self.connection.lock:
            server = self.connection.pgconn
            server.consume_input()
            while (notice := server.notifies()) is not None:
                if server.notify_handler is not None:
                    server.notify_handler(notice)

    def execute(self, statement: str, arguments: Sequence[Any] = ()) -> Any:
        return self.connection.execute(_mark(statement), [*map(_keepable, arguments)])

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(_mark(statement), [[*map(_keepable, row)] for row in rows])

    @contextmanager
    def transaction(self, run: int | None = None) -> Iterator[None]:
        with self.connection.transaction():
            if run is not None:
                self.execute("select 1 from runs where n = ? for update", (run,))
            yield

    @property
    def is_lost(self) -> bool:
        return bool(self.connection.closed)

    def explain(self) -> Any:
        return _explain(self.address)

    def lock(self, id: str) -> bool:
        if id in self._locks:
            return False
        with self.explain():
            (is_locked,) = self.execute("select pg_try_advisory_lock(?)", (_key(id),)).fetchone()
        if is_locked:
            self._locks.add(id)
        return bool(is_locked)

    def unlock(self, id: str) -> None:
        if id in self._locks:
            self._locks.remove(id)
            with suppress(psycopg.Error):  # the lock goes with the connection
                self.execute("select pg_advisory_unlock(?)", (_key(id),))

    def is_locked(self, id: str) -> bool:
        """Look without taking the lock: a worker may be about to take it."""
        key = _key(id) & (1 << 64) - 1
        with self.explain():
            found = self.execute(
                "select 1 from pg_locks where locktype = 'advisory' and objsubid = 1 "
                "and classid = ?::bigint::oid and objid = ?::bigint::oid and database = "
                "(select oid from pg_database where datname = current_database())",
                (key >> 32, key & (1 << 32) - 1),
            )
        return found.fetchone() is not None

    def mark_unkept(self, id: str) -> None:
        """Nothing is kept outside the tables."""

    def is_marked(self, id: str) -> bool:
        return False

    def forget(self, id: str) -> None:
        """Nothing is kept outside the tables."""

    forget_mark = forget

    def size(self) -> int:
        (size,) = self.execute(
            "select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class "
            "where relkind = 'r' and relnamespace = ?::regnamespace",
            (SCHEMA,),
        ).fetchone()
        return int(size)

    def beat(self) -> None:
        """Give signs of life until the connection is closed or lost."""
        while not (self._is_closed.wait(self.lease / BEATS) or self.connection.closed):
            with suppress(psycopg.Error):  # the thread that drives the run is told the reason
                self.connection.execute("select 1")

    def close(self) -> None:
        self._is_closed.set()
        if self._locks:
            self._locks.clear()
            with suppress(psycopg.Error):  # the server takes a moment to see a closed connection
                self.execute("select pg_advisory_unlock_all()")
        self.connection.close()


@cache
def _mark(statement: str) -> Any:
    """Return a statement with the marks of this library."""
    return statement.replace("?", "%s")


def _keepable(value: Any) -> Any:
    """Return an argument as the server takes it: its texts have no NUL."""
    return value.replace("\0", "\\x00") if isinstance(value, str) and "\0" in value else value


def _key(id: str) -> int:
    """Return the number of the advisory lock of a run."""
    return int.from_bytes(sha256(f"sexplang run {id}".encode()).digest()[:8], signed=True)


def open_server(url: str, lease: float | None = None) -> Server:
    """Connect to a server, and make the tables if they are not there. Raises a Refusal
    `store-failed` or `bad-store`."""
    address, lease = describe_address(url), LEASE if lease is None else lease
    milliseconds, seconds = max(1, round(lease * 1000)), max(1, round(lease))
    with _explain(address):
        connection = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT,
            application_name="sexplang",
            options=f"-c idle_session_timeout={milliseconds} "
            f"-c idle_in_transaction_session_timeout={milliseconds}",
            keepalives_idle=seconds,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=milliseconds,
        )
        try:
            epoch = _find_epoch(connection, address)
            is_new = _prepare(connection, address)
        except BaseException:
            connection.close()
            raise
    server = Server(address, connection, is_new, lease, epoch, url)
    Thread(target=server.beat, name="sexplang-lease", daemon=True).start()
    return server


def _find_epoch(connection: "psycopg.Connection[Any]", address: str) -> float:
    """Return the time of the server at 0 of this process's clock. Raises a Refusal if what is in
    between has dropped the options of the connection."""
    began = monotonic()
    found = connection.execute(
        "select extract(epoch from clock_timestamp())::double precision, "
        "current_setting('idle_in_transaction_session_timeout') <> '0'"
    ).fetchone()
    assert found is not None
    if not found[1]:
        said = "the options of the connection are lost on the way"
        raise refuse_failed(address, said, _HINTS["08004"])
    return float(found[0]) - (began + monotonic()) / 2


def describe_address(url: str) -> str:
    """Return a URL without its password. Raises a Refusal `store-failed` for one that cannot be
    read."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise refuse(
            "store-failed",
            "the address of the store cannot be read",
            hint=_WRITE,
        ) from None
    user, host, port = (parts.get(each) or "" for each in ("user", "host", "port"))
    name = f"{quote(str(user))}@" if user else ""
    where = quote(str(host), safe="[]:,") + (f":{port}" if port else "")
    return f"postgresql://{name}{where}/{quote(str(parts.get('dbname') or ''))}"


def _prepare(connection: "psycopg.Connection[Any]", address: str) -> bool:
    """Make the tables, or bring them to this version; return whether they are new."""
    connection.execute(f"set search_path = {SCHEMA}")
    version = _version(connection)
    if version == VERSION:
        return False
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", [_key(SCHEMA)])
        version = _version(connection)  # another process may have done it
        if version is not None and version > VERSION:
            raise refuse_newer(address)
        if version is None:
            connection.execute(f"create schema if not exists {SCHEMA}")
            connection.execute("create table version (version bigint not null)")
            connection.execute("insert into version values (%s)", [VERSION])
            for statement in list_statements(_TYPES):
                connection.execute(statement)
        else:
            for each in range(version, VERSION):
                for statement in list_statements(_TYPES, each):
                    connection.execute(statement)
            connection.execute("update version set version = %s", [VERSION])
    return version is None


def _version(connection: "psycopg.Connection[Any]") -> int | None:
    """Return the version of the tables, or None if there are none."""
    # `to_regclass` may not see what another process has made since this transaction began.
    asked = "select 1 from pg_tables where schemaname = %s and tablename = 'version'"
    if connection.execute(asked, [SCHEMA]).fetchone() is None:
        return None
    found = connection.execute("select version from version").fetchone()
    return None if found is None else int(found[0])


@contextmanager
def _explain(address: str) -> Iterator[None]:
    """Turn an error of the server or of the connection into a Refusal."""
    try:
        yield
    except psycopg.IntegrityError:
        raise refuse_written(address) from None
    except psycopg.Error as error:
        said = error.diag.message_primary or " ".join(str(error).split()) or type(error).__name__
        code = error.sqlstate or next((_CODES[words] for words in _CODES if words in said), "")
        raise refuse_failed(address, said, _HINTS.get(code, _AWAY)) from None


_AWAY = "runs that are kept there go on when it can be used; name another store with --store"

_CODES = {
    "invalid port": "08001",
    "invalid integer value": "08001",
    "unsupported startup parameter": "08004",
    "password": "28P01",
    "no pg_hba.conf entry": "28000",
    "does not exist": "3D000",
    "too many": "53300",
    "connection slots": "53300",
}
"""The codes of connections that are refused, which come without one, by words of their message."""

_WRITE = "write postgresql://USER@HOST:PORT/DATABASE"

_HINTS = {
    "08004": "name the server itself: a pooler gives no connection of one's own",
    "08001": _WRITE,
    "25006": "the server or the database is read-only; name one that can be written",
    "42501": "take the role that made the store; for a new store, the owner of the database types: "
    f"create schema {SCHEMA} authorization ROLE",
    "42P07": f"the schema `{SCHEMA}` has tables of others; name another database",
    "53100": "make room on the server; runs that are kept there go on then",
    "28000": "the server needs a line in its pg_hba.conf that lets this machine and role in",
    "28P01": "write HOST:PORT:DATABASE:USER:PASSWORD into ~/.pgpass, which only you may read: "
    "chmod 600 ~/.pgpass",
    "3D000": "make it: createuser --pwprompt USER; createdb --owner USER DATABASE",
    "53300": "begin fewer workers, or raise max_connections on the server",
}
"""What to do, by the code of the server's error."""
