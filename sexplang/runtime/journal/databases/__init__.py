"""The databases that hold a store of runs: one SQLite file, or PostgreSQL.

Law: the statements of a store are the same for both. A database gives them its types and locks.
"""

import os

from sexplang.runtime.journal.databases.database import Database, refuse_failed, refuse_missing

__all__ = ["Database", "has_store", "is_server", "open_database", "resolve_address"]

_SERVERS = ("postgresql://", "postgres://")
_FILE = "sqlite:"


def resolve_address(given: str | os.PathLike[str]) -> str:
    """Return the address of a store: the absolute path of a file, which `sqlite:FILE` names too, or
    the URL of a server."""
    text = os.fspath(given)
    return text if is_server(text) else os.path.abspath(text.removeprefix(_FILE))


def is_server(address: str) -> bool:
    """Whether an address names a server."""
    return address.startswith(_SERVERS)


def has_store(address: str) -> bool:
    """Whether a store can be at an address. A server may have one."""
    return is_server(address) or os.path.exists(address)


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
    from sexplang.runtime.journal.databases import sqlite_file

    if must_exist and not os.path.exists(address):
        raise refuse_missing(address)
    return sqlite_file.open_file(address)
