"""Trials of a generated program: the run without a kill, runs that are killed, and what differs.

The bill that is told is that of the rows, and beside it what calls in doubt may have cost. It is
exact if the first is the bill of the run without a kill, and the second has the cost of each call
that was reported in doubt: no call that was made, and paid, is missing from both.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

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
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.run_terms import RateBook
from support.killed_programs import generate_program
from support.killed_runs import in_child, rows_of

MODEL = "gpt-4o-mini"
INPUT_USD, OUTPUT_USD = 0.15e-6, 0.6e-6
"""US dollars of a token of the model."""


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
        return {
            **{"content": content, "stop_reason": "end_turn"},
            **{"usage": usage_of(key), "model": MODEL},
        }

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
        run, program = store.find("r"), sexplang.build(text, effects=run_arguments(folder)["effects"])
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
    """What was found in trials. All but the first three are defects, as the seeds of programs."""

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

    def defects(self) -> list[Any]:
        return [
            *self.unreported,
            *self.committed_again,
            *self.wrong_values,
            *self.wrong_bills,
            *self.twice_without_permission,
        ]


def try_program(
    seed: int, folder: Path, findings: Findings, replay: str = "safe", kills: int = 6
) -> None:
    """Run a program without a kill, then kill it at random moments, and note what differs. Every
    other program has a snapshot at each commit."""
    text, kinds = generate_program(seed)
    findings.kinds |= kinds
    whole, killed = folder / "whole", folder / "killed"
    whole.mkdir(parents=True)
    killed.mkdir()
    began = time.monotonic()
    go_on(text, whole, replay)
    seconds = time.monotonic() - began

    def work() -> None:
        if seed % 2:
            stored_journal.LEAST_SECONDS = stored_journal.SNAPSHOT_SHARE = 0.0
        go_on(text, killed, replay)

    random = Random(seed)
    committed: dict[str, int] = {}
    for number in range(kills):
        if in_child(work, choose_moment(random, killed, seconds)):
            break
        findings.kills += 1
        findings.resumptions_killed += number > 0
        found = rows_of(killed)
        done = count_log(killed)
        if found is not None:
            committed |= {key: done[key] for key in keys_of_rows(found).values()}
    assert in_child(work)
    compare = compare_safe if replay == "safe" else compare_never
    compare(seed, text, whole, killed, committed, findings)


def choose_moment(random: Random, folder: Path, seconds: float) -> Callable[[], None]:
    """Return a wait for the moment of a kill: after a part of the seconds, or soon after some more
    effects have begun."""
    at_effect, part = random.random() < 0.6, random.random()
    lines = sum(count_log(folder).values()) + random.randint(1, 4)

    def wait() -> None:
        until = time.monotonic() + seconds * (1.0 if at_effect else 0.8 * part)
        while time.monotonic() < until and not (
            at_effect and sum(count_log(folder).values()) >= lines
        ):
            time.sleep(0.001)
        if at_effect:
            time.sleep(0.012 * part)

    return wait


def compare_safe(
    seed: int, text: str, whole: Path, killed: Path, committed: dict[str, int], findings: Findings
) -> None:
    done, found = count_log(killed), rows_of(killed)
    assert found is not None
    findings.performed_twice += sum(done.values()) - len(done)
    findings.committed_again += [
        (seed, key) for key, count in committed.items() if done[key] != count
    ]
    keys = keys_of_rows(found)
    reported = Counter(keys.get(each["id"]) for each in found.doubts)
    findings.unreported += [(seed, key) for key in done if done[key] > 1 + reported[key]]
    (value, bill), (killed_value, killed_bill) = read_bill(text, whole), read_bill(text, killed)
    if killed_value != value or set(done) != set(count_log(whole)):
        findings.wrong_values.append((seed, value, killed_value))
    doubted = [keys[each["id"]] for each in found.doubts if each["operation"] == "model"]
    usages = [usage_of(key) for key in doubted]
    told = killed_bill.doubtful_calls, killed_bill.doubtful_tokens, killed_bill.doubtful_usd
    tokens = tuple([sum(each[n] for each in usages) for n in ("input_tokens", "output_tokens")])
    due = len(doubted), tokens, sum(map(cost_of, doubted))
    repeated = sum((done[key] - 1) * cost_of(key) for key in done if "/" in key)
    if (
        killed_bill.of_rows != bill.of_rows
        or told[:2] != due[:2]
        or abs(told[2] - due[2]) > 1e-12
        or repeated > told[2] + 1e-12
        or abs(bill.usd - sum(cost_of(key) for key in done if "/" in key)) > 1e-12
    ):
        findings.wrong_bills.append((seed, bill, killed_bill, due))


def compare_never(
    seed: int, text: str, whole: Path, killed: Path, committed: dict[str, int], findings: Findings
) -> None:
    assert in_child(lambda: go_on(text, killed, "never"))
    done = count_log(killed)
    findings.twice_without_permission += [(seed, key) for key in done if done[key] > 1]
