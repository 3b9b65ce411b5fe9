"""The journal: the rows of a run, in the order of delivery.

Law: a row is appended, then its reply is delivered. So the order of rows is the schedule.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from time import time
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.package.zone_use import ZoneUse
from sexplang.runtime.journal.shared_payloads import PayloadShortener
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Part, Request, SoFar
from sexplang.terms.json.tagged import dump, pack
from sexplang.terms.quota import STEPS
from sexplang.terms.values.value import Record, Value

VERSION = 6
"""1 had rows without arguments, and no notes. 2 had no prices and no rows for attempts. 3 had no
partial replies of withdrawn calls. 4 was the last of the first edition of the language. 5 had no
checksums and no rows for other withdrawn requests."""

FIRST_OF_EDITION = 5
"""The first version of this edition of the language. In an earlier edition the same program has
other requests and branches."""

LONE = "backslashreplace"
"""The error handler that encodes a surrogate half as JSON writes it."""


@define(eq=False)
class Row:
    """One answered request. `reply` is a value, or an error record if `failed`.

    Not frozen, for speed; it is not changed after it is appended.
    """

    id: str
    operation: str
    arguments: tuple[Value, ...]
    reply: Value
    failed: bool
    attempts: int
    started: float
    ended: float
    clock: float = 0.0
    """Seconds since the start of the drive at which the row was appended."""

    @property
    def digest(self) -> str:
        """The sha256 of the request's canonical JSON. Computed on demand: values are immutable, and
        most runs in memory do not need it."""
        return digest(self.operation, self.arguments)

    @property
    def model(self) -> str | None:
        """The model that replied, or that counted a partial reply, by its own name."""
        return self.read_usage()[0]

    @property
    def usage(self) -> dict[str, Value]:
        """Tokens of a model call over all attempts, as reported."""
        return self.read_usage()[1]

    def read_usage(self) -> tuple[str | None, dict[str, Value]]:
        """Return the model and the usage."""
        said = self.reply if self.operation in _USAGE_OPERATIONS else None
        if self.failed and isinstance(said, Record):
            said = said.fields.get("details")
        if not isinstance(said, dict):
            return None, {}
        name, usage = said.get("model"), said.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        is_said = isinstance(name, str) and name and (usage or not self.failed)
        return name if is_said else None, usage

    def plain(self) -> dict[str, Any]:
        """Return the row as data for a recording."""
        return {
            "id": self.id,
            "operation": self.operation,
            "digest": self.digest,
            "arguments": pack(self.arguments),
            "attempts": self.attempts,
            "error" if self.failed else "reply": pack(self.reply),
            "usage": pack(self.usage),
            "started": self.started,
            "ended": self.ended,
            "clock": self.clock,
        }


@define(eq=False)
class Journal:
    """The rows of one run in memory. With `record`, each row is also a line of JSON in a file, with
    notes between the rows."""

    run_id: str = field(factory=lambda: os.urandom(8).hex())
    record: str | os.PathLike[str] | None = None
    zones: ZoneUse = field(factory=ZoneUse)
    """The zones that the run uses, of which a note says the version."""
    rows: list[Row] = field(factory=list, init=False)
    _file: int | None = field(default=None, init=False, repr=False)
    _shared: PayloadShortener = field(factory=PayloadShortener, init=False, repr=False)
    _last: tuple[int, bytes, bytes] = field(default=(0, b"", b""), init=False, repr=False)
    """The offset of the last line of the file, the checksum before it, and its own checksum."""
    _add_checksum: Any = field(default=None, init=False, repr=False)
    _noted_zones: str | None = field(default=None, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.record is not None:
            from sexplang.runtime.journal.checksum_chain import add_checksum  # loads a library

            self._add_checksum = add_checksum
            self._file = _create_file(os.fspath(self.record))
            self._write({"sexplang-journal": VERSION, "run": self.run_id})

    def append(self, row: Row) -> None:
        """Append a row. On return, its whole line is in the file. Raises Refusal."""
        if self._file is not None:
            self._note_zones()
            self._write(self._shared.shorten(row.plain()))
        self.rows.append(row)

    def extend(self, rows: Iterable[Row]) -> None:
        """Append several rows."""
        for row in rows:
            self.append(row)

    def note(self, data: dict[str, Any]) -> None:
        """Write a note to the file. A full disk is reported by the next row."""
        if self._file is not None:
            with suppress(Refusal):
                self._write(data)

    def close(self) -> None:
        """Close the file. The rows stay readable."""
        if self._file is not None:
            self._note_zones()
            os.close(self._file)
            self._file = None

    def _note_zones(self) -> None:
        """Note the version of the zones at their first use: a replay compares it."""
        if self.zones.version != self._noted_zones:
            self._noted_zones = self.zones.version
            self.note({"zones": self.zones.version})

    def _write(self, data: dict[str, Any]) -> None:
        assert self._file is not None
        said = dump(redact(data)).encode("utf-8", LONE)
        size = os.fstat(self._file).st_size
        start, old, new = self._last
        # An interrupted write, or a full disk, may have left a partial line.
        before = old if 0 < size == start else new
        line, own = self._add_checksum(said, before)
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
                f"the recording {os.fspath(self.record or '')} cannot be written: {error.strerror}",
                hint="make room, or record somewhere else with --record FILE",
            ) from None


CANCEL = "cancel"
"""The operation of a row that records a cancellation from outside."""


def make_cancellation_row() -> Row:
    """Return the row of a cancellation from outside."""
    now = time()
    return Row("", CANCEL, (), None, False, 1, now, now)


ATTEMPT = "attempt"
"""The operation of a row that records a failed attempt which is followed by another."""


def make_attempt_row(id: str, attempt: int, usage: dict[str, int]) -> Row:
    """Return the row after which the request's budgets hold the usage of a failed attempt."""
    now = time()
    return Row(id, ATTEMPT, (), usage, False, attempt, now, now)


PASSED = "passed"
"""The operation of a row that records a deadline which fired while the run computed."""


def make_deadline_row(scope: str, at: str, steps: int) -> Row:
    """Return the row of a deadline that fired `steps` steps after the branch of `at` could have
    made its next request."""
    now = time()
    return Row(scope, PASSED, (at, steps, STEPS), None, False, 1, now, now)


CUT = "cut"
"""The operation of a row that records a request withdrawn by the delivery of the last ordinary row.
"""

_USAGE_OPERATIONS = ("model", CUT)
"""The operations of rows that contain a model's usage."""


def make_withdrawal_row(id: str, asked: str, part: Part) -> Row:
    """Return the row with the partial reply of a withdrawn call. `asked` is the digest of the
    request, or empty if it was not sent."""
    now = time()
    return Row(id, CUT, (asked,), part, False, 1, now, now)


def digest(operation: str, arguments: tuple[Value, ...]) -> str:
    """Return the sha256 of a request's canonical JSON: sorted keys, no white space."""
    from hashlib import sha256

    asked = dump([operation, pack(arguments)], canonical=True)
    return sha256(asked.encode("utf-8", LONE)).hexdigest()


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


def mismatch(row: Row, requests: Iterable[Request]) -> Refusal | None:
    """Return the refusal of a row that cannot be delivered now, or None."""
    asked = {request.id: request for request in requests}
    request = asked.get(row.id)
    if request is None:
        waiting = ", ".join(asked) or "none"
        return refuse(
            "journal-mismatch",
            f"the recording answers request {row.id} ({row.operation}), which does not wait here",
            hint="replay with the program and inputs that were recorded",
            expected=row.id,
            waiting=waiting,
        )
    if digest(request.operation, request.arguments) != row.digest:
        return refuse(
            "journal-mismatch",
            f"request {row.id} was recorded as another one",
            hint="replay with the program and inputs that were recorded",
            expected=dump(pack((row.operation, row.arguments))),
            got=dump(pack((request.operation, request.arguments))),
        )
    return None


def replay(outcome: Any, rows: Iterable[Row]) -> Any:
    """Deliver rows to a run from its start. Return the outcome after the last row.

    Raises a Refusal `journal-mismatch` at a row that does not fit.
    """
    rows = [*rows]
    slice = _deadline_slice(rows)
    for row, so_far in _pair_with_withdrawals(rows):
        outcome = _compute(outcome, row, slice)
        if row.operation == PASSED:
            outcome = _pass_deadline(outcome, row, slice, so_far)
            continue
        if row.operation == CANCEL:
            outcome = outcome.cancel(so_far=so_far, slice=slice)
            continue
        if row.operation == ATTEMPT:
            outcome = _hold_attempt(row, outcome)
            continue
        problem = mismatch(row, getattr(outcome, "requests", ()))
        if problem is not None:
            raise problem
        answer = outcome.fail if row.failed else outcome.resume
        outcome = answer(row.id, row.reply, so_far=so_far, slice=slice)
    return _compute(outcome, None, slice)


def _deadline_slice(rows: list[Row]) -> Any:
    """Return a slice that stops where deadlines fired, or None if none did."""
    places = [row.arguments for row in rows if row.operation == PASSED]
    if not places:
        return None
    from sexplang.machine import Slice  # to show a recording needs no machine
    from sexplang.runtime.driver.deadlines import group_stops

    return Slice(_MAX_STEPS, group_stops((str(at), int(steps)) for at, steps, _ in places))


_MAX_STEPS = 1_000_000
"""Steps of a slice when no clock is checked."""


def _compute(outcome: Any, row: Row | None, slice: Any) -> Any:
    """Compute until the deadline of a deadline row fires, or until every branch waits."""
    if slice is None:
        return outcome
    from sexplang.machine import Suspended, advance, state_of

    while isinstance(outcome, Suspended) and (pause := state_of(outcome).pause) is not None:
        here = [pause.at, pause.steps, STEPS]
        if row is not None and row.operation == PASSED and [*row.arguments] == here:
            break
        outcome = advance(outcome, slice)
    return outcome


def _pass_deadline(outcome: Any, row: Row, slice: Any, so_far: SoFar) -> Any:
    """Fire a deadline in a computing run."""
    from sexplang.machine import Suspended, advance, state_of

    pause = state_of(outcome).pause if isinstance(outcome, Suspended) else None
    if pause is None or row.id not in [scope.id for scope in pause.scopes]:
        raise refuse(
            "journal-mismatch",
            f"the deadline {row.id} passed in the recording where this run does not come",
            hint="replay with the program, inputs and version that were recorded",
            expected=row.id,
        )
    return advance(outcome, slice, row.id, so_far)


def _pair_with_withdrawals(rows: Iterable[Row]) -> Iterator[tuple[Row, SoFar]]:
    """Yield each row with the partial replies that its delivery withdrew, by request."""
    last: Row | None = None
    parts: dict[str, Part] = {}
    for row in rows:
        if row.operation == CUT:
            parts[row.id] = row.reply
            continue
        if last is not None:
            yield last, parts.get
        last, parts = row, {}
    if last is not None:
        yield last, parts.get


def _hold_attempt(row: Row, outcome: Any) -> Any:
    """Reserve the usage of a failed attempt."""
    from sexplang.machine import hold_attempt  # to show a recording needs no machine

    asked = [request.id for request in getattr(outcome, "requests", ())]
    held = hold_attempt(outcome, row.id, row.reply) if row.id in asked else None
    if held is None:
        raise refuse(
            "journal-mismatch",
            f"the recording has another attempt at request {row.id}, which has no room for it here",
            hint="replay with the program, inputs and budget that were recorded",
            expected=row.id,
        )
    return held
