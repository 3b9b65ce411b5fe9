"""What `--record FILE` wrote → its rows, and the tree of work that they stand in.

`lines` reads any recording; `recording` one that holds what was asked, and within what.
"""

import json
from collections.abc import Iterator
from typing import Any

from attrs import field

from sexplang.runtime.journal import VERSION, Row
from sexplang.runtime.pack import unpacked
from sexplang.runtime.refusal import Refusal, refused
from sexplang.runtime.shared import Whole
from sexplang.terms.node import define
from sexplang.terms.value import Record

NOTES = ("begins", "ends", "retries")
"""What the lines begin with that are no rows."""

WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""What reading a line that is none of ours may raise."""


@define(eq=False)
class Entry:
    """A piece of work or a request. `number` is its own in the recording; times are seconds since
    the epoch. `ended` is None for what was still going on when the recording stopped."""

    number: int
    kind: str
    """`run`, `branch`, `race`, `task`, a word of the library's, or `request`."""
    name: str
    above: "Entry | None"
    began: float
    ended: float | None = None
    request: str | None = None
    task: str | None = None
    place: str | None = None
    model: str | None = None
    after: tuple["Entry", ...] = ()
    error: Record | None = None
    cut: bool = False
    row: Row | None = None
    plain: dict[str, Any] | None = None
    """The row as it was recorded."""
    retries: list[Record] = field(factory=list)
    """How the attempts failed that were followed by another."""
    below: list["Entry"] = field(factory=list)


@define(eq=False)
class Recording:
    """A recorded run. `rows` are its requests that were answered, in the order of the replies."""

    path: str
    run: str
    root: Entry
    rows: list[Entry]
    entries: list[Entry]


def recording(path: str) -> Recording:
    """Raises a Refusal `bad-recording`."""
    reading, at = _Reading(), 0
    for at, line in lines(path):
        try:
            if at == 1:
                run = str(line["run"])
                if line["sexplang-journal"] < 2:
                    raise bad(
                        path,
                        "was made by an older version: it does not hold what was asked",
                        "record the run again; `--model replay:FILE` repeats its replies",
                    )
            else:
                reading.take(line)
        except WRONG:
            raise bad(path, f"is no recording: line {at} cannot be read") from None
    if not reading.entries:
        raise bad(path, "holds no run: it stops before the first request")
    for entry in reading.entries.values():
        entry.below.sort(key=_order)
    return Recording(path, run, reading.entries[0], reading.rows, [*reading.entries.values()])


def lines(path: str) -> Iterator[tuple[int, Any]]:
    """The lines with their numbers, the header first. Raises a Refusal `bad-recording`."""
    at = 0
    try:
        with open(path, encoding="utf-8") as file:
            for at, text in enumerate(file, 1):
                line = json.loads(text)
                if at == 1 and line["sexplang-journal"] > VERSION:
                    raise bad(path, "was made by a newer version of sexplang", "update this one")
                yield at, line
    except OSError as error:
        raise bad(path, f"cannot be read: {error.strerror}") from None
    except WRONG:
        raise bad(path, f"is no recording: line {at or 1} cannot be read") from None
    if not at:
        raise bad(path, "is no recording: it is empty")


def is_row(line: dict[str, Any]) -> bool:
    """Whether a line is an answered request, and not a note."""
    return line.keys().isdisjoint(NOTES)


def bad(path: str, problem: str, hint: str = "name a file that `--record FILE` wrote") -> Refusal:
    return refused("bad-recording", f"{path} {problem}", hint=hint, path=path)


@define(eq=False)
class _Reading:
    """What the lines so far have said."""

    entries: dict[int, Entry] = field(factory=dict)
    rows: list[Entry] = field(factory=list)
    _requests: dict[str, Entry] = field(factory=dict)
    """Those that have begun and have no reply yet, by their ids."""
    _whole: Whole = field(factory=Whole)

    def take(self, line: dict[str, Any]) -> None:
        if is_row(line):
            self._row(line)
        elif "begins" in line:
            self._begins(line)
        elif "ends" in line:
            entry = self.entries[line["ends"]]
            entry.ended, entry.cut = float(line["at"]), line.get("cut") is True
            entry.error = _error(line["error"]) if "error" in line else None
        else:
            self.entries[line["retries"]].retries.append(_error(line["error"]))

    def _begins(self, line: dict[str, Any]) -> None:
        number = line["begins"]
        request = line.get("request")
        entry = Entry(
            number,
            "request" if request is not None else str(line["kind"]),
            str(line["operation"] if request is not None else line["name"]),
            None if line["within"] is None else self.entries[line["within"]],
            float(line["at"]),
            request=request,
            task=line.get("task"),
            place=line.get("place"),
            model=line.get("model"),
            after=tuple([self.entries[each] for each in line.get("after", ())]),
        )
        self._placed(entry)
        if request is not None:
            self._requests[request] = entry

    def _placed(self, entry: Entry) -> None:
        if (entry.above is None) != (entry.number == 0) or entry.number in self.entries:
            raise ValueError(entry.number)
        self.entries[entry.number] = entry
        if entry.above is not None:
            entry.above.below.append(entry)

    def _row(self, line: dict[str, Any]) -> None:
        given = unpacked(self._whole.arguments(line))
        failed = "error" in line
        reply = _error(line["error"]) if failed else unpacked(line["reply"])
        times = float(line["started"]), float(line["ended"])
        row = Row(
            str(line["id"]), str(line["operation"]), given, reply, failed, line["attempts"], *times
        )
        entry = self._requests.pop(row.id, None) or self._unannounced(row)
        entry.row, entry.plain, entry.ended, entry.cut = row, line, row.ended, False
        if failed:
            entry.error = reply
        self.rows.append(entry)

    def _unannounced(self, row: Row) -> Entry:
        """The clock of a deadline, or a cancellation: no part of what the run does."""
        entry = Entry(-1 - len(self.rows), "request", row.operation, self.entries[0], row.started)
        entry.request = row.id
        self._placed(entry)
        return entry


def _order(entry: Entry) -> tuple[float, int]:
    """By time; branches that began together by their own order."""
    is_branch = entry.kind in ("branch", "race") and entry.name.isdecimal()
    return entry.began, int(entry.name) if is_branch else entry.number


def _error(data: Any) -> Record:
    error = unpacked(data)
    if not isinstance(error, Record):
        raise TypeError(data)
    return error
