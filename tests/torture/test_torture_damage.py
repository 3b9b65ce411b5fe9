"""Stores that are damaged, full, locked or shared: a clear error or the right value."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from random import Random

import pytest
from support.killed_runs import PROGRAMS, crash_at, go_on, in_child, rows_of, run_arguments, start
from support.markdown import ROOT

import sexplang
from sexplang.runtime.journal import run_store, stored_journal
from sexplang.runtime.journal.databases import sqlite_file
from sexplang.runtime.journal.databases.sqlite_file import SqliteFile

PLACES = (
    *(("entries", "data"), ("entries", "checksum"), ("entries", "seq"), ("blobs", "data")),
    *(("blobs", "digest"), ("snapshots", "data"), ("snapshots", "checksum"), ("snapshots", "seq")),
    *(("runs", "header"), ("runs", "command"), ("runs", "state"), ("runs", "boots")),
)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A run of each kind, with a snapshot, that was killed, and its value."""
    found = {}
    for name in ("model", "branches"):
        whole = tmp_path_factory.mktemp(f"{name}-whole")
        folder = tmp_path_factory.mktemp(name)

        def work(name=name, folder=folder):
            stored_journal.LEAST_SECONDS = stored_journal.SNAPSHOT_SHARE = 0.0
            crash_at({"model": 4, "branches": 9}[name], "after")
            start(name, folder)

        assert not in_child(work)
        found[name] = folder, start(name, whole)
    return found


def mutate(store, random):
    """Change one place of a store."""
    if random.random() < 0.1:
        data = bytearray(store.read_bytes())
        for _ in range(random.randrange(1, 20)):
            data[random.randrange(len(data))] = random.randrange(256)
        store.write_bytes(data[: random.choice([len(data), random.randrange(len(data))])])
        return
    table, column = random.choice(PLACES)
    with sqlite3.connect(store) as db:
        rows = db.execute(f"select rowid, {column} from {table}").fetchall()
        if not rows:
            return
        number, value = random.choice(rows)
        if isinstance(value, int):
            changed = value + random.choice([-1, 1, 100])
        else:
            data = bytearray(value.encode() if isinstance(value, str) else value)
            kind = random.randrange(3)
            if kind == 0 and data:
                data[random.randrange(len(data))] ^= 1 << random.randrange(7)
            elif kind == 1:
                del data[random.randrange(len(data) + 1) :]
            elif data:
                data[random.randrange(len(data))] = random.choice(b'"{}[],0')
            changed = data.decode("utf-8", "replace") if isinstance(value, str) else bytes(data)
        try:
            db.execute(f"update {table} set {column} = ? where rowid = ?", (changed, number))
        except sqlite3.IntegrityError:
            db.execute(f"delete from {table} where rowid = ?", (number,))


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(40), id="some"),
        pytest.param(range(40, 2_040), id="all", marks=pytest.mark.long),
    ],
)
def test_a_changed_store_is_refused_or_right(tmp_path, killed, seeds):
    for seed in seeds:
        random, name = Random(seed), ("model", "branches")[seed % 2]
        source, whole = killed[name]
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        mutate(folder / "runs.db", random)
        try:
            value = sexplang.resume(
                PROGRAMS[name], "r", replay={"*": "safe"}, **run_arguments(name, folder)
            )
        except sexplang.Failed:
            continue
        assert value == whole, seed


def test_a_write_that_fails_ends_a_run_that_must_be_kept(tmp_path, monkeypatch):
    """The N-th write finds the disk full: the run ends with the reason, and goes on later."""
    whole = start("straight", folder_in(tmp_path, "whole"))
    for number in range(1, 12):
        folder = folder_in(tmp_path, str(number))
        with monkeypatch.context() as patched:
            patched.setattr(SqliteFile, "explain", failing_at(number))
            with pytest.raises(sexplang.Failed) as failed:
                start("straight", folder)
        assert "store-failed" == failed.value.reason
        assert whole == go_on("straight", folder, "safe")


def folder_in(folder, name):
    made = folder / name
    made.mkdir()
    return made


def failing_at(number):
    """`explain`, whose N-th use meets a full disk."""
    count = [0]
    real = SqliteFile.explain

    def explain(file):
        count[0] += 1
        return real(file) if count[0] != number else full(file)

    @contextmanager
    def full(file):
        with real(file):
            raise sqlite3.OperationalError("database or disk is full")
            yield

    return explain


def test_one_process_drives_a_run(tmp_path):
    """The second one is told."""
    assert not in_child(lambda: (crash_at(3, "after"), start("straight", tmp_path)))
    store = run_store.open_store(str(tmp_path / "runs.db"))
    assert store.lock("r")
    try:
        with pytest.raises(sexplang.Failed) as failed:
            go_on("straight", tmp_path, "safe")
    finally:
        store.close()
    assert "run-busy" == failed.value.reason
    assert [10, 20, 30, 40] == go_on("straight", tmp_path, "safe")


def test_a_store_that_another_process_holds_is_told(tmp_path, monkeypatch):
    """One waits for it, and not for ever."""
    assert not in_child(lambda: (crash_at(3, "after"), start("straight", tmp_path)))
    monkeypatch.setattr(sqlite_file, "BUSY", 0.1)
    with sqlite3.connect(tmp_path / "runs.db", isolation_level=None) as other:
        other.execute("begin immediate")
        with pytest.raises(sexplang.Failed) as failed:
            go_on("straight", tmp_path, "safe")
    assert "store-failed" == failed.value.reason
    assert [10, 20, 30, 40] == go_on("straight", tmp_path, "safe")


MANY = """
import sys
import sexplang
program = "(fold (lambda (s i) (+ s (act i))) 0 (range 20))"
effects = {"act": lambda n: n}
done = sexplang.run(program, effects=effects, store=sys.argv[1], run_id=sys.argv[2])
assert done == 190, done
"""


@pytest.mark.parametrize(
    "count", [4, pytest.param(200, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_processes_share_a_store(tmp_path, count):
    """Each of them writes its own run; nothing is lost."""
    store = str(tmp_path / "runs.db")
    words = [sys.executable, "-c", MANY, store]
    for first in range(0, count, 50):
        running = [
            subprocess.Popen([*words, str(number)], cwd=ROOT)
            for number in range(first, min(first + 50, count))
        ]
        assert {0} == {each.wait() for each in running}
    kept = run_store.open_store(store)
    states = [(run.state, run.replies) for run in kept.runs()]
    kept.close()
    assert [("done", 20)] * count == states
    assert rows_of(tmp_path) is None
