"""Durable runs: what the store adds to an effect, to a resumption, and in space.

Every figure is a quotient of two things that were measured in turns in the same process, on the
same disk: medians over the rounds. The store lies in a new folder below `--folder`.

    python benchmarks/durable.py effects [--folder .] [--rounds 7]
    python benchmarks/durable.py resume [--most 100000]
    python benchmarks/durable.py thaw
    python benchmarks/durable.py space [--turns 500]
    python benchmarks/durable.py parked
    python benchmarks/durable.py others

`others` needs `pip install dbos langgraph langgraph-checkpoint-sqlite`, and leaves out what is not
there.
"""

import argparse
import asyncio
import gc
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sexplang
from benchmarks.durable_others import run_dbos, run_langgraph
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import StoredJournal

REPLY = "x" * 200
STRAIGHT = """(define-effect (ask n))
(define (walk n) (if (= n 0) "done" (begin (ask n) (walk (- n 1)))))
(walk N)"""
BRANCHES = """(define-effect (ask n))
(define (five n) (begin (ask n) (ask n) (ask n) (ask n) (ask n)))
(length (par-map five (range N)))"""
WAITING = "(define-effect (ask n))\n(par-map (lambda (n) (+ 1 (ask n))) (range N))"

LINE, WIDE, RESUMED, COLD, SNAPSHOTS, THAW, SPACE = 1.6, 0.5, 1.5, 4.0, 1.1, 15.0, 1.5
"""The bounds."""

Effects = dict[str, Callable[..., Any]]


def built(text: str, count: int) -> sexplang.Program:
    return sexplang.build(text.replace("N", str(count)))


def answer(n: int) -> str:
    return REPLY


async def answer_later(n: int) -> str:
    await asyncio.sleep(0.001)
    return REPLY


def wall(function: Callable[[], Any]) -> float:
    """Seconds of a call, on the clock of the wall: a sync waits for the disk."""
    gc.collect()
    begun = perf_counter()
    function()
    return perf_counter() - begun


def told(name: str, found: list[float], bound: float | None = None) -> bool:
    """Print quotients of the rounds. Return whether their median is within the bound."""
    value = median(found)
    limit = "" if bound is None else f"  (at most {bound:g})"
    print(f"{name:58}{value:8.2f}  {min(found):.2f} to {max(found):.2f}{limit}", flush=True)
    return bound is None or value <= bound


def entries(path: str) -> list[bytes]:
    """Return the data of all entries of a store."""
    db = sqlite3.connect(path)
    found = [bytes(each) for (each,) in db.execute("select data from entries order by run, seq")]
    db.close()
    return found


def insert_bare(path: str, data: list[bytes]) -> float:
    """Return the seconds of one autocommit insert with a full sync."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table bare (n integer primary key, data blob not null) strict")
    begun = perf_counter()
    for each in data:
        db.execute("insert into bare (data) values (?)", (each,))
    spent = perf_counter() - begun
    db.close()
    return spent / len(data)


def measure_effects(folder: str, options: argparse.Namespace) -> bool:
    """What the journal adds to an effect, as a quotient to a bare insert of the same bytes."""
    count, width = options.effects, 400
    line, wide = built(STRAIGHT, count), built(BRANCHES, width)
    added: list[float] = []
    spread: list[float] = []
    syncs: list[float] = []
    later: Effects = {"ask": answer_later}
    for at in range(options.rounds + 1):
        path = os.path.join(folder, f"line{at}.db")
        plain = wall(lambda: sexplang.run(line, effects={"ask": answer}))
        kept = wall(
            lambda path=path: sexplang.run(  # type: ignore[misc]
                line, effects={"ask": answer}, store=path, run_id="line"
            )
        )
        bare = insert_bare(os.path.join(folder, f"bare{at}.db"), entries(path))
        path = os.path.join(folder, f"wide{at}.db")
        plain_wide = wall(lambda: sexplang.run(wide, effects=later))
        kept_wide = wall(
            lambda path=path: sexplang.run(  # type: ignore[misc]
                wide, effects=later, store=path, run_id="wide"
            )
        )
        if at:  # the first round warms up
            added.append((kept - plain) / count / bare)
            spread.append((kept_wide - plain_wide) / (5 * width) / bare)
            syncs.append(bare * 1e6)
    told("a bare insert, µs", syncs)
    is_within = told("a durable effect in a straight line / bare insert", added, LINE)
    return told("an effect of 400 branches / bare insert", spread, WIDE) and is_within


class Stopped(BaseException):
    """The process ends here."""


def stop_after(count: int) -> Callable[[int], str]:
    left = count

    def ask(n: int) -> str:
        nonlocal left
        if left == 0:
            raise Stopped
        left -= 1
        return REPLY

    return ask


def go_until(program: sexplang.Program, path: str, count: int) -> None:
    with suppress(Stopped):
        sexplang.run(program, effects={"ask": stop_after(count)}, store=path, run_id="long")


def go_on(program: sexplang.Program, path: str, more: int = 0) -> None:
    """Resume a run up to its next effect, or for some effects more."""
    with suppress(Stopped):
        sexplang.resume(
            program, "long", store=path, replay={"*": "safe"}, effects={"ask": stop_after(more)}
        )


def start_cold() -> None:
    command = [sys.executable, "-m", "sexplang", "run", "-e", "1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure_resume(folder: str, options: argparse.Namespace) -> bool:
    """What a resumption takes after few and many effects, and what snapshots add to a run."""
    few, many = built(STRAIGHT, 10**6), built(STRAIGHT, 10**6)
    short, long = os.path.join(folder, "short.db"), os.path.join(folder, "long.db")
    go_until(few, short, 1_000)
    go_until(many, long, options.most)
    ones: list[float] = []
    others: list[float] = []
    starts: list[float] = []
    for _ in range(options.rounds):
        one, other = wall(lambda: go_on(few, short)), wall(lambda: go_on(many, long))
        ones.append(one)
        others.append(other)
        starts.append(other / wall(start_cold))
        # The tail behind the newest snapshot has another length in each round.
        go_on(few, short, 71)
        go_on(many, long, 71)
    quotient = [median(others) / median(ones)]
    is_within = told(f"resume after {options.most:,} effects / after 1,000", quotient, RESUMED)
    is_within &= told(f"resume after {options.most:,} effects / cold start", starts, COLD)

    program, snap, added = built(STRAIGHT, 10**6), StoredJournal.snap, []
    for at in range(options.rounds):
        path = os.path.join(folder, f"snap{at}.db")
        kept = wall(lambda path=path: go_until(program, path, 3_000))  # type: ignore[misc]
        path = os.path.join(folder, f"none{at}.db")
        StoredJournal.snap = lambda *_: None  # type: ignore[method-assign]
        try:
            none = wall(lambda path=path: go_until(program, path, 3_000))  # type: ignore[misc]
        finally:
            StoredJournal.snap = snap  # type: ignore[method-assign]
        added.append(kept / none)
    return told("a run with snapshots / without", added, SNAPSHOTS) and is_within


def measure_thaw(folder: str, options: argparse.Namespace) -> bool:
    """What it takes to thaw ten times as many branches."""
    found: list[float] = []
    programs = [built(WAITING, count) for count in (1_000, 10_000)]
    frozen = []
    for program in programs:
        outcome = sexplang.start(program)
        assert isinstance(outcome, sexplang.Suspended)
        frozen.append(sexplang.freeze(outcome))
    for _ in range(options.rounds):
        one, other = [
            wall(lambda each=each, data=data: sexplang.thaw(each, data))  # type: ignore[misc]
            for each, data in zip(programs, frozen, strict=True)
        ]
        found.append(other / one)
    return told("thaw of 10,000 branches / 1,000", found, THAW)


TALK = """(defatom chat (params (text string)) (model "gpt-4.1")
  (instructions "Answer. {{text}}"))
(fold continue (call-task chat "hello") TURNS)"""


def write_text(random: Random, words: list[str], size: int) -> str:
    """Return a text of random words: it repeats itself less than real text does."""
    found = ""
    while len(found) < size:
        found += random.choice(words) + " "
    return found[:size]


def measure_space(folder: str, options: argparse.Namespace) -> bool:
    """The bytes of a conversation in the store, as a quotient to its messages, each counted once.
    While the run goes on, its newest snapshot comes to that."""
    spec = Path(__file__).resolve().parent.parent / "spec"
    prose = " ".join([each.read_text() for each in sorted(spec.glob("1*.md"))])
    words, is_within = [each for each in prose.split() if each.isalpha()], True
    for asked, answered in ((300, 800), (40, 120)):
        random, messages = Random(asked), set[str]()

        def reply(
            request: dict[str, Any],
            messages: set[str] = messages,
            random: Random = random,
            size: int = answered,
        ) -> str:
            messages.update([json.dumps(each) for each in request["messages"]])
            return write_text(random, words, size)

        turns = [write_text(random, words, asked) for _ in range(options.turns - 1)]
        program = sexplang.build(TALK.replace("TURNS", json.dumps(turns).replace(",", " ")))
        path = os.path.join(folder, f"talk{asked}.db")
        sexplang.run(program, model=reply, store=path, run_id="talk")
        payload = sum([len(each.encode()) for each in messages]) + answered
        name = f"{options.turns} turns of {asked} and {answered} characters"
        store = open_store(path)
        is_within &= told(name, [store.size() / payload], SPACE)
        store.close()
        told("  with room for a snapshot", [os.path.getsize(path) / payload])
    return is_within


PARKED = """(define-effect (approve what)) (define-effect (act n))
(define (turn n) [(approve (str "question " n)) (act n)])
(define done (map act (range 0 N)))
(list (par (turn 1) (turn 2)) (turn 3))"""


def measure_parked(folder: str, options: argparse.Namespace) -> bool:
    """The bytes of parked runs in the store, beside those of their frozen states as JSON."""
    path, frozen = os.path.join(folder, "parked.db"), []
    for at in range(200):
        program = built(PARKED, at)
        waiting = sexplang.run(
            program,
            effects={"act": lambda n: REPLY},
            pause=["approve"],
            store=path,
            run_id=f"run-{at}",
        )
        frozen.append(len(json.dumps(sexplang.freeze(waiting))))
    db = sqlite3.connect(path)
    sizes = [0] * 200
    for table, size in (
        ("runs", "length(header) + length(command)"),
        ("entries", "length(data) + 16"),
        ("blobs", "length(data) + 16"),
        ("snapshots", "length(data) + 16"),
        ("questions", "length(request) + length(data) + 8"),
    ):
        of_run = "n" if table == "runs" else "run"
        rows = db.execute(f"select {of_run}, sum({size}) from {table} group by {of_run}")
        for run, count in rows.fetchall():
            sizes[run - 1] += count
    db.close()
    for name, found in (("in the store", sizes), ("frozen, as JSON", frozen)):
        print(f"a parked run {name}: median {median(found):,.0f} bytes, largest {max(found):,}")
    told("in the store / frozen", [one / other for one, other in zip(sizes, frozen, strict=True)])
    told("the file / all frozen states", [os.path.getsize(path) / sum(frozen)])
    return True


def measure_others(folder: str, options: argparse.Namespace) -> bool:
    """A durable effect, and a step of others, as a quotient to a bare insert."""
    count, path = 300, os.path.join(folder, "line.db")
    line = built(STRAIGHT, count)
    kept = wall(lambda: sexplang.run(line, effects={"ask": answer}, store=path, run_id="line"))
    bare = insert_bare(os.path.join(folder, "bare.db"), entries(path))
    told("sexplang, the whole effect / bare insert", [kept / count / bare])
    for name, measure in (("DBOS", run_dbos), ("LangGraph", run_langgraph)):
        try:
            told(f"{name}, a step / bare insert", [measure(folder, count) / bare])
        except ImportError as missing:
            print(f"{name}: {missing}")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description="What durable runs cost.")
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--effects", type=int, default=1_000)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=500)
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.folder) as folder:
        return 0 if MEASURES[options.what](folder, options) else 1


MEASURES = {
    "effects": measure_effects,
    "resume": measure_resume,
    "thaw": measure_thaw,
    "space": measure_space,
    "parked": measure_parked,
    "others": measure_others,
}

if __name__ == "__main__":
    sys.exit(main())
