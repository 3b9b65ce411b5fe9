"""Workers and their server: restarts of either, and addresses that are wrong."""

import signal
import subprocess
import sys

import psycopg
import pytest
from support.command import sexplang as command
from support.fleet_workers import ROOT, STEPS, SUM, serve_fleet

import sexplang
from sexplang.runtime.fleet import open_engine
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_the_server_is_restarted(cluster, tmp_path, how):
    """Workers connect again, and the run goes on from its last commit."""
    begin, end = cluster
    address = begin()
    with serve_fleet(address, tmp_path) as fleet:
        fleet.submit(STEPS, "r")
        worker = fleet.begin()
        fleet.wait_for_driver()
        fleet.store.close()
        end(how)
        begin()
        fleet.store = open_store(address)
        run = fleet.wait_for_state("r")
        rows = read_rows(fleet.store, run, whole=True).rows
        assert (str(SUM), 60) == (run.value, len(rows))
        assert worker.poll() is None, fleet.said(worker)


def test_workers_are_restarted_one_after_the_other(fleet):
    """Nothing is lost, and nothing is done twice."""
    for n in range(6):
        fleet.submit(f'(import "tools.py") (fold + {n} (map step (range 1 61)))', f"r{n}")
    workers = [fleet.begin("--places", "2") for _ in range(3)]
    fleet.wait_for(lambda: all("places" in fleet.said(each) for each in workers))
    fleet.wait_for(lambda: len({pid for _, pid in fleet.log()}) >= 2)
    for n, worker in enumerate(workers):
        worker.send_signal(signal.SIGTERM)
        assert 0 == worker.wait(20), fleet.said(worker)
        if n < 2:
            fleet.begin("--places", "2")
    for n in range(6):
        assert str(18300 + n) == fleet.wait_for_state(f"r{n}").value

    assert 360 == len(fleet.log())


def test_answers_from_python_wake_a_worker(fleet):
    fleet.submit('(str (ask-user "Pay?") "!")', "r")
    fleet.begin()
    fleet.wait_for_state("r", "waiting")
    sexplang.answer("r", "yes", store=fleet.address)

    assert '"yes!"' == fleet.wait_for_state("r").value


WRONG = [
    (lambda url: url.replace("/postgres?", "/nowhere?"), "= hint: make it: createuser"),
    (lambda url: url.replace("host=", "host=/nowhere"), "No such file"),
    (lambda url: url.replace("sexplang@", "nobody:secret@"), "nobody"),
    (lambda url: url + "&colour=red", "cannot be read"),
    (lambda url: "postgresq://db/runs", "no store begins with `postgresq:`"),
    (lambda url: "postgresql:/db/runs", "no store begins with `postgresql:`"),
]


@pytest.mark.parametrize("words", [("worker", "--once"), ("submit", "-e", "1")], ids=["w", "s"])
@pytest.mark.parametrize(("change", "said"), WRONG, ids=[*"abcdef"])
def test_a_wrong_address_is_one_sentence(postgres, words, change, said):
    done = command(*words, "--store", change(postgres))

    assert 1 == done.returncode and said in done.stderr, done.stderr
    assert "secret" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("worker", "--once"), ("submit", "-e", "1")], ids=["w", "s"])
def test_tables_of_other_versions_are_refused(address, words):
    """Those of a newer version of sexplang, and those of another version of the engine."""
    store = open_store(address)
    open_engine(store.db, address)
    store.close()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("update sexplang.engine set digest = 'x', release = '3.0.0'")
        engine = command(*words, "--store", address)
        connection.execute("update sexplang.version set version = 99")
        newer = command(*words, "--store", address)
        connection.execute("drop schema sexplang cascade")

    assert 1 == engine.returncode and "procrastinate" in engine.stderr and "3.0.0" in engine.stderr
    assert 1 == newer.returncode and "newer version" in newer.stderr


FULL = (
    "create function fill() returns trigger language plpgsql as $$ begin "
    "raise exception 'could not extend file' using errcode = 'disk_full'; end $$",
    "create trigger full_disk before insert on entries execute function fill()",
)


def test_a_full_disk_holds_a_run_up(fleet):
    """The run is not lost, and goes on by itself when there is room."""
    fleet.submit(STEPS, "r")
    worker = fleet.begin()
    fleet.wait_for_driver()
    with psycopg.connect(fleet.address, autocommit=True) as connection:
        connection.execute("set search_path = sexplang")
        for statement in FULL:
            connection.execute(statement)
        fleet.wait_for(lambda: "could not extend file" in fleet.said(worker))
        assert fleet.store.find("r").state in ("running", "interrupted")
        connection.execute("drop trigger full_disk on entries")
        assert str(SUM) == fleet.wait_for_state("r").value
        connection.execute("drop function fill")

    assert "make room on the server" in fleet.said(worker) and len(fleet.log()) <= 62


UNFIT = {
    "foreign": ("create schema sexplang; create table sexplang.runs (a int)", "tables of others"),
    "closed": ("revoke create on database unfit from public", "create schema sexplang author"),
    "read-only": ("alter database unfit set default_transaction_read_only = on", "is read-only"),
}
"""What is done to a database, and what a person is told."""


@pytest.mark.parametrize("what", UNFIT)
def test_an_unfit_database_is_one_sentence(postgres, what):
    """For each command that needs a store; a run says so and goes on."""
    done_to, said = UNFIT[what]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create database unfit")
        connection.execute("create role nobody_else login")
        address = postgres.replace("/postgres?", "/unfit?")
        with psycopg.connect(address, autocommit=True) as other:
            other.execute(done_to)
        address = address.replace("sexplang@", "nobody_else@") if what == "closed" else address
        commands = (("worker", "--once"), ("submit", "-e", "1"), ("runs", "list"))
        done = [command(*words, "--store", address) for words in commands]
        ran = command("run", "-e", "(sleep 0.01)", "--store", address)
        connection.execute("drop database unfit")
        connection.execute("drop role nobody_else")

    for each in done:
        assert 1 == each.returncode and said in each.stderr, each.stderr
        assert "Traceback" not in each.stderr and 1 == each.stderr.count("error[")
    assert 0 == ran.returncode and "this run is not kept" in ran.stderr, ran.stderr


def test_workers_make_the_tables_together(address):
    """Those that begin at the same time on an empty database."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "sexplang", "worker", "--once", "--store", address],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    said = [each.communicate(timeout=60)[1] for each in processes]

    assert [0] * 4 == [each.returncode for each in processes], said


def test_a_port_that_is_taken_is_told(fleet):
    fleet.begin("--metrics", "0")
    first = fleet.processes[0]
    port = fleet.wait_for(lambda: "127.0.0.1:" in fleet.said(first) and fleet.said(first))
    port = port.partition("127.0.0.1:")[2].partition("/")[0]
    done = fleet.command("worker", "--once", "--metrics", port)

    assert 1 == done.returncode and f"--metrics {port}" in done.stderr


def test_a_tool_of_a_worker_is_run_once_it_is_there(fleet, tmp_path):
    """A run that no worker may drive goes on when one is begun that may."""
    fleet.submit('(import "tools.py") (step 4)', "r")
    fleet.begin(allow=False)
    fleet.wait_for(lambda: fleet.store.find("r").held)
    fleet.begin()

    assert "40" == fleet.wait_for_state("r").value
