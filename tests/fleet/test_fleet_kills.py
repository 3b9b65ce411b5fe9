"""Leaves whose workers are killed, stopped or cut off."""

import json
import os
import signal
import threading
from collections import Counter
from time import monotonic, sleep

import psycopg
import pytest
from support.carried_runs import drive_carried
from support.command import sexplang as command
from support.leaf_worker import worker_processes

from sexplang.runtime.fleet import open_engine
from sexplang.runtime.fleet.leaves import list_late
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows

pytestmark = pytest.mark.postgres

WIDE = '(par-map (lambda (n) (tool "look" {{n: n}})) (range 0 {count}))'

LEASE = 2.0


def wait_for(is_true, seconds=20):
    """Wait until something is true."""
    until = monotonic() + seconds
    while not is_true():
        assert monotonic() < until
        sleep(0.01)


def logged(log):
    """How often each call was performed to its end."""
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(line.split()[0] for line in lines)


@pytest.fixture
def carry(address):
    """Drives a wide run in a thread, all of whose requests are carried."""
    open_store(address).close()

    class Driven(threading.Thread):
        def __init__(self, count, **given):
            super().__init__(daemon=True)
            self.text, self.given, self.value = WIDE.format(count=count), given, None
            self.seconds = 0.0

        def run(self):
            began = monotonic()
            self.value = drive_carried(
                self.text,
                address,
                "r",
                lambda db: open_engine(db, address),
                **{"declared": {"tool:look": "safe"}, **self.given},
            )
            self.seconds = monotonic() - began

    return Driven


def rows_of(address):
    store = open_store(address)
    try:
        run = store.find("r")
        return read_rows(store, run, whole=True).rows, list_late(store.db, run)
    finally:
        store.close()


@pytest.mark.parametrize(
    "count",
    [150, pytest.param(1000, marks=[pytest.mark.long])],
)
def test_workers_are_killed_and_stopped(address, carry, tmp_path, count):
    """Each leaf is committed once; those that were performed twice are reported."""
    log = tmp_path / "log"
    given = {"store": address, "log": str(log), "lease": LEASE, "queues": ["tool:look"]}
    driven = carry(count)
    with worker_processes(3, **given) as (first, second, _):
        driven.start()
        wait_for(lambda: logged(log).total() >= count // 4)
        first.kill()
        second.send_signal(signal.SIGSTOP)
        at = monotonic()
        driven.join(60)
        seconds = monotonic() - at
        assert not driven.is_alive()
        second.send_signal(signal.SIGCONT)
        sleep(1.0)
    rows, late = rows_of(address)
    done = logged(log)
    shown = json.loads(command("runs", "show", "r", "--json", "--store", address).stdout)
    twice = {n for n, times in done.items() if times > 1}
    reported = {each["id"].split(".")[1] for each in late}

    assert [n * 10 for n in range(count)] == list(driven.value)
    assert count == len({row.id for row in rows}) == len(rows)
    assert twice <= reported and len(done) == count
    assert sorted(each["id"] for each in late) == sorted(each["id"] for each in shown["doubts"])
    assert [] == shown["carried"] and late == shown["late"]
    print(
        f"{count} leaves: {seconds:.1f} s after the kill, {len(twice)} twice, {len(late)} reported"
    )


def test_a_tool_whose_worker_is_lost_is_in_doubt(address, carry, tmp_path):
    """Nobody says that it may be called twice, so it is not."""
    log = tmp_path / "log"
    given = {"store": address, "log": str(log), "lease": 1.0, "queues": ["tool:look"]}
    driven = carry(1, declared={})
    driven.text = f"(attempt {driven.text} 'lost)".replace("'lost", '"lost"')
    with worker_processes(1, seconds=30, **given) as (first,):
        driven.start()
        wait_for(lambda: is_begun(address))
        first.kill()
        with worker_processes(1, **given):
            driven.join(20)

    rows, late = rows_of(address)
    assert ("lost", [], {}) == (driven.value, late, logged(log))
    assert ["in-doubt"] == [each.reply.fields["reason"] for each in rows]


def is_begun(address):
    with psycopg.connect(address) as connection:
        asked = "select count(*) from sexplang.leaves where claims > 0"
        return connection.execute(asked).fetchone()[0]


def test_all_tables_of_the_engine_are_emptied(address, carry, tmp_path):
    """The journal is the truth: what is owed is carried again."""
    log = tmp_path / "log"
    given = {"store": address, "log": str(log), "lease": LEASE, "queues": ["tool:look"]}
    driven = carry(100)
    with worker_processes(2, **given):
        driven.start()
        wait_for(lambda: logged(log).total() >= 20)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(
                "truncate sexplang.procrastinate_jobs, sexplang.procrastinate_workers cascade"
            )
        at = monotonic()
        driven.join(30)
        seconds = monotonic() - at

    assert [n * 10 for n in range(100)] == list(driven.value)
    assert {1} == {*logged(log).values()} and [] == rows_of(address)[1]
    print(f"emptied: {seconds:.1f} s")


def test_a_driver_that_is_killed_finds_its_leaves(address, tmp_path):
    """Those that are settled are delivered, open ones awaited; none is performed anew."""
    log = tmp_path / "log"
    open_store(address).close()
    given = {"store": address, "log": str(log), "lease": LEASE, "queues": ["tool:look"]}
    text = WIDE.format(count=100)

    def engine(db):
        return open_engine(db, address)

    with worker_processes(2, **given):
        child = os.fork()
        if child == 0:
            try:
                drive_carried(text, address, "r", engine)
            finally:
                os._exit(0)
        wait_for(lambda: logged(log).total() >= 30)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        value = drive_carried(text, address, "r", engine, is_resumed=True)

    assert [n * 10 for n in range(100)] == list(value)
    assert {1} == {*logged(log).values()} and 100 == len(logged(log))
    assert [] == rows_of(address)[1]


@pytest.mark.parametrize("times", [1, 3])
def test_connections_that_wait_for_replies_are_lost(address, carry, tmp_path, times):
    """The watch connects again, and looks for what it has missed."""
    log = tmp_path / "log"
    given = {"store": address, "log": str(log), "lease": LEASE, "queues": ["tool:look"]}
    driven = carry(60)
    with worker_processes(1, seconds=0.2, **given), psycopg.connect(address) as connection:
        connection.autocommit = True
        driven.start()
        for number in range(times):
            wait_for(lambda n=number: logged(log).total() >= 10 * (n + 1))
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where pid <> "
                "pg_backend_pid() and application_name = 'sexplang' and (query like 'listen%' "
                "or query like '%from leaves where run%')"
            )
        driven.join(30)

    assert [n * 10 for n in range(60)] == list(driven.value)
