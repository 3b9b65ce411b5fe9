"""Files while somebody swaps folders and links under our hands: nothing outside is read, named or
written."""

import ctypes
import errno
import os
import stat
import threading
from contextlib import contextmanager

import pytest

from sexplang.runtime import Permissions, Refusal
from sexplang.runtime.files import atomic_write, file_reader, file_writer

_libc = ctypes.CDLL(None, use_errno=True)


def exchange(one, other):
    """Each takes the other's name, at one blow."""
    assert 0 == _libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2)


@pytest.fixture(params=[500, pytest.param(5_000, marks=pytest.mark.long)])
def rounds(request):
    """How often something is tried meanwhile, or a multiple of that."""
    return request.param


@pytest.fixture
def home(tmp_path):
    """A folder with a link to a neighbour's, whose files have the same names and other contents."""
    home, evil = tmp_path / "home", tmp_path / "evil"
    for folder, words in ((home / "docs", "mine"), (evil, "secret"), (home / ".git", "hidden")):
        (folder / "deep").mkdir(parents=True)
        (folder / "a.txt").write_text(words)
        (folder / "deep" / "a.txt").write_text(words)
        (folder / f"{words}.txt").write_text(words)
        (folder / "deep" / f"{words}.txt").write_text(words)
    return home


@pytest.fixture(params=["out", "hidden"])
def link(request, home):
    """Where an attacker's link leads: to the neighbour, to what a folder's grant does not cover."""
    link = home / "link"
    link.symlink_to("../evil" if request.param == "out" else ".git")
    return link


@contextmanager
def swapping(*pairs):
    """Within this, a thread exchanges folders and links as fast as it can."""
    done = threading.Event()

    def swap():
        while not done.is_set():
            for one, other in pairs:
                exchange(one, other)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def tried(action, *arguments):
    """What an action gives, or the code of its refusal."""
    try:
        return action(*arguments)
    except Refusal as refusal:
        return refusal.error.fields["reason"]


def test_no_file_is_read_through_a_swapped_folder(home, link, both_ways, rounds):
    """At its end or on the way there."""
    own = Permissions(folder=home)
    with swapping((home / "docs", link)):
        seen = {
            tried(file_reader.read_file, path, own)
            for _ in range(rounds)
            for path in ("docs/a.txt", "docs/deep/a.txt")
        }

    assert "mine" in seen
    assert seen <= {"mine", "path-denied", "file-not-found"}


def test_no_name_is_listed_through_a_swapped_folder(home, link, both_ways, rounds):
    """Also while a listing goes from folder to folder."""
    own = Permissions(folder=home)
    deep = home / "docs" / "deep"
    (home / "link-2").symlink_to(os.path.join("..", os.readlink(link)))
    with swapping((home / "docs", link)):
        seen = {tried(file_reader.list_files, "docs/**", own) for _ in range(rounds // 4)}
        seen |= {tried(file_reader.list_files, "**", own) for _ in range(rounds // 4)}
    if not (home / "docs").is_symlink():
        with swapping((deep, home / "link-2")):
            seen |= {tried(file_reader.list_files, "docs/**", own) for _ in range(rounds // 4)}

    names = {os.path.basename(name) for found in seen if isinstance(found, tuple) for name in found}
    assert {"a.txt", "mine.txt"} <= names
    assert not names & {"secret.txt", "hidden.txt"}


def test_nothing_is_written_through_a_swapped_folder(home, link, both_ways, rounds):
    """Neither a file nor a part of one."""
    allowed = Permissions(folder=home, write=[home])
    with swapping((home / "docs", link)):
        for number in range(rounds // 4):
            tried(file_writer.write_file, f"docs/new-{number}", "x", allowed)
            tried(file_writer.write_file, "docs/a.txt", "mine", allowed)

    there = home.parent / "evil", home / ".git"
    assert [3, 3] == [len(os.listdir(folder)) for folder in there]
    assert ["secret", "hidden"] == [(folder / "a.txt").read_text() for folder in there]


def test_no_import_of_a_listing_is_through_a_link(home):
    """A link that is there all the time is no more than one that is swapped in."""
    (home / "hidden").symlink_to(".git")
    own = Permissions(folder=home)

    assert "path-denied" == tried(file_reader.list_files, "hidden/*", own)
    assert "path-denied" == tried(file_reader.read_file, "hidden/a.txt", own)


def test_a_folder_that_goes_away_meanwhile_takes_only_itself_along(home, rounds):
    """The rest is listed all the same."""
    own = Permissions(folder=home)
    with swapping((home / "docs" / "deep", home / "docs" / "a.txt")):
        listings = [file_reader.list_files("docs/**", own) for _ in range(rounds // 4)]

    assert all("docs/mine.txt" in found for found in listings)


def unlike(folder):
    """The names in a folder that are neither regular files nor folders."""
    modes = [(name, os.lstat(folder / name).st_mode) for name in os.listdir(folder)]
    return [name for name, mode in modes if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("mine.txt", path)])
def test_a_pipe_or_link_that_is_swapped_in_is_not_replaced(home, make, rounds):
    """Whenever it comes: it is there afterwards, under one of its names, and the text was written
    to a file or not at all."""
    allowed = Permissions(folder=home, write=[home])
    docs = home / "docs"
    make(docs / "other")
    with swapping((docs / "a.txt", docs / "other")):
        seen = {
            tried(file_writer.write_file, "docs/a.txt", str(at), allowed)
            for at in range(rounds * 5)
        }

    assert {None, "path-denied"} == seen
    assert 1 == len(unlike(docs))
    assert {"a.txt", "other", "deep", "mine.txt"} == set(os.listdir(docs))
    assert "mine" == (docs / "mine.txt").read_text()


def test_nothing_is_left_where_names_come_and_go(home, rounds):
    """Pipes that are made and removed under the name that is written to."""
    allowed = Permissions(folder=home, write=[home])
    target, pipe = home / "new.txt", home / "pipe"
    done = threading.Event()

    def coming_and_going():
        while not done.is_set():
            os.mkfifo(pipe)
            os.rename(pipe, target)
            os.unlink(target)

    thread = threading.Thread(target=coming_and_going)
    thread.start()
    try:
        seen = {tried(file_writer.write_file, "new.txt", "mine", allowed) for _ in range(rounds)}
    finally:
        done.set()
        thread.join()

    assert seen <= {None, "path-denied", "file-failed"} and None in seen
    assert [] == [name for name in os.listdir(home) if name.startswith(".new")]


def test_where_nothing_can_change_places_nothing_is_written(home, monkeypatch):
    """A protection that is missing refuses; the file is as it was."""

    def unknown(*arguments):
        ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(atomic_write, "_call", lambda: unknown)
    allowed = Permissions(folder=home, write=[home])

    assert "file-failed" == tried(file_writer.write_file, "docs/a.txt", "x", allowed)
    assert "mine" == (home / "docs/a.txt").read_text()
    assert {"a.txt", "deep", "mine.txt"} == set(os.listdir(home / "docs"))
