"""The model that replies from a recording."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from sexplang.guards.secrets import redact
from sexplang.runtime.driver.deadlines import Deadlines
from sexplang.runtime.driver.requests import DeferredReply, Performer, read_reply
from sexplang.runtime.journal.recording_reader import (
    TORN,
    WRONG,
    check_age,
    check_usage,
    is_row,
    lines,
    read_answer,
    refuse_line,
    refuse_recording,
)
from sexplang.runtime.journal.redaction import clean_data
from sexplang.runtime.journal.replay_order import RecordedRow, RecordedRun
from sexplang.runtime.journal.rows import CANCEL, CUT, PASSED, Row
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
    """Return the model. Equal requests get their replies in the recorded order, each reply once, at
    the time that the replay order determines. A withdrawn call waits for its withdrawal."""
    known = _open(path, log)
    return lambda payload, request: DeferredReply(known, last_message(payload))


def _open(path: str, log: Log | None) -> RecordedRun:
    known = read_recorded_run(path)
    if known.is_torn and log is not None:
        log("warning", f"{path}: {TORN}")
    if known.zones is not None and log is not None:
        from sexplang.package.zones import VERSION

        if known.zones != VERSION:
            log("warning", f"{path}: {_OTHER_ZONES.format(known.zones, VERSION)}")
    return known


_OTHER_ZONES = (
    "its run used the time zones of version {}, and these are of version {}: what it says of times "
    "may differ"
)


@define(eq=False)
class ReplayedRun:
    """The recording that replays a whole run. All operations follow its order, and time and chance
    come from it. A deadline alone does not start the order."""

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
        if isinstance(timer, Deadlines):  # recorded deadlines fire at their recorded steps
            timer = Deadlines(
                timer.wait,
                lambda: self._source.passed_deadlines,
                lambda passed: self._source.check_deadlines(passed),
            )
        return told | {"model": table["model"], "timer": timer}

    def _defer(self, perform: Performer) -> Performer:
        def perform_recorded(request: Request) -> Any:
            self._source.check_request(request)
            return perform(request)

        return lambda request: DeferredReply(self._source, perform=perform_recorded)


def answers(path: str) -> dict[str | None, AnsweringModel]:
    """Return the recorded answering models. Raises Refusal."""
    found: dict[str | None, AnsweringModel] = {}
    for at, line in lines(path, lambda torn: None):
        try:
            if "named" in line:
                found |= read_answer(line)
        except WRONG as wrong:
            raise refuse_line(path, at, wrong) from None
    return found


def check_repeatable(path: str) -> None:
    """Raise a Refusal if a recording named by a person cannot be replayed, before the program
    begins."""
    read_recorded_run(path)


def read_recorded_run(path: str) -> RecordedRun:
    """Return the rows of a recording for a replay. Raises Refusal."""
    found, last, torn = RecordedRun(path), "", list[int]()
    begun, ended = False, False
    for at, line in lines(path, torn.append):
        try:
            if at == 1:
                check_age(path, line["sexplang-journal"])
                continue
            if "zones" in line:
                found.zones = line["zones"]
            if not is_row(line):
                begun, ended = begun or "begins" in line, ended or line.get("ends") == 0
                continue
            if line["operation"] == CUT:
                _cut(found, line, last == CANCEL)
                continue
            last = line["operation"]
            if last == PASSED:
                found.passed_deadlines[line["id"]] = _read_deadline(path, *line["arguments"])
            elif last != CANCEL:
                found.add(_read_row(line))
        except WRONG as wrong:
            raise refuse_line(path, at, wrong) from None
    found.is_torn, found.is_cut = bool(torn), begun and not ended
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
    """Return the place where a deadline fired. Raises a Refusal if steps were counted
    differently."""
    if type(at) is not str or type(steps) is not int or type(version) is not int:
        raise TypeError(at)
    if version != STEPS:
        raise refuse_recording(
            path,
            f"counts the steps of a deadline as version {version} of steps does; this is {STEPS}",
            "repeat it with the version of sexplang that recorded it, or record the run again",
        )
    return at, steps


def _cut(found: RecordedRun, line: dict[str, Any], is_interrupted: bool) -> None:
    """Add a withdrawn call. `is_interrupted`: the whole run was cancelled."""
    (asked,), part = line["arguments"], redact(unpack(line["reply"]))
    check_usage(Row(line["id"], CUT, (), part, False, 1, 0, 0))
    if is_interrupted and part:  # other operations have no partial reply
        found.interrupted_digests.add(asked)
    elif asked:
        found.withdrawn_calls.setdefault(asked, {})[line["id"]] = part
    else:
        found.unstarted_calls[line["id"]] = part
