"""Requests that a run leaves to workers, beside bare jobs of the engine.

    python benchmarks/fleet_leaves.py [short] [long] [parked] [nosync] [times=20]

A cluster of its own; `nosync` turns fsync off. Three workers with five places each, in one go with
what they are compared with:

- `short`: 300 leaves of 20 ms, and 300 bare jobs of the same length, each of which writes a row;
- `long`: 60 leaves of a second, whose ideal is four;
- `parked`: rows and bytes of 300 runs that wait for a time.
"""

import asyncio
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, sleep, time

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import psycopg  # noqa: E402
from support.carried_runs import drive_carried  # noqa: E402
from support.leaf_worker import worker_processes  # noqa: E402
from support.postgres_server import serve_postgres  # noqa: E402

import sexplang  # noqa: E402
from sexplang.runtime.fleet import open_engine  # noqa: E402
from sexplang.runtime.journal.run_store import open_store  # noqa: E402

WORKERS, PLACES = 3, 5

BARE = "bare"
"""The schema of the bare jobs."""

WIDE = '(par-map (lambda (n) (tool "look" {{n: n}})) (range 0 {count}))'


def open_bare(url):
    from procrastinate import App, PsycopgConnector

    options = f"-c search_path={BARE}"
    app = App(connector=PsycopgConnector(conninfo=url, kwargs={"options": options}))

    @app.task(name="bare")
    async def bare(n, seconds):
        await asyncio.sleep(seconds)
        await app.connector.execute_query_async(
            "insert into replies values (%(n)s, now()) on conflict do nothing", n=n
        )

    return app


async def work_bare(url):
    app = open_bare(url)
    async with app.open_async():
        await app.run_worker_async(concurrency=PLACES, delete_jobs="always")


@contextmanager
def bare_workers(url):
    with psycopg.connect(url, autocommit=True) as connection:
        from procrastinate.schema import SchemaManager

        connection.execute(f"create schema {BARE}")
        connection.execute(f"set search_path = {BARE}")
        connection.execute(SchemaManager.get_schema())
        connection.execute("create table replies (n bigint primary key, at timestamptz)")
        words = [sys.executable, __file__, "work-bare", url]
        started = [subprocess.Popen(words, stderr=subprocess.DEVNULL) for _ in range(WORKERS)]
        try:
            yield connection, started
        finally:
            for each in started:
                each.terminate()
            for each in started:
                each.wait()


def measure_bare(connection, url, count, seconds):
    """Return the seconds that bare jobs take, from the first to the last row."""
    connection.execute("truncate replies")
    began = monotonic()
    connection.execute(
        "insert into procrastinate_jobs (queue_name, task_name, args) select 'default', 'bare', "
        "jsonb_build_object('n', n, 'seconds', %s::float8) from generate_series(1, %s) n",
        [seconds, count],
    )
    while connection.execute("select count(*) from replies").fetchone()[0] < count:
        sleep(0.005)
    return monotonic() - began


def measure_leaves(url, name, count):
    """Return the seconds that a run takes with so many leaves."""
    began = monotonic()
    value = drive_carried(
        WIDE.format(count=count),
        url,
        name,
        lambda db: open_engine(db, url, must_exist=True),
        declared={"tool:look": "safe"},
    )
    assert [n * 10 for n in range(count)] == list(value)
    return monotonic() - began


def describe(name, found, count, ideal):
    low, high = median(found) / count * 1000, max(found) / count * 1000
    return f"{name}: median {low:.2f}, worst {high:.2f} ms each (ideal {ideal:.2f})"


def measure_short(url, folder, times):
    count, seconds = 300, 0.02
    leaves, bare = [], []
    given = worker_given(url, folder, seconds)
    with worker_processes(WORKERS, **given), bare_workers(url) as (connection, _):
        measure_leaves(url, "warm", 15)
        measure_bare(connection, url, 60, seconds)
        for n in range(times):
            leaves.append(measure_leaves(url, f"short-{n}", count))
            bare.append(measure_bare(connection, url, count, seconds))
            print(f"{leaves[-1]:.2f} s, bare {bare[-1]:.2f} s", file=sys.stderr, flush=True)
    ideal = seconds * 1000 / WORKERS / PLACES
    print(describe(f"{times} x {count} leaves of 20 ms", leaves, count, ideal))
    print(describe(f"{times} x {count} bare jobs of 20 ms", bare, count, ideal))
    shares = [one / other for one, other in zip(leaves, bare, strict=True)]
    print(f"leaves to bare jobs: median {median(shares):.2f}, worst {max(shares):.2f}", flush=True)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("vacuum full sexplang.leaves")
        asked = "select count(*), pg_total_relation_size('sexplang.leaves') from sexplang.leaves"
        rows, size = other.execute(asked).fetchone()
        left = other.execute("select count(*) from sexplang.procrastinate_jobs").fetchone()[0]
    print(f"{rows} delivered leaves: {size / max(rows, 1):.0f} bytes each; {left} jobs are left")


def measure_long(url, folder, times):
    count, found = 60, []
    with worker_processes(WORKERS, **worker_given(url, folder, 1.0)):
        measure_leaves(url, "warm-long", 3)
        for n in range(times):
            found.append(measure_leaves(url, f"long-{n}", count))
    ideal = count / WORKERS / PLACES
    print(
        f"{times} x {count} leaves of 1 s: median {median(found):.2f}, worst {max(found):.2f} s "
        f"(ideal {ideal:.2f}), {median(found) / ideal * 100 - 100:.1f} % over it",
        flush=True,
    )


def worker_given(url, folder, seconds):
    return {
        "store": url,
        "log": os.path.join(folder, "log"),
        "lease": 2.0,
        "queues": ["tool:look"],
        "seconds": seconds,
        "places": PLACES,
    }


TABLES = ("runs", "entries", "blobs", "snapshots", "questions", "leaves", "procrastinate_jobs")


def measure_parked(url):
    count = 300

    def sizes():
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("set search_path = sexplang")
            return {
                each: connection.execute(
                    f"select count(*), pg_total_relation_size('{each}') from {each}"
                ).fetchone()
                for each in TABLES
            }

    store = open_store(url)
    engine, before = open_engine(store.db, url), sizes()
    until = int(time()) + 86_400
    for n in range(count):
        sexplang.run(f"(wait-until {until})", store=url, run_id=f"parked-{n}", pause=["ask-user"])
        engine.wake(f"parked-{n}", float(until))
    store.close()
    after = sizes()
    rows = {each: (after[each][0] - before[each][0]) / count for each in TABLES}
    size = sum(after[each][1] - before[each][1] for each in TABLES) / count
    told = ", ".join(f"{each} {number:.0f}" for each, number in rows.items() if number)
    print(f"{count} parked runs: {size:.0f} bytes each with indexes; rows each: {told}", flush=True)


def main(words):
    which = [word for word in words if "=" not in word and word != "nosync"]
    which = which or ["short", "long", "parked"]
    times = next((int(word[6:]) for word in words if word.startswith("times=")), 20)
    settings = ["fsync=off"] if "nosync" in words else []
    with serve_postgres(*settings) as url, TemporaryDirectory() as folder:
        store = open_store(url)
        open_engine(store.db, url)
        store.close()
        if "short" in which:
            measure_short(url, folder, times)
        if "long" in which:
            measure_long(url, folder, min(times, 5))
        if "parked" in which:
            measure_parked(url)


if __name__ == "__main__":
    if sys.argv[1:2] == ["work-bare"]:
        asyncio.run(work_bare(sys.argv[2]))
    else:
        main(sys.argv[1:])
