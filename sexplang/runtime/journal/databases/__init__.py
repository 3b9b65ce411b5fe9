"""The databases that hold a store of runs: one SQLite file, or PostgreSQL.

Law: the statements of a store are the same for both. A database gives them its types and locks.
"""

import os

from sexplang.runtime.journal.databases.database import Database, refuse_failed, refuse_missing
from sexplang.runtime.refusal import refuse

__all__ = ["Database", "has_store", "is_server", "open_database", "resolve_address"]

_SERVERS = ("postgresql://", "postgres://")
_SCHEME = "://"
_FILE = "sqlite:"


def resolve_address(given: str | os.PathLike[str]) -> str:
    """Return the address of a store: the absolute path of a file, which `sqlite:FILE` names too, or
    the URL of a server."""
    text = os.fspath(given).removeprefix(_FILE)
    return text if _SCHEME in text else os.path.abspath(text)


def is_server(address: str) -> bool:
    """Whether an address names a server."""
    return address.startswith(_SERVERS)


def has_store(address: str) -> bool:
    """Whether a store can be at an address. A server may have one."""
    return _SCHEME in address or os.path.exists(address)


def open_database(address: str, *, must_exist: bool, lease: float | None = None) -> Database:
    """Open a database, and make its tables if they are not there. A server ends the connection of a
    process that is silent for `lease` seconds. Raises a Refusal `store-failed` or `bad-store`."""
    if is_server(address):
        try:
            from sexplang.runtime.journal.databases import postgresql
        except ImportError:
            raise refuse_failed(
                "on a server", "`psycopg` is not installed", "type: pip install 'sexplang[fleet]'"
            ) from None
        return postgresql.open_server(address, lease)
    if _SCHEME in address:
        scheme = address.partition(_SCHEME)[0]
        raise refuse(
            "store-failed",
            f"the address of the store cannot be read: there are no stores at `{scheme}{_SCHEME}`",
            hint="write postgresql://USER@HOST:PORT/DATABASE, or the name of a file",
        )
    from sexplang.runtime.journal.databases import sqlite_file

    if must_exist and not os.path.exists(address):
        raise refuse_missing(address)
    return sqlite_file.open_file(address)
