"""The entry of one file in an index: its row, its metadata as text, its searchable words."""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from types import NoneType
from typing import Any

from sexplang.runtime.memory.scan.file_kinds import extension_of
from sexplang.runtime.memory.scan.history import NEVER, Change
from sexplang.terms.classes.node import frozen
from sexplang.terms.texts.words import words

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def on_one_line(text: str) -> str:
    """Return a name as shown on one line. A line break in it cannot imitate another line."""
    return _BREAKS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


@frozen(kw_only=True)
class Entry:
    """A file in the index. `key` is its name there.

    `given` is the whole metadata if a host has given it. `skipped` is the reason why a file is not
    searchable; its entry saves reading it again.
    """

    key: str
    size: int | None = None
    mtime_ns: int | None = None
    digest: str | None = None
    summary: str = ""
    identifiers: tuple[str, ...] = ()
    change: Change = NEVER
    given: str | None = None
    skipped: str | None = None

    @property
    def filename(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def extension(self) -> str:
        return extension_of(self.filename)

    def text(self, path: str) -> str:
        """Return the metadata for a model to read; `path` is shown as the file's path."""
        if self.given is not None:
            return self.given
        lines = {
            "File": path,
            "Filename": self.filename,
            "Extension": self.extension,
            "Size": f"{self.size} bytes" if self.size is not None else "",
            "Summary": self.summary,
            "Identifiers": ", ".join(self.identifiers),
            "Commit": self.change.commit,
            "Author": self.change.author,
            "Date": self.change.date,
        }
        return "\n".join(f"{name}: {on_one_line(line)}" for name, line in lines.items() if line)

    def table(self) -> dict[str, Any]:
        """Return the metadata as plain data."""
        return {
            "filename": self.filename,
            "extension": self.extension,
            "size": self.size,
            "mtime": None if self.mtime_ns is None else self.mtime_ns / 1e9,
            "digest": self.digest,
            "summary": self.summary,
            "identifiers": list(self.identifiers),
            "commit": self.change.commit,
            "author": self.change.author,
            "date": self.change.date,
        }


_COLUMNS = (
    *("id", "path", "size", "mtime_ns", "digest", "summary", "identifiers"),
    *("commit_id", "author", "date", "given", "skipped"),
)
_TEXT, _COUNT = (str, NoneType), (int, NoneType)
_KINDS = (int, str, _COUNT, _COUNT, _TEXT, str, str, str, str, str, _TEXT, _TEXT)
SELECT = f"select {', '.join(f'files.{name}' for name in _COLUMNS)} from files"
_INSERT = f"insert into files ({', '.join(_COLUMNS[1:])}) values ({', '.join('?' * 11)})"
_INSERT_WORDS = (
    "insert into words (rowid, names, summary, identifiers, facts) values (?, ?, ?, ?, ?)"
)


LONGEST = 1_000_000
"""Maximum characters of a value of an entry."""


def check_rows(
    rows: Iterable[tuple[Any, ...]], kinds: tuple[Any, ...]
) -> Iterator[tuple[Any, ...]]:
    """Yield rows whose values have these types and bounded lengths. Raises DatabaseError for
    others: a damaged or foreign file may contain anything."""
    for row in rows:
        if not all(map(isinstance, row, kinds)):
            raise sqlite3.DatabaseError("a row in it is damaged")
        if any(type(each) is str and len(each) > LONGEST for each in row):
            raise sqlite3.DatabaseError(f"a text in it has more than {LONGEST:,} characters")
        yield row


def entry_of(row: tuple[Any, ...]) -> Entry:
    """Return the entry in a row of `SELECT`. Raises DatabaseError if the row is damaged."""
    ((_, key, size, mtime_ns, digest, summary, identifiers, *rest),) = check_rows((row,), _KINDS)
    commit, author, date, given, skipped = rest
    return Entry(
        key=key,
        size=size,
        mtime_ns=mtime_ns,
        digest=digest,
        summary=summary,
        identifiers=tuple(identifiers.split("\n")) if identifiers else (),
        change=Change(commit, author, date),
        given=given,
        skipped=skipped,
    )


def put(connection: sqlite3.Connection, entry: Entry) -> None:
    """Insert or replace the entry of a file."""
    drop(connection, entry.key)
    change = entry.change
    row = (
        *(entry.key, entry.size, entry.mtime_ns, entry.digest, entry.summary),
        *("\n".join(entry.identifiers), change.commit, change.author, change.date),
        *(entry.given, entry.skipped),
    )
    id = connection.execute(_INSERT, row).lastrowid
    if entry.skipped is None:
        connection.execute(_INSERT_WORDS, (id, *map(_spread, _columns(entry))))


def put_words(connection: sqlite3.Connection) -> None:
    """Index the words of every file in an empty word table."""
    for row in connection.execute(f"{SELECT} where skipped is null").fetchall():
        words_of = map(_spread, _columns(entry_of(row)))
        connection.execute(_INSERT_WORDS, (row[0], *words_of))


def drop(connection: sqlite3.Connection, key: str) -> None:
    """Remove the entry of a file if it exists."""
    known = "select id from files where path = ?"
    connection.execute(f"delete from words where rowid in ({known})", (key,))
    connection.execute(f"delete from vectors where id in ({known})", (key,))
    connection.execute("delete from files where path = ?", (key,))


def _columns(entry: Entry) -> tuple[str, str, str, str]:
    change = entry.change
    said = entry.summary if entry.given is None else entry.given
    commit = f"{change.commit[:7]} {change.commit}"
    facts = f"{entry.extension} {change.author} {change.date[:10]} {commit}"
    return entry.key, said, " ".join(entry.identifiers), facts


def _spread(text: str) -> str:
    return " ".join(words(text))
