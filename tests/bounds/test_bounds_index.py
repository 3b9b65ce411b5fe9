"""An index that somebody else made, as it comes with a folder: it is read, bounded, or refused."""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from sexplang.runtime import Refusal
from sexplang.runtime.memory import MemorySystem, store
from sexplang.runtime.memory.entries import LONGEST
from sexplang.runtime.memory.store import open_to_change

FILES = {"tea.md": "# Tea\n\nA cup of tea.\n", "cup.md": "# Cup\n"}

FOREVER = """as with recursive n (id) as (select 1 union all select id + 1 from n)
    select id, 'tea.md' || id as path, null as size, null as mtime_ns, null as digest,
    '' as summary, '' as identifiers, '' as commit_id, '' as author, '' as date,
    null as given, null as skipped
    from n"""

HOSTILE = {
    "a view": f"drop table files; create view files {FOREVER}",
    "a view beside": "create view more as select 1",
    "a trigger": """create trigger t after insert on files begin
        insert into roots select path, '', '', '', 0.0 from files; end""",
    "a computed column": """drop table files; create table files (
        id integer primary key, path text not null unique, size integer, mtime_ns integer,
        digest text, summary text as (hex(zeroblob(30000000))), identifiers text not null,
        commit_id text not null, author text not null, date text not null,
        given text, skipped text)""",
    "a column more": "alter table files add column more text",
    "other words": "drop table words; create virtual table words using fts5 (names, content='x')",
    "a view for words": "drop table words; create view words as select * from files",
    "an index": "create index more on files (hex(summary))",
    "a table more": "create table more (a)",
    "a table of words": """pragma writable_schema = on; update sqlite_master
        set sql = 'CREATE TABLE ''words_config''(k PRIMARY KEY, v as (k || k)) WITHOUT ROWID'
        where name = 'words_config'""",
}


@pytest.fixture
def memory(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    made = MemorySystem(tmp_path / ".sexplang/index.db")
    made.add(tmp_path)
    return made


def changed(memory, script):
    connection = sqlite3.connect(memory.index)
    connection.executescript(script)
    connection.commit()
    connection.close()


def uses(memory, folder):
    """Everything that opens an index, by what it says of this one: a code, or nothing."""
    said = {}
    error = memory.search("tea")["error"]
    said["search"] = error and error.fields["message"]
    for name, use in {
        "entries": memory.entries,
        "status": memory.status,
        "add": lambda: memory.add(folder),
        "update": lambda: memory.update({"/a.md": "b"}),
    }.items():
        try:
            use()
            said[name] = None
        except Refusal as refusal:
            said[name] = refusal.error.fields["message"]
            assert refusal.error.fields["reason"] in ("bad-index", "index-failed")
    return said


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
def test_an_index_has_our_tables_and_nothing_else(memory, tmp_path, script, version):
    """Whatever else is in a database can take any time; of an old one, nothing is renewed."""
    changed(memory, f"{script}; pragma user_version = {version}")
    before = Path(memory.index).read_bytes()

    said = uses(memory, tmp_path)
    assert all(
        each and "is not one that `sexplang index` makes" in each for each in said.values()
    ), said
    assert before == Path(memory.index).read_bytes()


@pytest.mark.parametrize("where", ["true", "id = 10", "id > 10"])
def test_words_that_are_damaged_are_not_taken_for_none(memory, where):
    """SQLite finds nothing in them, and says no more."""
    assert "no file" in memory.search("coffee")["summary"]
    changed(memory, f"update words_data set block = zeroblob(length(block)) where {where}")

    message = memory.search("tea")["error"].fields["message"]
    assert "is not a usable index: the words in it are damaged" in message


def test_many_tables_are_not_counted(memory, tmp_path):
    """What there is to declare is bounded too."""
    changed(
        memory,
        """pragma writable_schema = on;
        with recursive n (value) as (
            select 1 union all select value + 1 from n where value < 12000)
        insert into sqlite_master
        select 'table', 't' || value, 't' || value, 2, 'CREATE TABLE t' || value || ' (a)'
        from n""",
    )

    said = uses(memory, tmp_path)
    words = "opening it takes more than 10,000 steps, ours takes hundreds"
    assert all(each and words in each for each in said.values()), said


@pytest.mark.parametrize("column", ["path", "summary", "identifiers", "author", "given"])
def test_a_text_in_an_index_is_bounded(memory, tmp_path, column):
    """In characters where it is ours, in bytes where SQLite would have to hold it."""
    connection = sqlite3.connect(memory.index)
    ((tea,),) = connection.execute("select id from files where path = 'tea.md'")
    connection.close()
    changed(memory, f"update files set {column} = hex(zeroblob({LONGEST})) where id = {tea}")
    for each in (memory.entries, lambda: memory.search("tea")["error"] and memory.entries()):
        with pytest.raises(Refusal, match=f"more than {LONGEST:,} characters"):
            each()

    changed(memory, f"update files set {column} = hex(zeroblob(17000000)) where id = {tea}")
    with pytest.raises(Refusal, match="too big"):
        memory.entries()


def test_a_host_gives_no_more_than_an_index_takes(memory):
    """So that what is kept can be read."""
    memory.update({"/a.md": "x" * LONGEST})
    assert LONGEST == len(memory.entries()["/a.md"])

    with pytest.raises(ValueError, match="at most 1,000,000 characters"):
        memory.update({"/a.md": "x" * (LONGEST + 1)})


@pytest.mark.parametrize("use", [lambda one: one.search("tea"), MemorySystem.entries])
def test_what_is_asked_of_an_index_has_an_account(memory, tmp_path, monkeypatch, use):
    """Of SQLite's instructions, whatever there is in its tables."""
    changed(
        memory,
        """with recursive n (value) as (
            select 1 union all select value + 1 from n where value < 5000)
        insert into files
        select null, 'f' || value, 1, 1, '', '', '', '', '', '', null, null from n""",
    )
    assert use(memory)
    monkeypatch.setattr(store, "MOST_STEPS", 20_000)
    try:
        said = use(memory)["error"].fields["message"]
    except Refusal as refusal:
        said = refusal.error.fields["message"]

    assert "looking into it takes more than 20,000 steps" in said


def test_an_index_is_read_and_not_written(memory, tmp_path):
    """By whoever looks into it; not even a journal is played back."""
    before = os.stat(memory.index)
    memory.search("tea")
    memory.entries()
    after = os.stat(memory.index)
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)

    with (
        pytest.raises(Refusal, match="broken off"),
        store.open_to_read(memory.index) as connection,
    ):
        connection.execute("delete from files")


def hot_journal(index, other):
    """A journal as of a change of several databases that was broken off. SQLite removes the file
    that it names, unless that names the journal."""
    header = bytes.fromhex("d9d505f920a163d7")
    pages = os.path.getsize(index) // 4096
    name = os.fsencode(other)
    body = (header + struct.pack(">IIIII", 0, 1, pages, 512, 4096)).ljust(512, b"\0")
    body += struct.pack(">I", (1 << 30) // 4096 + 1) + name
    return body + struct.pack(">II", len(name), sum(name)) + header


def test_a_journal_beside_an_index_removes_no_file(memory, tmp_path):
    """What comes with a folder is also a journal that SQLite plays back for who may write."""
    other = tmp_path / "precious.txt"
    other.write_text("all that there is\n")
    journal = tmp_path / ".sexplang/index.db-journal"

    journal.write_bytes(hot_journal(memory.index, other))
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / ".sexplang", copy)
    lost = tmp_path / "lost.txt"
    lost.write_text("it goes")
    (copy / "index.db-journal").write_bytes(hot_journal(memory.index, lost))
    connection = sqlite3.connect(copy / "index.db")
    connection.execute("select count(*) from sqlite_master").fetchone()
    connection.close()
    assert not lost.exists(), "this is what SQLite does by itself"

    said = uses(memory, tmp_path)
    assert all(each and "names another file" in each for each in said.values()), said
    assert "all that there is\n" == other.read_text()


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_lies_beside_an_index_is_a_file(memory, tmp_path, end, kind):
    """A link leads elsewhere, and a pipe is waited for."""
    other = tmp_path / "precious.txt"
    other.write_text("all that there is\n")
    beside = f"{memory.index}{end}"
    {
        "link": lambda: os.symlink(other, beside),
        "pipe": lambda: os.mkfifo(beside),
        "folder": lambda: os.mkdir(beside),
    }[kind]()

    said = uses(memory, tmp_path)
    assert all(each and "is not a regular file" in each for each in said.values()), said
    assert "all that there is\n" == other.read_text()


KILLED = """
import os, signal, sys
from sexplang.runtime.memory.store import changing
with changing(sys.argv[1]) as connection:
    connection.execute("delete from files")
    connection.execute("pragma cache_spill = on")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_index_whose_change_was_broken_off_is_read(memory, tmp_path):
    """As it was before."""
    subprocess.run([sys.executable, "-c", KILLED, memory.index], check=False)

    assert [None] * 5 == list(uses(memory, tmp_path).values())
    with open_to_change(memory.index) as connection:
        assert (3,) == connection.execute("select count(*) from files").fetchone()
