"""Workers of a store on a server, as processes that are killed, stopped and drained by their id."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from support.command import sexplang as command

from sexplang.runtime.journal.run_store import open_store

ROOT = Path(__file__).resolve().parents[2]

LEASE = 2.0

TOOLS = '''
import os
import time
from pathlib import Path

import sexplang

HERE = Path(__file__).parent


def _note(what):
    with (HERE / "log").open("a") as log:
        log.write(f"{what} {os.getpid()}\\n")


@sexplang.operation(replay="safe")
def step(n: int) -> int:
    """Notes a number, and takes a moment."""
    _note(n)
    time.sleep(0.03)
    return n * 10


@sexplang.operation(replay="safe")
def hold(name: str) -> str:
    """Waits until a file is there."""
    _note(name)
    while not (HERE / f"go {name}").exists():
        time.sleep(0.01)
    return name


@sexplang.operation
def act(n: int) -> int:
    """Acts once, and takes a while."""
    _note(n)
    time.sleep(0.5)
    return n
'''

STEPS = '(import "tools.py") (fold + 0 (map step (range 1 61)))'
"""Sixty effects, one after the other, in about two seconds."""

SUM = sum(range(1, 61)) * 10


class Fleet:
    """A store on a server, a folder with Python files, and processes that work on the store."""

    def __init__(self, address, folder):
        self.address, self.folder, self.processes = address, folder, []
        (folder / "tools.py").write_text(TOOLS)
        self.store = open_store(address)

    def submit(self, text, run_id, *words, name=None):
        """Submit a program; return what the command did."""
        file = self.folder / (name or f"{run_id}.sexp")
        file.write_text(text)
        given = ("--run-id", run_id, "--store", self.address, *words)
        done = command("submit", file.name, *given, cwd=self.folder)
        assert 0 == done.returncode, done.stderr
        return done

    def command(self, *words):
        return command(*words, "--store", self.address, cwd=self.folder)

    def begin(self, *words, allow=True, address=None, **environment):
        """Begin a worker, which may have an address of its own; return its process."""
        given = ["--store", address or self.address, "--lease", str(LEASE), "--grace", "5", *words]
        given += ["--allow-python", str(self.folder / "tools.py")] if allow else []
        number = len(self.processes)
        log = (self.folder / f"worker {number}").open("w")
        process = subprocess.Popen(
            [sys.executable, "-m", "sexplang", "worker", *given],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )
        log.close()
        self.processes.append(process)
        return process

    def said(self, process):
        """What a worker has said so far."""
        return (self.folder / f"worker {self.processes.index(process)}").read_text()

    def once(self, *words, **given):
        """Let a worker work until nothing is ready; return what it said."""
        process = self.begin("--once", *words, **given)
        assert 0 == process.wait(60), self.said(process)
        return self.said(process)

    def log(self):
        """The numbers that effects have noted, and the processes that did so."""
        path = self.folder / "log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(what, int(pid)) for what, pid in (line.rsplit(" ", 1) for line in lines)]

    def wait_for(self, what, seconds=40):
        """Wait until something holds; return what it gave."""
        until = monotonic() + seconds
        while not (found := what()):
            said = "\n".join(self.said(each) for each in self.processes)
            assert monotonic() < until, f"{self.store.runs()}\n{said}"
            sleep(0.02)
        return found

    def wait_for_state(self, run_id, state="done", seconds=40):
        self.wait_for(lambda: self.store.find(run_id).state == state, seconds)
        return self.store.find(run_id)

    def wait_for_driver(self, count=5):
        """Wait until so many effects were performed; return the process that drives."""
        self.wait_for(lambda: len(self.log()) >= count)
        pid = self.log()[-1][1]
        return next(each for each in self.processes if each.pid == pid)

    def close(self):
        for each in self.processes:
            if each.poll() is None:
                each.send_signal(signal.SIGCONT)
                each.kill()
            each.wait()
        self.store.close()


@contextmanager
def serve_fleet(address, folder):
    fleet = Fleet(address, folder)
    try:
        yield fleet
    finally:
        fleet.close()
