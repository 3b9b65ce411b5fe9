"""A clock on the wall that is set while a run is dead."""

import json
import time

import pytest
from support.killed_runs import crash_at, in_child, perform

import sexplang
from sexplang.hosts.report.entries import as_data, sum_entries
from sexplang.runs import durable_run
from sexplang.runs.exported_run import export_run
from sexplang.runtime import world
from sexplang.runtime.journal import rows, run_store, stored_journal
from sexplang.runtime.journal.databases import sqlite_file
from sexplang.runtime.journal.recording_reader import read_recording

DAY = 86_400.0
LONG = [
    pytest.param(seconds, marks=pytest.mark.long) for seconds in (-1.0, 0.0, 1.0, 40 * DAY, -3e9)
]


@pytest.fixture
def set_clock(monkeypatch):
    """Set the clock on the wall ahead by so many seconds, or back."""

    def set_by(seconds):
        for module in (durable_run, run_store, sqlite_file, stored_journal, rows, world):
            monkeypatch.setattr(module, "time", lambda: time.time() + seconds)

    return set_by


def kill(program, folder, number):
    """Begin a run and let its process die after a commit. Return the arguments of both."""
    given = {"store": folder / "runs.db", "effects": perform(folder / "log")}

    def work():
        crash_at(number, "after")
        sexplang.run(program, run_id="r", **given)

    assert not in_child(work)
    return given


def resume(program, given):
    """Return the value of a resumption, and its seconds."""
    began = time.monotonic()
    value = sexplang.resume(program, "r", replay={"*": "safe"}, **given)
    return value, time.monotonic() - began


@pytest.mark.parametrize("seconds", [-40 * DAY, *LONG])
def test_deadlines_do_not_mind(tmp_path, set_clock, seconds):
    program = """[(attempt (with-timeout 50 (begin (act 1) (act 2) (act 3))) "late")
                  (attempt (with-timeout 0.05 (begin (sleep 50) (act 4))) "late")]"""
    given = kill(program, tmp_path, 2)
    set_clock(seconds)
    assert [30, "late"] == resume(program, given)[0]


@pytest.mark.parametrize(
    ("seconds", "sleep", "least", "most"), [(-40 * DAY, 0.2, 0.19, 60), (40 * DAY, 30, 0, 20)]
)
def test_a_sleep_goes_by_the_clock_on_the_wall(tmp_path, set_clock, seconds, sleep, least, most):
    """It ends at once, or takes as long as it was to take."""
    program = f"[(act 1) (par (sleep {sleep}) (wait 2))]"
    given = kill(program, tmp_path, 2)
    set_clock(seconds)
    value, took = resume(program, given)
    assert [10, [None, 20]] == value
    assert least <= took < most


@pytest.mark.parametrize("seconds", [-40 * DAY, *LONG])
def test_a_run_is_listed_and_reported_whatever_the_clock_says(tmp_path, set_clock, seconds):
    program = "[(act 1) (act 2) (now) (act 3)]"
    given = kill(program, tmp_path, 2)
    set_clock(seconds)
    assert 30 == resume(program, given)[0][-1]
    store, target = run_store.open_store(str(given["store"])), tmp_path / "run.jsonl"
    (run,) = store.runs()
    effects = given["effects"]
    export_run(store, run, sexplang.build(program, effects=effects), str(target), has_tasks=False)
    store.close()
    report = json.loads(as_data(sum_entries(read_recording(str(target)))))
    assert ("done", 4) == (report["state"], len(report["rows"]))
    assert report["seconds"] >= 0


def test_a_run_that_is_driven_is_kept_when_the_clock_is_set_ahead(tmp_path, set_clock):
    """The next run removes what is old, and is not so old as it seems."""
    given = {"store": tmp_path / "runs.db", "effects": perform(tmp_path / "log")}
    sexplang.run("(act 1)", run_id="old", **given)

    def begin_another(n):
        set_clock(40 * DAY)
        return sexplang.run("(act 1)", run_id="next", **given)

    effects = {"act": begin_another}
    assert 10 == sexplang.run("(act 1)", store=given["store"], run_id="driven", effects=effects)
    store = run_store.open_store(str(given["store"]))
    assert ["next", "driven"] == [run.id for run in store.runs()]
    store.close()
