"""A store of runs does the same in a file and on a server."""

import json
import os
import signal
import sqlite3
from functools import partial
from time import monotonic, sleep

import psycopg
import pytest
from support.command import sexplang as command
from support.killed_runs import crash_at, in_child

import sexplang
from sexplang.runtime.journal.databases import postgresql, resolve_address
from sexplang.runtime.journal.run_store import DONE, INTERRUPTED, WAITING, open_store
from sexplang.runtime.refusal import Refusal

STEPS = "(define-effect (act n)) (map act [1 2 3 4])"
QUESTION = '(define-effect (approve what)) [(approve (str "pay " 2)) (approve "send")]'


@pytest.fixture
def act(tmp_path):
    """An effect that notes its number in a file."""

    def perform(n):
        with (tmp_path / "log").open("a") as log:
            log.write(f"{n} ")
        return n * 10

    return perform


@pytest.fixture
def store(address):
    opened = open_store(resolve_address(address))
    yield opened
    opened.close()


def test_a_run_is_kept(address, act, store):
    done = sexplang.run(STEPS, effects={"act": act}, store=address, run_id="r")
    run = store.find("r")

    assert ((10, 20, 30, 40), DONE, 4) == (tuple(done), run.state, run.replies)
    assert [run] == store.runs() and 0 < store.size()


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("number", [1, 3, 5])
def test_a_killed_run_goes_on(address, act, tmp_path, number, place):
    """What was answered is not made again; what was under way is asked about."""
    given = {"effects": {"act": act}, "store": address}
    assert not in_child(lambda: (crash_at(number, place), sexplang.run(STEPS, run_id="r", **given)))
    again = partial(sexplang.resume, STEPS, "r", replay={"*": "safe"}, **given)
    try:
        done = again()
    except sexplang.Failed as failed:
        assert "unknown-run" in failed.reason or "store-failed" in failed.reason
        done = sexplang.run(STEPS, run_id="r", **given)

    assert [10, 20, 30, 40] == list(done)
    made = (tmp_path / "log").read_text().split()
    assert {"1", "2", "3", "4"} == set(made) and len(made) <= 5


def test_questions_are_answered_by_another_connection(address, store):
    given = {"pause": ["approve"], "store": address}
    assert isinstance(sexplang.run(QUESTION, run_id="r", **given), sexplang.Suspended)
    assert (WAITING, 1) == (store.find("r").state, len(sexplang.questions(address)))
    sexplang.answer("r", "yes", store=address)
    with pytest.raises(sexplang.Failed) as twice:
        sexplang.answer("r", "no", store=address)
    assert "answered-already" == twice.value.reason
    assert isinstance(sexplang.resume(QUESTION, "r", **given), sexplang.Suspended)
    sexplang.answer("r", "no\0 half", store=address)

    assert ["yes", "no\0 half"] == list(sexplang.resume(QUESTION, "r", **given))


def test_one_drive_has_a_run(address, store):
    """The lock goes with the connection."""
    run = store.add_run("r", "", "", "{}", "{}")
    other = open_store(resolve_address(address))
    assert (False, True) == (other.lock("r"), other.is_alive(run))
    store.close()
    assert (True, True) == (other.lock("r"), not other.lock("r"))
    other.close()


def test_an_id_is_given_once(address, store):
    store.add_run("r", "", "", "{}", "{}")
    with pytest.raises(Refusal) as refused:
        store.add_run("r", "", "", "{}", "{}")
    store.unlock("r")
    with pytest.raises(Refusal) as again:
        store.add_run("r", "", "", "{}", "{}")

    assert ["run-exists"] * 2 == [each.value.error.fields["reason"] for each in (refused, again)]


def test_two_writers_of_one_run_are_told(address, act, store):
    """An entry that is there already is another process's."""
    sexplang.run(STEPS, effects={"act": act}, store=address, run_id="r")
    with pytest.raises(Refusal) as refused, store.explain():
        store.db.execute("insert into entries values (?, 1, ?, ?)", (store.find("r").n, b"", b""))

    assert "another process has written to this run" in str(refused.value.error)


def test_runs_are_removed_with_all_that_is_theirs(address, act, store):
    sexplang.run(STEPS, effects={"act": act}, store=address, run_id="r")
    store.remove(store.runs())

    tables = ("runs", "entries", "blobs", "snapshots", "questions")
    counts = [store.db.execute(f"select count(*) from {each}").fetchone() for each in tables]
    assert [(0,)] * 5 == counts
    store.compact()


def test_a_run_goes_from_one_database_to_another(address, act, tmp_path, store):
    """`export` writes a file, and `import` reads one into any store."""
    sexplang.run(STEPS, effects={"act": act}, store=address, run_id="r")
    exported = command("runs", "export", "r", "night.db", "--store", address, cwd=tmp_path)
    store.remove(store.runs())
    imported = command("runs", "import", "night.db", "--store", address, cwd=tmp_path)

    assert (0, 0) == (exported.returncode, imported.returncode), exported.stderr + imported.stderr
    assert ("r", DONE, "imported") == (
        store.find("r").id,
        store.find("r").state,
        store.find("r").owner,
    )


def test_the_command_knows_the_address(address, tmp_path):
    words = ("--store", address)
    run = ("run", "-e", '(str "sent: " (ask-user "Send it?"))', "--run-id", "r", *words)
    asked = command(*run, text="", cwd=tmp_path)
    answered = command("runs", "answer", "r", "yes", *words, cwd=tmp_path)
    resumed = command("runs", "resume", "r", *words, "--as-recorded", cwd=tmp_path)
    listed = command("runs", "list", "--all", "--json", *words, cwd=tmp_path)

    assert [3, 0, 0, 0] == [each.returncode for each in (asked, answered, resumed, listed)], (
        asked.stderr + answered.stderr + resumed.stderr
    )
    assert "sent: yes\n" == resumed.stdout
    assert ["done"] == [each["state"] for each in json.loads(listed.stdout)]


def test_an_interrupted_run_is_known(address, store):
    """Another process that ends without a word leaves its run to the next."""
    run = store.add_run("r", "", "", "{}", "{}")
    store.unlock("r")

    assert not store.is_alive(run)
    store.cancel_run(run)
    assert INTERRUPTED != store.find("r").state


@pytest.mark.postgres
def test_a_newer_version_is_refused(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("drop schema if exists sexplang cascade")
        open_store(postgres).close()
        connection.execute("update sexplang.version set version = 99")
        with pytest.raises(Refusal) as refused:
            open_store(postgres)
        connection.execute("drop schema sexplang cascade")

    assert "is of a newer version" in str(refused.value.error)


@pytest.mark.postgres
@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_older_version_is_brought_to_this_one(postgres, version):
    """The same statements as in a file."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("drop schema if exists sexplang cascade")
        open_store(postgres).close()
        connection.execute("set search_path = sexplang")
        for column in ("program", "priority", "held", "is_stuck", "wish"):
            connection.execute(f"alter table runs drop column {column}")
        connection.execute("drop table programs, leaves, late, pressure")
        connection.execute("drop index runs_by_state")
        if version < 3:
            connection.execute("alter table runs drop column successor")
        if version == 1:
            connection.execute("alter table runs drop column due, drop column value")
            connection.execute("drop table questions")
        connection.execute("update version set version = %s", [version])
        store = open_store(postgres)
        store.add_run("r", "", "", "{}", "{}")
        store.close()
        found = connection.execute("select version from version").fetchone()

    assert (4,) == found


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda url: url.replace("/postgres?", "/nowhere?"), "does not exist"),
        (lambda url: url.replace("host=", "host=/nowhere"), "No such file"),
        (lambda url: url.replace("sexplang@", "nobody:secret@"), "nobody"),
        (lambda url: url + "&colour=red", "cannot be read"),
    ],
    ids=["database", "host", "user", "option"],
)
def test_a_wrong_address_is_one_sentence(postgres, change, words):
    """It is told without the password."""
    done = command("runs", "list", "--store", change(postgres))

    assert 1 == done.returncode and words in done.stderr, done.stderr
    assert "secret" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.postgres
def test_a_driver_that_is_stopped_loses_its_run(postgres, tmp_path, monkeypatch):
    """Another process goes on with it; woken up, the first one commits nothing."""
    monkeypatch.setattr(postgresql, "LEASE", 1)
    go_on, done = tmp_path / "go-on", tmp_path / "done"

    def act(n):
        (tmp_path / f"at {n}").touch()
        while n == 2 and not go_on.exists():
            sleep(0.01)
        return n

    given = {"effects": {"act": act}, "store": postgres}
    child = os.fork()
    if child == 0:
        try:
            sexplang.run(STEPS, run_id="stopped", **given)
        except sexplang.Failed as failed:
            done.write_text(str(failed))
        finally:
            os._exit(0)
    wait_for(lambda: (tmp_path / "at 2").exists())
    sleep(1.5)  # it is alive, though it says nothing
    store = open_store(postgres)
    assert store.is_alive(store.find("stopped"))
    os.kill(child, signal.SIGSTOP)
    wait_for(lambda: not store.is_alive(store.find("stopped")))
    go_on.touch()
    value = sexplang.resume(STEPS, "stopped", replay={"*": "safe"}, **given)
    seqs = "select count(*) from entries where run = ?"
    kept = store.db.execute(seqs, (store.find("stopped").n,)).fetchone()
    os.kill(child, signal.SIGCONT)
    os.waitpid(child, 0)

    assert [1, 2, 3, 4] == list(value) and "store-failed" in done.read_text()
    assert kept == store.db.execute(seqs, (store.find("stopped").n,)).fetchone()
    assert DONE == store.find("stopped").state
    store.close()


def wait_for(is_true):
    """Wait until something is true, for ten seconds at most."""
    until = monotonic() + 10
    while not is_true():
        assert monotonic() < until
        sleep(0.02)


@pytest.mark.postgres
def test_a_transaction_that_stands_is_ended_by_the_server(postgres, monkeypatch):
    """Trap 1 of queues in PostgreSQL: a process that is stopped while it holds a row."""
    monkeypatch.setattr(postgresql, "LEASE", 1)
    store = open_store(postgres)
    run = store.add_run("held", "", "", "{}", "{}")
    child = os.fork()
    if child == 0:
        try:
            own = open_store(postgres)
            with own.transaction(run):
                own.db.execute("update runs set tokens = 1 where n = ?", (run.n,))
                os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    store.db.execute("update runs set tokens = 2 where n = ?", (run.n,))
    os.kill(child, signal.SIGCONT)
    os.waitpid(child, 0)

    assert 2 == store.find("held").tokens
    store.remove([run])
    store.close()


def test_a_file_has_an_address_too(tmp_path):
    assert resolve_address("sqlite:/a/b.db") == resolve_address("/a/b.db") == "/a/b.db"
    sexplang.run("(ask)", effects={"ask": lambda: 1}, store=f"sqlite:{tmp_path}/x.db")
    with sqlite3.connect(tmp_path / "x.db") as db:
        assert (1,) == db.execute("select count(*) from runs").fetchone()
