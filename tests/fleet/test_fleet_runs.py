"""Runs that are submitted, and the workers that drive them."""

import json
import re
import signal
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from support.command import sexplang as command

from sexplang.runs.durable_run import FORMAT
from sexplang.runtime.journal.checksum_chain import KEY, add_checksum
from sexplang.runtime.journal.stored_journal import read_rows
from sexplang.terms.json.tagged import dump, load

pytestmark = pytest.mark.postgres


def test_a_submitted_run_carries_its_program(fleet, tmp_path):
    """Its imports, templates and inputs; it goes on from any folder, when its files are gone."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "double.sexp").write_text("(define (double n) (* 2 n))")
    (tmp_path / "ask.xml").write_text(
        '<task name="ask"><params><param name="who"/></params>'
        "<instructions>Hello {{who}}</instructions></task>"
    )
    (tmp_path / "replies.json").write_text('["good"]')
    text = """(import "lib/double.sexp") (define-input n type: integer)
              (define-input who) (import "ask.xml") [(double n) (ask who) (ask-user "More?")]"""
    fleet.submit(text, "r", "n=4", "who=Ann", "--budget", "calls=3")
    for each in ("r.sexp", "ask.xml", "lib/double.sexp"):
        (tmp_path / each).unlink()
    (tmp_path / "lib").rmdir()
    fleet.once("--model", f"scripted:{tmp_path / 'replies.json'}")
    assert "waiting" == fleet.store.find("r").state
    shown = command("runs", "show", "r", "--store", fleet.address, cwd="/")
    assert "sexplang submit r.sexp n=4 who=Ann --budget calls=3" in shown.stdout, shown.stdout
    fleet.command("runs", "answer", "r", "yes")
    fork = fleet.command("runs", "fork", "r", "--at", "1", "--run-id", "fork")
    assert 0 == fork.returncode, fork.stderr
    resumed = command(*("runs", "resume", "r", "--as-recorded", "--store", fleet.address), cwd="/")
    assert '[8 "good" "yes"]' == resumed.stdout.strip(), resumed.stderr
    fleet.once("--model", f"scripted:{tmp_path / 'replies.json'}")

    assert "waiting" == fleet.store.find("fork").state


def test_runs_of_one_program_share_its_texts(fleet):
    for id in ("one", "other"):
        fleet.submit("(+ 1 2)", id, name="same.sexp")
    assert (1,) == fleet.store.db.execute("select count(*) from programs").fetchone()
    fleet.once()
    assert ["3", "3"] == [fleet.store.find(id).value for id in ("one", "other")]
    fleet.store.remove(fleet.store.runs())
    assert (0,) == fleet.store.db.execute("select count(*) from programs").fetchone()


def test_what_is_wrong_is_said_before_a_run_is_kept(fleet, tmp_path):
    (tmp_path / "p.sexp").write_text("(define-input n type: integer) (undefined n)")
    (tmp_path / "q.sexp").write_text("(define-input n type: integer) n")
    for words, code, said in (
        (("p.sexp", "n=1"), 1, "unbound-name"),
        (("q.sexp",), 2, "n"),
        (("q.sexp", "n=x"), 2, "n"),
        (("none.sexp",), 2, "none.sexp"),
        (("q.sexp", "n=1", "--budget", "tea=1"), 2, "budget"),
        (("q.sexp", "n=1", "--pause", "approve"), 2, "approve"),
        (("q.sexp", "n=1", "--run-id", "a b"), 2, "--run-id"),
        (("q.sexp", "1"), 2, "name=value"),
        ((), 2, "Name a program"),
    ):
        done = fleet.command("submit", *words)
        assert code == done.returncode and said in done.stderr, (words, done.stderr)
        assert "Traceback" not in done.stderr
    assert [] == fleet.store.runs()
    fleet.submit("1", "r")
    again = fleet.command("submit", "q.sexp", "n=1", "--run-id", "r")
    assert 1 == again.returncode and "run-exists" in again.stderr


def test_a_submission_is_told_as_data(fleet):
    done = fleet.command("submit", "-e", "1", "--json", "--run-id", "r")

    assert {"run": "r", "state": "submitted"} == json.loads(done.stdout)


def test_a_run_asks_and_a_worker_grants(fleet, tmp_path):
    """It waits, and the lists say why."""
    fleet.submit('(run-script "echo" ["tea"])', "r", "--allow-run", "echo")
    assert "asks for --allow-run echo" in fleet.once()
    listed = fleet.command("runs", "list", "--all").stdout
    shown = fleet.command("runs", "show", "r").stdout
    assert "submitted" in listed and "asks for --allow-run echo" in listed and "echo" in shown
    fleet.once("--allow-run", "echo")
    run = fleet.store.find("r")
    assert ("done", None) == (run.state, run.held) and "tea" in run.value


def test_a_run_gets_no_more_than_it_asks_for(fleet, tmp_path):
    (tmp_path / "a.txt").write_text("tea")
    read = f'(attempt (read-file "{tmp_path}/a.txt") "refused")'
    fleet.submit(read, "humble")
    fleet.submit(read, "bold", "--allow-read", str(tmp_path))
    fleet.once("--allow-read", str(tmp_path.parent))

    assert ['"refused"', '"tea"'] == [fleet.store.find(id).value for id in ("humble", "bold")]


def test_python_files_are_the_worker_s_own(fleet):
    done = fleet.submit('(import "tools.py") (step 4)', "r")
    assert "not kept with the run: tools.py" in done.stderr
    assert "no permission names a file of that name" in fleet.once(allow=False)
    assert "--allow-python" in fleet.store.find("r").held
    texts = fleet.store.db.execute("select count(*) from programs").fetchone()
    fleet.once()
    assert ((1,), "40") == (texts, fleet.store.find("r").value)


def test_a_run_in_doubt_waits_for_a_person(fleet):
    fleet.submit('(import "tools.py") (map act [1 2])', "r")
    fleet.begin()
    fleet.wait_for_driver(1).kill()
    fleet.begin()
    run = fleet.wait_for(lambda: (run := fleet.store.find("r")).is_stuck and run)
    assert "it may have been done" in run.held
    here = fleet.command("runs", "resume", "r", "--as-recorded", "--never", "*")
    assert 1 == here.returncode and "--allow-python" in here.stderr
    left = fleet.command("runs", "resume", "r", "--never", "*")
    assert 0 == left.returncode and "a worker goes on" in left.stderr
    assert "in-doubt" in fleet.wait_for_state("r", "failed").error
    fleet.command("runs", "resume", "r", "--again", "*")
    assert "[1 2]" == fleet.wait_for_state("r").value
    over = fleet.command("runs", "resume", "r")
    assert 1 == over.returncode and "run-ended" in over.stderr


def test_a_run_goes_to_another_store_with_its_program(fleet, tmp_path):
    fleet.submit('(import "tools.py") [(step 1) (ask-user "x")]', "r")
    fleet.once()
    exported = fleet.command("runs", "export", "r", "night.db")
    assert 0 == exported.returncode, exported.stderr
    fleet.store.remove(fleet.store.runs())
    imported = fleet.command("runs", "import", "night.db")
    assert 0 == imported.returncode, imported.stderr
    fleet.command("runs", "answer", "r", "yes")
    fleet.once()

    assert '[10 "yes"]' == fleet.store.find("r").value
    assert ["1"] == [what for what, _ in fleet.log()]


def test_a_run_is_replaced_by_one_of_the_same_program(fleet):
    """Any machine has its texts, and the new run has them too."""
    fleet.submit('[(random) (ask-user "x")]', "r")
    fleet.once()
    words = ("runs", "resume", "r", "--as-recorded", "--accept-changes", "--yes")
    changed = command(*words, "--store", fleet.address, cwd="/", text="")
    assert 3 == changed.returncode, changed.stderr
    old = fleet.store.find("r")
    fleet.command("runs", "answer", old.successor, "yes")
    fleet.once()

    assert ("replaced", "done") == (old.state, fleet.store.find(old.successor).state)


def test_urgent_runs_are_begun_first(fleet):
    for n, priority in enumerate((0, 5, -3)):
        fleet.submit(f'(import "tools.py") (step {n})', f"r{n}", "--priority", str(priority))
    fleet.once("--places", "1")

    assert ["1", "0", "2"] == [what for what, _ in fleet.log()]


def test_a_run_is_cancelled_wherever_it_is(fleet):
    """One that waits, and one that is driven; their `finally` bodies run once."""
    text = '(import "tools.py") (try {} (finally (step 7)))'
    fleet.submit(text.replace("{}", '(ask-user "x")'), "asks")
    fleet.submit(text.replace("{}", "(map step (range 10 400))"), "works")
    fleet.begin()
    fleet.wait_for(lambda: fleet.store.find("asks").state == "waiting" and len(fleet.log()) > 3)
    for id in ("asks", "works"):
        done = fleet.command("runs", "cancel", id)
        assert 0 == done.returncode, done.stderr
        fleet.wait_for_state(id, "cancelled")
    assert ["7", "7"] == [what for what, _ in fleet.log() if what == "7"]
    again = fleet.command("runs", "cancel", "works")
    assert "run-ended" in again.stderr


def test_a_run_that_no_worker_may_drive_is_cancelled(fleet):
    """Nobody has begun it, so there is nothing to clean up."""
    fleet.submit("1", "r", "--allow-run", "deploy")
    fleet.begin()
    fleet.wait_for(lambda: fleet.store.find("r").held)
    assert 0 == fleet.command("runs", "cancel", "r").returncode
    fleet.wait_for_state("r", "cancelled")

    assert "it asks for" not in fleet.command("runs", "show", "r").stdout


def test_a_run_that_has_lost_its_worker_is_not_old(fleet):
    """A worker is to go on with it."""
    fleet.submit('(import "tools.py") (hold "x")', "r")
    worker = fleet.begin()
    fleet.wait_for_driver(1)
    worker.kill()
    worker.wait()
    gone = fleet.command("runs", "gc", "--days", "0")

    assert 0 == gone.returncode and "removed 0 runs" in gone.stderr + gone.stdout
    assert fleet.store.find("r").state == "running"


@pytest.mark.parametrize(
    "text", ["(/ 1 0)", "(define (f n) (f (+ n 1))) (f 0)"], ids=["fails", "f"]
)
def test_a_run_without_a_request_is_cancelled(fleet, text):
    """One that has failed, and one that computes without end."""
    fleet.submit(text, "r")
    worker = fleet.begin()
    fleet.wait_for(lambda: fleet.store.find("r").state == "failed" or fleet.store.db.is_locked("r"))
    assert 0 == fleet.command("runs", "cancel", "r").returncode
    fleet.wait_for_state("r", "cancelled")
    fleet.wait_for(lambda: "run r was cancelled" in fleet.said(worker))

    assert 1 == fleet.said(worker).count("run r was cancelled")


def test_a_worker_drains(fleet):
    """It hands its runs back where nothing is under way, and nothing is done twice."""
    for n in range(3):
        fleet.submit(f'(import "tools.py") (fold + {n} (map step (range 1 61)))', f"r{n}")
    first = fleet.begin()
    fleet.wait_for_driver(10)
    second = fleet.begin()
    first.send_signal(signal.SIGTERM)
    assert 0 == first.wait(20)
    assert "draining; runs under way: 3;" in fleet.said(first) and "is handed back" in fleet.said(
        first
    )
    for n in range(3):
        assert str(18300 + n) == fleet.wait_for_state(f"r{n}").value
    second.send_signal(signal.SIGINT)
    assert 0 == second.wait(20)

    assert 180 == len(fleet.log())


def test_a_second_signal_ends_a_worker_at_once(fleet):
    fleet.submit('(import "tools.py") (hold "a")', "r")
    worker = fleet.begin("--grace", "60")
    fleet.wait_for_driver(1)
    worker.send_signal(signal.SIGTERM)
    fleet.wait_for(lambda: "draining" in fleet.said(worker))
    worker.send_signal(signal.SIGTERM)

    assert 128 + signal.SIGTERM == worker.wait(10)


def test_a_run_waits_for_its_time_without_a_process(fleet):
    fleet.submit("(begin (wait-until (+ (now) 3600)) 5)", "r")
    fleet.once()
    run = fleet.store.find("r")
    assert "waiting" == run.state and run.due is not None
    fleet.store.db.execute("update runs set due = 1 where id = 'r'")
    fleet.store.db.execute("update procrastinate_jobs set scheduled_at = now()")
    fleet.once()

    assert "goes on" in fleet.said(fleet.processes[-1])


def test_a_worker_tells_of_itself(fleet):
    fleet.submit("(ask-user 1)", "r")
    worker = fleet.begin("--metrics", "0")
    port = fleet.wait_for(lambda: re.search(r"127\.0\.0\.1:(\d+)", fleet.said(worker))).group(1)
    fleet.wait_for_state("r", "waiting")
    with urlopen(f"http://127.0.0.1:{port}/health") as reply:
        assert b"ok\n" == reply.read()
    with urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        text = reply.read().decode()
    with pytest.raises(HTTPError):
        urlopen(f"http://127.0.0.1:{port}/else")

    assert 'sexplang_runs_total{what="parked"} 1' in text
    assert 'sexplang_runs{what="waiting"} 1' in text


def test_a_run_of_a_newer_form_waits_for_others(fleet):
    fleet.submit("(+ 1 2)", "r")
    header = load(fleet.store.find("r").header)
    newer = {k: v for k, v in header.items() if k != KEY} | {"format": FORMAT + 1, "version": "9.1"}
    told = add_checksum(dump(newer).encode(), b"")[0].decode()
    fleet.store.db.execute("update runs set header = ?", (told,))
    said = fleet.once()
    resumed = fleet.command("runs", "resume", "r", "--as-recorded")

    assert "begun by another version of sexplang, 9.1" in said
    assert "9.1" in fleet.store.find("r").held and "newer-run" in resumed.stderr


def test_runs_that_were_not_submitted_are_left_alone(fleet):
    """Their programs are in files of one machine."""
    run = fleet.command("run", "-e", '(ask-user "x")', "--run-id", "r")
    assert 3 == run.returncode, run.stderr
    fleet.command("runs", "answer", "r", "yes")

    assert "goes on" not in fleet.once() and 0 == len(
        read_rows(fleet.store, fleet.store.find("r")).rows
    )


@pytest.mark.parametrize("words", [("--metrics", "1"), ("--model", "local"), ("--lease", "3")])
def test_a_worker_of_a_file_grants_nothing(tmp_path, words):
    done = command("worker", "--once", "--store", str(tmp_path / "runs.db"), *words, cwd=tmp_path)

    assert 2 == done.returncode and "on a server" in done.stderr


def test_a_file_has_submitted_runs_too(tmp_path):
    (tmp_path / "p.sexp").write_text("(+ 1 2)")
    store = ("--store", str(tmp_path / "runs.db"))
    command("submit", "p.sexp", "--run-id", "r", *store, cwd=tmp_path)
    (tmp_path / "p.sexp").unlink()
    worked = command("worker", "--once", "--as-recorded", *store, cwd=tmp_path)
    shown = command("runs", "show", "r", *store, cwd=tmp_path)

    assert "value: 3" in shown.stdout, worked.stderr + shown.stdout


def test_a_run_that_computes_keeps_its_worker(fleet):
    """The signs of life are given by another thread, so nobody takes the run away."""
    text = (
        "(define (count n) (if (equal? n 0) 0 (count (- n 1)))) [(random) (count 9000000) (random)]"
    )
    fleet.submit(text, "r")
    fleet.begin()
    fleet.begin()
    run = fleet.wait_for_state("r", seconds=100)

    said = "".join(fleet.said(each) for each in fleet.processes)
    assert (2, 1) == (run.boots, said.count("run r goes on")), said
