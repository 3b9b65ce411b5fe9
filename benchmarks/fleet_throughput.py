"""1,000 runs of ten effects on one, two and three workers, beside DBOS and beside bare inserts.

    python benchmarks/fleet_throughput.py [runs=1000] [times=3] [nosync] [profile] [peers=PYTHON]

A cluster of its own; `nosync` turns fsync off. In turns, with as many processes:

- `sexplang worker --places 5`, from the commit that makes the runs ready to the end of the last;
- DBOS: a workflow of ten steps for each run, called in five threads of each process. No queue is
  polled, and nobody claims, so it is less than what a worker does;
- `insert`: one row of 200 bytes with one commit for each effect, in five threads: the floor.

A run's time goes from its first commit to its end: the note `resumes` of its first entry, and the
column `ended`; in DBOS `created_at` and `completed_at`. Processor time is that of the processes and
of the server. Medians, and the worst in brackets.

`profile` lets one worker drive the runs, and prints the statements of the server by their number
for a run, if it has pg_stat_statements.
"""

import json
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import monotonic, sleep

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import psycopg  # noqa: E402
from support.fleet_workers import serve_fleet  # noqa: E402
from support.postgres_server import serve_postgres  # noqa: E402

from benchmarks.fleet_processes import (  # noqa: E402
    count_rows,
    find_peers,
    find_server,
    log_position,
    make_database,
    processor_seconds,
    read_number,
    start_peers,
    subtract,
    tell,
)
from sexplang.hosts.cli.commands import command  # noqa: E402
from sexplang.runtime.fleet import open_engine  # noqa: E402
from sexplang.runtime.journal.compression import decompress  # noqa: E402

EFFECTS, PLACES, LEASE = 10, 5, 30

PLAIN = "\n\n@sexplang.operation(replay='safe')\ndef plain(n: int) -> int:\n    return n\n"

PROGRAM = '(import "tools.py") (fold + 0 (map plain (range 1 11)))'


class Measured:
    """What some processes did: seconds, processor seconds of themselves and of the server, rows,
    bytes of the log, and the times of the runs."""

    def __init__(self, url, schema, pids):
        self.url, self.schema, self.pids = url, schema, pids
        self.server = [find_server(url)]
        self.before = count_rows(url, schema)
        self.own, self.served = processor_seconds(pids), processor_seconds(self.server)
        self.log, self.began = log_position(url), monotonic()

    def end(self, count, times):
        self.took = monotonic() - self.began
        effects = count * EFFECTS
        self.rate = count / self.took
        self.own = (processor_seconds(self.pids) - self.own) / effects * 1e6
        self.served = (processor_seconds(self.server) - self.served) / effects * 1e6
        self.log = (log_position(self.url) - self.log) / effects
        found = subtract(count_rows(self.url, self.schema), self.before)
        self.rows = sum(rows for rows, _ in found.values()) / effects
        self.tables = {name: rows / effects for name, (rows, _) in found.items() if rows}
        cuts = quantiles(times, n=100) if times else [0.0] * 99
        self.p50, self.p99 = cuts[49] * 1000, cuts[98] * 1000
        return self


def submit_runs(fleet, name, count):
    """Submit runs, which no worker may begin yet."""
    file = fleet.folder / "program.sexp"
    file.write_text(PROGRAM)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        for n in range(count):
            given = ["submit", str(file), "--run-id", f"{name}-{n}", "--store", fleet.address]
            assert command(given) == 0
    fleet.store.db.execute("update runs set is_stuck = 1 where state = 'submitted'")
    fleet.store.db.execute("delete from procrastinate_jobs")


def begin_workers(fleet, count):
    """Begin workers; return them when all look for runs."""
    before = len(fleet.processes)
    for _ in range(count):
        fleet.begin("--quiet", "--lease", str(LEASE), "--places", str(PLACES))
    asked = (
        "select count(*) from procrastinate_workers where last_heartbeat > now() - interval '9s'"
    )
    while fleet.store.db.execute(asked).fetchone()[0] < count:
        sleep(0.05)
    sleep(1)
    return fleet.processes[before:]


def end_workers(processes):
    for each in processes:
        each.send_signal(signal.SIGTERM)
    for each in processes:
        each.wait(60)


def measure_fleet(fleet, name, workers, count):
    db = fleet.store.db
    engine = open_engine(db, fleet.address)
    submit_runs(fleet, name, count)
    db.execute("delete from procrastinate_workers")
    started = begin_workers(fleet, workers)
    with fleet.store.transaction():
        db.execute("update runs set is_stuck = 0 where state = 'submitted'")
        for n in range(count):
            engine.wake(f"{name}-{n}")
        measured = Measured(fleet.address, "sexplang", [each.pid for each in started])
    measured.began = monotonic()
    asked = "select count(*) from runs where state = 'done' and id like ?"
    while db.execute(asked, (f"{name}-%",)).fetchone()[0] < count:
        sleep(0.02)
    measured.end(count, list_times(db, name))
    end_workers(started)
    return measured


def list_times(db, name):
    """The seconds of each run from the first commit of its driver to its end."""
    found = db.execute(
        "select ended, data from runs join entries on run = n and seq = 1 where id like ?",
        (f"{name}-%",),
    )
    firsts = [(ended, decompress(data).split(b"\n")[0]) for ended, data in found]
    return [ended - json.loads(line)["at"] for ended, line in firsts]


def measure_dbos(python, url, first, workers, count):
    with start_peers(workers, python, "dbos-runs", url, PLACES) as started:
        for at, each in enumerate(started):  # each has done something before
            each.say(-first - 10 * at - 10, PLACES)
            each.wait_for("done")
        measured = Measured(url, "dbos", [each.pid for each in started])
        spread(started, first, count)
        with psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(
                "select completed_at - created_at from dbos.workflow_status "
                "where split_part(workflow_uuid, '-', 2) <> '' "
                "and split_part(workflow_uuid, '-', 2)::int >= %s",
                [first],
            ).fetchall()
        return measured.end(count, [took / 1000 for (took,) in found])


def measure_insert(url, first, workers, count):
    with start_peers(workers, sys.executable, "insert", url, PLACES) as started:
        measured = Measured(url, "public", [each.pid for each in started])
        spread(started, first * EFFECTS, count * EFFECTS)
        return measured.end(count, [])


def spread(started, first, count):
    """Let each process do its share; return when all are done."""
    share, more = divmod(count, len(started))
    for at, each in enumerate(started):
        own = share + (at < more)
        each.say(first, own)
        first += own
    for each in started:
        each.wait_for("done")


def describe(name, workers, found):
    def told(get, form="{:.0f}", worst=max):
        return tell([get(each) for each in found], form, worst)

    each = found[-1]
    tables = ", ".join(f"{table} {rows:.2f}" for table, rows in sorted(each.tables.items()))
    print(
        f"{workers} x {name}: {told(lambda each: each.rate, worst=min)} runs/s; "
        f"p50 {told(lambda each: each.p50)}, p99 {told(lambda each: each.p99)} ms; "
        f"µs an effect: {told(lambda each: 1e6 / each.rate / EFFECTS)}, "
        f"processor {told(lambda each: each.own)} + server {told(lambda each: each.served)}; "
        f"an effect has {each.rows:.2f} rows ({tables}), {each.log:.0f} bytes of log",
        flush=True,
    )


def compare(fleet, url, python, count, times):
    for workers in (1, 2, 3):
        ours, dbos, bare = [], [], []
        for n in range(times):
            first = (workers * times + n) * 10 * count
            ours.append(measure_fleet(fleet, f"w{workers}n{n}", workers, count))
            if python is not None:
                dbos.append(measure_dbos(python, url, first, workers, count))
            bare.append(measure_insert(url, first, workers, count))
        for name, found in (("sexplang", ours), ("DBOS", dbos), ("insert", bare)):
            if found:
                describe(name, workers, found)
        for name, other in (("DBOS", dbos), ("insert", bare)):
            if other:
                walls = [o.rate / s.rate for s, o in zip(ours, other, strict=True)]
                works = [
                    (s.own + s.served) / (o.own + o.served)
                    for s, o in zip(ours, other, strict=True)
                ]
                print(
                    f"    sexplang to {name}: time {tell(walls)}, processor time {tell(works)}",
                    flush=True,
                )


def profile(fleet, url, count):
    """Print the statements of one worker by their number for a run."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create extension if not exists pg_stat_statements")
        submit_runs(fleet, "warm", 10)
        connection.execute("select pg_stat_statements_reset()")
        measured = measure_fleet(fleet, "profiled", 1, count)
        found = connection.execute(
            "select calls, total_exec_time, regexp_replace(query, '\\s+', ' ', 'g') "
            "from pg_stat_statements order by calls desc"
        ).fetchall()
    print(f"{count} runs on one worker: {measured.rate:.0f} runs/s")
    for calls, took, text in found:
        if calls >= count / 2:
            print(f"{calls / count:6.2f} a run, {took / calls * 1000:6.0f} µs: {text[:150]}")


def make_tables(url, python):
    """Make the tables of the peers in a database of their own; return its URL."""
    url = make_database(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table bare (n bigint primary key, data bytea not null)")
    if python is not None:
        with start_peers(1, python, "dbos-client", url, PLACES):
            pass
    return url


def main(words):
    count, times = read_number(words, "runs", 1000), read_number(words, "times", 3)
    settings = ["fsync=off"] if "nosync" in words else []
    python = None
    if "profile" in words:
        settings.append("shared_preload_libraries=pg_stat_statements")
    else:
        python = find_peers(words)
    with (
        serve_postgres(*settings) as url,
        TemporaryDirectory() as folder,
        serve_fleet(url, Path(folder)) as fleet,
    ):
        with (fleet.folder / "tools.py").open("a") as tools:
            tools.write(PLAIN)
        if "profile" in words:
            profile(fleet, url, count)
            return
        compare(fleet, make_tables(url, python), python, count, times)


if __name__ == "__main__":
    main(sys.argv[1:])
