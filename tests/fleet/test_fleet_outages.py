"""Connections that are cut, a server that stops, slow commits, zombies and rolling restarts: real
workers, real signals. Nothing stands longer than three leases, and nothing is wrong."""

import json
import os
import signal
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

import psycopg
import pytest
from support.cutting_proxy import CuttingProxy
from support.fleet_workers import LEASE, serve_fleet
from support.lost_workers import (
    BOOTS,
    LEASES,
    OPEN,
    PLACES,
    SETTLED,
    WIDE,
    WORKERS,
    ask,
    begin_workers,
    check_wide,
    find_driver,
    new_fleet,
    wait_until_done,
)
from support.wide_server import WideServer

from sexplang.runtime.fleet import open_engine
from sexplang.runtime.journal.databases.postgresql import _key
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows

pytestmark = pytest.mark.postgres


@contextmanager
def cut_fleet(url, text="", latency=0.05):
    """Gives a server of models, a proxy, and a fleet whose workers use it."""
    with (
        WideServer(latency=latency, echoes=True) as server,
        CuttingProxy(url, text) as proxy,
        new_fleet(url, "outage") as fleet,
    ):
        fleet.address = proxy.address(fleet.address)
        yield server, proxy, fleet


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("update leaves set reply", 3),
        ("insert into entries", 1),
        pytest.param("update leaves set before", 3, marks=pytest.mark.long),
        pytest.param("sexplang_settled", 10, marks=pytest.mark.long),
        pytest.param("procrastinate_fetch_job", 2, marks=pytest.mark.long),
        pytest.param("procrastinate_finish_job", 2, marks=pytest.mark.long),
    ],
)
def test_an_answer_of_the_store_is_lost(postgres, text, times, count=100):
    """It has committed, and its client does not know."""
    with cut_fleet(postgres, text) as (server, proxy, fleet):
        workers = begin_workers(fleet, server)
        fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        find_driver(fleet, workers)
        fleet.wait_for(lambda: ask(fleet, SETTLED) >= count // 10)
        proxy.cut(times)
        at = monotonic()
        fleet.wait_for(lambda: proxy.cuts == times)
        seconds = wait_until_done(fleet, at)
        twice, reported = check_wide(fleet, server, count)
        boots = ask(fleet, BOOTS)
    print(f"{text}: {seconds:.1f} s, twice {twice}, reported {reported}, begun {boots}")
    assert seconds <= LEASES * LEASE


def drive_wide(fleet, server, count):
    """Let workers drive a wide run, which keeps its driver; return the seconds, how many requests
    were performed twice, and how many are reported."""
    workers = begin_workers(fleet, server)
    at = monotonic()
    fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
    find_driver(fleet, workers)
    boots = ask(fleet, BOOTS)
    seconds = wait_until_done(fleet, at)
    assert boots == ask(fleet, BOOTS)
    return seconds, *check_wide(fleet, server, count)


@pytest.mark.long
@pytest.mark.parametrize("milliseconds", [50, 200])
def test_each_round_trip_is_slow(postgres, milliseconds):
    """The run is exact, and keeps its driver."""
    with cut_fleet(postgres) as (server, proxy, fleet):
        proxy.seconds = milliseconds / 2000
        seconds, twice, reported = drive_wide(fleet, server, 60)
    print(f"+{milliseconds} ms: {seconds:.1f} s, twice {twice}, reported {reported}")


SLOW = """
create function slow() returns trigger language plpgsql as $$
begin
    if random() < 0.05 then perform pg_sleep(0.5 + random() / 2); end if;
    return null;
end $$;
create constraint trigger slow after insert or update on leaves deferrable initially deferred
for each row execute function slow();
"""


@pytest.mark.long
def test_some_commits_are_slow(postgres):
    """Leases hold: the run keeps its driver, and nothing is performed twice."""
    with wide_fleet(postgres, latency=0.05) as (server, fleet):
        fleet.store.db.execute(SLOW)
        seconds, *twice = drive_wide(fleet, server, 200)
    assert [0, 0] == twice
    print(f"slow commits: {seconds:.1f} s")


@contextmanager
def wide_fleet(url, latency=0.02):
    """Gives a server of models, and a fleet."""
    with WideServer(latency=latency, echoes=True) as server, new_fleet(url, "outage") as fleet:
        yield server, fleet


def list_processes(pid):
    """A process and its children."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [pid, *(int(each) for task in tasks for each in task.read_text().split())]


def stop_server(cluster, url, seconds):
    """Stop all processes of a server, and wake them."""
    file = Path(url.partition("host=")[2]) / "data" / "postmaster.pid"
    first = int(file.read_text().split()[0])
    os.kill(first, signal.SIGSTOP)  # it begins no others, and takes none away, from here on
    pids = list_processes(first)
    for each in pids:
        os.kill(each, signal.SIGSTOP)
    sleep(seconds)
    for each in reversed(pids):
        os.kill(each, signal.SIGCONT)


def restart_server(cluster, url, how):
    begin, end = cluster
    end(how)
    begin()


OUTAGES = [
    pytest.param(stop_server, 3.0, id="stopped", marks=pytest.mark.long),
    pytest.param(stop_server, 8.0, id="stopped long", marks=pytest.mark.long),
    pytest.param(restart_server, signal.SIGINT, id="fast", marks=pytest.mark.long),
    pytest.param(restart_server, signal.SIGQUIT, id="immediate"),
]


@pytest.mark.parametrize(("lose", "how"), OUTAGES)
def test_the_server_is_gone_in_a_wide_run(cluster, tmp_path, lose, how, count=200):
    """From its return, all is done within three leases."""
    url = cluster[0]()
    with WideServer(latency=0.02, echoes=True) as server, serve_fleet(url, tmp_path) as fleet:
        open_engine(fleet.store.db, url)
        workers = begin_workers(fleet, server)
        fleet.submit(WIDE.format(count=count), "r", "--parallel", str(count))
        find_driver(fleet, workers)
        fleet.wait_for(lambda: ask(fleet, SETTLED) >= count // 4)
        waiting = ask(fleet, OPEN)
        fleet.store.close()
        lose(cluster, url, how)
        at = monotonic()
        fleet.store = open_store(fleet.address)
        seconds = wait_until_done(fleet, at)
        twice, reported = check_wide(fleet, server, count)
        assert all(each.poll() is None for each in workers)
    print(f"{lose.__name__} {how}: {seconds:.1f} s with {waiting} open, {twice=} {reported=}")
    assert seconds <= LEASES * LEASE


def test_a_worker_takes_its_runs_again(cluster, tmp_path, count=24):
    """It has lost them with the server, in the midst of waits for replies of others."""
    begin, end = cluster
    url = begin()
    with WideServer(latency=1.0, echoes=True) as server, serve_fleet(url, tmp_path) as fleet:
        open_engine(fleet.store.db, url)
        model = f"{server.url}#m"
        given = ("--places", "4", "--model", model, "--offers", f"model:{model}")
        workers = [fleet.begin(*given) for _ in range(2)]
        for n in range(4):
            fleet.submit(WIDE.format(count=count), f"r{n}", "--parallel", str(count))
        fleet.wait_for(lambda: ask(fleet, SETTLED) > 0)
        fleet.store.close()
        end()
        sleep(1.5 * LEASE)
        begin()
        fleet.store = open_store(fleet.address)
        for n in range(4):
            fleet.wait_for_state(f"r{n}")
        assert any("the store is lost" in fleet.said(each) for each in workers)


@pytest.mark.long
def test_a_driver_wakes_up_and_the_next_one_is_killed(postgres, count=300):
    """A third one goes on."""
    with wide_fleet(postgres) as (_, fleet):
        workers = [fleet.begin() for _ in range(3)]
        fleet.submit(f'(import "tools.py") (fold + 0 (map step (range 0 {count})))', "r")
        first = find_driver(fleet, workers)
        fleet.wait_for(lambda: len(fleet.log()) >= 5)
        first.send_signal(signal.SIGSTOP)
        second = find_driver(fleet, [each for each in workers if each is not first])
        first.send_signal(signal.SIGCONT)
        fleet.wait_for(lambda: "run r: " in fleet.said(first))  # it has ended the job, it thinks
        boots = ask(fleet, BOOTS)
        second.kill()
        at = monotonic()
        fleet.wait_for(lambda: ask(fleet, BOOTS) > boots)
        taken = monotonic() - at
        run = fleet.wait_for_state("r")
        assert str(sum(range(count)) * 10) == run.value
        assert count == len(read_rows(fleet.store, run, whole=True).rows)
        times = Counter(what for what, _ in fleet.log())
        shown = json.loads(fleet.command("runs", "show", "r", "--json").stdout)
        twice = sum(times.values()) - len(times)
        assert len(times) == count and twice <= len(shown["doubts"]) + 2, (twice, shown["doubts"])
    print(f"a zombie's run: taken in {taken:.1f} s, {twice} steps performed twice")
    assert taken <= LEASES * LEASE


@pytest.mark.long
def test_a_performer_wakes_up_and_the_next_one_is_killed(postgres, count=12):
    """All are answered, whichever of the three performs them."""
    latency = 1.5
    with wide_fleet(postgres, latency) as (server, fleet):
        workers = begin_workers(fleet, server, "--fleet-limit", f"{server.url}#m=in_flight:40")
        fleet.submit(WIDE.format(count=count), "r", "--parallel", "100")
        driver = find_driver(fleet, workers)
        first, second = [each for each in workers if each is not driver]
        held = "select count(*) from leaves where claims > 0 and settled is null"
        fleet.wait_for(lambda: ask(fleet, held) == count)
        first.send_signal(signal.SIGSTOP)
        again = "select count(*) from leaves where claims > 1"
        fleet.wait_for(lambda: ask(fleet, again) > 0)
        first.send_signal(signal.SIGCONT)
        sleep(LEASE / 4)
        second.kill()
        seconds = wait_until_done(fleet, monotonic())
        twice, reported = check_wide(fleet, server, count)
    print(f"a zombie's requests: {seconds:.1f} s, {twice=} {reported=}")
    assert seconds <= LEASES * LEASE


WIDES, NARROWS, ROUNDS, WIDTH = 40, 20, 10, 8

SPOKEN = WIDE.replace("(str n)", '(str "{run}-" n)').replace("0 {count}", "{first} {last}")


class Sampler:
    """Looks ten times a second at who drives each run, and which jobs there are."""

    def __init__(self, address, names):
        self.keys = {
            (number >> 32, number & (1 << 32) - 1): name
            for name in names
            for number in [_key(name) & (1 << 64) - 1]
        }
        self.since, self.longest, self.worst, self.looks = {}, 0.0, "", 0
        self._stop, self._connection = Event(), psycopg.connect(address, autocommit=True)
        self._thread = Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self._connection.close()

    def _run(self):
        while not self._stop.wait(0.1):
            self._look()

    def _list(self, statement):
        return set(self._connection.execute(statement).fetchall())

    def _look(self):
        locks = self._list(
            "select classid::bigint, objid::bigint from pg_locks where locktype = 'advisory'"
        )
        jobs = self._list(
            # A run that is handed back is a timer first, whose time has come.
            "select args->>'run' from sexplang.procrastinate_jobs where task_name in "
            "('sexplang.drive', 'sexplang.look') and (status = 'todo' and coalesce(scheduled_at, "
            "now()) <= now() or status = 'doing' and worker_id in "
            "(select id from sexplang.procrastinate_workers))"
        )
        states = self._list(
            "select id from sexplang.runs where state in ('running', 'interrupted') and boots > 1"
        )
        owned = {self.keys[each] for each in locks if each in self.keys} | {e for (e,) in jobs}
        alone = {id for (id,) in states} - owned
        now = monotonic()
        self.looks += 1
        self.since = {id: self.since.get(id, now) for id in alone}
        for id, since in self.since.items():
            if now - since > self.longest:
                self.longest, self.worst = now - since, id


@pytest.mark.long
def test_all_workers_are_replaced_under_load(postgres):
    """Twice round, one after the other: each effect is performed once, each run is done, and none
    is without a driver and without a job for a lease."""
    names = [*(f"w{n}" for n in range(WIDES)), *(f"n{n}" for n in range(NARROWS))]
    with wide_fleet(postgres, 0.2) as (server, fleet):
        model = f"{server.url}#m"
        words = ("--places", str(PLACES), "--model", model, "--offers", f"model:{model}")
        for n in range(WIDES):
            rounds = " ".join(
                SPOKEN.format(run=n, first=WIDTH * i, last=WIDTH * (i + 1)) for i in range(ROUNDS)
            )
            fleet.submit(f"(list {rounds})", f"w{n}")
            if n < NARROWS:
                steps = f"(range {1000 * n} {1000 * n + 40})"
                fleet.submit(f'(import "tools.py") (fold + 0 (map step {steps}))', f"n{n}")
        with Sampler(fleet.address, names) as sampler:
            workers, at = begin_workers(fleet, server), monotonic()
            sleep(1.0)
            for n in range(2 * WORKERS):
                workers[n].send_signal(signal.SIGTERM)
                assert 0 == workers[n].wait(30), fleet.said(workers[n])
                workers.append(fleet.begin(*words))
                fleet.wait_for(lambda: "5 places" in fleet.said(workers[-1]))
            rolled = monotonic() - at
            open_runs = ask(fleet, "select count(*) from runs where state <> 'done'")
            for name in names:
                fleet.wait_for_state(name)
            seconds = monotonic() - at
        asked = [f"{n}-{i}" for n in range(WIDES) for i in range(ROUNDS * WIDTH)]
        assert Counter(asked) == Counter(text for text, _, _ in server.calls())
        steps = [str(1000 * n + i) for n in range(NARROWS) for i in range(40)]
        assert Counter(steps) == Counter(what for what, _ in fleet.log())
        assert all(fleet.store.find(name).state == "done" for name in names)
    print(
        f"rolled in {rolled:.1f} s with {open_runs} runs left, done in {seconds:.1f} s; longest "
        f"gap {sampler.longest:.2f} s ({sampler.worst}) in {sampler.looks} looks"
    )
    assert sampler.looks > 50
    assert sampler.longest <= LEASE
