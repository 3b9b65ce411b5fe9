"""Processes that are killed at each write to the store, also while they resume a run."""

import os
import resource
import sqlite3

import pytest
from support.killed_runs import (
    ENDS_OF_DOUBTS,
    PROGRAMS,
    crash_at,
    crash_at_write,
    go_on,
    in_child,
    repeated,
    start,
    unreported,
)

import sexplang
from sexplang.runtime.journal import stored_journal
from sexplang.runtime.journal.run_store import open_store

PLACES = ("before", "after")


@pytest.fixture
def folder_of(tmp_path):
    def make(*name):
        folder = tmp_path / "-".join(map(str, name))
        folder.mkdir()
        return folder

    return make


def snap_always():
    stored_journal.LEAST_SECONDS = stored_journal.SNAPSHOT_SHARE = 0.0


def crash_at_writes(name, folder_of, numbers, has_snapshots=False):
    """Kill a run at its writes, and go on with it."""
    whole = start(name, folder_of("whole", name))
    for number in numbers:
        for place in PLACES:
            folder = folder_of(name, number, place)

            def work(number=number, place=place, folder=folder):
                if has_snapshots:
                    snap_always()
                crash_at_write(number, place)
                start(name, folder)

            has_ended = in_child(work)
            check_end(name, folder, whole, (number, place))
            if has_ended:
                return
    assert numbers.stop < 100, "it has so many writes"


def check_end(name, folder, whole, where):
    """A run has its value, at once or at last, and nothing was done twice in silence."""
    try:
        assert whole == go_on(name, folder, "safe"), where
    except sexplang.Failed as failed:
        assert "run-ended" == failed.reason, where
    assert set() == unreported(folder), where


def crash_at_writes_of_a_resumption(name, folder_of, firsts, numbers, replay):
    """Kill a run, then its resumption at its writes, and go on with it."""
    whole = start(name, folder_of("whole", name))
    for first in firsts:
        for number in numbers:
            for place in PLACES:
                folder = folder_of(name, first, number, place)

                def begin(first=first, folder=folder):
                    snap_always()
                    crash_at(first, "after")
                    start(name, folder)

                def resume(number=number, place=place, folder=folder):
                    crash_at_write(number, place)
                    go_on(name, folder, replay)

                if in_child(begin):
                    return
                in_child(resume)
                where = first, number, place
                if replay == "safe":
                    check_end(name, folder, whole, where)
                    continue
                try:
                    go_on(name, folder, replay)
                except sexplang.Failed as failed:
                    assert failed.reason in ENDS_OF_DOUBTS, where
                assert set() == repeated(folder), where


def test_a_run_goes_on_from_a_kill_at_a_statement(folder_of):
    crash_at_writes("straight", folder_of, range(1, 8))


@pytest.mark.parametrize("replay", ["safe", pytest.param("never", marks=pytest.mark.long)])
def test_a_resumption_goes_on_from_a_kill_at_a_statement(folder_of, replay):
    crash_at_writes_of_a_resumption("straight", folder_of, (2,), range(1, 6), replay)


@pytest.mark.long
@pytest.mark.parametrize("has_snapshots", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_goes_on_from_a_kill_at_every_statement(folder_of, name, has_snapshots):
    crash_at_writes(name, folder_of, range(1, 500), has_snapshots)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("replay", ["safe", "never"])
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("loop", "finalizer")])
def test_a_resumption_goes_on_from_a_kill_at_every_statement(folder_of, name, replay):
    crash_at_writes_of_a_resumption(name, folder_of, range(1, 30), range(1, 12), replay)


FAILING = "(begin (act 1) (act 2) (act 3))"


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_a_failed_run_is_cut_once(tmp_path, number):
    """A resumption that is killed has cut the run, or has not; the next one goes on."""
    given = {"store": tmp_path / "runs.db", "replay": {"*": "safe"}}

    def act(n):
        if n == 2 and not (tmp_path / "mended").exists():
            raise sexplang.error("away", "it is away")
        return n

    with pytest.raises(sexplang.Failed):
        sexplang.run(FAILING, store=given["store"], run_id="r", effects={"act": act})
    (tmp_path / "mended").touch()

    def work():
        crash_at_write(number, "before")
        sexplang.resume(FAILING, "r", effects={"act": act}, **given)

    assert not in_child(work)
    assert 3 == sexplang.resume(FAILING, "r", effects={"act": act}, **given)


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param(range(50_000, 100_000, 20_000), id="some"),
        pytest.param(range(0, 700_000, 7_000), id="all", marks=pytest.mark.long),
    ],
)
def test_a_file_that_may_not_grow_ends_a_run_that_must_be_kept(folder_of, sizes):
    """The kernel refuses the write, in the midst of a page or between two."""
    whole = start("loop", folder_of("whole"))
    for size in sizes:
        folder = folder_of(size)

        def work(size=size, folder=folder):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            try:
                start("loop", folder)
            except sexplang.Failed as failed:
                if failed.reason != "store-failed":
                    raise

        assert in_child(work)
        check_end("loop", folder, whole, size)


def test_one_of_several_resumptions_drives_a_run(tmp_path):
    """The others are told that it is busy, or has ended."""
    assert not in_child(lambda: (crash_at(3, "after"), start("nested", tmp_path)))
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            status = 9
            try:
                go_on("nested", tmp_path, "safe")
                status = 0
            except sexplang.Failed as failed:
                status = {"run-busy": 1, "run-ended": 2}.get(failed.reason, 3)
            finally:
                os._exit(status)
        children.append(child)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert 1 == ends.count(0)
    assert {*ends} <= {0, 1, 2}
    assert set() == unreported(tmp_path)


def deep(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [100, 900, 9_000])
def test_a_deep_reply_is_served_again(tmp_path, levels):
    program, effects = "(begin (act 1) (act 2) 7)", {"act": lambda n: deep(levels)}
    given = {"store": tmp_path / "runs.db", "effects": effects}
    assert not in_child(lambda: (crash_at(2, "after"), sexplang.run(program, run_id="r", **given)))
    assert 7 == sexplang.resume(program, "r", replay={"*": "safe"}, **given)


@pytest.mark.parametrize("id", ["../../out", "a/b", "..", "a\0b", "\ud800", "x" * 400])
def test_any_id_keeps_its_lock_in_the_folder(tmp_path, id):
    """A store from elsewhere may hold any id."""
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    store = open_store(str(folder / "runs.db"))
    try:
        run = store.add_run(id, "", "", "{}", "{}")
        assert (True, False) == (store.is_alive(run), store.lock(run.id))
        store.mark_unkept(run)
        assert "unkept" == store.find(run.id).state
        store.remove([run])
    finally:
        store.close()
    assert [] == [*(folder / "runs.db.locks").iterdir()]
    assert [folder] == [*(tmp_path / "deep").iterdir()]


def test_an_error_and_a_count_of_any_text_and_size_are_kept(tmp_path):
    def act(n):
        raise sexplang.error("odd", "half a pair: \ud800")

    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run("(act 1)", effects={"act": act}, store=tmp_path / "one.db", run_id="r")
    assert "odd" == failed.value.reason
    usage = {"input_tokens": 10**30, "output_tokens": 1}
    program = '(defatom say (params n) (instructions "Say {{n}}")) (say 1)'
    given = {"model": lambda payload: {"text": "x", "usage": usage}}
    assert "x" == sexplang.run(program, store=tmp_path / "two.db", run_id="r", **given)


def test_a_changed_header_is_refused(tmp_path):
    program = "(define-input x) (list (act 1) (act 2) x)"
    given = {"store": tmp_path / "runs.db", "effects": {"act": lambda n: n}}
    assert not in_child(
        lambda: (
            crash_at(2, "after"),
            sexplang.run(program, inputs={"x": "5"}, run_id="r", **given),
        )
    )
    with sqlite3.connect(given["store"]) as db:
        db.execute("""update runs set header = replace(header, '"x": "5"', '"x": "4"')""")
        assert 1 == db.total_changes
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.resume(program, "r", replay={"*": "safe"}, **given)
    assert "bad-store" == failed.value.reason


@pytest.mark.parametrize("text", ["[" * 5_000 + "]" * 5_001, "[" * 5_000 + "x", '{"a":' * 5_000])
def test_deep_text_that_is_no_json_is_refused(text):
    from sexplang.terms.json.tagged import load

    with pytest.raises(ValueError):
        load(text)
