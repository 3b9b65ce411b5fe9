"""A query and an index → its matches, best first: BM25 over what is known of the files.

The same index and the same query give the same matches: what ranks alike is in order of its path.
"""

import sqlite3
from collections.abc import Callable
from itertools import islice
from typing import Any

from sexplang.runtime.memory.asking import Query
from sexplang.runtime.memory.entries import SELECT, Entry, entry_of, on_one_line
from sexplang.runtime.memory.places import home_of, path_of
from sexplang.runtime.memory.store import reading
from sexplang.runtime.memory.words import terms

AROUND = 0.25
"""What a word of the inherited context or of earlier outputs counts."""

NO_INDEX = "there is no index; `sexplang index PATH` makes one"

_COLUMNS = {"content": "{names summary identifiers}", "metadata": "{names facts}"}
_RANKED = (
    "select files.path, -bm25(words, 4.0, 3.0, 2.0, 1.0) from words"
    " join files on files.id = words.rowid where words match ?"
)

Shown = Callable[[str], str | None]
"""An absolute path → how it is shown to whoever asks; None if they may not know of it."""

Reply = dict[str, Any]
"""`{summary matches error}`; a match is `{id content relevance_score content_type source_path
metadata}`."""


def as_it_is(path: str) -> str:
    """Shows everything, by absolute path."""
    return path


def searched(index: str, query: Query, shown: Shown) -> Reply:
    """The reply to a query. Raises a Refusal if the index cannot be used.

    What may not be known of is left out, and nothing is measured by it.
    """
    with reading(index) as connection:
        if connection is None:
            return reply(NO_INDEX)
        home = home_of(index)
        seen = _Seen(lambda key: shown(path_of(key, home)))
        scores = _scores(connection, query, seen)
        ranked = sorted((-score, key) for key, score in scores.items())
        visible = (pair for pair in ranked if seen[pair[1]] is not None)
        best = 0.0
        matches = []
        for score, key in islice(visible, query.limit):
            best = best or -score or 1.0
            (row,) = connection.execute(f"{SELECT} where files.path = ?", (key,))
            matches.append(_match(entry_of(row), seen[key] or "", -score / best))
    return reply(_summary(query, matches), matches)


class _Seen(dict[str, str | None]):
    """How each file is shown, by its key; asked once."""

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self._shown = shown

    def __missing__(self, key: str) -> str | None:
        self[key] = path = self._shown(key)
        return path


def reply(summary: str, matches: list[Reply] | None = None, error: Any = None) -> Reply:
    """What `search-memory` gives."""
    return {"summary": summary, "matches": matches or [], "error": error}


def _scores(connection: sqlite3.Connection, query: Query, seen: _Seen) -> dict[str, float]:
    """How well each file fits, by its key: above 0 if it has one of the words. Those that may not
    be known of are among them: whether one may is only asked of the best."""
    scores = _ranked(connection, query, query.wanted, seen)
    for key, score in _ranked(connection, query, query.around, seen).items():
        scores[key] = scores.get(key, 0.0) + AROUND * score
    if query.include_unmatched:
        for (key,) in connection.execute("select path from files where skipped is null"):
            scores.setdefault(key, 0.0)
    return scores


def _ranked(
    connection: sqlite3.Connection, query: Query, texts: tuple[str, ...], seen: _Seen
) -> dict[str, float]:
    """Files with one of the words, the best that may be known of with the score 1."""
    # Each word is quoted: nothing that a query says is syntax of the search.
    wanted = " OR ".join([f'"{word}"' for word in terms(texts)])
    if not wanted:
        return {}
    asked = f"{_COLUMNS[query.strategy]} : ({wanted})"
    found = dict(connection.execute(_RANKED, (asked,)).fetchall())
    order = sorted(found, key=found.__getitem__, reverse=True)
    best = next((found[key] for key in order if seen[key] is not None), None)
    return {} if best is None else {key: score / best for key, score in found.items()}


def _match(entry: Entry, path: str, score: float) -> Reply:
    return {
        "id": path,
        "content": entry.text(path),
        "relevance_score": round(min(1.0, max(0.0, score)), 4),
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
