"""Requests that a run leaves to workers beside the queues of others, and workers at rest.

    python benchmarks/fleet_leaves.py [short] [long] [idle] [times=20] [parked=3000] [nosync]
                                      [peers=PYTHON]

A cluster of its own; `nosync` turns fsync off. Three workers with five places each:

- `short`: 300 requests of 20 ms of one run, in turns with as many jobs of procrastinate, of
  PgQueuer and of DBOS, each of which writes a row; from the first job to the last row;
- `long`: 60 of a second, whose ideal is four;
- `idle`: the processor time of three workers and of the server in thirty seconds, with 3,000 runs
  that wait for a time, and of three bare workers of procrastinate with as many jobs that wait.

Medians, and the worst in brackets. Without the peers' environment, they are left out.
"""

import asyncio
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep, time

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import psycopg  # noqa: E402
from support.carried_runs import drive_carried  # noqa: E402
from support.fleet_workers import serve_fleet  # noqa: E402
from support.leaf_worker import worker_processes  # noqa: E402
from support.postgres_server import serve_postgres  # noqa: E402

from benchmarks.fleet_processes import (  # noqa: E402
    count_rows,
    find_peers,
    find_server,
    make_database,
    processor_seconds,
    read_number,
    start_peers,
    subtract,
    tell,
)
from sexplang.runtime.fleet import open_engine  # noqa: E402
from sexplang.runtime.journal.run_store import open_store  # noqa: E402

WORKERS, PLACES = 3, 5

BARE = "bare"
"""The schema of the bare jobs."""

WIDE = '(par-map (lambda (n) (tool "look" {{n: n}})) (range 0 {count}))'

IDLE = 30
"""Seconds for which workers at rest are watched."""


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


def worker_given(url, folder, seconds):
    return {
        "store": url,
        "log": os.path.join(folder, "log"),
        "lease": 2.0,
        "queues": ["tool:look"],
        "seconds": seconds,
        "places": PLACES,
    }


def measure_peer(client, connection, name, count, seconds):
    """Return the seconds that a peer's jobs take, from the first to the last row."""
    connection.execute("truncate replies")
    began = monotonic()
    client.say(name, count, seconds)
    client.wait_for("done")
    while connection.execute("select count(*) from replies").fetchone()[0] < count:
        sleep(0.005)
    return monotonic() - began


def compare(url, folder, python, count, seconds, times):
    """Print what requests take, and jobs of the others."""
    found = {"sexplang": [], "procrastinate": [], "PgQueuer": [], "DBOS": []}
    with ExitStack() as stack:
        stack.enter_context(worker_processes(WORKERS, **worker_given(url, folder, seconds)))
        bare, _ = stack.enter_context(bare_workers(url))
        clients = {}
        if python is not None:
            peers = make_database(url)
            other = stack.enter_context(psycopg.connect(peers, autocommit=True))
            other.execute("create table replies (n bigint primary key, at timestamptz)")
            for name, kind in (("PgQueuer", "pgqueuer"), ("DBOS", "dbos")):
                given = (python, f"{kind}-client", peers, PLACES)
                (clients[name],) = stack.enter_context(start_peers(1, *given))
                given = (python, f"{kind}-leaves", peers, PLACES)
                stack.enter_context(start_peers(WORKERS, *given))
        for n in range(times + 1):
            name = f"{count}-{n}"
            took = {"sexplang": measure_leaves(url, name, count)}
            took["procrastinate"] = measure_bare(bare, url, count, seconds)
            for each, client in clients.items():
                took[each] = measure_peer(client, other, name, count, seconds)
            for each, one in took.items() if n else ():  # the first is to warm up
                found[each].append(one)
        if python is not None:
            other.close()
    if python is not None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("drop database peers with (force)")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop schema {BARE} cascade")
    ideal = count * seconds / WORKERS / PLACES
    print(f"{count} of {seconds} s, ideal {ideal:.2f} s:")
    for name, each in found.items():
        if each:
            shares = [one / other for one, other in zip(found["sexplang"], each, strict=True)]
            print(f"  {name}: {tell(each)} s; sexplang to it {tell(shares)}", flush=True)


PARKED = "(wait-until {until})"


def park_runs(fleet, count):
    """Make so many runs that wait for a time: one is parked by a worker, the others are its
    copies."""
    until = int(time()) + 86_400
    fleet.submit(PARKED.format(until=until), "parked-0")
    fleet.once()
    db, engine = fleet.store.db, open_engine(fleet.store.db, fleet.address)
    columns = [name for (name,) in db.execute(_COLUMNS) if name not in ("n", "id")]
    listed = ", ".join(columns)
    db.execute(
        f"insert into runs (id, {listed}) select 'parked-' || i, {listed} "
        "from runs, generate_series(1, ?) i where id = 'parked-0'",
        (count - 1,),
    )
    for table in ("entries", "snapshots", "blobs"):
        more = "seq, data, checksum" if table != "blobs" else "digest, data"
        db.execute(
            f"insert into {table} select runs.n, {more} from {table}, runs "
            f"where {table}.run = (select n from runs where id = 'parked-0') "
            "and id <> 'parked-0'"
        )
    with fleet.store.transaction():
        for n in range(1, count):
            engine.wake(f"parked-{n}", float(until))


_COLUMNS = (
    "select column_name from information_schema.columns "
    "where table_schema = 'sexplang' and table_name = 'runs'"
)


def watch_idle(url, pids):
    """Return the processor time of workers and of the server, in per cent of a core."""
    server = find_server(url)
    before = processor_seconds(pids), processor_seconds([server])
    sleep(IDLE)
    after = processor_seconds(pids), processor_seconds([server])
    return [100 * (late - early) / IDLE for late, early in zip(after, before, strict=True)]


def measure_idle(url, folder, count):
    """Print the processor time at rest, and what a run that waits takes."""
    before = count_rows(url, "sexplang")
    with serve_fleet(url, Path(folder)) as fleet:
        park_runs(fleet, count)
        after = subtract(count_rows(url, "sexplang"), before)
        kept = {name: pair for name, pair in after.items() if "worker" not in name}
        rows = sum(one for one, _ in kept.values()) / count
        size = sum(one for _, one in kept.values()) / count
        told = ", ".join(f"{name} {one / count:.2f}" for name, (one, _) in kept.items() if one)
        print(f"a run that waits: {rows:.2f} rows ({told}), {size:.0f} bytes with indexes")
        given = ("--quiet", "--lease", "30", "--places", str(PLACES))
        offered = ("--allow-run", "true", "--offers", "script")
        pids = [fleet.begin(*given, *offered).pid for _ in range(WORKERS)]
        sleep(10)
        own, served = watch_idle(url, pids)
        print(f"at rest, {count} runs wait: {own:.1f} + server {served:.1f} % of a core")
    with bare_workers(url) as (bare, workers):
        bare.execute(
            "insert into procrastinate_jobs (queue_name, task_name, args, scheduled_at) "
            "select 'default', 'bare', '{}', now() + interval '1 day' from generate_series(1, %s)",
            [count],
        )
        sleep(10)
        own, served = watch_idle(url, [each.pid for each in workers])
        print(f"at rest, {count} bare jobs wait: {own:.1f} + server {served:.1f} % of a core")


def main(words):
    which = [each for each in words if "=" not in each and each != "nosync"]
    which = which or ["short", "long", "idle"]
    times = read_number(words, "times", 20)
    settings = ["fsync=off"] if "nosync" in words else []
    python = find_peers(words) if which != ["idle"] else None
    with serve_postgres(*settings) as url, TemporaryDirectory() as folder:
        store = open_store(url)
        open_engine(store.db, url)
        store.close()
        if "short" in which:
            compare(url, folder, python, 300, 0.02, times)
        if "long" in which:
            compare(url, folder, python, 60, 1.0, times)
        if "idle" in which:
            measure_idle(url, folder, read_number(words, "parked", 3000))


if __name__ == "__main__":
    if sys.argv[1:2] == ["work-bare"]:
        asyncio.run(work_bare(sys.argv[2]))
    else:
        main(sys.argv[1:])
