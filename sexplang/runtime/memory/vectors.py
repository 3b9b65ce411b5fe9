"""The vectors of files in an index, and the order of files by a query's vector.

A vector is that of what is kept of a file: its path, summary and identifiers. Its contents are not
embedded, as they are not kept.
"""

import sqlite3
from array import array
from collections.abc import Callable, Iterable
from math import hypot, isfinite
from operator import mul
from sys import byteorder

from sexplang.runtime.memory.entries import SELECT, Entry, check_rows, entry_of
from sexplang.runtime.memory.query import MOST_DIMENSIONS, BadQuery
from sexplang.runtime.memory.store import open_to_change, open_to_read

Embed = Callable[[list[str]], list[list[float]]]
"""A function from texts to a vector of each."""

BATCH = 100
"""Files whose vectors are made and stored together."""

LONGEST = 2_000
"""Maximum characters of a text to embed."""

_MISSING = (
    f"{SELECT} left join vectors on vectors.id = files.id and vectors.model = ?"
    " where files.skipped is null and vectors.id is null order by files.path"
)
# A file that has changed meanwhile keeps none: the vector is of what was known before.
_PUT = """insert or replace into vectors select id, ?, ? from files
    where id = ? and path = ? and digest is ? and given is ?"""


def embed_files(index: str, embed: Embed, model: str) -> int:
    """Store a vector for each file that has none of this model. Return their number.

    The index is not locked while vectors are made. Each batch is stored as a whole. Raises a
    Refusal if the index is unusable, and what `embed` raises.
    """
    with open_to_read(index) as connection:
        rows = [] if connection is None else connection.execute(_MISSING, (model,)).fetchall()
    for start in range(0, len(rows), BATCH):
        batch = [(row[0], entry_of(row)) for row in rows[start : start + BATCH]]
        vectors = embed([_text_of(entry) for _, entry in batch])
        with open_to_change(index) as connection:
            for (id, entry), vector in zip(batch, vectors, strict=True):
                known = (id, entry.key, entry.digest, entry.given)
                connection.execute(_PUT, (model, _pack(vector), *known))
    return len(rows)


def _text_of(entry: Entry) -> str:
    said = entry.summary if entry.given is None else entry.given
    return "\n".join([entry.key, said, ", ".join(entry.identifiers)])[:LONGEST].strip()


def rank_by_vector(
    connection: sqlite3.Connection, vector: tuple[float, ...], ids: Iterable[int]
) -> list[int]:
    """Return the files with a vector, the most similar to a query's first; equal ones keep their
    order. Raises BadQuery if the vectors have another length."""
    (version,) = connection.execute("pragma user_version").fetchone()
    if version < 3:  # of a file that may not be changed
        return []
    rows = check_rows(connection.execute("select id, model, numbers from vectors"), _KINDS)
    wanted = dict.fromkeys(ids)
    known = {id: (model, _unpack(numbers)) for id, model, numbers in rows if id in wanted}
    found = [id for id in wanted if id in known]
    for id in found:
        model, numbers = known[id]
        if len(numbers) != len(vector):
            raise BadQuery(
                f"`vector` has {len(vector)} numbers, and those of the index have {len(numbers)}: "
                f"make it by the model {model[:_SHOWN]}"
            )
    return sorted(found, key=lambda id: _similarity(known[id][1], vector), reverse=True)


def _similarity(vector: tuple[float, ...], query: tuple[float, ...]) -> float:
    """Return the cosine similarity, times the length of the query; 0 for a vector of zeros."""
    return sum(map(mul, vector, query), 0.0) / (hypot(*vector) or 1.0)


_KINDS = (int, str, bytes)
_SHOWN = 60
"""The characters of a model's name that are shown: an index may come from anybody."""


def _pack(vector: list[float]) -> bytes:
    """Return a vector as numbers of four bytes, the lowest first."""
    numbers = array("f", vector)
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _unpack(packed: bytes) -> tuple[float, ...]:
    numbers = array("f")
    if len(packed) % numbers.itemsize or len(packed) > MOST_DIMENSIONS * numbers.itemsize:
        raise sqlite3.DatabaseError("a vector in it is damaged")
    numbers.frombytes(packed)
    if byteorder == "big":
        numbers.byteswap()
    if not all(map(isfinite, numbers)):
        raise sqlite3.DatabaseError("a vector in it is damaged")
    return tuple(numbers)
