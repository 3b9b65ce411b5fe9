"""An engine carries runs and leaves from one process to another."""

import asyncio
from time import time

import psycopg
import pytest
from support.memory_engine import MemoryEngine

from sexplang.runtime.fleet import Leaf, Owed, Wake, Work, open_engine
from sexplang.runtime.fleet.procrastinate_engine import connect_options
from sexplang.runtime.refusal import Refusal


@pytest.fixture(params=["memory", pytest.param("procrastinate", marks=pytest.mark.postgres)])
def either(request):
    """Each engine there is."""
    return MemoryEngine() if request.param == "memory" else request.getfixturevalue("engine")


LONG = "model:" + "é" * 200


def work_with(engine, later=(), **given):
    """What an engine offers to a worker, in order. `later` are the answers to the first offers."""
    offered, answers = [], iter(later)

    async def drive(run):
        offered.append(run)
        return next(answers, None)

    async def perform(leaf):
        offered.append(leaf)
        return next(answers, None)

    work = Work(drive, perform, ("model:m", "tool:t", LONG), lease=2.0, once=True, **given)
    asyncio.run(engine.work(1, work))
    return offered


def test_a_run_is_woken_once(either):
    for _ in range(3):
        either.wake("r")

    assert ["r"] == work_with(either) and [] == work_with(either)


def test_what_is_urgent_comes_first(either):
    either.wake("later")
    either.wake("urgent", None, 5)

    assert ["urgent", "later"] == work_with(either)


@pytest.mark.postgres
def test_a_claim_among_many_runs_is_no_search_for_each_of_them(engine, store):
    """Not even in a new table, of which the server has no statistics."""
    with store.transaction():
        for n in range(2000):
            engine.wake(str(n))
    asked = "select procrastinate_fetch_job_v2(array['run'], null)"
    (plan,), *_ = store.db.execute(f"explain (analyze, buffers, format json) {asked}")

    assert plan[0]["Plan"]["Shared Hit Blocks"] < 5 * 2000


@pytest.mark.postgres
def test_a_claim_that_was_planned_in_an_empty_table_goes_by_indexes(engine, store, address):
    """The server keeps the plan when the table has many jobs."""
    asked = "select procrastinate_fetch_job_v2(array['run'], null)"
    with psycopg.connect(address, autocommit=True, **connect_options(2.0)) as connection:
        connection.execute("vacuum analyze procrastinate_jobs")
        for n in range(10):
            engine.wake(f"first-{n}")
            connection.execute(asked)
        with store.transaction():
            for n in range(2000):
                engine.wake(str(n))
        ((plan,),) = connection.execute(f"explain (analyze, buffers, format json) {asked}")

    assert plan[0]["Plan"]["Shared Hit Blocks"] < 5 * 2000


def test_a_run_is_woken_at_its_time_and_earlier(either):
    """A timer that waits does not hold up another wake-up."""
    either.wake("r", time() + 3600)
    either.wake("r")
    assert ["r"] == work_with(either)
    either.wake("r", time() - 1)

    assert ["r"] == work_with(either) and [] == work_with(either)


def test_leaves_are_carried_to_their_queues(either):
    """Also to those of long names, as of a model at an address."""
    leaves = [Leaf("r", "1", "model:m"), Leaf("r", "2", "tool:t", 3), Leaf("r", "3", LONG)]
    either.carry(leaves)
    either.carry(leaves)

    assert sorted(leaves, key=str) == sorted(work_with(either), key=str)


def test_what_waits_is_taken_back(either):
    either.wake("r")
    either.wake("r", time() - 1)
    either.carry([Leaf("r", "1", "model:m"), Leaf("r", "2", "model:m")])
    either.cancel(["r", "r/1"])

    assert [Leaf("r", "2", "model:m")] == work_with(either)


def test_what_is_given_back_holds_no_place(either):
    either.wake("a", None, 1)
    either.carry([Leaf("r", "1", "model:m")])

    assert {"a", Leaf("r", "1", "model:m")} == {*work_with(either, later=[3600, 3600])}
    assert [] == work_with(either)


def test_what_is_owed_is_carried(either):
    owed = Owed([Wake("r"), Wake("t", time() + 3600)], [Leaf("r", "1", "model:m")])

    assert {"r", Leaf("r", "1", "model:m")} == {*work_with(either, find_owed=lambda: owed)}


@pytest.mark.postgres
def test_the_tables_of_another_version_are_refused(store, address, engine):
    store.db.execute("update engine set digest = 'other', release = '3.0.0'")
    with pytest.raises(Refusal) as refused:
        open_engine(store.db, address)
    store.db.execute("delete from engine")
    with pytest.raises(Refusal) as unknown:
        open_engine(store.db, address)

    assert "are of version 3.0.0" in str(refused.value)
    assert "are of an unknown version" in str(unknown.value)


@pytest.mark.postgres
def test_a_transaction_that_fails_carries_nothing(store, engine):
    with pytest.raises(ZeroDivisionError), store.transaction():
        engine.carry([Leaf("r", "1", "model:m")])
        engine.wake("r")
        raise ZeroDivisionError

    assert {} == engine.count()
