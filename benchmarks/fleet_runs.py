"""Runs on many machines, in one: how many a second, and how soon the run of a lost driver goes on.

    python benchmarks/fleet_runs.py [throughput] [takeover] [nosync]

A cluster of its own; `nosync` turns fsync off. `throughput` drives 100 runs of ten effects with
one, two and three workers of four places. `takeover` kills and stops the driver of a run, with a
lease of two seconds, ten times each.
"""

import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, sleep

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.fleet_workers import STEPS, serve_fleet  # noqa: E402
from support.postgres_server import serve_postgres  # noqa: E402

from sexplang.hosts.cli.commands import command  # noqa: E402
from sexplang.runtime.fleet import open_engine  # noqa: E402

RUNS = 100

PLAIN = "\n\n@sexplang.operation(replay='safe')\ndef plain(n: int) -> int:\n    return n\n"


def submit(fleet, text, id):
    """Submit a run in this process."""
    file = fleet.folder / "program.sexp"
    file.write_text(text)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        assert command(["submit", str(file), "--run-id", id, "--store", fleet.address]) == 0


def wait_for_workers(fleet, count):
    open_engine(fleet.store.db, fleet.address)
    asked = (
        "select count(*) from procrastinate_workers where last_heartbeat > now() - interval '9s'"
    )
    while fleet.store.db.execute(asked).fetchone()[0] < count:
        sleep(0.05)
    sleep(1)


def measure_throughput(fleet, workers, name):
    """Return the seconds in which so many workers drive all runs, and the rows per run."""
    db = fleet.store.db
    open_engine(db, fleet.address)
    text = '(import "tools.py") (fold + 0 (map plain (range 1 11)))'
    for n in range(RUNS):
        submit(fleet, text, f"{name}-{n}")
    db.execute("update runs set is_stuck = 1 where state = 'submitted'")
    db.execute("delete from procrastinate_jobs")
    before = len(fleet.processes)
    for _ in range(workers):
        fleet.begin("--quiet", "--lease", "30")
    wait_for_workers(fleet, workers)
    engine = open_engine(db, fleet.address)
    began = monotonic()
    with fleet.store.transaction():
        db.execute("update runs set is_stuck = 0 where state = 'submitted'")
        for n in range(RUNS):
            engine.wake(f"{name}-{n}")
    asked = "select count(*) from runs where state = 'done' and id like ?"
    while db.execute(asked, (f"{name}-%",)).fetchone()[0] < RUNS:
        sleep(0.01)
    took = monotonic() - began
    for each in fleet.processes[before:]:
        each.send_signal(signal.SIGTERM)
        each.wait(30)
    return took


def measure_takeover(fleet, how, name):
    """Return the seconds after which another worker goes on with a run."""
    submit(fleet, STEPS, name)
    fleet.wait_for(lambda: len(fleet.log()) >= 5)
    pid = fleet.log()[-1][1]
    driver = next(each for each in fleet.processes if each.pid == pid)
    began = monotonic()
    driver.send_signal(how)
    fleet.wait_for(lambda: fleet.log()[-1][1] != pid)
    took = monotonic() - began
    fleet.wait_for_state(name)
    driver.send_signal(signal.SIGCONT)
    (fleet.folder / "log").unlink()
    return took, driver


def main(which):
    settings = ["fsync=off"] if "nosync" in which else []
    with (
        serve_postgres(*settings) as url,
        TemporaryDirectory() as folder,
        serve_fleet(url, Path(folder)) as fleet,
    ):
        with (fleet.folder / "tools.py").open("a") as tools:
            tools.write(PLAIN)
        for workers in (1, 2, 3) if "throughput" in which else ():
            took = measure_throughput(fleet, workers, f"w{workers}")
            print(
                f"{RUNS} runs of ten effects, {workers} workers: {took:.2f} s, "
                f"{RUNS / took:.0f} runs/s, {took / RUNS / 10 * 1e6:.0f} µs an effect",
                flush=True,
            )
        for how in (signal.SIGKILL, signal.SIGSTOP) if "takeover" in which else ():
            found = []
            workers = [fleet.begin("--quiet") for _ in range(2)]
            wait_for_workers(fleet, 2)
            for n in range(10):
                took, driver = measure_takeover(fleet, how, f"{how.name}-{n}")
                found.append(took)
                if how == signal.SIGKILL:
                    driver.wait()
                    workers.append(fleet.begin("--quiet"))
                    wait_for_workers(fleet, 2)
            print(
                f"{how.name}, lease 2 s: median {median(found):.2f} s, "
                f"worst {max(found):.2f} s of {len(found)}",
                flush=True,
            )
            for each in workers:
                each.kill()


if __name__ == "__main__":
    main(sys.argv[1:] or ["throughput", "takeover"])
