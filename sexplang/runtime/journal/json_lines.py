"""The journal as a file of JSON lines, as `--record FILE` writes it."""

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runtime.journal.checksum_chain import add_checksum
from sexplang.runtime.journal.journal import Journal, make_run_id
from sexplang.runtime.journal.rows import LONE, Row
from sexplang.runtime.journal.shared_payloads import PayloadShortener
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import dump
from sexplang.terms.run_terms import Terms

VERSION = 7
"""1 had rows without arguments, and no notes. 2 had no prices and no rows for attempts. 3 had no
partial replies of withdrawn calls. 4 was the last of the first edition of the language. 5 had no
checksums and no rows for other withdrawn requests. 6 had no terms."""

CHECKED = 6
"""The first version whose lines have checksums. It can still be repeated."""

FIRST_OF_EDITION = 5
"""The first version of this edition of the language. In an earlier edition the same program has
other requests and branches."""


def record_to(path: str | os.PathLike[str] | None, run_id: str | None = None) -> Journal:
    """Return a journal with a recording, or in memory only without a path. Raises Refusal."""
    id = run_id or make_run_id()
    if path is None:
        return Journal(id)
    return Journal(id, storages=(JsonLines(os.fspath(path), id),))


@define(eq=False)
class JsonLines:
    """A recording that is being written. Each row is a line, with notes between the rows."""

    path: str
    run_id: str
    _file: int | None = field(default=None, init=False, repr=False)
    _early: list[dict[str, Any]] | None = field(factory=list, init=False, repr=False)
    """Notes that came before the header; None once it is written."""
    _shared: PayloadShortener = field(factory=PayloadShortener, init=False, repr=False)
    _last: tuple[int, bytes, bytes] = field(default=(0, b"", b""), init=False, repr=False)
    """The offset of the last line of the file, the checksum before it, and its own checksum."""

    def __attrs_post_init__(self) -> None:
        self._file = _create_file(self.path)

    @property
    def may_wait(self) -> bool:
        return False

    def begin(self, terms: Terms | None) -> None:
        """Write the header; without terms if a host gave none. Raises Refusal."""
        given = {} if terms is None else {"terms": terms.plain()}
        self._write({"sexplang-journal": VERSION, "run": self.run_id, **given})
        notes, self._early = self._early or (), None
        for note in notes:
            self._write(note)

    def append(self, row: Row) -> None:
        """Write a row. On return, its whole line is in the file. Raises Refusal."""
        if self._early is not None:
            self.begin(None)
        self._write(self._shared.shorten(row.plain()))

    def intend(self, requests: Sequence[Request], clock: float) -> None:
        """Do nothing: a recording is read, not resumed."""

    def commit(self) -> None:
        """Do nothing: each line is in the file when it is written."""

    def snap(self, outcome: Any, clock: float) -> None:
        """Do nothing: a recording is read, not resumed."""

    def park(
        self, outcome: Any, clock: float, questions: Sequence[Request], due: float | None
    ) -> None:
        """Do nothing: a recording is read, not resumed."""

    def note(self, data: dict[str, Any]) -> None:
        """Write a note. A full disk is reported by the next row."""
        if "rates" in data:  # a report has the prices of what answered
            return
        if self._early is not None:
            self._early.append(data)
            return
        with suppress(Refusal):
            self._write(data)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            if self._early is not None:
                with suppress(Refusal):
                    self.begin(None)
            os.close(self._file)
            self._file = None

    def _write(self, data: dict[str, Any]) -> None:
        if self._file is None:
            return
        said = dump(redact(data)).encode("utf-8", LONE)
        size = os.fstat(self._file).st_size
        start, old, new = self._last
        # An interrupted write, or a full disk, may have left a partial line.
        before = old if 0 < size == start else new
        line, own = add_checksum(said, before)
        self._last = size, before, own
        try:
            rest = memoryview(line + b"\n")
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            with suppress(OSError):  # a partial line would make the file unreadable
                os.ftruncate(self._file, size)
            raise refuse(
                "record-failed",
                f"the recording {self.path} cannot be written: {error.strerror}",
                hint="make room, or record somewhere else with --record FILE",
            ) from None


def _create_file(path: str) -> int:
    """Create a private file. A file with content is refused. A pipe or a device keeps its mode."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    try:
        file = os.open(path, flags, 0o600)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise refuse(
            "record-failed",
            f"the recording {path} cannot be made: {why}",
            hint="name a new file in a folder that exists and that you may write",
        ) from None
    mode = os.fstat(file).st_mode
    is_file = stat.S_ISREG(mode)
    if is_file and (not _lock_file(file) or os.fstat(file).st_size):
        os.close(file)
        raise refuse(
            "file-exists",
            f"{path} already holds something and is not overwritten",
            hint="name a new file, or remove this one first",
        )
    if is_file and stat.S_IMODE(mode) != 0o600:
        with suppress(OSError):  # it may be an existing empty file with other permissions
            os.fchmod(file, 0o600)
    return file


def _lock_file(file: int) -> bool:
    """Lock the file until it is closed. Return False if another run is recording to it."""
    import fcntl  # only recordings need it

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
