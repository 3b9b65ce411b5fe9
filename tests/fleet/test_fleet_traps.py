"""What has gone wrong with engines before, by the numbers of the list of traps, and what must not
go wrong: workers that are killed and stopped, and tables that are lost."""

import asyncio
import runpy
import signal
import subprocess
import sys
from time import sleep

import psycopg
import pytest
from support.fleet_workers import LEASE, ROOT, STEPS, SUM

from sexplang.runtime.fleet import Work, open_engine, procrastinate_engine
from sexplang.runtime.fleet.procrastinate_engine import connect_options
from sexplang.runtime.journal.stored_journal import read_rows

pytestmark = pytest.mark.postgres

TABLES = (
    "procrastinate_jobs, procrastinate_workers, procrastinate_events, procrastinate_periodic_defers"
)


@pytest.fixture
def tables(address):
    """A connection to the tables of the engine, as an operator has it."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("set search_path = sexplang")
        yield connection


def check_steps(fleet, run_id="r"):
    """The run is done, each effect has one row, and at most those under way were done twice."""
    run = fleet.wait_for_state(run_id)
    rows = read_rows(fleet.store, run, whole=True).rows
    assert str(SUM) == run.value
    assert 60 == len(rows) == len({row.id for row in rows})
    assert {str(n) for n in range(1, 61)} == {what for what, _ in fleet.log()}


CLAIM = "select procrastinate_fetch_job_v2(array['run'], (select max(id) from old))"

_OLD = "with old as (select id from procrastinate_workers)"

INSIDE = {
    "claim": f"{_OLD} {CLAIM}",
    "finish": "select procrastinate_finish_job_v1(id, 'succeeded', true) from procrastinate_jobs",
    "give back": "select procrastinate_retry_job_v2(id, null, null, null, null) "
    "from procrastinate_jobs",
    "wake": "insert into procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args) "
    "values ('run', 'sexplang.drive', 'r', 'r', '{\"run\": \"r\"}')",
    "reap": f"select pg_advisory_xact_lock({procrastinate_engine.REAPER})",
}
"""What a worker is stopped behind, before its commit."""

BEFORE = {
    "claim": "select 1",
    "wake": "delete from procrastinate_jobs",
}
"""How the run stands then: its job is claimed, unless it waits or is gone."""


@pytest.mark.parametrize("place", INSIDE)
def test_trap_1_a_worker_is_stopped_inside_a_transaction(fleet, address, tables, place):
    """The server ends a connection that is silent in a transaction, and the run goes on."""
    fleet.submit(STEPS, "r")
    tables.execute("insert into procrastinate_workers (last_heartbeat) values ('2000-01-01')")
    tables.execute(BEFORE.get(place, INSIDE["claim"]))
    with psycopg.connect(address, **connect_options(LEASE)) as stopped:
        stopped.execute(INSIDE[place])
        fleet.begin()
        check_steps(fleet)
        with pytest.raises(psycopg.Error):
            stopped.execute("select 1")


def test_trap_2_a_stopped_worker_ends_the_job_of_another_one(fleet, tables):
    """The journal says that the run is open, so it is woken when its second driver dies too."""
    fleet.submit(STEPS, "r")
    fleet.begin()
    driver = fleet.wait_for_driver()
    fleet.begin()
    tables.execute(
        "select procrastinate_finish_job_v1(id, 'succeeded', true) from procrastinate_jobs"
    )
    driver.kill()

    check_steps(fleet)


def test_trap_2_a_job_of_a_dead_worker_is_another_one(fleet, tables, engine):
    """So its worker, woken up, has nothing to end."""
    fleet.submit(STEPS, "r")
    (old,) = tables.execute(
        "update procrastinate_jobs set status = 'doing', worker_id = null returning id"
    ).fetchone()
    fleet.once()

    check_steps(fleet)
    with pytest.raises(psycopg.errors.RaiseException):
        tables.execute("select procrastinate_finish_job_v1(%s, 'succeeded', true)", [old])


def test_trap_3_two_processes_look_for_dead_workers(tables, engine, address, store):
    """Each job is replaced once, and nobody fails."""
    for n in range(30):
        engine.wake(f"r{n}")
    tables.execute("update procrastinate_jobs set status = 'doing', worker_id = null")

    async def reap():
        async def drive(run):
            return None

        async with (
            procrastinate_engine._open_app(address, LEASE) as one,
            procrastinate_engine._open_app(address, LEASE) as other,
        ):
            claims = [
                procrastinate_engine._Claims(app, 1, Work(drive, lease=LEASE))
                for app in (one, other)
                for _ in range(5)
            ]
            await asyncio.gather(*[each.reap() for each in claims])

    asyncio.run(reap())
    found = tables.execute("select status, count(*) from procrastinate_jobs group by 1")
    assert [("todo", 30)] == found.fetchall()


def test_trap_4_a_run_is_answered_while_its_timer_waits(fleet, tables):
    """A timer has another lock than a wake-up."""
    fleet.submit('(race (ask-user "Pay?") (wait-until 99999999999))', "r", "--pause", "ask-user")
    fleet.begin()
    fleet.wait_for_state("r", "waiting")
    fleet.wait_for(
        lambda: tables.execute(
            "select 1 from procrastinate_jobs where queueing_lock = 'r@timer' and status = 'todo'"
        ).fetchone()
    )
    answered = fleet.command("runs", "answer", "r", "yes")

    assert 0 == answered.returncode, answered.stderr
    assert '"yes"' == fleet.wait_for_state("r").value


def test_trap_9_a_module_is_imported_twice(fleet):
    """As `__main__` and by its name. The tasks of the engine belong to a worker, not to a
    module."""
    fleet.submit('(ask-user "x")', "r")
    words = ["worker", "--once", "--store", fleet.address, "--lease", str(LEASE)]
    text = (
        "import runpy, sys, sexplang.__main__, sexplang.hosts.fleet.fleet_worker\n"
        "runpy.run_module('sexplang.hosts.fleet.fleet_worker', run_name='__main__')\n"
        "runpy.run_module('sexplang.runtime.fleet.procrastinate_engine', run_name='again')\n"
        f"sys.argv[1:] = {words!r}\n"
        "runpy.run_module('sexplang', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert 0 == done.returncode, done.stderr
    assert "waiting" == fleet.store.find("r").state and runpy


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_driver_of_a_run_is_lost(fleet, how):
    """Another one goes on. The first, woken up, commits nothing."""
    fleet.submit(STEPS, "r")
    fleet.begin()
    driver = fleet.wait_for_driver()
    fleet.begin()
    driver.send_signal(how)
    check_steps(fleet)
    if how == signal.SIGSTOP:
        entries = "select count(*) from entries"
        before = fleet.store.db.execute(entries).fetchone()
        driver.send_signal(signal.SIGCONT)
        fleet.wait_for(lambda: "run r: " in fleet.said(driver))
        assert before == fleet.store.db.execute(entries).fetchone()
        fleet.submit(STEPS, "again")
        check_steps(fleet, "again")


STOPPED = """
import sys, time
from sexplang.runtime.journal.run_store import open_store
store = open_store(sys.argv[1], lease=float(sys.argv[2]))
assert store.lock("r")
print("locked", flush=True)
"""

INSIDE_STATEMENTS = {
    "ClientWrite": """
store.db.execute("select repeat('x', 1000) from generate_series(1, 3000000)").fetchone()
""",
    "ClientRead": """
with store.db.connection.pipeline():
    store.db.execute("select 1")
    store.db.connection.pgconn.send_flush_request()
    store.db.connection.pgconn.flush()
    time.sleep(60)
""",
}
"""What a driver does, by what its server waits for: that it reads a long answer, or that it sends
the rest of several statements."""


@pytest.mark.parametrize("event", INSIDE_STATEMENTS)
def test_a_driver_is_stopped_inside_a_statement(fleet, address, tables, event):
    """No timeout of the server ends its connection; another worker does."""
    fleet.submit(STEPS, "r")
    words = [sys.executable, "-c", STOPPED + INSIDE_STATEMENTS[event], address, str(LEASE)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as driver:
        try:
            assert "locked\n" == driver.stdout.readline()
            asked = "select 1 from pg_stat_activity where state = 'active' and wait_event = %s"
            fleet.wait_for(lambda: tables.execute(asked, [event]).fetchone())
            driver.send_signal(signal.SIGSTOP)
            fleet.begin()
            check_steps(fleet)
        finally:
            driver.send_signal(signal.SIGCONT)
            driver.kill()


def test_all_tables_of_the_engine_are_emptied(fleet, tables):
    """They are filled again from the journal, and workers register again."""
    for id in ("r", "s", "t"):
        fleet.submit(STEPS, id)
    fleet.begin("--places", "1")
    fleet.wait_for_driver()
    tables.execute(f"truncate {TABLES}")

    for id in ("r", "s", "t"):
        check_steps(fleet, id)


def test_a_long_run_does_not_hold_up_the_engine(fleet, tables):
    """It fails without its tables, and is begun anew while the run goes on."""
    fleet.submit('(import "tools.py") (hold "x")', "long")
    worker = fleet.begin("--places", "2")
    fleet.wait_for_driver(1)
    tables.execute(f"truncate {TABLES}")
    fleet.wait_for(lambda: "the engine has failed" in fleet.said(worker))
    fleet.submit("(str 7)", "r")
    fleet.wait_for_state("r", seconds=3 * LEASE)
    sleep(LEASE)
    worker.send_signal(signal.SIGTERM)
    fleet.wait_for(lambda: "runs under way: 1;" in fleet.said(worker))
    (fleet.folder / "go x").touch()
    assert 0 == worker.wait(10)
    fleet.once()

    assert "done" == fleet.store.find("long").state and 1 == len(fleet.log())


@pytest.mark.parametrize("dropped", [TABLES, "procrastinate_workers"], ids=["all", "one"])
def test_tables_of_the_engine_are_dropped(fleet, tables, store, address, dropped):
    """A worker that begins makes them anew, whatever is left of them."""
    fleet.submit(STEPS, "r")
    tables.execute(f"drop table {dropped} cascade")
    assert open_engine(store.db, address, must_exist=True) is None
    fleet.once()

    check_steps(fleet)


def test_a_woken_driver_performs_no_finally_body(fleet):
    """It has lost its run, so what follows from the interruption is not performed by it."""
    steps = "(fold + 0 (map step (range 1 61)))"
    fleet.submit(f'(import "tools.py") (try {steps} (finally (step 100)))', "r")
    fleet.begin()
    driver = fleet.wait_for_driver()
    fleet.begin()
    driver.send_signal(signal.SIGSTOP)
    fleet.wait_for_state("r")
    driver.send_signal(signal.SIGCONT)
    fleet.wait_for(lambda: "run r: " in fleet.said(driver))

    assert ["100"] == [what for what, _ in fleet.log() if what == "100"]
