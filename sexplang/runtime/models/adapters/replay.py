"""A recording of `--record` → a model that gives the replies in it, each to its own request."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runtime.driver.answers import DeferredReply, Performer, read_reply
from sexplang.runtime.driver.deadlines import Deadlines
from sexplang.runtime.journal.journal import CANCEL, CUT, PASSED, Row
from sexplang.runtime.journal.recording_reader import (
    TORN,
    WRONG,
    bad,
    check_age,
    check_usage,
    is_row,
    lines,
    read_answer,
    refuse_line,
)
from sexplang.runtime.journal.redaction import clean_data
from sexplang.runtime.journal.replay_order import RecordedRow, RecordedRun
from sexplang.runtime.models.adapters.scripted import last_message
from sexplang.runtime.models.prices import AnsweringModel
from sexplang.runtime.world import Log
from sexplang.terms.classes.node import define
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import unpack
from sexplang.terms.quota import STEPS
from sexplang.terms.values.value import Record


def make_replay(
    path: str, log: Log | None = None
) -> Callable[[dict[str, Any], Request], DeferredReply]:
    """Equal requests get their replies in the order of the recording, each once; the run says when.
    A call that was withdrawn waits until it is withdrawn again."""
    known = _open(path, log)
    return lambda payload, request: DeferredReply(known, last_message(payload))


def _open(path: str, log: Log | None) -> RecordedRun:
    known = read_recorded_run(path)
    if known.is_torn and log is not None:
        log("warning", f"{path}: {TORN}")
    return known


@define(eq=False)
class ReplayedRun:
    """The recording that is the model of a whole run, by its name. All that the run asks for comes
    in its order, and time and chance, which cannot be met again, out of it. A deadline does not
    begin the order: what it stands around does."""

    name: str
    log: Log | None = None

    @cached_property
    def _source(self) -> RecordedRun:
        return _open(self.name.removeprefix("replay:"), self.log)

    def model(self, payload: dict[str, Any], request: Request) -> DeferredReply:
        return DeferredReply(self._source, last_message(payload))

    def performers(self, table: dict[str, Performer]) -> dict[str, Performer]:
        met = dict.fromkeys(("now", "random"), lambda request: self._source.repeat_reply(request))
        told = {name: self._defer(perform) for name, perform in (table | met).items()}
        timer = table["timer"]
        if isinstance(timer, Deadlines):  # those of the recording pass where they did
            timer = Deadlines(timer.wait, lambda: self._source.passed)
        return told | {"model": table["model"], "timer": timer}

    def _defer(self, perform: Performer) -> Performer:
        return lambda request: DeferredReply(self._source, perform=perform)


def answers(path: str) -> dict[str | None, AnsweringModel]:
    """Who answered to which name. Raises a Refusal."""
    found: dict[str | None, AnsweringModel] = {}
    for at, line in lines(path, lambda torn: None):
        try:
            if "named" in line:
                found |= read_answer(line)
        except WRONG as wrong:
            raise refuse_line(path, at, wrong) from None
    return found


def check_repeatable(path: str) -> None:
    """Raises a Refusal for what no run can be repeated from: a person named it, so the program
    neither begins nor catches it."""
    read_recorded_run(path)


def read_recorded_run(path: str) -> RecordedRun:
    """What a recording says. Raises a Refusal."""
    found, last, torn = RecordedRun(path), "", list[int]()
    for at, line in lines(path, torn.append):
        try:
            if at == 1:
                check_age(path, line["sexplang-journal"])
                continue
            if not is_row(line):
                continue
            if line["operation"] == CUT:
                _cut(found, line, last == CANCEL)
                continue
            last = line["operation"]
            if last == PASSED:
                found.passed[line["id"]] = _read_deadline(path, *line["arguments"])
            elif last != CANCEL:
                found.add(_read_row(line))
        except WRONG as wrong:
            raise refuse_line(path, at, wrong) from None
    found.is_torn = bool(torn)
    return found


def _read_row(line: dict[str, Any]) -> RecordedRow:
    failed, operation, attempts = "error" in line, line["operation"], line["attempts"]
    value = redact(unpack(line["error" if failed else "reply"]))
    check_usage(Row(line["id"], operation, (), value, failed, attempts, 0, 0))
    if operation == "model" and not failed:
        value, failed, _ = read_reply(clean_data(value), operation)
    elif failed and not isinstance(value, Record):
        raise TypeError(value)
    return RecordedRow(line["id"], operation, line["digest"], value, failed, attempts)


def _read_deadline(path: str, at: str, steps: int, version: int) -> tuple[str, int]:
    """Where a deadline passed. Raises a Refusal where steps were counted otherwise."""
    if type(at) is not str or type(steps) is not int or type(version) is not int:
        raise TypeError(at)
    if version != STEPS:
        raise bad(
            path,
            f"counts the steps of a deadline as version {version} of steps does; this is {STEPS}",
            "repeat it with the version of sexplang that recorded it, or record the run again",
        )
    return at, steps


def _cut(found: RecordedRun, line: dict[str, Any], is_interrupted: bool) -> None:
    """A call that was withdrawn; `is_interrupted` when the whole run was."""
    (asked,), part = line["arguments"], redact(unpack(line["reply"]))
    check_usage(Row(line["id"], CUT, (), part, False, 1, 0, 0))
    if is_interrupted and part:  # of what is no model nothing is said: it waits for its end
        found.interrupted.add(asked)
    elif asked:
        found.cut.setdefault(asked, {})[line["id"]] = part
    else:
        found.unmade[line["id"]] = part
