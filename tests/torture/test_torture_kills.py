"""Processes that are killed: nothing that was recorded is done twice, and the value is right."""

from random import Random

import pytest
from support.killed_runs import (
    PROGRAMS,
    crash_at,
    doubted,
    go_on,
    in_child,
    kill_and_resume,
    repeated,
    start,
)

from sexplang.runtime.journal import stored_journal


@pytest.fixture
def value_of(tmp_path):
    """The value of a program that nobody kills."""

    def run(name):
        folder = tmp_path / "whole"
        folder.mkdir()
        return start(name, folder)

    return run


def crash_everywhere(name, tmp_path, whole, numbers, places=("before", "in", "after")):
    """Kill a run at its commits, go on with it, and compare."""
    for number in numbers:
        for place in places:
            folder = tmp_path / f"{number}{place}"
            folder.mkdir()

            def work(number=number, place=place, folder=folder):
                crash_at(number, place)
                start(name, folder)

            if in_child(work):
                return number
            assert whole == go_on(name, folder, "safe"), (number, place)
            assert repeated(folder) <= doubted(folder), (number, place)
    return None


@pytest.mark.parametrize("name", ["finalizer", "twice"])
def test_a_run_goes_on_from_a_crash_at_a_write(tmp_path, value_of, name):
    crash_everywhere(name, tmp_path, value_of(name), (1, 3))


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_goes_on_from_a_crash_at_every_write(tmp_path, value_of, name):
    """Before the write, in it and behind it."""
    assert crash_everywhere(name, tmp_path, value_of(name), range(1, 1_000))


@pytest.mark.parametrize("name", ["branches", "model"])
def test_a_run_goes_on_from_any_moment(tmp_path, value_of, name):
    kill_often(name, tmp_path, value_of(name), range(2))


@pytest.mark.long
@pytest.mark.parametrize("has_snapshots", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_goes_on_from_any_moment_at_length(
    tmp_path, value_of, monkeypatch, name, has_snapshots
):
    if has_snapshots:
        monkeypatch.setattr(stored_journal, "LEAST_SECONDS", 0.0)
        monkeypatch.setattr(stored_journal, "SNAPSHOT_SHARE", 0.0)
    kill_often(name, tmp_path, value_of(name), range(12))


def kill_often(name, tmp_path, whole, seeds):
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        value = kill_and_resume(name, folder, Random(seed))
        assert value in (whole, None), seed
        assert repeated(folder) <= doubted(folder), seed


@pytest.mark.long
@pytest.mark.parametrize("name", ["straight", "branches", "nested", "script", "loop"])
def test_nothing_is_done_twice_where_nobody_permits_it(tmp_path, name):
    """A request in doubt fails; what the program makes of that is its own."""
    import sexplang

    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            kill_and_resume(name, folder, Random(seed), replay="never")
        except sexplang.Failed as failed:
            assert failed.reason == "in-doubt"
        assert set() == repeated(folder), seed
