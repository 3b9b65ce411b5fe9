"""`sexplang worker`: it goes on with runs whose time has come, or that have an answer."""

import subprocess
import sys
import time
from contextlib import suppress

from sexplang.hosts.cli import guard
from sexplang.hosts.kept_runs.stored_runs import open_runs, say_problem
from sexplang.hosts.kept_runs.waiting_runs import is_ready
from sexplang.runtime.journal.databases import resolve_address
from sexplang.runtime.journal.run_store import (
    CANCELLED,
    DONE,
    FAILED,
    INTERRUPTED,
    REPLACED,
    RUNNING,
    SUBMITTED,
    UNKEPT,
    WAITING,
)
from sexplang.runtime.refusal import Refusal
from sexplang.terms.diagnostic import Diagnostics

INTERVAL = 1.0
"""Seconds between two looks at the store."""


def work(path: str | None, *, as_recorded: bool, places: int, once: bool, quiet: bool) -> int:
    """Go on with runs that are ready, at most `places` at a time, each in a process of its own,
    until it is interrupted; with `once` until none is ready. A run that is refused is left alone.
    Return the exit status."""
    begun: dict[str, subprocess.Popen[bytes]] = {}
    boots: dict[str, int] = {}
    refused: set[str] = set()
    options = [] if path is None else ["--store", resolve_address(path)]
    options += ["--as-recorded"] if as_recorded else []
    try:
        store = open_runs(path)
        try:
            while True:
                for id, process in [*begun.items()]:
                    if process.poll() is not None:
                        del begun[id]
                        run = store.find(id)
                        is_refused = run.state in (WAITING, SUBMITTED) and run.boots == boots[id]
                        _say(f"run {id} {_STUCK if is_refused else ENDS[run.state]}", quiet)
                        refused |= {id} if is_refused else set()
                waiting = [run for run in store.runs() if run.id not in {*begun, *refused}]
                ready = [run for run in waiting if is_ready(store, run)]
                for run in ready[::-1][: places - len(begun)]:
                    _say(f"run {run.id} goes on", quiet)
                    begun[run.id], boots[run.id] = _begin(run.id, options), run.boots
                if once and not begun:
                    return guard.DONE
                time.sleep(INTERVAL / 20 if begun and once else INTERVAL)
        finally:
            _end(begun)
            store.close()
    except (Refusal, Diagnostics) as problem:
        return say_problem(problem)


_STUCK = "cannot go on, and is left alone"

ENDS = {
    DONE: "is done",
    WAITING: "waits again",
    SUBMITTED: "was not begun",
    FAILED: "has failed",
    RUNNING: "goes on in another process",
    INTERRUPTED: "was interrupted",
    CANCELLED: "was cancelled",
    REPLACED: "was replaced",
    UNKEPT: "went on without being kept",
}
"""What is said of a run in some state."""


def _begin(id: str, words: list[str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "sexplang", "runs", "resume", id, "--quiet", *words]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _end(begun: "dict[str, subprocess.Popen[bytes]]") -> None:
    """End what was begun, and wait for it: an interrupted run can be resumed."""
    for process in begun.values():
        with suppress(OSError):
            process.terminate()
    for process in begun.values():
        process.wait()


def _say(words: str, quiet: bool) -> None:
    if not quiet:
        print(words, file=sys.stderr, flush=True)
