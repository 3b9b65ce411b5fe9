"""The update of an index for a folder or a file, in one transaction.

Files of unchanged size and time are not read again. Files that are gone are removed.
"""

import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from time import monotonic, time
from typing import Any

from sexplang.guards.secrets import redact_text
from sexplang.runtime.files.surrogates import is_text
from sexplang.runtime.memory.entries import SELECT, Entry, drop, entry_of, put
from sexplang.runtime.memory.index_paths import home_of, key_of, keys_below
from sexplang.runtime.memory.scan.file_kinds import text_of
from sexplang.runtime.memory.scan.history import (
    NEVER,
    Changes,
    all_changes,
    changes_since,
    head_of,
)
from sexplang.runtime.memory.scan.walk import LARGEST_FILE, FoundFile, Walk
from sexplang.runtime.memory.store import missing, open_to_change
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import attributes, evolve, frozen

Watch = Callable[[int, int], None]
"""Called with the number of files read and the number of all files."""

Entries = dict[str, Entry]


@frozen
class Report:
    """The result of an update below a path. Counts are of files."""

    index: str
    path: str
    files: int
    """Files that are now in the index."""
    new: int
    changed: int
    gone: int
    skipped: dict[str, int]
    """Files left out, by reason: binary, large, linked, misnamed, unreadable."""
    seconds: float

    def plain(self) -> dict[str, Any]:
        """Return the report as data."""
        return attributes(self) | {"skipped": dict(self.skipped), "seconds": round(self.seconds, 3)}


@frozen(eq=False)
class _Job:
    """One update: the open index, its home, the path, and the entries below the path so far."""

    connection: sqlite3.Connection
    home: str
    path: str
    walk: Walk
    known: Entries

    @property
    def is_folder(self) -> bool:
        return self.path == self.walk.root


def update_index(
    index: str,
    target: str,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    largest: int = LARGEST_FILE,
    watch: Watch | None = None,
) -> Report:
    """Update the index for a folder or one file.

    Patterns are those of a `.gitignore`; `largest` is in bytes. Raises a Refusal: `file-not-found`,
    `file-failed`, `not-text`, `bad-pattern`, or one for an unusable index. A refusal leaves the
    index unchanged.
    """
    since = monotonic()
    path, home = os.path.realpath(target), home_of(index)
    root = path if os.path.isdir(path) else os.path.dirname(path)
    _check_place(target, path, index)
    walk = Walk(root, tuple(include), tuple(exclude), largest)
    # The index itself is not opened: closing it would release its locks.
    own = [os.path.realpath(index) + end for end in ("", "-wal", "-shm")]
    with open_to_change(index) as connection:
        job = _Job(connection, home, path, walk, _read_known(connection, home, path))
        seen = [] if path in own else _find_files(job, target)
        files = {os.path.join(root, each.path): each for each in seen}
        for each in own:
            files.pop(each, None)
        found = {key_of(whole, home): each for whole, each in files.items()}
        entries = _add_dates(job, found, _read(job, found, watch))
        _write(job, entries)
    return _report(job, entries, index, monotonic() - since)


def _check_place(target: str, path: str, index: str) -> None:
    if not target:  # an unset variable; it does not name the working folder
        raise _unusable("file-not-found", target, "an empty path names nothing")
    if not is_text(path + index):
        raise _unusable("not-text", target, "a name on the way to it is not UTF-8")
    try:
        mode = os.stat(path).st_mode
    except OSError:
        if missing(index):  # no index is created without files
            raise _unusable("file-not-found", target, "there is nothing") from None
        return
    if stat.S_ISREG(mode) and os.path.islink(target):
        raise _unusable("file-not-found", target, f"it is a link; name the file itself: {path}")
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise _unusable("file-not-found", target, "it is neither a folder nor a regular file")


def _read_known(connection: sqlite3.Connection, home: str, path: str) -> Entries:
    """Return the entries of a path and of all below it."""
    is_part = keys_below(path, home)
    rows = connection.execute(SELECT)
    return {key: entry_of(row) for row in rows if is_part(key := str(row[1]))}


def _find_files(job: _Job, target: str) -> list[FoundFile]:
    try:
        if job.is_folder:
            return list(job.walk.files())
        found = job.walk.file(os.path.basename(job.path))
        return [] if found is None else [found]
    except FileNotFoundError:
        if not job.known:
            raise _unusable("file-not-found", target, "there is nothing") from None
        return []  # entries of missing files are removed
    except OSError as error:
        raise _unusable("file-failed", target, error.strerror or str(error)) from None


def _unusable(code: str, target: str, why: str) -> Refusal:
    target = target.encode(errors="replace").decode()
    return refuse(
        code,
        f"cannot index `{target}`: {why}",
        hint="name a folder, a git repository or a file that may be read",
        path=target,
    )


def _read(job: _Job, found: dict[str, FoundFile], watch: Watch | None) -> Entries:
    """Return an entry for each file, known or newly read."""
    entries = {key: job.known[key] for key, file in found.items() if _is_same(job, key, file)}
    rest = found.keys() - entries.keys()
    for done, key in enumerate(sorted(rest)):
        if watch is not None:
            watch(done, len(rest))
        try:
            data = job.walk.read(found[key])
        except OSError:
            job.walk.skipped["unreadable"] += 1
            continue
        if len(data) > job.walk.largest:  # it has grown since it was listed
            job.walk.skipped["large"] += 1
            continue
        entries[key] = _entry(key, found[key], data)
    return entries


def _is_same(job: _Job, key: str, file: FoundFile) -> bool:
    known = job.known.get(key)
    return known is not None and (known.size, known.mtime_ns) == (file.size, file.mtime_ns)


def _entry(key: str, file: FoundFile, data: bytes) -> Entry:
    bare = Entry(key=key, size=file.size, mtime_ns=file.mtime_ns, digest=sha256(data).hexdigest())
    from sexplang.runtime.memory.scan.summary import (
        facts_of,  # compiles many patterns
    )

    text = text_of(data)
    if text is None:
        return evolve(bare, skipped="binary")
    facts = facts_of(redact_text(text), bare.filename)
    return evolve(bare, summary=facts.summary, identifiers=facts.identifiers)


# -- Commits ---------------------------------------------------------------------------------------


def _add_dates(job: _Job, found: dict[str, FoundFile], entries: Entries) -> Entries:
    """Return the entries with the last commit of each file, if git knows it.

    If the last commit of the folder was seen before, git is asked only for later commits, and for
    files without an entry.
    """
    root = job.walk.root
    head = head_of(root)
    if not job.is_folder:
        changes = all_changes(root, head, [os.path.basename(job.path)]) if head else {}
        return _with(entries, found, changes)
    key = key_of(root, job.home)
    (since,) = job.connection.execute(
        "select max(head) from roots where path = ?", (key,)
    ).fetchone()
    row = (key, "\n".join(job.walk.include), "\n".join(job.walk.exclude), head, time())
    job.connection.execute("insert or replace into roots values (?, ?, ?, ?, ?)", row)
    if not head:
        return _with(entries, found, {})
    recent = {} if since == head else changes_since(root, since or "", head)
    if recent is None:
        return _with(entries, found, all_changes(root, head))
    old = {found[key].path: entry.change for key, entry in job.known.items() if key in entries}
    new = [found[key].path for key in entries if key not in job.known]
    unseen = [path for path in new if path not in recent]
    asked = all_changes(root, head, unseen) if unseen else {}
    return _with(entries, found, old | asked | recent)


def _with(entries: Entries, found: dict[str, FoundFile], changes: Changes) -> Entries:
    dated = {}
    for key, entry in entries.items():
        change = changes.get(found[key].path, NEVER)
        dated[key] = entry if entry.change == change else evolve(entry, change=change)
    return dated


# -- The end ---------------------------------------------------------------------------------------


def _write(job: _Job, entries: Entries) -> None:
    for key in _list_removed(job, entries):
        drop(job.connection, key)
    for key, entry in entries.items():
        if entry != job.known.get(key):
            put(job.connection, entry)


def _list_removed(job: _Job, entries: Entries) -> list[str]:
    """Return the keys of entries whose files are gone. A host's entries stay."""
    return [key for key, entry in job.known.items() if key not in entries and entry.given is None]


def _report(job: _Job, entries: Entries, index: str, seconds: float) -> Report:
    before = {key: entry.digest for key, entry in job.known.items() if entry.skipped is None}
    now = {key: entry.digest for key, entry in entries.items() if entry.skipped is None}
    skipped = job.walk.skipped + Counter(
        entry.skipped for entry in entries.values() if entry.skipped is not None
    )
    return Report(
        index=index,
        path=job.path,
        files=len(now),
        new=len(now.keys() - before.keys()),
        changed=sum(before.get(key, digest) != digest for key, digest in now.items()),
        gone=sum(key in before for key in _list_removed(job, entries)),
        skipped=dict(sorted(skipped.items())),
        seconds=seconds,
    )
