"""Leaves in the store, on a file and on a server; and the traps of queues that concern them, by
their numbers."""

import asyncio
import os
import re
import signal
import sqlite3
from time import monotonic, sleep

import psycopg
import pytest
from support.carried_runs import make_leaf_performer, workers
from support.leaf_worker import start_worker

from sexplang.runtime.fleet import Leaf, open_engine
from sexplang.runtime.fleet import leaf_performer as performing
from sexplang.runtime.fleet.leaves import (
    ClaimedLeaf,
    NewLeaf,
    claim_leaf,
    find_kept,
    find_replies,
    forget_delivered,
    give_back,
    list_late,
    list_owed,
    list_waiting,
    mark_delivered,
    put_leaves,
    renew_claim,
    settle_leaf,
    take_back,
)
from sexplang.runtime.journal.databases import open_database, postgresql, resolve_address
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request

ASKED = Request("1", "tool", ("look", {"n": 7}))
LEAF = Leaf("r", "1", "tool:look")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def place(request, tmp_path):
    """The address of an empty store of either kind."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'runs.db'}"
    return request.getfixturevalue("address")


@pytest.fixture
def kept(place):
    opened = open_store(resolve_address(place))
    yield opened
    opened.close()


def put(kept, *, decision="safe", attempt=1):
    """A run with a leaf."""
    found = [each for each in kept.runs() if each.id == "r"]
    run = found[0] if found else kept.add_run("r", "", "", "{}", "{}")
    with kept.transaction(run):
        put_leaves(kept.db, run, [NewLeaf(ASKED, "digest", "tool:look", attempt, decision)])
    return run


def claim(kept, worker="w", lease=30.0):
    return claim_leaf(kept.db, LEAF, worker, lease)


def test_a_leaf_is_claimed_once(kept):
    put(kept)
    claimed, held = claim(kept), claim(kept, "other")

    assert (ASKED, "tool:look", None) == (claimed.request, claimed.queue, claimed.before)
    assert 25 < held <= 30 and [] == list_owed(kept.db)


def test_a_leaf_waits_until_it_is_claimed(kept):
    put(kept)
    assert [LEAF] == list_owed(kept.db) and {"tool:look": 1} == list_waiting(kept.db)
    made = claim(kept)
    give_back(kept.db, made, "w")

    assert [LEAF] == list_owed(kept.db) and claim(kept, "other").before is None


def test_the_first_reply_counts(kept):
    """Another one is kept for the bill."""
    run = put(kept)
    first = claim(kept, "one", 0.0)
    sleep(0.05)
    second = claim(kept, "two")
    said = {"model": "m", "usage": {"input_tokens": 3, "output_tokens": 4}}
    first, second = (
        ClaimedLeaf(each.run, "r", Request("1", "model", ()), "q", 1, "safe", each.before)
        for each in (first, second)
    )

    assert settle_leaf(kept.db, second, "two", (said, False, 2))
    assert not settle_leaf(kept.db, first, "one", (said, False, 1))
    assert {(run.n, "1"): (said, False, 2)} == find_replies(kept.db, [(run.n, "1")])
    (late,) = list_late(kept.db, run)
    assert ("1", "one", "m", said["usage"]) == tuple(
        late[name] for name in ("id", "worker", "model", "usage")
    )


def test_a_claim_ends_and_is_renewed(kept):
    run = put(kept)
    made = claim(kept, "one", 0.1)
    assert renew_claim(kept.db, made, "one", 0.3)
    sleep(0.15)
    assert isinstance(claim(kept, "two"), float)
    sleep(0.25)
    again = claim(kept, "two")

    assert "one" == again.before and not renew_claim(kept.db, made, "one", 1.0)
    assert ["one"] == [each["worker"] for each in list_late(kept.db, run)]


def test_what_is_delivered_is_kept_no_more(kept):
    run = put(kept)
    made = claim(kept)
    settle_leaf(kept.db, made, "w", (1, False, 1))
    with kept.transaction(run):
        mark_delivered(kept.db, run, ["1"])
    assert {} == find_kept(kept.db, run) and claim(kept) is None
    assert settle_leaf(kept.db, made, "w", (1, False, 1)), "it asks again"
    forget_delivered(kept.db, -1.0)

    assert (0,) == kept.db.execute("select count(*) from leaves").fetchone()


def test_a_leaf_of_another_attempt_is_another_one(kept):
    """A reply to the first attempt is no reply to the second."""
    run = put(kept)
    first = claim(kept)
    put(kept)
    assert find_kept(kept.db, run)["1"].is_held
    put(kept, attempt=2)

    assert not settle_leaf(kept.db, first, "w", (1, False, 1))
    assert not find_kept(kept.db, run)["1"].is_settled and claim(kept).attempt == 2


def test_what_nobody_performs_is_taken_back(kept):
    run = put(kept)
    claim(kept, "w", 0.1)
    assert take_back(kept.db, run, "1") is None
    sleep(0.15)

    assert 1 == take_back(kept.db, run, "1") and {} == find_kept(kept.db, run)


def test_leaves_are_removed_with_their_run(kept):
    run = put(kept)
    kept.unlock("r")
    kept.remove([run])

    assert (0,) == kept.db.execute("select count(*) from leaves").fetchone()


def test_a_file_of_an_earlier_version_gets_the_tables(tmp_path):
    path = str(tmp_path / "runs.db")
    open_store(path).close()
    with sqlite3.connect(path) as db:
        for table in ("leaves", "late", "pressure", "programs"):
            db.execute(f"drop table {table}")
        db.execute("drop index runs_by_state")
        for column in ("program", "priority", "held", "is_stuck", "wish"):
            db.execute(f"alter table runs drop column {column}")
        db.execute("pragma user_version = 3")
    kept = open_store(path)
    put(kept)
    kept.close()


def test_all_times_are_those_of_the_database(tmp_path):
    """No statement about leaves has a time of this process in it."""
    kept = open_store(str(tmp_path / "runs.db"))
    run, statements = put(kept), []
    kept.db.connection.set_trace_callback(statements.append)
    put(kept, attempt=2)
    made = claim(kept)
    renew_claim(kept.db, made, "w", 30.0)
    settle_leaf(kept.db, made, "w", (1, False, 1))
    settle_leaf(kept.db, made, "other", (1, False, 1))
    mark_delivered(kept.db, run, ["1"])
    take_back(kept.db, run, "1")
    list_owed(kept.db)
    forget_delivered(kept.db, 30.0)
    kept.close()

    said = " ".join(statements)
    assert 9 <= len(statements) and kept.db.clock in said
    assert [] == [each for each in re.findall(r"[0-9.]{10,}", said) if 1e9 < float(each) < 4e9]


# -- Traps ----------------------------------------------------------------------------------------


@pytest.mark.postgres
def test_trap_1_a_claim_in_a_transaction_of_a_stopped_worker(address, monkeypatch):
    """The server ends its connection, and the leaf is free again."""
    monkeypatch.setattr(postgresql, "LEASE", 1)
    kept = open_store(address)
    put(kept)
    child = os.fork()
    if child == 0:
        try:
            own = open_database(address, must_exist=True)
            with own.transaction():
                claim_leaf(own, LEAF, "stopped", 30.0)
                os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    began = monotonic()
    claimed = claim(kept)
    waited = monotonic() - began
    os.kill(child, signal.SIGCONT)
    os.waitpid(child, 0)

    assert isinstance(claimed, ClaimedLeaf) and claimed.before is None and waited < 3
    kept.close()


@pytest.mark.postgres
def test_trap_2_a_leaf_without_a_job_is_carried_again(address):
    """Whoever has ended its job: what the journal says is owed is performed."""
    kept = open_store(address)
    open_engine(kept.db, address)
    run = put(kept)
    with workers(address, lease=1.0, tools=[look]):
        wait_for(lambda: find_kept(kept.db, run)["1"].is_settled)
    assert {(run.n, "1"): (70, False, 1)} == find_replies(kept.db, [(run.n, "1")])
    kept.close()


@pytest.mark.postgres
def test_trap_3_several_reapers_make_one_job(address):
    kept = open_store(address)
    open_engine(kept.db, address)
    run = put(kept)
    calls = []

    def look(n: int) -> int:
        """Look."""
        calls.append(n)
        sleep(0.5)
        return n

    with workers(address, 3, lease=0.6, tools=[look]):
        wait_for(lambda: find_kept(kept.db, run)["1"].is_settled)
        sleep(1.5)

    assert [7] == calls and [] == list_late(kept.db, run)
    kept.close()


def look(n: int) -> int:
    """Look."""
    return n * 10


@pytest.mark.postgres
def test_trap_5_a_settled_leaf_is_not_performed_again(address):
    """Its worker died before it ended the job."""
    kept = open_store(address)
    engine = open_engine(kept.db, address)
    run = put(kept)
    settle_leaf(kept.db, claim(kept, "dead"), "dead", (1, False, 1))
    engine.carry([LEAF])
    calls = []

    def look(n: int) -> int:
        """Look."""
        calls.append(n)
        return n

    with workers(address, lease=1.0, tools=[look]):
        wait_for(lambda: not engine.count())

    assert [] == calls and {(run.n, "1"): (1, False, 1)} == find_replies(kept.db, [(run.n, "1")])
    kept.close()


@pytest.mark.postgres
def test_trap_9_a_worker_is_started_as_a_module(address, tmp_path):
    """What is imported as `__main__` and by its name registers nothing twice."""
    kept = open_store(address)
    engine = open_engine(kept.db, address)
    run = put(kept)
    engine.carry([LEAF])
    given = {"store": address, "log": str(tmp_path / "log"), "queues": ["tool:look"]}
    worker = start_worker(**given)
    try:
        wait_for(lambda: find_kept(kept.db, run)["1"].is_settled)
    finally:
        worker.terminate()
        assert 0 == worker.wait(10)
    kept.close()


@pytest.mark.postgres
def test_a_connection_is_lost_between_settle_and_its_answer(address, monkeypatch):
    """The reply is there once, and is not late."""
    kept = open_store(address)
    run = put(kept)
    real, losses = performing.settle_leaf, []

    def settle_and_lose(db, *given):
        made = real(db, *given)
        if not losses:
            losses.append(db)
            with psycopg.connect(address, autocommit=True) as other:
                other.execute("select pg_terminate_backend(%s)", [db.connection.info.backend_pid])
            with db.explain():
                db.execute("select 1")
        return made

    monkeypatch.setattr(performing, "settle_leaf", settle_and_lose)
    made = make_leaf_performer(address, tools=[look])
    assert asyncio.run(made.perform(LEAF)) is None
    made.close()

    assert 1 == len(losses) and [] == list_late(kept.db, run)
    assert {(run.n, "1"): (70, False, 1)} == find_replies(kept.db, [(run.n, "1")])
    kept.close()


@pytest.mark.postgres
def test_a_reply_waits_for_a_database_that_is_not_there(address):
    """For three leases; then the leaf is another worker's."""
    kept = open_store(address)
    run = put(kept)
    opened = []

    def open_seldom():
        opened.append(1)
        if 2 <= len(opened) <= 4:
            raise Refusal(ERROR)
        return open_database(address, must_exist=True)

    made = make_leaf_performer(address, tools=[look])
    made.open = open_seldom

    async def perform():
        task = asyncio.ensure_future(made.perform(LEAF))
        await asyncio.sleep(0)
        return await task

    ERROR = performing.make_doubt_error(ASKED).error
    real = made.performers["tool"]

    def lose(request):
        made._db.connection.close()
        return real(request)

    made.performers = {**made.performers, "tool": lose}
    assert asyncio.run(perform()) is None
    made.close()

    assert {(run.n, "1"): (70, False, 1)} == find_replies(kept.db, [(run.n, "1")])
    kept.close()


def wait_for(is_true, seconds=15):
    """Wait until something is true."""
    until = monotonic() + seconds
    while not is_true():
        assert monotonic() < until
        sleep(0.02)
