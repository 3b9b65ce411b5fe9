"""Trials of a generated program: the run without a kill, runs that are killed, and what differs.

The bill that is told is that of the rows, and beside it what calls in doubt may have cost. It is
exact if the first is the bill of the run without a kill, and the second has the cost of each call
that was reported in doubt: no call that was made, and paid, is missing from both.
"""

import asyncio
import json
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from support.killed_programs import generate_program
from support.killed_runs import crash_at, in_child, rows_of

import sexplang
from sexplang.api.python_values import result
from sexplang.hosts.report.entries import as_data, sum_entries
from sexplang.runs import assembly
from sexplang.runs.durable_run import read_header
from sexplang.runs.exported_run import export_run
from sexplang.runtime.journal import stored_journal
from sexplang.runtime.journal.fold import find_slice, fold
from sexplang.runtime.journal.recording_reader import read_recording
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import StoredRows, read_rows
from sexplang.terms.classes.node import attributes, define, field, frozen
from sexplang.terms.run_terms import RateBook

MODEL = "gpt-4o-mini"
INPUT_USD, OUTPUT_USD = 0.15e-6, 0.6e-6
"""US dollars of a token of the model."""

LEAST_USD = 1e-12
PROMPTS = ("Say-", "Dig-")
"""The beginnings of the keys of calls of the model."""


def key_of_call(payload: Any) -> str:
    """Return the key of a call of a model: its prompt and the number of messages."""
    words = payload["messages"][0]["content"][0]["text"].replace(" ", "-")
    return f"{words}/{len(payload['messages'])}"


def usage_of(key: str) -> dict[str, int]:
    digest = crc32(key.encode())
    return {"input_tokens": 900 + digest % 90, "output_tokens": 1 + digest % 17}


def cost_of(key: str) -> float:
    usage = usage_of(key)
    return usage["input_tokens"] * INPUT_USD + usage["output_tokens"] * OUTPUT_USD


def run_arguments(folder: Path) -> dict[str, Any]:
    """Return what both `run` and `resume` take: performers that note each call in a log."""

    def note(key: object) -> None:
        with (folder / "log").open("a") as file:
            file.write(f"{key}\n")

    def act(n: int) -> int:
        note(n)
        return n * 10

    def deny(n: int) -> None:
        note(n)
        raise sexplang.error("denied", "it is denied")

    async def wait(n: int) -> int:
        note(n)
        await asyncio.sleep(0.005 * (n % 4))
        return n * 10

    async def say(payload: Any) -> dict[str, Any]:
        key = key_of_call(payload)
        note(key)
        await asyncio.sleep(0.004 * (crc32(key.encode()) % 5))
        task, _, number = payload["messages"][0]["content"][0]["text"].partition(" ")
        text = f"{key} is said"
        if task == "Dig" and len(payload["messages"]) == 1:
            request = {"name": "say", "inputs": {"n": f"dug {number}"}}
            text = json.dumps({"status": "CONTINUATION", "notes": {"subtask_request": request}})
        content = [{"type": "text", "text": text}]
        reply = {"content": content, "stop_reason": "end_turn"}
        return reply | {"usage": usage_of(key), "model": MODEL}

    return {
        "effects": {"act": act, "deny": deny, "wait": wait},
        "model": say,
        "store": folder / "runs.db",
        "permissions": sexplang.Permissions(run=["sh"]),
    }


def go_on(text: str, folder: Path, replay: str) -> Any:
    """Resume the run `r`, or begin it if it was not kept."""
    given = run_arguments(folder)
    try:
        return sexplang.resume(text, "r", replay={"*": replay}, **given)
    except sexplang.Failed as failed:
        if failed.reason not in ("unknown-run", "store-failed"):
            raise
        return sexplang.run(text, run_id="r", inputs={"log": str(folder / "log")}, **given)


@frozen
class Bill:
    """What is told of a run that has ended: by the store, and by the report."""

    replies: int
    stored_tokens: int
    calls: int
    tokens: tuple[int, int]
    usd: float
    doubtful_calls: int
    doubtful_tokens: tuple[int, int]
    doubtful_usd: float

    @property
    def of_rows(self) -> tuple[Any, ...]:
        return self.replies, self.stored_tokens, self.calls, self.tokens, round(self.usd, 12)


def read_bill(text: str, folder: Path) -> tuple[Any, Bill]:
    """Return the value of a run that has ended, by its journal alone, and its bill."""
    store = open_store(str(folder / "runs.db"), must_exist=True)
    try:
        run, program = (
            store.find("r"),
            sexplang.build(text, effects=run_arguments(folder)["effects"]),
        )
        rows = read_rows(store, run, whole=True)
        terms, slice = read_header(run, program), find_slice(rows.rows)
        start = assembly.begin(program, terms, slice=slice, book=RateBook(rows.rates))
        value = result(fold(start, rows.rows))
        target = folder / "export.jsonl"
        target.unlink(missing_ok=True)
        export_run(store, run, program, str(target), has_tasks=True)
    finally:
        store.close()
    told = json.loads(as_data(sum_entries(read_recording(str(target)))))
    assert (run.state, told["state"]) == ("done", "done")
    doubtful = told["doubtful"]
    return value, Bill(
        run.replies,
        run.tokens,
        told["calls"],
        (told["tokens_in"], told["tokens_out"]),
        told["usd"],
        doubtful["calls"],
        (doubtful["tokens_in"], doubtful["tokens_out"]),
        doubtful["usd"],
    )


def count_log(folder: Path) -> Counter[str]:
    log = folder / "log"
    return Counter(log.read_text().split() if log.exists() else [])


def key_of_row(row: Any) -> str:
    if row.operation == "model":
        return key_of_call(row.arguments[0])
    if row.operation == "run-script":
        return str(row.arguments[1][2])
    return str(row.arguments[0]) if row.arguments else row.operation


OUTSIDE = ("act", "deny", "wait", "run-script", "model")


def keys_of_rows(found: StoredRows) -> dict[str, str]:
    """Return the keys of the effects with a row, by the ids of the requests."""
    return {row.id: key_of_row(row) for row in found.rows if row.operation in OUTSIDE}


@define
class Findings:
    """What was found in trials. All lists are of defects, each with the seed of a program."""

    kills: int = 0
    resumptions_killed: int = 0
    performed_twice: int = 0
    """Effects that were performed once more, each time counted."""
    kinds: set[str] = field(factory=set)
    unreported: list[Any] = field(factory=list)
    committed_again: list[Any] = field(factory=list)
    wrong_values: list[Any] = field(factory=list)
    wrong_bills: list[Any] = field(factory=list)
    twice_without_permission: list[Any] = field(factory=list)

    def defects(self) -> dict[str, list[Any]]:
        """Return the lists that are not empty, by name."""
        fields = attributes(self).items()
        return {name: each for name, each in fields if isinstance(each, list) and each}

    def describe(self) -> str:
        """Return the counts in one line."""
        return (
            f"{self.kills} kills, {self.resumptions_killed} of them in resumptions; "
            f"{self.performed_twice} effects performed again, {len(self.unreported)} of them "
            f"unreported, {len(self.committed_again)} committed; "
            f"{len(self.wrong_values)} wrong values, {len(self.wrong_bills)} wrong bills; "
            f"{len(self.twice_without_permission)} performed twice without permission"
        )


@define
class Trial:
    """A generated program, run to its end without a kill, and run anew in folders of its own. Every
    other program has a snapshot at each commit."""

    seed: int
    folder: Path
    findings: Findings
    replay: str = "safe"
    size: int = 14
    text: str = ""
    kinds: frozenset[str] = frozenset()
    seconds: float = 0.0
    """How long it runs without a kill."""
    value: Any = None
    bill: Bill | None = None

    @property
    def whole(self) -> Path:
        return self.folder / "whole"

    def start(self) -> None:
        """Run the program without a kill."""
        longest = 90 if self.replay == "safe" else 0.3
        self.text, self.kinds = generate_program(self.seed, self.size, longest)
        self.findings.kinds |= self.kinds
        self.whole.mkdir(parents=True)
        began = time.monotonic()
        go_on(self.text, self.whole, self.replay)
        self.seconds = time.monotonic() - began
        self.value, self.bill = read_bill(self.text, self.whole)

    def work(self, killed: Path) -> None:
        """Begin the run of a folder, or go on with it."""
        if self.seed % 2:
            stored_journal.LEAST_SECONDS = stored_journal.SNAPSHOT_SHARE = 0.0
        go_on(self.text, killed, self.replay)

    def kill_at_random(self, kills: int = 6, numbers: Sequence[int] = (signal.SIGKILL,)) -> None:
        """Kill a run and its resumptions at random moments with one of these signals, let it come
        to its end, and compare."""
        random, killed = Random(self.seed), self.folder / "killed"
        killed.mkdir()
        committed: dict[str, int] = {}
        for number in range(kills):
            moment = choose_moment(random, killed, self.seconds)
            if in_child(lambda: self.work(killed), moment, random.choice(numbers)):
                break
            self.findings.resumptions_killed += number > 0
            self.look_at_killed(killed, committed)
        self.finish(killed, committed)

    def crash_at_commits(self, places: tuple[str, ...] = ("before", "in", "after")) -> None:
        """Kill a run at each of its commits, let it come to its end, and compare."""
        for number in count(1):
            for place in places:
                killed = self.folder / f"{number}-{place}"
                killed.mkdir()

                def crash(number: int = number, place: str = place, killed: Path = killed) -> None:
                    crash_at(number, place)
                    self.work(killed)

                committed: dict[str, int] = {}
                has_ended = in_child(crash)
                if not has_ended:
                    self.look_at_killed(killed, committed)
                self.finish(killed, committed)
                if has_ended:
                    return

    def look_at_killed(self, killed: Path, committed: dict[str, int]) -> None:
        """Note how often the effects with a row were performed up to now."""
        self.findings.kills += 1
        found, done = rows_of(killed), count_log(killed)
        if found is not None:
            committed |= {key: done[key] for key in keys_of_rows(found).values()}

    def finish(self, killed: Path, committed: dict[str, int]) -> None:
        """Let a run come to its end, and note what differs from the one without a kill."""
        assert in_child(lambda: self.work(killed)), self.seed
        done = count_log(killed)
        again = [(self.seed, key) for key, times in committed.items() if done[key] != times]
        self.findings.committed_again += again
        if self.replay == "never":
            twice = [(self.seed, key) for key in done if done[key] > 1]
            self.findings.twice_without_permission += twice
            return
        found = rows_of(killed)
        assert found is not None
        keys = keys_of_rows(found)
        reported = Counter(keys.get(each["id"], "") for each in found.doubts)
        self.findings.performed_twice += sum(done.values()) - len(done)
        silent = [(self.seed, key) for key in done if done[key] > 1 + reported[key]]
        self.findings.unreported += silent
        value, bill = read_bill(self.text, killed)
        if value != self.value or {*done} != {*count_log(self.whole)}:
            self.findings.wrong_values.append((self.seed, self.value, value))
        if not is_exact(bill, self.bill, done, reported):
            self.findings.wrong_bills.append((self.seed, self.bill, bill))


def is_exact(bill: Bill, whole: Bill | None, done: Counter[str], reported: Counter[str]) -> bool:
    """Whether a bill is that of a run without a kill, beside the cost of all doubts and of no other
    call, and no call of the log is missing from it."""
    calls = {key: times for key, times in reported.items() if key.startswith(PROMPTS)}
    usages = [(usage_of(key), times) for key, times in calls.items()]
    tokens = [
        sum(u[name] * times for u, times in usages) for name in ("input_tokens", "output_tokens")
    ]
    due = sum(cost_of(key) * times for key, times in calls.items())
    paid = sum(cost_of(key) * times for key, times in done.items() if key.startswith(PROMPTS))
    return (
        whole is not None
        and bill.of_rows == whole.of_rows
        and bill.doubtful_calls == sum(calls.values())
        and [*bill.doubtful_tokens] == tokens
        and abs(bill.doubtful_usd - due) < LEAST_USD
        and bill.usd - LEAST_USD < paid < bill.usd + due + LEAST_USD
    )


def choose_moment(random: Random, folder: Path, seconds: float) -> Callable[[], None]:
    """Return a wait for the moment of a kill: after a part of the seconds, or soon after some more
    effects have begun."""
    at_effect, part = random.random() < 0.6, random.random()
    lines = count_log(folder).total() + random.randint(1, 4)

    def wait() -> None:
        until = time.monotonic() + seconds * (1.0 if at_effect else 0.8 * part)
        while time.monotonic() < until and not (at_effect and count_log(folder).total() >= lines):
            time.sleep(0.001)
        if at_effect:
            time.sleep(0.012 * part)

    return wait
