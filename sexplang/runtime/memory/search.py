"""The search of an index: matches for a query, best first.

Law: matches, order and scores depend only on the query and on the files that the asker may know. So
SQLite finds the words, and the score is computed here: its BM25 uses all files and ignores a word
that half of them contain. Equal scores are ordered by path.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable
from math import log
from typing import Any

from sexplang.runtime.memory.entries import SELECT, Entry, check_rows, entry_of, on_one_line
from sexplang.runtime.memory.index_paths import home_of, path_of
from sexplang.runtime.memory.query import Query, terms
from sexplang.runtime.memory.store import open_to_read
from sexplang.terms.texts.words import words

AROUND = 0.25
"""The weight of a word of the inherited context or of earlier outputs."""

NO_INDEX = "there is no index; `sexplang index PATH` makes one"

_WEIGHTS = {
    "content": {"names": 6.0, "summary": 3.0, "identifiers": 2.0},
    "metadata": {"names": 6.0, "facts": 1.0},
}
"""Weights of a word by its column, for each strategy."""
_ENOUGH, _LONG = 2.0, 200
"""Saturation of a word's weight: repetitions count less, and so does a word of a long entry.
Lengths are in characters."""
_LEAST = 0.0001
"""The minimum score of a file that contains one of the words."""

_FILES = """select id, path, length(path) + length(coalesce(given, summary)) + length(identifiers)
    from files where skipped is null"""
# As one text: one row per file would take three times as long.
_HAVING = "select group_concat(rowid) from words where words match ?"

_PLACES = 60
"""What is added to a place in an order, so that the first ones do not count too much."""

PathDisplay = Callable[[str], str | None]
"""A function from an absolute path to the path shown to the asker; None hides the file."""

_Files = dict[int, tuple[int, str, int]]
"""Visible files by id: id, key, and length in characters."""

Reply = dict[str, Any]
"""`{summary matches error}`. A match is `{id content relevance_score content_type source_path
metadata}`."""


def show_absolute(path: str) -> str:
    """Show every file by its absolute path."""
    return path


def search_index(index: str, query: Query, shown: PathDisplay) -> Reply:
    """Return the reply to a query. Raises a Refusal if the index is unusable."""
    with open_to_read(index) as connection:
        if connection is None:
            return reply(NO_INDEX)
        home = home_of(index)
        files = {
            row[0]: row
            for row in check_rows(connection.execute(_FILES), (int, str, int))
            if shown(path_of(row[1], home)) is not None
        }
        scores = _scores(connection, query, files)
        if query.vector:
            scores = _fuse(connection, query, files, scores)
        if not any(scores.values()):
            _check_words(connection, files)
        order = sorted(scores, key=lambda id: (-scores[id], files[id][1]))[: query.limit]
        best = (scores[order[0]] if order else 0.0) or 1.0
        matches = []
        for id in order:
            (row,) = connection.execute(f"{SELECT} where files.id = ?", (id,))
            path = shown(path_of(files[id][1], home)) or ""
            matches.append(_match(entry_of(row), path, scores[id] / best))
    return reply(_summary(query, matches), matches)


def _check_words(connection: sqlite3.Connection, files: _Files) -> None:
    """Raise DatabaseError if a search without matches shows that the words are damaged: a word of a
    file's path must be found."""
    for id, path, _ in files.values():
        word = next((each for each in words(path) if each.isascii() and each.isalnum()), None)
        if word is not None:
            found = "select 1 from words where words match ? and rowid = ?"
            if connection.execute(found, (f'names : "{word}"', id)).fetchone() is None:
                raise sqlite3.DatabaseError("the words in it are damaged")
            return


def reply(summary: str, matches: list[Reply] | None = None, error: Any = None) -> Reply:
    """Return the reply of `search-memory`."""
    return {"summary": summary, "matches": matches or [], "error": error}


def _scores(connection: sqlite3.Connection, query: Query, files: _Files) -> dict[int, float]:
    """Return the scores of files with at least one of the words."""
    scores = _rank(connection, query, query.wanted, files)
    for id, score in _rank(connection, query, query.around, files).items():
        scores[id] = scores.get(id, 0.0) + AROUND * score
    return dict.fromkeys(files, 0.0) | scores if query.include_unmatched else scores


def _rank(
    connection: sqlite3.Connection, query: Query, texts: tuple[str, ...], files: _Files
) -> dict[int, float]:
    """Return files with at least one of the words; the best has the score 1."""
    scores: dict[int, float] = defaultdict(float)
    for word in terms(texts):
        having: dict[int, float] = defaultdict(float)
        for column, weight in _WEIGHTS[query.strategy].items():
            # The word is quoted, so a query contains no syntax of the search.
            ((ids,),) = connection.execute(_HAVING, (f'{column} : "{word}"',))
            for id in map(int, ids.split(",") if ids else ()):
                having[id] += weight
        known = having.keys() & files.keys()
        rarity = log(1 + len(files) / max(1, len(known)))
        for id in known:
            scores[id] += rarity * having[id] / (having[id] + _ENOUGH + files[id][2] / _LONG)
    best = max(scores.values(), default=1.0)
    return {id: score / best for id, score in scores.items()}


def _fuse(
    connection: sqlite3.Connection, query: Query, files: _Files, scores: dict[int, float]
) -> dict[int, float]:
    """Return the scores of files by their places in two orders: by words, and by the query's
    vector. This is reciprocal rank fusion."""
    from sexplang.runtime.memory.vectors import rank_by_vector

    by_path = sorted(files, key=lambda id: files[id][1])
    by_words = sorted(
        [id for id in by_path if scores.get(id)], key=lambda id: scores[id], reverse=True
    )
    fused = dict.fromkeys(scores, 0.0)
    for ranked in (by_words, rank_by_vector(connection, query.vector, by_path)):
        for place, id in enumerate(ranked, 1):
            fused[id] = fused.get(id, 0.0) + 1 / (_PLACES + place)
    return fused


def _match(entry: Entry, path: str, score: float) -> Reply:
    return {
        "id": path,
        "content": entry.text(path),
        "relevance_score": max(_LEAST, round(score, 4)) if score else 0.0,
        "content_type": "file_summary",
        "source_path": path,
        "metadata": entry.table(),
    }


def _summary(query: Query, matches: list[Reply]) -> str:
    if matches:
        count = "1 match" if len(matches) == 1 else f"{len(matches)} matches"
        return f"{count}: {', '.join(on_one_line(match['source_path']) for match in matches)}"
    if not terms((*query.wanted, *query.around)):
        return "the query has no words to look for"
    return "no file that may be read here has a word of the query"
