"""Replies → rows: what a run was told from outside, in the order in which it was told.

Law: a row is appended, then its reply is delivered; so the order of rows is the schedule.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from time import time
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runtime.journal.shared_payloads import PayloadShortener
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Part, Request, SoFar
from sexplang.terms.json.tagged import dump, pack
from sexplang.terms.quota import STEPS
from sexplang.terms.values.value import Record, Value

VERSION = 6
"""1 had rows without arguments, and no notes; 2 no prices, and no rows for attempts; 3 none for
what calls had got that were withdrawn. 4 was the last of the first edition of the language. 5 had
no checksums, and no rows for what else was withdrawn."""

FIRST_OF_EDITION = 5
"""The first version of this edition of the language. The same program has other requests and
branches in an earlier edition."""

LONE = "backslashreplace"
"""How half of a surrogate pair is encoded: the way in which JSON writes it."""


@define(eq=False)
class Row:
    """One answered request. `reply` is a value, or an error record if `failed`.

    Not frozen, for speed; nobody changes a row.
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
    """How many seconds the run had been driven when it was appended."""

    @property
    def digest(self) -> str:
        """What was asked, as the sha256 of its canonical JSON. Computed when it is read: values
        cannot change, and most runs in memory never ask for it."""
        return digest(self.operation, self.arguments)

    @property
    def model(self) -> str | None:
        """Who replied to a model call, or counted until it was cut short, as they say."""
        return self.read_usage()[0]

    @property
    def usage(self) -> dict[str, Value]:
        """Tokens of a model call with all its attempts, as the model reported them."""
        return self.read_usage()[1]

    def read_usage(self) -> tuple[str | None, dict[str, Value]]:
        """The model and the usage."""
        said = self.reply if self.operation in _SAYING else None
        if self.failed and isinstance(said, Record):
            said = said.fields.get("details")
        if not isinstance(said, dict):
            return None, {}
        name, usage = said.get("model"), said.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        is_said = isinstance(name, str) and name and (usage or not self.failed)
        return name if is_said else None, usage

    def plain(self) -> dict[str, Any]:
        """The row as data for a recording."""
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
    """The rows of one run, in memory; with `record`, each also as a line of JSON in a file, and
    notes between them."""

    run_id: str = field(factory=lambda: os.urandom(8).hex())
    record: str | os.PathLike[str] | None = None
    rows: list[Row] = field(factory=list, init=False)
    _file: int | None = field(default=None, init=False, repr=False)
    _shared: PayloadShortener = field(factory=PayloadShortener, init=False, repr=False)
    _last: tuple[int, bytes, bytes] = field(default=(0, b"", b""), init=False, repr=False)
    """Where the last line of the file begins, the checksum before it, and its own."""
    _add_checksum: Any = field(default=None, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.record is not None:
            from sexplang.runtime.journal.checksum_chain import add_checksum  # loads a library

            self._add_checksum = add_checksum
            self._file = _fresh(os.fspath(self.record))
            self._write({"sexplang-journal": VERSION, "run": self.run_id})

    def append(self, row: Row) -> None:
        """Keep a row; it is in the file, whole, before this returns."""
        if self._file is not None:
            self._write(self._shared.shorten(row.plain()))
        self.rows.append(row)

    def extend(self, rows: Iterable[Row]) -> None:
        """Keep several rows."""
        for row in rows:
            self.append(row)

    def note(self, data: dict[str, Any]) -> None:
        """Keep a line beside the rows, in the file alone. Where there is no room for it, the next
        row will say so."""
        if self._file is not None:
            with suppress(Refusal):
                self._write(data)

    def close(self) -> None:
        """Close the recording; rows stay readable."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, data: dict[str, Any]) -> None:
        assert self._file is not None
        said = dump(redact(data)).encode("utf-8", LONE)
        size = os.fstat(self._file).st_size
        start, old, new = self._last
        # What was interrupted, or found no room, may have left no line.
        before = old if 0 < size == start else new
        line, own = self._add_checksum(said, before)
        self._last = size, before, own
        try:
            rest = memoryview(line + b"\n")
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            with suppress(OSError):  # a torn line would make the whole file unreadable
                os.ftruncate(self._file, size)
            raise refuse(
                "record-failed",
                f"the recording {os.fspath(self.record or '')} cannot be written: {error.strerror}",
                hint="make room, or record somewhere else with --record FILE",
            ) from None


CANCEL = "cancel"
"""The operation of a row that stands for a cancellation from outside."""


def make_cancellation_row() -> Row:
    """The row that says: here the run was cancelled from outside."""
    now = time()
    return Row("", CANCEL, (), None, False, 1, now, now)


ATTEMPT = "attempt"
"""The operation of a row that stands for an attempt which failed and is followed by another."""


def make_attempt_row(id: str, attempt: int, usage: dict[str, int]) -> Row:
    """The row that says: from here on the budgets of this request hold what the attempt took."""
    now = time()
    return Row(id, ATTEMPT, (), usage, False, attempt, now, now)


PASSED = "passed"
"""The operation of a row that stands for a deadline which passed while the run computed."""


def make_deadline_row(scope: str, at: str, steps: int) -> Row:
    """The row that says: this deadline passed so many steps after a branch could have had its next
    request, `at`."""
    now = time()
    return Row(scope, PASSED, (at, steps, STEPS), None, False, 1, now, now)


CUT = "cut"
"""The operation of a row that stands for a call which was withdrawn by the delivery of the last
row before it that is none of these."""

_SAYING = ("model", CUT)
"""The operations of rows that say what a model used."""


def make_withdrawal_row(id: str, asked: str, part: Part) -> Row:
    """The row that says what a call had got when it was withdrawn; `asked` is its digest, if it was
    made."""
    now = time()
    return Row(id, CUT, (asked,), part, False, 1, now, now)


def digest(operation: str, arguments: tuple[Value, ...]) -> str:
    """The sha256 of a request's canonical JSON: keys sorted, no white space."""
    from hashlib import sha256

    asked = dump([operation, pack(arguments)], canonical=True)
    return sha256(asked.encode("utf-8", LONE)).hexdigest()


def _fresh(path: str) -> int:
    """A new, private file; one that already holds something is refused, never overwritten. A pipe
    or a device, which belongs to others too, keeps its mode."""
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
    if is_file and (not _is_ours(file) or os.fstat(file).st_size):
        os.close(file)
        raise refuse(
            "file-exists",
            f"{path} already holds something and is not overwritten",
            hint="name a new file, or remove this one first",
        )
    if is_file and stat.S_IMODE(mode) != 0o600:
        with suppress(OSError):  # an empty file that others could read was there before
            os.fchmod(file, 0o600)
    return file


def _is_ours(file: int) -> bool:
    """Whether no other run has begun to record here, which holds the file until it closes it."""
    import fcntl  # only where something is recorded

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def mismatch(row: Row, requests: Iterable[Request]) -> Refusal | None:
    """Why a row cannot be delivered now, as a Refusal; None if it can."""
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
    """Rows delivered in their order to a run from its start → the outcome after the last.

    Raises a Refusal `journal-mismatch` at a row that does not fit.
    """
    rows = [*rows]
    slice = _deadline_slice(rows)
    for row, so_far in _deliveries(rows):
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
    """A slice that ends where deadlines passed; None where none did."""
    places = [row.arguments for row in rows if row.operation == PASSED]
    if not places:
        return None
    from sexplang.machine import Slice  # to show a recording needs no machine
    from sexplang.runtime.driver.deadlines import stops

    return Slice(_MOST, stops((str(at), int(steps)) for at, steps, _ in places))


_MOST = 1_000_000
"""Steps of a slice, where nobody looks at a clock."""


def _compute(outcome: Any, row: Row | None, slice: Any) -> Any:
    """The run where a deadline of a row passes; of another row, where every branch waits."""
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
    """The run after a deadline has passed in the midst of computing."""
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


def _deliveries(rows: Iterable[Row]) -> Iterator[tuple[Row, SoFar]]:
    """Each row with what the rows behind it say that its delivery withdrew."""
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
    """The run after an attempt at a request failed."""
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
