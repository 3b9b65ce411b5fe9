"""The file of an index: all of a change or none of it, whoever kills, writes or breaks what."""

import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from memory_support import FILES, filled, found, indexed, names, rows
from support.command import SEXPLANG
from support.markdown import ROOT

from sexplang.runtime import Refusal
from sexplang.runtime.memory import MemorySystem, index_path_for, store
from sexplang.runtime.memory.scan.walk import Walk
from sexplang.runtime.memory.store import VERSION, open_to_change

# A process that sends itself a signal when so many files have been put into the index.
KILLED = """
import os, signal, sys
from sexplang.hosts import main

count = 0
def watch(frame, event, argument):
    global count
    if event == "call" and frame.f_code.co_name == sys.argv[2]:
        count += 1
        if count == int(sys.argv[3]):
            os.kill(os.getpid(), int(sys.argv[4]))

sys.setprofile(watch)
sys.exit(main(["index", sys.argv[1]]))
"""


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-c", KILLED, *map(str, words)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def reason(call):
    with pytest.raises(Refusal) as refused:
        call()
    return refused.value.error.fields["reason"]


def remade(folder):
    """Other files than the index knows."""
    for name in FILES:
        (folder / name).unlink()
    filled(folder, {f"new/{n}.md": f"# File {n}" for n in range(30)})


@pytest.mark.parametrize(
    ("function", "count", "signum"),
    [
        ("facts_of", 15, signal.SIGKILL),
        ("drop", 2, signal.SIGKILL),
        ("put", 1, signal.SIGKILL),
        ("put", 29, signal.SIGKILL),
        ("facts_of", 3, signal.SIGINT),
        ("put", 20, signal.SIGINT),
    ],
)
def test_an_index_that_is_interrupted_is_as_it_was(tmp_path, function, count, signum):
    """Killed or stopped by Ctrl-C, while it reads, forgets or writes; and the next goes well."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    before = rows(memory, folder)
    remade(folder)
    process = started(folder, function, count, int(signum))
    _, said = process.communicate(timeout=60)

    if signum == signal.SIGINT:
        assert (130, "sexplang: interrupted") == (process.returncode, said.strip())
    else:
        assert -signum == process.returncode
    assert before == rows(memory, folder)
    assert ["docs/tea.md"] == found(memory, "green", folder)
    report = memory.add(folder)
    assert (30, 30, 5) == (report.files, report.new, report.gone)


def test_a_first_index_that_is_interrupted_is_none(tmp_path):
    """An empty file is left at most; it counts as no index, and is made one."""
    folder = filled(tmp_path)
    process = started(folder, "put", 3, int(signal.SIGKILL))
    process.communicate(timeout=60)
    memory = MemorySystem(folder / ".sexplang/index.db")

    assert (-signal.SIGKILL, {}) == (process.returncode, memory.entries())
    assert memory.search("green") == {
        "summary": "there is no index; `sexplang index PATH` makes one",
        "matches": [],
        "error": None,
    }
    assert sorted(FILES) == names(indexed(folder), folder)


def test_readers_see_the_index_before_a_change_or_after_it(tmp_path):
    """And are not kept waiting by whoever writes."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    with open_to_change(memory.index) as connection:
        connection.execute("delete from words")
        connection.execute("delete from files")
        assert ["docs/tea.md"] == found(memory, "green", folder)
        assert 5 == len(memory.entries())

    assert {} == memory.entries()


@pytest.mark.parametrize("moment", range(1, 7))
@pytest.mark.parametrize("look", [lambda one: one.search("green"), MemorySystem.status])
def test_whatever_is_read_is_of_one_state(tmp_path, monkeypatch, look, moment):
    """Before whichever statement of a search or a listing another takes everything away."""
    memory = indexed(filled(tmp_path))
    whole = look(memory)
    seen, opened = [], store._open

    def watch(statement):
        seen.append(statement)
        if len([one for one in seen if not one.startswith("--")]) == moment:
            with open_to_change(memory.index) as connection:
                for table in ("words", "files", "roots"):
                    connection.execute(f"delete from {table}")

    def watched(path):
        connection = opened(path)
        connection.set_trace_callback(watch)
        return connection

    monkeypatch.setattr(store, "_open", watched)

    assert whole == look(memory)


# Another process looks into an index, and then wants to change it.
TURN = """
import sys
from sexplang.runtime import Refusal
from sexplang.runtime.memory import MemorySystem
from sexplang.runtime.memory.store import open_to_change

print(len(MemorySystem(sys.argv[1]).entries()))
try:
    with open_to_change(sys.argv[1], patience=0.1):
        print("changed")
except Refusal as refusal:
    print(refusal.error.fields["reason"])
"""


def test_who_looks_into_an_index_takes_nobodys_turn(tmp_path):
    """Also in the process of whoever changes it: its locks go with a file that it closes."""
    memory = indexed(filled(tmp_path))
    with open_to_change(memory.index) as connection:
        connection.execute("delete from files")
        assert 5 == len(memory.entries())
        done = subprocess.run(
            [sys.executable, "-c", TURN, memory.index], cwd=ROOT, capture_output=True, text=True
        )

    assert ("5\nindex-busy\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize("target", ["", "/index.db"], ids=["its folder", "itself"])
def test_an_index_is_not_opened_as_a_file(tmp_path, monkeypatch, target):
    """Though it lies in the folder that it is of: that would take the turn of who is at work."""
    folder, opened, whole = filled(tmp_path), [], Walk.open
    memory = MemorySystem(folder / "index.db")
    memory.add(folder)
    monkeypatch.setattr(Walk, "open", lambda walk, path: opened.append(path) or whole(walk, path))

    (folder / "cup.md").write_text("# Cup\n")
    memory.add(f"{folder}{target}")
    assert (["cup.md"] if not target else []) == opened


def test_an_exception_in_a_change_keeps_the_index(tmp_path):
    """What was done before it is undone."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    with pytest.raises(ValueError, match="stop"), open_to_change(memory.index) as connection:
        connection.execute("delete from files")
        raise ValueError("stop")

    assert 5 == len(memory.entries())


def test_indexers_take_turns(tmp_path):
    """Several at once, on an index that is not there yet, each with files of its own."""
    parts = [f"part{n}" for n in range(4)]
    folder = filled(
        tmp_path, {f"{part}/{n}.md": f"{part} {n}" for part in parts for n in range(20)}
    )
    (folder / "sexplang.toml").write_text("")
    processes = [
        subprocess.Popen(
            [*SEXPLANG, "index", str(folder / part)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        for part in parts * 2
    ]
    outputs = [process.communicate(timeout=100)[0] for process in processes]

    assert [0] * 8 == [process.returncode for process in processes], outputs
    assert 80 == len(MemorySystem(folder / ".sexplang/index.db").entries())


@pytest.mark.parametrize("moment", range(1, 5))
def test_an_index_that_is_made_while_one_looks_is_seen_whole_or_not_at_all(tmp_path, moment):
    """Before whichever statement of the look another process makes it."""
    path = str(tmp_path / "index.db")
    connection = sqlite3.connect(path, isolation_level=None)
    seen = []

    def watch(statement):
        seen.append(statement)
        if len([one for one in seen if not one.startswith("--")]) == moment:
            with open_to_change(path, patience=0.1):
                pass

    connection.set_trace_callback(watch)
    version = store._version(connection, path)
    connection.close()

    assert version == (VERSION if moment == 1 else 0)


def test_who_waits_too_long_for_another_indexer_is_told(tmp_path):
    """An index is changed by one at a time."""
    memory = indexed(filled(tmp_path))
    with open_to_change(memory.index):

        def second():
            with open_to_change(memory.index, patience=0.1):
                pass

        assert "index-busy" == reason(second)


def test_an_index_is_found_again(tmp_path):
    """In another process, and when the whole project has moved."""
    folder = filled(tmp_path / "shop")
    indexed(folder)
    moved = (tmp_path / "moved").resolve()
    folder.rename(moved)
    memory = MemorySystem(moved / ".sexplang/index.db")

    assert sorted(FILES) == names(memory, moved)
    assert ["docs/tea.md"] == found(memory, "green", moved)
    assert 0 == memory.add(moved).new


def test_an_index_lies_in_the_top_folder_of_the_project(tmp_path):
    """That which has a `.sexplang`, a `sexplang.toml` or a `.git`; it keeps itself out of git."""
    folder = filled(tmp_path / "shop")
    inner = folder / "docs"
    assert str(inner / ".sexplang/index.db") == index_path_for(str(inner))
    assert str(inner / ".sexplang/index.db") == index_path_for(str(inner / "tea.md"))
    for mark in (".git", "sexplang.toml", "docs/.sexplang"):
        (folder / mark).mkdir()
        top = inner if mark.startswith("docs") else folder
        assert str(top / ".sexplang/index.db") == index_path_for(str(inner))
    MemorySystem(index_path_for(str(folder))).add(folder)

    assert "*\n" == (folder / ".sexplang/.gitignore").read_text()


# -- What a host knows


def test_a_host_adds_what_it_knows(tmp_path):
    """By absolute path; it is found, merged, and stays when the folder is indexed again."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    memory.update({str(folder / "orders.db"): "Orders of teapots.", "/else/where.md": "Porcelain."})

    assert "Orders of teapots." == memory.entries()[str(folder / "orders.db")]
    assert ["orders.db"] == found(memory, "teapot", folder)
    memory.add(folder)
    memory.update({"/else/where.md": "Stoneware."})
    assert 7 == len(memory.entries())
    assert [] == found(memory, "porcelain", folder)
    assert ["/else/where.md"] == [match["id"] for match in memory.search("stoneware")["matches"]]


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ({"/a.md": "good", "b.md": "relative"}, ValueError),
        ({"/a.md": "good", "": "empty"}, ValueError),
        ({"/a.md": "good", "/b.md": 3}, TypeError),
        ({"/a.md": "good", "/b.md": None}, TypeError),
    ],
)
def test_what_a_host_says_is_taken_whole_or_not_at_all(tmp_path, entries, error):
    """A relative path, or metadata that is no text, spoils all of it."""
    memory = indexed(filled(tmp_path))
    with pytest.raises(error):
        memory.update(entries)

    assert "/a.md" not in memory.entries()


# -- What cannot be used


def unusable(memory, folder):
    """The reasons that everything gives."""
    error = memory.search("tea")["error"].fields
    assert ("TASK_FAILURE", "context_retrieval_failure") == (error["type"], error["reason"])
    tried = [memory.entries, lambda: memory.add(folder), lambda: memory.update({"/a": "b"})]
    return {error["details"]["code"], *map(reason, tried)}


@pytest.mark.parametrize(
    "data",
    [b"this is a text\n" * 100, b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 5000, b"x"],
)
def test_a_file_that_is_no_index_is_said_to_be_none(tmp_path, data):
    """And it is left alone."""
    folder = filled(tmp_path)
    (folder / "index.db").write_bytes(data)

    assert {"bad-index"} == unusable(MemorySystem(folder / "index.db"), folder)
    assert data == (folder / "index.db").read_bytes()


def test_a_pipe_is_no_index(tmp_path):
    """Nobody waits for what never comes."""
    folder = filled(tmp_path)
    os.mkfifo(folder / "index.db")

    assert {"bad-index"} == unusable(MemorySystem(folder / "index.db"), folder)
    assert {"bad-index"} == unusable(MemorySystem("/dev/null"), folder)


def test_somebody_elses_database_is_left_alone(tmp_path):
    """Whatever is in it."""
    place = tmp_path / "other.db"
    with sqlite3.connect(place) as connection:
        connection.execute("create table files (path)")
    connection.close()
    data = place.read_bytes()

    assert {"bad-index"} == unusable(MemorySystem(place), tmp_path)
    assert data == place.read_bytes()


def test_an_index_of_a_newer_version_is_not_touched(tmp_path):
    """Who has an older version is told."""
    memory = indexed(filled(tmp_path))
    with sqlite3.connect(memory.index) as connection:
        connection.execute(f"pragma user_version = {VERSION + 1}")
    connection.close()

    assert {"index-too-new"} == unusable(memory, tmp_path)
    assert "newer version" in memory.search("tea")["error"].fields["message"]


def aged(memory, version=1):
    """Makes an index one of version 2, which had no vectors, or of version 1, which left it to
    SQLite to say what a word is."""
    connection = sqlite3.connect(memory.index)
    with connection:
        connection.execute("drop table vectors")
        if version == 1:
            connection.execute("drop table words")
            connection.execute(
                """create virtual table words using fts5 (
                names, summary, identifiers, facts, tokenize = 'porter unicode61')"""
            )
            connection.execute("insert into words (rowid, summary) select id, summary from files")
        connection.execute(f"pragma user_version = {version}")
    connection.close()


def version(memory):
    connection = sqlite3.connect(memory.index)
    (found_,) = connection.execute("pragma user_version").fetchone()
    connection.close()
    return found_


@pytest.mark.parametrize("old", [1, 2])
@pytest.mark.parametrize("use", ["search", "add", "update", "entries"])
def test_an_index_of_an_older_version_is_renewed(tmp_path, use, old):
    """By whatever is done with it first; nothing that was known is lost."""
    folder = filled(tmp_path, FILES | {"wide.md": "# Die Straße\n"})
    memory = indexed(folder)
    memory.update({"/else/where.md": "Porcelain."})
    known = memory.entries()
    aged(memory, old)
    {
        "search": lambda: memory.search("street"),
        "add": lambda: memory.add(folder / "src"),
        "update": lambda: memory.update({"/else/where.md": "Porcelain."}),
        "entries": memory.entries,
    }[use]()

    assert VERSION == version(memory)
    assert known == memory.entries()
    assert ["wide.md"] == found(memory, "STRASSE", folder)
    assert ["/else/where.md"] == [match["id"] for match in memory.search("porcelain")["matches"]]


def test_a_damaged_index_is_never_an_exception(tmp_path):
    """A page that is overwritten anywhere gives an answer or the error of an index."""
    folder = filled(tmp_path, {f"{n}.md": f"# Tea {n}\n\nA cup of {n}." for n in range(200)})
    memory = indexed(folder)
    whole = Path(memory.index).read_bytes()
    chance = random.Random(5)
    codes = set()
    for _ in range(60):
        data = bytearray(whole)
        at = chance.randrange(len(data))
        data[at : at + 200] = chance.randbytes(len(data[at : at + 200]))
        Path(memory.index).write_bytes(data[: chance.choice([len(data), at])])
        error = memory.search("cup")["error"]
        codes.add(error and error.fields["details"]["code"])

    assert codes <= {None, "bad-index", "index-failed", "index-too-new"}
    assert "bad-index" in codes


@pytest.mark.parametrize(
    "change",
    [
        "update files set summary = cast(x'fffe41' as text)",
        "update files set path = cast(x'ff2f41' as text) where id = 1",
        "update files set summary = x'41'",
        "update files set size = 'many'",
        "drop table files; create table files (id, path, skipped)",
    ],
)
def test_a_row_that_is_damaged_is_a_bad_index(tmp_path, change):
    """A text that is none, a value of another kind, a column that is gone."""
    folder = filled(tmp_path)
    memory = indexed(folder)
    connection = sqlite3.connect(memory.index)
    connection.executescript(change)
    connection.close()
    error = memory.search("tea")["error"]

    assert "bad-index" == error.fields["details"]["code"]
    assert {"bad-index"} == {reason(memory.entries), reason(lambda: memory.add(folder))}


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """A file where a folder should be, a folder where the file should be."""
    folder = filled(tmp_path)
    (folder / "file").write_text("x")
    (folder / "folder").mkdir()
    for place in (folder / "file/index.db", folder / "folder"):
        assert "index-failed" == reason(lambda place=place: MemorySystem(place).add(folder))


@pytest.mark.parametrize("is_old", [False, True])
def test_an_index_that_is_read_only_is_read(tmp_path, is_old):
    """Though nothing can be written beside it, nor an old one renewed."""
    with TemporaryDirectory() as place:
        folder = filled(Path(place).resolve())
        memory = indexed(folder)
        if is_old:
            aged(memory)
        folder.chmod(0o755)
        (folder / ".sexplang").chmod(0o555)
        # To root everything can be written, so a process of nobody's has to look.
        process = multiprocessing.get_context("fork").Process(
            target=_found_by_nobody, args=(memory, folder)
        )
        process.start()
        process.join(60)
        (folder / ".sexplang").chmod(0o755)

        assert 0 == process.exitcode


def _found_by_nobody(memory, folder):
    if os.geteuid() == 0:
        os.setuid(65534)
    assert ["docs/tea.md"] == found(memory, "green", folder)
