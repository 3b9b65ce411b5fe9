"""Kept runs in child processes that are killed, and what a resumption owes to each of them.

A program calls `act` and `wait` with another number at each place, so an effect that is performed
twice stands twice in the log of the effects.
"""

import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sexplang
from sexplang.runs import durable_run
from sexplang.runtime.journal import run_store, stored_journal
from sexplang.runtime.journal.run_store import RunStore, open_store
from sexplang.runtime.journal.stored_journal import StoredJournal, StoredRows, read_rows

PROGRAMS = {
    "straight": "[(act 1) (act 2) (wait 3) (act 4)]",
    "branches": "(par-map (lambda (i) (if (even? i) (wait i) (act i))) (range 1 13))",
    "nested": """(par (par (wait 1) (begin (act 2) (wait 3))) (begin (wait 4) (act 5))
                      (par-map wait [6 7 8]))""",
    "finalizer": "[(try (begin (act 1) (wait 2)) (finally (begin (act 3) (wait 4)))) (act 5)]",
    "failing": "[(attempt (act -1) 0) (attempt (begin (act 2) (wait -3)) (act 4)) (act 5)]",
    "race": "[(race (begin (wait 1) (wait 2)) (begin (sleep 5) (act 9))) (act 3)]",
    "deadline": """[(with-timeout 60 (par-map wait [1 2 3 4]))
                     (attempt (with-timeout 0.01 (sleep 9)) 5)]""",
    "twice": """(define-effect (flip))
                (handle (let ((a (flip)) (b (flip)))
                          [(act (+ 10 (* 10 a) b)) (wait (+ 50 (* 10 a) b))])
                  ((flip) k (append (k 1) (k 2))))""",
    "model": """(defatom say (params n) (instructions "Say {{n}}"))
                (list (act 1) (par-map say [2 3 4]) (say 5) (wait 6))""",
    "script": """(define-input log)
                 (define (echo n)
                   (begin (run-script "sh" ["-c" "echo $0 >>$1" (str n) log]) n))
                 (list (act 1) (echo 2) (echo 3))""",
    "loop": "(fold (lambda (sum i) (+ sum (act i))) 0 (range 1 80))",
}

ENDS_OF_DOUBTS = ("in-doubt", "run-ended", "all-failed")
"""How a run ends in which no request in doubt is performed again: a race may have lost all its
branches by it."""

FAILED, STOPPED = 1, 3
"""How a child process ends that failed, and one that was interrupted."""


def perform(log: Path) -> dict[str, Callable[..., Any]]:
    """Return effects that note their numbers; a negative one fails."""

    def note(n: int) -> int:
        with log.open("a") as file:
            file.write(f"{n}\n")
        if n < 0:
            raise sexplang.error("negative", "it is negative")
        return n * 10

    async def wait(n: int) -> int:
        import asyncio

        done = note(n)
        await asyncio.sleep(0.003 * (abs(n) % 4))
        return done

    return {"act": note, "wait": wait}


def run_arguments(name: str, folder: Path) -> dict[str, Any]:
    """Return what both `run` and `resume` take."""
    log = folder / "log"
    more = {"permissions": sexplang.Permissions(run=["sh"])} if name == "script" else {}

    def say(payload: Any) -> str:
        n = payload["messages"][-1]["content"][0]["text"].rpartition(" ")[2]
        with log.open("a") as file:
            file.write(f"{n}\n")
        return f"said {n}"

    return {"effects": perform(log), "model": say, "store": folder / "runs.db", **more}


def start(name: str, folder: Path) -> Any:
    """Run a program, kept under the id `r`."""
    inputs = {"log": str(folder / "log")} if name == "script" else {}
    given = run_arguments(name, folder)
    return sexplang.run(PROGRAMS[name], run_id="r", inputs=inputs, **given)


def go_on(name: str, folder: Path, replay: str) -> Any:
    """Resume the run, or begin it if it was not kept."""
    given = run_arguments(name, folder)
    try:
        return sexplang.resume(PROGRAMS[name], "r", replay={"*": replay}, **given)
    except sexplang.Failed as failed:
        if failed.reason not in ("unknown-run", "store-failed"):
            raise
        return start(name, folder)


def in_child(
    work: Callable[[], Any],
    wait: Callable[[], object] | None = None,
    number: int = signal.SIGKILL,
) -> bool:
    """Run a function in a child process, and send that a signal when `wait` returns. Return whether
    it came to its end."""
    child = os.fork()
    if child == 0:
        status = FAILED
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            work()
            status = 0
        except sexplang.Failed as failed:
            if failed.reason in ENDS_OF_DOUBTS:
                status = 0
            else:
                traceback.print_exc()
        except KeyboardInterrupt:
            status = STOPPED
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    if wait is not None:
        wait()
        os.kill(child, number)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, STOPPED, -signal.SIGKILL), ended
    return ended == 0


def crash_at(number: int, place: str) -> None:
    """Kill this process at a commit, counted from 1: before, in or after the write."""
    real, count = StoredJournal.commit, [0]

    def commit(self: StoredJournal) -> None:
        is_write = bool(self._lines) and (self._is_worth or self.boot > 0)
        count[0] += is_write
        if is_write and count[0] == number:
            if place == "after":
                real(self)
            elif place == "in":
                store, _ = self._open()
                store.db.execute("begin immediate")
                store.db.execute("update runs set tokens = 999999")
            os.kill(os.getpid(), signal.SIGKILL)
        real(self)

    stored_journal.StoredJournal.commit = commit  # type: ignore[method-assign]


class CrashingConnection:
    """A connection of SQLite that kills its process at a write, counted from 1: before or after
    it. A transaction counts at its begin, its statements and its commit."""

    def __init__(self, db: Any, number: int, place: str) -> None:
        self.db, self.number, self.place, self.count = db, number, place, 0

    def execute(self, statement: str, *given: Any) -> Any:
        return self._write(self.db.execute, statement, *given)

    def executemany(self, statement: str, *given: Any) -> Any:
        return self._write(self.db.executemany, statement, *given)

    def close(self) -> None:
        self.db.close()

    def _write(self, perform: Callable[..., Any], statement: str, *given: Any) -> Any:
        is_write = statement.startswith(("insert", "update", "delete", "begin", "commit"))
        self.count += is_write
        is_here = is_write and self.count == self.number
        if is_here and self.place == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        made = perform(statement, *given)
        if is_here:
            os.kill(os.getpid(), signal.SIGKILL)
        return made


def crash_at_write(number: int, place: str) -> None:
    """Kill this process at a write to the store, whatever it writes."""

    def open_crashing(*given: Any, **more: Any) -> RunStore:
        store = open_store(*given, **more)
        file: Any = store.db
        file.connection = CrashingConnection(file.connection, number, place)
        return store

    run_store.open_store = durable_run.open_store = open_crashing


def rows_of(folder: Path) -> StoredRows | None:
    """Return what the journal says, or None if the run is not kept."""
    if not (folder / "runs.db").exists():
        return None
    store = open_store(str(folder / "runs.db"))
    try:
        return read_rows(store, store.find("r"), whole=True)
    except Exception as error:
        assert "unknown-run" in str(getattr(error, "error", error)), error
        return None
    finally:
        store.close()


def unreported(folder: Path) -> set[str]:
    """Return the numbers of the effects that were performed more often than once and once more for
    each time they were reported in doubt."""
    log, found = folder / "log", rows_of(folder) or StoredRows()
    done = Counter(log.read_text().split() if log.exists() else [])
    numbers = {row.id: _number_of(row) for row in found.rows}
    reported = Counter(numbers.get(each["id"]) for each in found.doubts)
    return {n for n, count in done.items() if count > 1 + reported[n]}


def repeated(folder: Path) -> set[str]:
    """Return the numbers of the effects that were performed more than once."""
    log = folder / "log"
    done = Counter(log.read_text().split() if log.exists() else [])
    return {n for n, count in done.items() if count > 1}


def _number_of(row: Any) -> str:
    if row.operation == "model":
        return row.arguments[0]["messages"][-1]["content"][0]["text"].rpartition(" ")[2]
    if not row.arguments:
        return row.operation
    return str(row.arguments[1][2] if row.operation == "run-script" else row.arguments[0])
