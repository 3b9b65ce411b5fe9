"""Parked runs whose questions are answered by other processes, some of which are killed."""

import os
import random
import signal
import sqlite3
import time
from functools import partial

import pytest
from support.kill_trials import run_arguments
from support.killed_programs import generate_program

import sexplang
from sexplang.runs.forked_run import find_difference, fork_run
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows

PROGRAM = """
(define-effect (approve what))
(define-effect (act n))
(define (turn n) (let ((said (approve (str "question " n)))) [said (act n)]))
(list (par (turn 1) (turn 2)) (turn 3))
"""


def perform(folder, id):
    """The effects of a run: each notes its number."""

    def act(n):
        with (folder / f"{id}.log").open("a") as file:
            file.write(f"{n}\n")
        return n

    return {"effects": {"act": act}, "pause": ["approve"], "store": folder / "runs.db"}


def answer_for(id, n):
    return f"answer {n} to {id}"


def park(folder, ids):
    program = sexplang.build(PROGRAM)
    for id in ids:
        waiting = sexplang.run(program, run_id=id, **perform(folder, id))
        assert isinstance(waiting, sexplang.Suspended)


def answer(folder, ids, seed):
    """Answer open questions in random order; another process may have been quicker."""
    for id in random.Random(seed).sample(ids, len(ids)):
        for each in sexplang.questions(folder / "runs.db", id):
            n = each["question"].rpartition(" ")[2].rstrip('")')
            try:
                said = answer_for(id, n)
                sexplang.answer(id, said, store=folder / "runs.db", request=each["request"])
            except sexplang.Failed as failed:
                assert failed.reason in ("answered-already", "no-question", "run-ended"), failed


def go_on(folder, ids, seed):
    """Resume runs in random order; another process may drive them."""
    program = sexplang.build(PROGRAM)
    for id in random.Random(seed).sample(ids, len(ids)):
        try:
            sexplang.resume(program, id, replay={"act": "safe"}, **perform(folder, id))
        except sexplang.Failed as failed:
            assert failed.reason in ("run-busy", "run-ended"), failed


def in_children(works, kill_after):
    """Run functions in processes at a time; some are killed."""
    children = []
    for work in works:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                work()
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(children[0], signal.SIGKILL)
        os.kill(children[-1], signal.SIGKILL)
    assert {os.waitpid(child, 0)[1] for child in children} <= {0, signal.SIGKILL}


def states(folder):
    db = sqlite3.connect(folder / "runs.db")
    try:
        return dict(db.execute("select id, state from runs").fetchall())
    finally:
        db.close()


@pytest.mark.parametrize(
    "count", [6, pytest.param(1_000, marks=[pytest.mark.long, pytest.mark.timeout(900)])]
)
def test_every_answer_is_used_once_and_every_run_ends_as_undisturbed(tmp_path, count):
    ids = [f"run-{n}" for n in range(count)]
    park(tmp_path, ids)
    rounds = 0
    while set(states(tmp_path).values()) != {"done"}:
        rounds += 1
        assert rounds < 40
        works = [partial(answer, tmp_path, ids, n + 10 * rounds) for n in range(2)]
        works += [partial(go_on, tmp_path, ids, n + 10 * rounds) for n in range(2)]
        in_children(works, 0.02 * rounds + count * 0.001 if rounds < 6 else None)
    db = sqlite3.connect(tmp_path / "runs.db")
    values = dict(db.execute("select id, value from runs").fetchall())
    answered = db.execute("select count(*), count(answer) from questions").fetchone()
    db.close()
    assert (3 * count, 3 * count) == tuple(answered)
    for id in ids:
        one, two, three = [answer_for(id, n) for n in (1, 2, 3)]
        assert f'[[["{one}" 1] ["{two}" 2]] ["{three}" 3]]' == values[id]
        done = sorted((tmp_path / f"{id}.log").read_text().split())
        assert ["1", "2", "3"] == sorted(set(done))


def test_an_answer_that_comes_twice_or_late_changes_nothing(tmp_path):
    kept = perform(tmp_path, "r")
    program = '(define-effect (act n)) (act (ask-user "How many?" ["1" "2"]))'
    given = {**kept, "pause": ["ask-user"]}
    assert isinstance(sexplang.run(program, run_id="r", **given), sexplang.Suspended)
    for said, reason in (("3", "bad-answer"), ("", "bad-answer")):
        with pytest.raises(sexplang.Failed) as failed:
            sexplang.answer("r", said, store=kept["store"])
        assert reason == failed.value.reason
    assert "2" == sexplang.answer("r", "2", store=kept["store"])["answer"]
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.answer("r", "1", store=kept["store"])
    assert "answered-already" == failed.value.reason
    assert "was answered: 2" in str(failed.value)
    assert "2" == sexplang.resume(program, "r", **given)
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.answer("r", "1", store=kept["store"])
    assert "run-ended" == failed.value.reason


def test_a_far_moment_parks_a_kept_run(tmp_path, monkeypatch):
    """It goes on when its time has come; what is near, or not kept, is waited for."""
    from sexplang.hosts.kept_runs.waiting_runs import is_ready
    from sexplang.runtime.driver import waits

    monkeypatch.setattr(waits, "PATIENCE", 0.1)
    program = "(define then (now)) (wait-until (+ then 0.4)) (< (+ then 0.4) (now))"
    assert sexplang.run(program) is True
    given = {"store": tmp_path / "runs.db"}
    assert isinstance(sexplang.run(program, run_id="w", **given), sexplang.Suspended)
    store = open_store(str(given["store"]))
    assert not is_ready(store, store.find("w"))
    time.sleep(0.45)
    assert is_ready(store, store.find("w"))
    store.close()
    assert sexplang.resume(program, "w", **given) is True


def test_a_run_that_waits_is_not_removed(tmp_path):
    program, store = "(define-effect (ask)) (ask)", tmp_path / "runs.db"
    given = {"store": store, "pause": ["ask"]}
    sexplang.run(program, run_id="r", **given)
    with sqlite3.connect(store) as db:
        db.execute("update runs set began = 1.0")
    sexplang.run(program, run_id="other", **given)
    sexplang.answer("r", 1, store=store)
    assert 1 == sexplang.resume(program, "r", **given)


def test_the_deadlines_of_a_parked_run_stand_still(tmp_path):
    program = "(define-effect (ask)) (with-timeout 0.3 (ask))"
    given = {"store": tmp_path / "runs.db", "pause": ["ask"]}
    assert isinstance(sexplang.run(program, run_id="r", **given), sexplang.Suspended)
    time.sleep(0.4)
    sexplang.answer("r", 1, store=given["store"])
    assert 1 == sexplang.resume(program, "r", **given)


@pytest.mark.parametrize(
    "seeds",
    [
        range(1),
        pytest.param(range(1, 16), marks=[pytest.mark.long, pytest.mark.timeout(900)]),
    ],
    ids=["some", "all"],
)
def test_a_fork_at_each_reply_ends_as_the_run(tmp_path, seeds):
    """It is told the same before, and is the same behind."""
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        text, _ = generate_program(seed, 5)
        given = run_arguments(folder)
        value = sexplang.run(text, run_id="r", inputs={"log": str(folder / "log")}, **given)
        store = open_store(str(given["store"]))
        count = store.find("r").replies
        for at in range(count + 1):
            fork_run(store, store.find("r"), at, f"fork-{at}")
        rows = read_rows(store, store.find("r"), whole=True).rows
        store.close()
        for at in range(count + 1):
            assert value == sexplang.resume(text, f"fork-{at}", replay={"*": "safe"}, **given)
        store = open_store(str(given["store"]))
        for at in range(count + 1):
            forked = read_rows(store, store.find(f"fork-{at}"), whole=True).rows
            assert find_difference(rows, forked) is None, (seed, at)
        store.close()
