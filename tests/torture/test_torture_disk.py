"""A disk that is full, may not be written or fails: the run says so, and goes on later."""

import errno
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from support.broken_disk import FailingSyncs, become_nobody, mount_small
from support.killed_runs import (
    PROGRAMS,
    crash_at,
    go_on,
    in_child,
    repeated,
    run_arguments,
    start,
    unreported,
)

import sexplang
from sexplang.runs import durable_run
from sexplang.runtime.journal import run_store

VALUE = [10, 20, 30, 40]
"""The value of the program `straight`."""


def is_refused(work):
    """Whether the store refuses what a run needs."""
    try:
        work()
    except sexplang.Failed as failed:
        if failed.reason != "store-failed":
            raise
        return True
    return False


def resume(folder, replay="safe"):
    """Go on with a run of the program `straight`."""
    given = run_arguments("straight", folder)
    return sexplang.resume(PROGRAMS["straight"], "r", replay={"*": replay}, **given)


def check_end(name, folder, whole):
    """The run comes to its value, at once or at last, and nothing is done twice in silence."""
    try:
        assert whole == go_on(name, folder, "safe")
    except sexplang.Failed as failed:
        assert "run-ended" == failed.reason
    assert set() == unreported(folder)


def bound_pages(monkeypatch, bound):
    """Let a store have so many pages at most: SQLite says that the disk is full."""
    real = run_store.open_store

    def open_bounded(*given, **more):
        store = real(*given, **more)
        store.db.execute(f"pragma max_page_count = {bound}")
        return store

    monkeypatch.setattr(durable_run, "open_store", open_bounded)


LOOP = sum(range(1, 80)) * 10
"""The value of the program `loop`."""


def long(*given):
    return pytest.param(*given, marks=pytest.mark.long)


@pytest.mark.parametrize("bound", [11, *map(long, range(1, 11))])
def test_a_store_that_is_full_ends_a_run_that_must_be_kept(tmp_path, monkeypatch, bound):
    """A bound below the pages that are there lets no page be added."""
    with monkeypatch.context() as patched:
        bound_pages(patched, bound)
        with pytest.raises(sexplang.Failed) as failed:
            start("loop", tmp_path)
    assert "store-failed" == failed.value.reason
    assert "full" in str(failed.value)
    check_end("loop", tmp_path, LOOP)


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param(range(180_000, 181_000, 1_000), id="some"),
        pytest.param(range(4_096, 600_000, 8_192), id="all", marks=pytest.mark.long),
    ],
)
def test_a_full_disk_ends_a_run_that_must_be_kept(tmp_path, sizes):
    """There is room later."""
    refused, forbidden = tmp_path / "refused", tmp_path / "forbidden"
    for size in sizes:
        folder = tmp_path / str(size)
        folder.mkdir()

        def work(size=size, folder=folder):
            if not mount_small(folder, size):
                forbidden.touch()
                return
            (folder / "log").symlink_to(tmp_path / f"{size}-log")  # has room
            if is_refused(lambda: start("loop", folder)):
                refused.touch()
            assert mount_small(folder, 10_000_000)
            check_end("loop", folder, LOOP)

        assert in_child(work)
        if forbidden.exists():
            pytest.skip("this process may mount no file system")
    assert refused.exists()


@pytest.fixture
def open_folder():
    """A folder that everybody may read, outside of the folders of pytest, which are for their owner
    alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def make_read_only(folder, place):
    """Take the right to write from a place of a run that is kept."""
    (folder / "log").chmod(0o666)
    (folder / "runs.db").chmod(0o644)
    (folder / "runs.db.locks").chmod(0o755)
    for each in (folder / "runs.db.locks").iterdir():
        each.chmod(0o666)
    targets = {
        "folder": [folder],
        "store": [*folder.glob("runs.db*")],
        "locks": [*(folder / "runs.db.locks").iterdir()],
    }
    for each in (folder, *folder.rglob("*")):
        os.chown(each, os.getuid(), os.getgid())
    for each in targets[place]:
        each.chmod(each.stat().st_mode & ~0o222)


@pytest.mark.parametrize("place", [long("folder"), "store", long("locks")])
def test_a_store_that_may_not_be_written_is_told(open_folder, place):
    """Nothing is performed, and the run goes on when it may be written."""
    assert not in_child(lambda: (crash_at(3, "after"), start("straight", open_folder)))
    done = (open_folder / "log").read_text()
    make_read_only(open_folder, place)

    def work():
        become_nobody()
        assert is_refused(lambda: resume(open_folder))

    assert in_child(work)
    assert done == (open_folder / "log").read_text()
    for each in (open_folder, *open_folder.rglob("*")):
        each.chmod(0o755)
    check_end("straight", open_folder, VALUE)


def test_a_run_that_must_be_kept_needs_a_folder_that_may_be_written(open_folder):
    def work():
        become_nobody()
        assert is_refused(lambda: start("straight", open_folder))

    open_folder.chmod(0o555)
    assert in_child(work)
    assert [] == [*open_folder.iterdir()]


@pytest.mark.parametrize(
    ("replay", "numbers"), [("safe", (1, 3)), long("safe", range(2, 7)), long("never", range(1, 7))]
)
def test_a_sync_that_fails_ends_a_run_that_must_be_kept(tmp_path, replay, numbers):
    """The N-th sync and all further ones fail: what was written then may be there or not."""
    for number in numbers:
        folder = tmp_path / str(number)
        folder.mkdir()

        def work(number=number, folder=folder):
            real = run_store.open_store

            def open_failing(*given, **more):
                store = real(*given, **more)
                store.db.connection = FailingSyncs(store.db.connection, number)
                return store

            durable_run.open_store = open_failing
            assert is_refused(lambda: start("straight", folder))

        assert in_child(work)
        if replay == "safe":
            check_end("straight", folder, VALUE)
            continue
        try:
            go_on("straight", folder, "never")
        except sexplang.Failed as failed:
            assert failed.reason == "in-doubt"
        assert set() == repeated(folder)


@pytest.mark.parametrize("number", [1, 2])
def test_a_file_that_cannot_be_opened_ends_a_run_that_must_be_kept(tmp_path, monkeypatch, number):
    """The N-th one: the store, and the lock of the run."""
    real, opened = os.open, []

    def open_or_fail(path, *given, **more):
        if str(path).startswith(str(tmp_path / "runs.db")):
            opened.append(path)
            if len(opened) == number:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        return real(path, *given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", open_or_fail)
        assert is_refused(lambda: start("straight", tmp_path))
    assert not (tmp_path / "log").exists()
    check_end("straight", tmp_path, VALUE)
