"""Workers that are lost while a wide run is driven, and the laws that hold then.

Each function drives one run with workers of its own, in a new database, and gives what it has seen
of the loss; a law that does not hold is an AssertionError.
"""

import json
import signal
from bisect import bisect_right
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import psycopg
from support.fleet_workers import LEASE, serve_fleet
from support.wide_server import WideServer

from sexplang.runtime.fleet import open_engine
from sexplang.runtime.fleet.leaves import list_late
from sexplang.runtime.journal.stored_journal import read_rows
from sexplang.terms.classes.node import frozen

WORKERS, PLACES = 3, 5

LEASES = 3
"""Leases after which a run is done whose worker was lost."""

PLAIN = """

@sexplang.operation(replay="safe")
def plain(n: int) -> int:
    return n
"""

SAY = '(get-in (model {{messages: [{{role: "user" content: (str n)}}]}}) ["content" 0 "text"])'

WIDE = f"(par-map (lambda (n) {SAY}) (range 0 {{count}}))"

PAST = (
    '(import "tools.py")\n(define past (fold + 0 (map plain (range 0 {past}))))\n'
    f'(hold "past")\n{WIDE}'
)


@frozen
class Loss:
    """What was seen of a loss."""

    seconds: float
    """Seconds from the loss to the end of the run."""
    taken: float | None = None
    """Seconds until another driver had the run."""
    twice: int = 0
    """Requests that the server got twice."""
    reported: int = 0
    """Requests that are listed as perhaps performed twice."""
    open: int = 0
    """Requests that waited for a reply at the loss."""
    most: int = 0
    """The most calls in a window."""
    flying: int = 0
    """The most calls at once."""


def name_database(url, name):
    """Return the URL of another database of the same server."""
    return url.replace("/postgres?", f"/{name}?")


@contextmanager
def new_database(url, name, template="template1"):
    """Gives the URL of a new database, a copy of another one."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"create database {name} template {template}")
        try:
            yield name_database(url, name)
        finally:
            connection.execute(f"drop database {name} with (force)")


@contextmanager
def new_fleet(url, name, template="template1"):
    """Gives a fleet in a new database."""
    with (
        new_database(url, name, template) as address,
        TemporaryDirectory() as folder,
        serve_fleet(address, Path(folder)) as fleet,
    ):
        with (fleet.folder / "tools.py").open("a") as tools:
            tools.write(PLAIN)
        open_engine(fleet.store.db, address)
        yield fleet


def ask(fleet, statement, *arguments):
    """Return the first column of the first row of the answer to a question to the database."""
    found = fleet.store.db.execute(statement, arguments).fetchone()
    return None if found is None else found[0]


_READY = (
    "select count(*) from procrastinate_workers where last_heartbeat > now() - interval '1 second'"
)


def begin_workers(fleet, server, *words):
    """Begin workers that offer the model of a server; return their processes when all are
    there."""
    model = f"{server.url}#m"
    given = ("--places", str(PLACES), "--model", model, *(words or ("--offers", f"model:{model}")))
    workers = [fleet.begin(*given) for _ in range(WORKERS)]
    # Each is there twice: for runs and for requests.
    fleet.wait_for(lambda: ask(fleet, _READY) == 2 * WORKERS)
    return workers


def find_driver(fleet, workers, run_id="r"):
    """Return the worker that drives a run, when one does."""

    def find():
        said = f"run {run_id} goes on"
        return next((each for each in workers if said in fleet.said(each)), None)

    return fleet.wait_for(find)


SETTLED = "select count(*) from leaves where settled is not null"

OPEN = "select count(*) from leaves where delivered is null"

BOOTS = "select boots from runs where id = 'r'"

KEPT = (
    "select md5(string_agg(each, ',')) from ("
    "select md5(entries::text) as each from entries union all "
    "select md5(runs::text) from runs union all "
    "select md5(snapshots::text) from snapshots order by 1) as kept"
)
"""A digest of all that runs have committed."""


def wait_until_done(fleet, at):
    """Wait until the run is done; return the seconds since `at`."""
    asked = "select state from runs where id = 'r'"
    fleet.wait_for(lambda: ask(fleet, asked) not in ("submitted", "running", "interrupted"))
    seconds = monotonic() - at
    assert fleet.store.find("r").state == "done", fleet.store.find("r")
    return seconds


def wake_in_vain(fleet, process):
    """Wake a stopped worker when the run is done; it commits nothing, and settles nothing."""
    before = ask(fleet, KEPT)
    now = ask(fleet, f"select {fleet.store.db.clock}")
    process.send_signal(signal.SIGCONT)
    fleet.wait_for(lambda: ask(fleet, _READY) == 2 * sum(is_alive(e) for e in fleet.processes))
    sleep(LEASE / 2)
    assert before == ask(fleet, KEPT), "the stopped worker has committed something"
    assert ask(fleet, "select count(*) from leaves where settled > ?", now) == 0


def is_alive(process):
    return process.poll() is None


def check_wide(fleet, server, count, before=()):
    """The result is exact, each effect has one row, and what was performed twice is reported.
    Return how many were, and how many are reported."""
    run = fleet.store.find("r")
    value = " ".join([f'"{n}"' for n in range(count)])
    assert run.value == f"[{value}]", run.value
    rows = read_rows(fleet.store, run, whole=True).rows
    assert len(rows) == len({row.id for row in rows}) == count + len(before)
    asked = {row.id: row.arguments[0]["messages"][0]["content"] for row in rows[len(before) :]}
    assert Counter(asked.values()) == Counter(map(str, range(count)))
    assert [row.operation for row in rows[: len(before)]] == list(before)
    done = Counter(text for text, _, _ in server.calls())
    shown = json.loads(fleet.command("runs", "show", "r", "--json").stdout)
    reported = {each["id"] for each in shown["doubts"]}
    twice = {text for text, times in done.items() if times > 1}
    assert done.keys() == set(asked.values())
    assert twice <= {asked.get(id) for id in reported}, twice
    assert {each["id"] for each in list_late(fleet.store.db, run)} <= reported
    assert [] == shown["carried"]
    return len(twice), len(reported)


def check_leases(loss):
    """It is done within three leases."""
    assert loss.seconds <= LEASES * LEASE, f"a lease has {LEASE:.0f} s: {loss}"
    return loss


def lose_performers(url, name, count=1000):
    """One worker is killed and one is stopped, when half of a run's requests are performed."""
    with WideServer(latency=0.02, echoes=True) as server, new_fleet(url, name) as fleet:
        workers = begin_workers(fleet, server)
        fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        driver = find_driver(fleet, workers)
        first, second = [each for each in workers if each is not driver]
        fleet.wait_for(lambda: ask(fleet, SETTLED) >= count // 2)
        waiting = ask(fleet, OPEN)
        first.kill()
        second.send_signal(signal.SIGSTOP)
        seconds = wait_until_done(fleet, monotonic())
        check_wide(fleet, server, count)
        wake_in_vain(fleet, second)
        twice, reported = check_wide(fleet, server, count)
    return check_leases(Loss(seconds, None, twice, reported, waiting))


def lose_driver(
    url, name, how, count=400, *, template="template1", before=(), wakes_early=False, prepare=None
):
    """The driver of a run with so many open branches is killed or stopped. `before` are the
    operations of its past effects, `template` a database where it has them. A stopped driver is
    woken when the run is done, or `wakes_early`, as soon as another one has it."""
    with WideServer(latency=0.1, echoes=True) as server, new_fleet(url, name, template) as fleet:
        (fleet.folder / "go past").touch()
        if prepare is not None:
            prepare(fleet)
        workers = begin_workers(fleet, server)
        if not before:
            fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        driver = find_driver(fleet, workers)
        fleet.wait_for(lambda: ask(fleet, SETTLED) >= count // 10)
        boots, waiting = ask(fleet, BOOTS), ask(fleet, OPEN)
        assert waiting >= count // 2, waiting
        driver.send_signal(how)
        at = monotonic()
        fleet.wait_for(lambda: ask(fleet, BOOTS) > boots)
        taken = monotonic() - at
        if wakes_early:
            driver.send_signal(signal.SIGCONT)
        seconds = wait_until_done(fleet, at)
        assert ask(fleet, BOOTS) == boots + 1
        check_wide(fleet, server, count, before)
        if how == signal.SIGSTOP:
            wake_in_vain(fleet, driver)
            assert "run r: " in fleet.said(driver)
        twice, reported = check_wide(fleet, server, count, before)
    return check_leases(Loss(seconds, taken, twice, reported, waiting))


@contextmanager
def past_database(url, name, past, count=400):
    """Gives the name of a database in which a run has so many past effects and no driver. The
    branches follow."""
    with new_fleet(url, name) as fleet:
        fleet.submit(PAST.format(past=past, count=count), "r", "--parallel", str(count))
        worker = fleet.begin("--model", "http://127.0.0.1:9#m")
        fleet.wait_for(fleet.log, 60 + past / 100)
        sleep(1.0)
        worker.kill()
        worker.wait()
        fleet.store.close()
        yield name


def list_past(past):
    """The operations of the past effects of a run."""
    return [*["plain"] * past, "hold"]


def forget_snapshot(fleet):
    """A run without one is folded from its beginning."""
    fleet.store.db.execute("delete from snapshots")


def list_windows(calls, window=5.0):
    """Return the most calls that begin in a window, and the most that are open at once."""
    starts = sorted(began for _, began, _ in calls)
    ends = sorted(end for _, _, end in calls)
    most, first = 0, 0
    for at, each in enumerate(starts):
        while starts[first] <= each - window:
            first += 1
        most = max(most, at + 1 - first)
    flying = max(bisect_right(starts, at) - bisect_right(ends, at) for at in starts)
    return most, flying


LIMIT, IN_FLIGHT = 60, 10


def lose_limited(url, name, takes_driver=False, count=100):
    """A worker is killed while a run makes its calls under a limit: 10 in flight, and 60 in five
    seconds."""
    with WideServer(latency=0.2, echoes=True) as server, new_fleet(url, name) as fleet:
        bounds = f"{server.url}#m=in_flight:{IN_FLIGHT},calls:{LIMIT}/5s"
        workers = begin_workers(fleet, server, "--fleet-limit", bounds)
        fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        driver = find_driver(fleet, workers)
        fleet.wait_for(lambda: ask(fleet, SETTLED) >= count // 4)
        lost = next(each for each in workers if (each is driver) == takes_driver)
        waiting = ask(fleet, OPEN)
        lost.kill()
        seconds = wait_until_done(fleet, monotonic())
        twice, reported = check_wide(fleet, server, count)
        most, flying = list_windows(server.calls())
    assert most <= LIMIT, f"{most} calls in a window"
    assert flying <= IN_FLIGHT, f"{flying} in flight"
    return Loss(seconds, None, twice, reported, waiting, most, flying)


def lose_waiting_driver(url, name, count=6):
    """The driver is stopped while it only waits, and another one takes all replies. Woken up, it
    waits for none of them."""
    with WideServer(latency=1.5 * LEASE, echoes=True) as server, new_fleet(url, name) as fleet:
        workers = begin_workers(fleet, server, "--fleet-limit", f"{server.url}#m=in_flight:40")
        fleet.submit(WIDE.format(count=count), "r", "--parallel", "100")
        driver = find_driver(fleet, workers)
        begun = "select count(*) from leaves where claims > 0"
        fleet.wait_for(lambda: ask(fleet, begun) == count)
        driver.send_signal(signal.SIGSTOP)
        wait_until_done(fleet, monotonic())
        wake_in_vain(fleet, driver)
        fleet.wait_for(lambda: "run r: " in fleet.said(driver), LEASES * LEASE)
