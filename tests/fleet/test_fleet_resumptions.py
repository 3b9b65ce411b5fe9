"""Runs that go on without a fleet, and have requests that were left to it."""

import asyncio
import threading

import pytest
from support.carried_runs import NoEngine, drive_carried, looking_worker
from support.kill_trials import read_bill, run_arguments
from support.killed_runs import in_child

import sexplang
from sexplang.runtime.fleet import Leaf
from sexplang.runtime.fleet.leaves import (
    ClaimedLeaf,
    claim_leaf,
    find_kept,
    keep_late,
    list_late,
    settle_leaf,
)
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows
from sexplang.terms.effect import Request

TEXT = '[(tool "look" {n: 1}) (par (tool "look" {n: 2}) (tool "look" {n: 3}))]'


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "runs.db")


@pytest.fixture
def calls(tmp_path):
    """What the tool of this process was called with."""
    return tmp_path / "calls"


@pytest.fixture
def look(calls):
    def look(n: int) -> int:
        """Look."""
        with calls.open("a") as file:
            file.write(f"{n} ")
        return n * 10

    return look


def leave_behind(path):
    """Let a driver be killed that waits for its first leaf; return the leaf's store and run."""

    def wait():
        for _ in range(2000):
            if is_put(path):
                return
            threading.Event().wait(0.01)

    open_store(path).close()
    assert not in_child(lambda: drive_carried(TEXT, path, "r", NoEngine), wait)
    store = open_store(path)
    return store, store.find("r")


def is_put(path):
    try:
        store = open_store(path, must_exist=True)
    except Exception:
        return False
    try:
        return bool(store.runs()) and bool(find_kept(store.db, store.runs()[0]))
    finally:
        store.close()


def test_a_reply_that_is_there_is_delivered(path, look, calls):
    store, run = leave_behind(path)
    (id,) = find_kept(store.db, run)
    leaf = claim_leaf(store.db, Leaf("r", id, "tool:look"), "gone", 30.0)
    settle_leaf(store.db, leaf, "gone", (11, False, 1))
    store.close()
    value = sexplang.resume(TEXT, "r", store=path, tools=[look])

    assert [11, [20, 30]] == list(value) and ["2", "3"] == sorted(calls.read_text().split())


def test_what_nobody_has_begun_is_no_doubt(path, look, calls):
    store, _ = leave_behind(path)
    store.close()
    value = sexplang.resume(TEXT, "r", store=path, tools=[look])

    assert [10, [20, 30]] == list(value) and ["1", "2", "3"] == sorted(calls.read_text().split())


def test_what_a_lost_worker_has_begun_is_in_doubt(path, look, calls):
    store, run = leave_behind(path)
    (id,) = find_kept(store.db, run)
    claim_leaf(store.db, Leaf("r", id, "tool:look"), "gone", 0.0)
    store.close()
    with pytest.raises(sexplang.Failed) as doubt:
        sexplang.resume(TEXT, "r", store=path, tools=[look])
    value = sexplang.resume(TEXT, "r", store=path, tools=[look], replay={id: "safe"})

    assert "in-doubt" == doubt.value.reason
    assert [10, [20, 30]] == list(value) and ["1", "2", "3"] == sorted(calls.read_text().split())


def test_what_a_worker_performs_is_waited_for(path, look, calls):
    store, run = leave_behind(path)
    (id,) = find_kept(store.db, run)
    leaf = claim_leaf(store.db, Leaf("r", id, "tool:look"), "slow", 30.0)

    def settle():
        other = open_store(path)
        settle_leaf(other.db, leaf, "slow", (12, False, 1))
        other.close()

    timer = threading.Timer(0.5, settle)
    timer.start()
    value = sexplang.resume(TEXT, "r", store=path, tools=[look])
    timer.join()
    store.close()

    assert [12, [20, 30]] == list(value) and ["2", "3"] == sorted(calls.read_text().split())


def test_an_edited_request_is_no_leaf(path, look, calls):
    """The reply to another request is not delivered."""
    store, run = leave_behind(path)
    (id,) = find_kept(store.db, run)
    leaf = claim_leaf(store.db, Leaf("r", id, "tool:look"), "gone", 30.0)
    settle_leaf(store.db, leaf, "gone", (11, False, 1))
    store.close()
    edited = TEXT.replace("n: 1", "n: 4")
    with pytest.raises(sexplang.Failed) as doubt:
        sexplang.resume(edited, "r", store=path, tools=[look])
    assert "in-doubt" == doubt.value.reason
    value = sexplang.resume(edited, "r", store=path, tools=[look], replay={"*": "safe"})

    assert [40, [20, 30]] == list(value)


def test_a_branch_that_is_cut_ends_its_leaf(path):
    """The worker stops what nobody needs any more."""
    ended = []

    async def look(n: int) -> int:
        """Look."""
        try:
            await asyncio.sleep(60 if n == 1 else 0.05)
        except asyncio.CancelledError:
            ended.append(n)
            raise
        return n

    text = '[(race (tool "look" {n: 1}) (tool "look" {n: 2})) (tool "look" {n: 3})]'
    with looking_worker(path, lease=0.4, tools=[look]):
        value = drive_carried(text, path, "r", NoEngine)
        for _ in range(200):
            if ended:
                break
            threading.Event().wait(0.02)

    assert [2, 3] == list(value) and [1] == ended


def test_what_was_performed_in_vain_is_in_the_bill(tmp_path):
    """As what may have been paid beside the run."""
    say = '(defatom say (params n) (instructions "Say {{n}}") (model "gpt-4o-mini"))'
    text = f"{say} [(say 1) (say 2)]"
    given = run_arguments(tmp_path)
    sexplang.run(text, run_id="r", **given)
    _, before = read_bill(text, tmp_path)
    store = open_store(str(given["store"]))
    run = store.find("r")
    row = next(each for each in read_rows(store, run, whole=True).rows if each.operation == "model")
    asked = Request(row.id, row.operation, row.arguments)
    leaf = ClaimedLeaf(run.n, "r", asked, "model:m", 1, "safe", None)
    for _ in range(2):
        keep_late(store.db, leaf, "slow", (row.reply, False, 1))
    (late,) = list_late(store.db, run)
    store.close()
    _, after = read_bill(text, tmp_path)

    assert ("gpt-4o-mini", row.usage) == (late["model"], late["usage"])
    assert (0, 1) == (before.doubtful_calls, after.doubtful_calls)
    assert after.doubtful_usd > 0 and before.of_rows == after.of_rows
