"""The databases that hold a store of runs: one SQLite file, or PostgreSQL.

Law: the statements of a store are the same for both. A database gives them its types and locks.
"""

import os

from sexplang.runtime.journal.databases.database import Database, refuse_failed, refuse_missing
from sexplang.runtime.refusal import refuse

__all__ = [
    "Database",
    "check_address",
    "has_store",
    "is_server",
    "open_database",
    "resolve_address",
]

_SERVERS = ("postgresql://", "postgres://")
_FILE = "sqlite:"


def resolve_address(given: str | os.PathLike[str]) -> str:
    """Return the address of a store: the absolute path of a file, which `sqlite:FILE` names too, or
    the URL of a server."""
    text = os.fspath(given).removeprefix(_FILE)
    return text if _is_url(text) else os.path.abspath(text)


def _is_url(text: str) -> bool:
    return "://" in text or text.startswith(("postgresql:", "postgres:"))


def check_address(address: str) -> None:
    """Raise a Refusal `store-failed` for a URL that names no server."""
    if _is_url(address) and not is_server(address):
        raise refuse(
            "store-failed",
            f"the address of the store cannot be read: no store begins with "
            f"`{address.partition(':')[0]}:`",
            hint="write postgresql://USER@HOST:PORT/DATABASE, or the name of a file",
        )


def is_server(address: str) -> bool:
    """Whether an address names a server."""
    return address.startswith(_SERVERS)


def has_store(address: str) -> bool:
    """Whether a store can be at an address. A server may have one."""
    return _is_url(address) or os.path.exists(address)


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
    check_address(address)
    from sexplang.runtime.journal.databases import sqlite_file

    if must_exist and not os.path.exists(address):
        raise refuse_missing(address)
    return sqlite_file.open_file(address)
