"""The reader of recordings: rows, and the tree of work that they belong to.

`lines` reads any recording. `read_recording` needs one of version REPORTED or later.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from sexplang.runtime.journal.checksum_chain import KEY, read_checksum
from sexplang.runtime.journal.json_lines import CHECKED, FIRST_OF_EDITION, VERSION
from sexplang.runtime.journal.rows import ATTEMPT, CUT, Row
from sexplang.runtime.journal.shared_payloads import PayloadRestorer
from sexplang.runtime.models.prices import AnsweringModel, Rates
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.json.tagged import unpack
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Record

NOTES = ("begins", "ends", "retries", "withdrawn", "prices", "named", "zones", "doubts")
"""First keys of lines that are not rows."""

WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""Exceptions that reading a malformed line may raise."""

LATEST = 253_402_300_800
"""The end of the year 9999 in seconds since the epoch; later times are refused."""


@define(eq=False)
class Entry:
    """A piece of work or a request. `number` is its number in the recording. Times are seconds
    since the epoch; `ended` is None if it had not ended when the recording stopped."""

    number: int
    kind: str
    """`run`, `branch`, `race`, `task`, a name of the library, or `request`."""
    name: str
    above: "Entry | None"
    began: float
    ended: float | None = None
    request: str | None = None
    task: str | None = None
    position: str | None = None
    model: str | None = None
    after: tuple["Entry", ...] = ()
    error: Record | None = None
    cut: bool = False
    row: Row | None = None
    plain: dict[str, Any] | None = None
    """The row as recorded."""
    part: Row | None = None
    """The row of the partial reply of a withdrawn call."""
    retries: list[Record] = field(factory=list)
    """The errors of failed attempts that were followed by another."""
    below: list["Entry"] = field(factory=list)


@define(eq=False)
class Recording:
    """A recorded run. `rows` are its answered requests in the order of delivery."""

    path: str
    run: str
    root: Entry
    rows: list[Entry]
    entries: list[Entry]
    unmade: int = 0
    """The number of model calls that were withdrawn before they were sent."""
    prices: dict[str, Rates | None] = field(factory=dict)
    """Prices at the time of recording, by the model names in replies."""
    answers: dict[str | None, AnsweringModel] = field(factory=dict)
    """The model that answered to each name; None is the key of the default."""
    is_torn: bool = False
    """Whether the last line is incomplete and left out."""
    version: int = VERSION
    zones: str | None = None
    """The version of the time zones, if the run used any."""
    terms: dict[str, Any] | None = None
    """The terms of the run, as its host gave them."""
    doubts: tuple[dict[str, str], ...] = ()
    """The requests of a resumed run of which nobody knew whether they were performed, each as `id
    operation decision`."""


def read_recording(path: str) -> Recording:
    """Read a recording. Raises a Refusal `bad-recording`."""
    reading, at, torn, version = _Reader(), 0, list[int](), VERSION
    for at, line in lines(path, torn.append):
        try:
            if at == 1:
                run, version = str(line["run"]), line["sexplang-journal"]
                reading.terms = dict(line["terms"]) if "terms" in line else None
                if version < REPORTED:
                    raise refuse_recording(
                        path,
                        "was made by an older version: it does not hold what was asked",
                        f"record the run again; {_REPEATS} repeats its replies",
                    )
            else:
                reading.take(line)
        except WRONG as wrong:
            raise refuse_line(path, at, wrong) from None
    if not reading.entries:
        raise refuse_recording(path, "holds no run: it stops before the first request")
    for entry in reading.entries.values():
        entry.below.sort(key=_order)
    entries = [*reading.entries.values()]
    known = (
        reading.unmade,
        reading.prices,
        reading.answers,
        bool(torn),
        version,
        reading.zones,
        reading.terms,
        reading.doubts,
    )
    return Recording(path, run, reading.entries[0], reading.rows, entries, *known)


def lines(path: str, torn: Callable[[int], object] | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the lines with their numbers, the header first. An incomplete last line is left out,
    and `torn` is called with its number. Raises a Refusal `bad-recording`."""
    at, chain = 0, _Chain(path)
    try:
        with open(path, "rb") as file:
            for at, text in enumerate(file, 1):
                if at == 1:
                    text = text.removeprefix(BOM_UTF8)
                try:
                    line = _DECODER.decode(text.decode("utf-8"))
                except ValueError:
                    if at > 1 and chain.is_torn(text):
                        if torn is not None:
                            torn(at)
                        return
                    chain.check(at, text)
                    raise
                if at == 1:
                    chain.has_sums = KEY in line or CHECKED <= line["sexplang-journal"] <= VERSION
                chain.check(at, text)
                if at == 1:
                    _check_version(path, line["sexplang-journal"])
                yield at, line
    except OSError as error:
        raise refuse_recording(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise refuse_recording(
            path, f"is not UTF-8 text: line {at or 1} cannot be read", _AS_UTF_8
        ) from None
    except WRONG:
        raise refuse_recording(path, f"is no recording: line {at or 1} cannot be read") from None
    if not at:
        raise refuse_recording(path, "is no recording: it is empty")


@define(eq=False)
class _Chain:
    """The checksums of a recording's lines. Versions before 6 have none."""

    path: str
    has_sums: bool = False
    _before: bytes = b""

    def check(self, at: int, line: bytes) -> None:
        """Raise Refusal if a line does not continue the chain."""
        if not self.has_sums:
            return
        own = read_checksum(line.removesuffix(b"\n"), self._before)
        if own is None:
            raise refuse_recording(
                self.path,
                f"is damaged: line {at} does not fit its checksum; it was changed after it was "
                "written, or a line before it was taken out, added or moved",
                "use the file as it was written, or record the run again",
                line=at,
            )
        self._before = own

    def is_torn(self, line: bytes) -> bool:
        """Whether an unreadable line is an incomplete one, and not a whole one with a changed line
        break."""
        if line.endswith(b"\n"):
            return False
        return not self.has_sums or read_checksum(line[:-1], self._before) is None


def _check_version(path: str, version: Any) -> None:
    if type(version) is not int or version < 1:
        raise refuse_recording(
            path, "is no recording: its first line does not say which version it is of"
        )
    if version > VERSION:
        raise refuse_recording(path, "was made by a newer version of sexplang", "update this one")


TORN = "its last line has no end, and is left out"
"""The remark on a recording whose run was killed while it wrote."""

OLD = "it was made by an earlier version: its lines have no checksums, and it is not repeated"
"""The remark on an older recording that can still be shown."""


def check_age(path: str, version: int) -> None:
    """Raise a Refusal `recording-too-old` for a recording that this version of sexplang cannot
    replay."""
    if version >= CHECKED:
        return
    words, hint = (
        f"an earlier version ({version} of recordings, this is {VERSION}): its lines have no "
        "checksums, so nobody knows whether they are as they were written",
        "record the run again",
    )
    if version < FIRST_OF_EDITION:
        words, hint = (
            f"the first edition of the language (version {version} of recordings); this is the "
            "second, in which the same program asks otherwise",
            f"repeat it with {_REPEATS}, or record the run again",
        )
    raise refuse(
        "recording-too-old",
        f"{path} was made by {words}",
        hint=hint + (f"; sexplang runs report {path} shows it" if version >= REPORTED else ""),
        path=path,
        version=version,
    )


REPORTED = 2
"""The first version that contains the requests."""

_REPEATS = "sexplang 0.1"
"""The version that replays recordings of the first edition."""


def refuse_line(path: str, at: int, wrong: Exception) -> Refusal:
    """Describe an unreadable line by its number and the value that is wrong, without its
    content."""
    why = f": {wrong}" if isinstance(wrong, BadUsage) else ""
    return refuse_recording(path, f"is no recording: line {at} cannot be read{why}")


class BadUsage(ValueError):
    """A reply contains an impossible token count."""


COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def check_usage(row: Row) -> None:
    """Raise BadUsage for an impossible token count."""
    for name in COUNTS:
        count = row.usage.get(name)
        if count is not None and (type(count) is not int or not 0 <= count < LATEST):
            raise BadUsage(f"its `{name}` is {abbreviate(count)}, which is no number of tokens")


_AS_UTF_8 = "save it as UTF-8, as `--record FILE` writes it"


def is_row(line: dict[str, Any]) -> bool:
    """Whether a line is an answered request, and not a note."""
    return line.keys().isdisjoint(NOTES)


def refuse_recording(
    path: str, problem: str, hint: str = "name a file that `--record FILE` wrote", **details: Any
) -> Refusal:
    return refuse("bad-recording", f"{path} {problem}", hint=hint, path=path, **details)


@define(eq=False)
class _Reader:
    """The state of reading a recording line by line."""

    entries: dict[int, Entry] = field(factory=dict)
    rows: list[Entry] = field(factory=list)
    unmade: int = 0
    prices: dict[str, Rates | None] = field(factory=dict)
    answers: dict[str | None, AnsweringModel] = field(factory=dict)
    zones: str | None = None
    terms: dict[str, Any] | None = None
    doubts: tuple[dict[str, str], ...] = ()
    _requests: dict[str, Entry] = field(factory=dict)
    """Entries of requests without a reply, by request id."""
    _whole: PayloadRestorer = field(factory=PayloadRestorer)

    def take(self, line: dict[str, Any]) -> None:
        if is_row(line):
            self._add_row(line)
        elif "begins" in line:
            self._begin(line)
        elif "ends" in line:
            entry = self.entries[line["ends"]]
            entry.ended, entry.cut = _time(line["at"]), line.get("cut") is True
            entry.error = _error(line["error"]) if "error" in line else None
        elif "withdrawn" in line:
            self.unmade += 1
        elif "prices" in line:
            self.prices[str(line["prices"])] = _rates(line["usd"])
        elif "named" in line:
            self.answers |= read_answer(line)
        elif "zones" in line:
            self.zones = _text(line["zones"])
        elif "doubts" in line:
            names = "id", "operation", "decision"
            told = [{name: str(each[name]) for name in names} for each in line["doubts"]]
            self.doubts = tuple(told)
        else:
            self.entries[line["retries"]].retries.append(_error(line["error"]))

    def _begin(self, line: dict[str, Any]) -> None:
        number, request = _count(line["begins"]), _text(line.get("request"))
        entry = Entry(
            number,
            "request" if request is not None else str(line["kind"]),
            str(line["operation"] if request is not None else line["name"]),
            None if line["within"] is None else self.entries[line["within"]],
            _time(line["at"]),
            request=request,
            task=_text(line.get("task")),
            position=_text(line.get("place")),
            model=_text(line.get("model")),
            after=tuple([self.entries[each] for each in line.get("after", ())]),
        )
        self._add(entry)
        if request is not None:
            self._requests[request] = entry

    def _add(self, entry: Entry) -> None:
        if (entry.above is None) != (entry.number == 0) or entry.number in self.entries:
            raise ValueError(entry.number)
        self.entries[entry.number] = entry
        if entry.above is not None:
            entry.above.below.append(entry)

    def _add_row(self, line: dict[str, Any]) -> None:
        given = unpack(self._whole.arguments(line))
        if not isinstance(given, tuple):
            raise TypeError(given)
        failed = "error" in line
        reply = _error(line["error"]) if failed else unpack(line["reply"])
        attempts, times = _count(line["attempts"]), (_time(line["started"]), _time(line["ended"]))
        row = Row(str(line["id"]), str(line["operation"]), given, reply, failed, attempts, *times)
        check_usage(row)
        if row.operation == ATTEMPT:  # a note has its error
            return
        if row.operation == CUT:
            if row.id in self._requests:  # it was sent
                self._requests[row.id].part = row
            return
        entry = self._requests.pop(row.id, None) or self._add_unannounced(row)
        entry.row, entry.plain, entry.ended, entry.cut = row, line, row.ended, False
        if failed:
            entry.error = reply
        self.rows.append(entry)

    def _add_unannounced(self, row: Row) -> Entry:
        """Add a row that had no begin note: a deadline's timer or a cancellation. It is no work of
        the run."""
        entry = Entry(-1 - len(self.rows), "request", row.operation, self.entries[0], row.started)
        entry.request = row.id
        self._add(entry)
        return entry


def read_answer(line: dict[str, Any]) -> dict[str | None, AnsweringModel]:
    """Return the model name in a note, and the model that answers to it."""
    return {_text(line["named"]): AnsweringModel(str(line["answers"]), _rates(line["usd"]))}


def _order(entry: Entry) -> tuple[float, int]:
    """The sort key of entries: the time, then the number of the branch."""
    is_branch = entry.kind in ("branch", "race") and entry.name.isdecimal()
    return entry.began, int(entry.name) if is_branch else entry.number


def _error(data: Any) -> Record:
    error = unpack(data)
    if not isinstance(error, Record):
        raise TypeError(data)
    return error


def _time(data: Any) -> float:
    if type(data) not in (int, float) or not 0 <= data < LATEST:
        raise ValueError(data)
    return float(data)


def _count(data: Any) -> int:
    if type(data) is not int or not 0 <= data < LATEST:
        raise ValueError(data)
    return data


def _rates(data: Any) -> Rates | None:
    if data is None:
        return None
    return Rates(*[_time(data[kind]) for kind in ("input", "output", "written", "read")])


def _text(data: Any) -> str | None:
    if data is not None and not isinstance(data, str):
        raise TypeError(data)
    return data


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
