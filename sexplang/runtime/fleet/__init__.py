"""Runs and requests that one process leaves to others, by way of an engine.

Law: the journal is the only truth. What the engine holds can be lost, and is made again from the
journal.
"""

from typing import TYPE_CHECKING

from sexplang.runtime.fleet.engine import Engine, Leaf, Owed, Wake, Work
from sexplang.runtime.journal.databases import Database, is_server

if TYPE_CHECKING:
    from sexplang.runtime.fleet.procrastinate_engine import ProcrastinateEngine

__all__ = ["Engine", "Leaf", "Owed", "Wake", "Work", "open_engine"]


def open_engine(
    db: Database, url: str, *, must_exist: bool = False
) -> "ProcrastinateEngine | None":
    """Return the engine of a store, which shares its connection, and make its tables if they are
    not there; None for a store in a file. With `must_exist` None stands for one that has no tables
    too. Raises a Refusal `store-failed` or `bad-store`."""
    if not is_server(url):
        return None
    from sexplang.runtime.fleet import procrastinate_engine

    return procrastinate_engine.open_engine(db, url, must_exist=must_exist)
