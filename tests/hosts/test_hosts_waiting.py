"""Parked runs on the command line: questions, answers, the worker, forks and copies."""

import json
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.command import SEXPLANG

import sexplang
from sexplang.runtime.journal.questions import close_questions
from sexplang.runtime.journal.run_store import RunStore, open_store

ASK = '(define-effect (approve what)) [(ask-user "Send it?" ["yes" "no"]) (approve {sum: 3})]'
WRITE = """
(define-effect (approve n))
(define (step n) (begin (run-script "sh" ["-c" "echo $0 >>out" (str n)]) n))
(list (step 1) (approve 1) (step 2))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ask.sexp").write_text(ASK)
    (tmp_path / "p.sexp").write_text(WRITE)
    return tmp_path


def command(folder, *words, **more):
    env = {**os.environ, "SEXPLANG_STORE": str(folder / "runs.db"), "HOME": str(folder), **more}
    return subprocess.run(
        [*SEXPLANG, *words],
        cwd=folder,
        env=env,
        text=True,
        capture_output=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def parked(folder, *words):
    done = command(folder, "run", "ask.sexp", "--pause", "approve", "--run-id", "r", *words)
    assert 3 == done.returncode
    return done


def test_a_parked_run_is_answered_and_goes_on(folder):
    said = parked(folder).stderr
    assert "run r waits for an answer:\n  0  Send it?  (yes, no)\n" in said
    assert "answer with: sexplang runs answer r VALUE" in said
    assert "  waits for 1 answer  " in command(folder, "runs", "list").stdout
    assert command(folder, "runs", "questions").stdout == (
        "r  ask.sexp\n  0  Send it?  (yes, no)\nanswer with: sexplang runs answer r VALUE\n"
    )

    wrong = command(folder, "runs", "answer", "r", "maybe")
    assert (1, True) == (wrong.returncode, "bad-answer" in wrong.stderr)
    assert 0 == command(folder, "runs", "answer", "r", "1").returncode
    twice = command(folder, "runs", "answer", "r", "no")
    assert (1, True) == (twice.returncode, "was answered: yes" in twice.stderr)

    again = command(folder, "runs", "resume", "r")
    assert 3 == again.returncode
    assert "(approve {sum: 3})" in again.stderr
    done = command(folder, "runs", "answer", "r", '{"by": "Ann"}', "--resume")
    assert (0, '["yes" {by: "Ann"}]\n') == (done.returncode, done.stdout)
    assert 'value: ["yes" {by: "Ann"}]' in command(folder, "runs", "show", "r").stdout
    late = command(folder, "runs", "answer", "r", "no")
    assert (1, True) == (late.returncode, "run-ended" in late.stderr)


def test_the_questions_as_json(folder):
    document = json.loads(parked(folder, "--json").stdout)
    (question,) = document["questions"]
    assert ("waiting", "r", None) == (document["status"], document["run"], document["due"])
    assert ("Send it?", ["yes", "no"]) == (question["question"], question["choices"])
    shown = json.loads(command(folder, "runs", "show", "r", "--json").stdout)
    assert [question] == shown["questions"]
    said = command(folder, "runs", "answer", "r", "yes", "--json")
    assert "yes" == json.loads(said.stdout)["answer"]


def test_answers_from_a_file(folder):
    (folder / "answers.json").write_text('{"Send it?": "no", "(approve {sum: 3})": 4}')
    words = ("--pause", "approve", "--answers", "answers.json")
    done = command(folder, "run", "ask.sexp", *words)
    assert (0, '["no" 4]\n') == (done.returncode, done.stdout)
    (folder / "answers.json").write_text("[]")
    wrong = command(folder, "run", "ask.sexp", *words)
    assert (2, True) == (wrong.returncode, "it is no JSON object" in wrong.stderr)


def test_a_command_is_told_of_each_question(folder):
    settings = folder / ".config" / "sexplang" / "sexplang.toml"
    settings.parent.mkdir(parents=True)
    hook = [sys.executable, "-c", "import sys; open('told', 'a').write(sys.stdin.read() + '\\n')"]
    settings.write_text(f"[runs]\non-question = {json.dumps(hook)}\n")
    parked(folder)
    command(folder, "runs", "resume", "r")  # the same question is told once
    command(folder, "runs", "answer", "r", "yes", "--resume")
    told = [json.loads(line)["question"] for line in (folder / "told").read_text().splitlines()]
    assert ["Send it?", "(approve {sum: 3})"] == told


def test_a_run_that_is_not_kept_is_not_parked(folder):
    lost = command(folder, "run", "ask.sexp", "--no-record")
    assert (1, True) == (lost.returncode, "no-answer" in lost.stderr)
    refused = command(folder, "run", "ask.sexp", "--pause", "approve", "--no-record")
    assert (2, True) == (refused.returncode, "--pause needs a run that is kept" in refused.stderr)
    (folder / "a.json").write_text('{"Send it?": "no"}')
    words = ("run", "ask.sexp", "--answers", "a.json")
    refused = command(folder, *words, SEXPLANG_STORE="")
    assert (2, True) == (refused.returncode, "--answers needs a run that" in refused.stderr)
    named = command(folder, *words, "--store", "here.db", "--pause", "approve", SEXPLANG_STORE="")
    assert (3, True) == (named.returncode, "(approve {sum: 3})" in named.stderr)


def test_a_run_is_cancelled(folder):
    program = '(try (ask-user "x") (finally (print "cleaned")))'
    command(folder, "run", "-e", program, "--run-id", "c")
    done = command(folder, "runs", "cancel", "c")
    assert "cleaned" in done.stdout
    assert "cancelled" in command(folder, "runs", "list").stdout
    for words in (("resume", "c"), ("answer", "c", "yes"), ("cancel", "c")):
        ended = command(folder, "runs", *words)
        assert (1, True) == (ended.returncode, "run-ended" in ended.stderr), words


def test_a_worker_goes_on_with_what_is_ready(folder):
    """With runs that have an answer, and not with those whose time has not come."""
    parked(folder)
    later = command(folder, "run", "-e", "(wait-until (+ (now) 100))", "--run-id", "w")
    assert (3, True) == (later.returncode, "run w waits until " in later.stderr)
    assert 0 == command(folder, "worker", "--once").returncode
    assert ["waiting", "waiting"] == [each["state"] for each in listed(folder)]
    command(folder, "runs", "answer", "r", "yes")
    assert "run r waits again" in command(folder, "worker", "--once").stderr
    command(folder, "runs", "answer", "r", "5")
    done = command(folder, "runs", "resume", "--due")
    assert '["yes" 5]\n' == done.stdout
    assert "no run is due" in command(folder, "runs", "resume", "--due").stderr


def listed(folder):
    return json.loads(command(folder, "runs", "list", "--json").stdout)


def test_a_fork_takes_another_turn(folder):
    words = ("--pause", "approve", "--allow-run", "sh")
    assert 3 == command(folder, "run", "p.sexp", "--run-id", "r", *words).returncode
    assert "f\n" == command(folder, "runs", "fork", "r", "--at", "1", "--run-id", "f").stdout
    assert 3 == command(folder, "runs", "resume", "f").returncode
    for id, said in (("r", "yes"), ("f", "no")):
        done = command(folder, "runs", "answer", id, said, "--resume")
        assert f"[1 {json.dumps(said)} 2]\n" == done.stdout
    assert ["1", "2", "2"] == (folder / "out").read_text().split()
    differs = command(folder, "runs", "diff", "r", "f")
    assert (1, True) == (differs.returncode, "the same for 1 reply, then:" in differs.stdout)
    assert 'gave "yes"' in differs.stdout
    assert 0 == command(folder, "runs", "diff", "r", "r").returncode
    told = command(folder, "runs", "show", "r", "--at", "1").stdout
    assert "after 1 reply it asks: (approve 1) as" in told
    assert "the run has ended" in command(folder, "runs", "show", "r", "--at", "3").stdout
    none = command(folder, "runs", "fork", "r", "--at", "9")
    assert (1, True) == (none.returncode, "no-row" in none.stderr)


def test_a_run_goes_to_another_store(folder):
    """What came from elsewhere has no permissions by itself."""
    words = ("--pause", "approve", "--allow-run", "sh")
    command(folder, "run", "p.sexp", "--run-id", "r", *words)
    made = json.loads(command(folder, "runs", "export", "r", "r.db", "--json").stdout)
    assert ("r", str(folder / "r.db")) == (made["run"], made["file"])
    other = {"SEXPLANG_STORE": str(folder / "other.db")}
    assert "r\n" == command(folder, "runs", "import", "r.db", **other).stdout
    twice = command(folder, "runs", "import", "r.db", **other)
    assert (1, True) == (twice.returncode, "run-exists" in twice.stderr)
    answered = command(folder, "runs", "answer", "r", "yes", **other)
    assert "--as-recorded, because this run is not your own)\n" in answered.stderr
    assert "run r cannot go on" in command(folder, "worker", "--once", **other).stderr
    asked = command(folder, "runs", "resume", "r", **other)
    assert (2, True) == (asked.returncode, "--as-recorded" in asked.stderr)
    done = command(folder, "runs", "resume", "r", "--as-recorded", **other)
    assert '[1 "yes" 2]\n' == done.stdout
    gone = command(folder, "runs", "gc", "--days", "0", "--json", **other)
    assert 1 == json.loads(gone.stdout)["removed"]


def test_an_edited_run_goes_on(folder):
    """As far as it asks the same; then with leave."""
    words = ("--allow-run", "sh")
    text = '(define (step n) (begin (run-script "sh" ["-c" "echo $0 >>out" (str n)]) n))'
    program = folder / "e.sexp"
    program.write_text(f'{text} (map step [1 2]) (raise {{reason: "bug"}})')
    assert 1 == command(folder, "run", "e.sexp", "--run-id", "r", *words).returncode
    program.write_text(f"{text} (map step [1 3 4])")
    differs = command(folder, "runs", "resume", "r", "--again", "*")
    assert (1, True) == (differs.returncode, "has changed: request 1" in differs.stderr)
    asked = command(folder, "runs", "resume", "r", "--accept-changes")
    assert (2, True) == (asked.returncode, 'echo $0 >>out" "3"]) as 1' in asked.stderr)
    assert ["1", "2"] == (folder / "out").read_text().split()
    words = ("runs", "resume", "r", "--accept-changes", "--again", "*")
    alone = command(folder, *words)
    assert (2, True) == (alone.returncode, "not-agreed" in alone.stderr)
    done = command(folder, *words, "--yes")
    assert "[1 3 4]\n" == done.stdout
    assert ["1", "2", "3", "4"] == (folder / "out").read_text().split()


def test_a_cache_serves_calls_of_models(folder):
    (folder / "s.json").write_text('[{"task": "say", "reply": "r"}]')
    program = folder / "m.sexp"
    text = '(defatom say (params n) (instructions "Say {{n}}"))'
    program.write_text(f"{text} (print 'hi) (map say [1 2 3])")
    words = ("run", "m.sexp", "--model", "scripted:s.json")
    assert "3 calls" in command(folder, *words).stderr
    program.write_text(f"{text} (print 'hi) (map say [1 2 4 3])")
    cached = command(folder, *words, "--cache")
    assert 'hi\n["r" "r" "r" "r"]\n' == cached.stdout
    rows = json.loads(command(folder, "runs", "show", listed(folder)[0]["id"], "--json").stdout)
    served = [row["attempts"] for row in rows["rows"] if row["operation"] == "model"]
    assert [0, 0, 1, 0] == served


SEND = """
(define-effect (approve text))
(define (act word) (run-script "sh" ["-c" "echo $0 >>out" word]))
(act "DRAFT")
(if (equal? (approve "a") "yes") (act "sent") "held")
"""


@pytest.fixture
def parked_letter(folder):
    """A run that waits for leave to send a letter."""
    (folder / "send.sexp").write_text(SEND)
    words = ("--pause", "approve", "--allow-run", "sh", "--run-id", "old")
    assert 3 == command(folder, "run", "send.sexp", *words).returncode
    return folder


def edit(folder, old, new):
    (folder / "send.sexp").write_text(SEND.replace(old, new))


def test_a_changed_program_replaces_its_run(parked_letter):
    """So nothing is done by both: the answer goes to the new run, and the old one is over."""
    folder = parked_letter
    command(folder, "runs", "answer", "old", "yes")
    edit(folder, '"sent"', '"posted"')
    edit_again = ("runs", "resume", "old", "--accept-changes", "--yes")
    asked = command(folder, *edit_again)
    assert (2, True) == (asked.returncode, "--again 2; to let them fail: --never 2" in asked.stderr)
    done = command(folder, *edit_again, "--again", "2")
    assert 0 == done.returncode, done.stderr
    edit(folder, '"sent"', '"sent"')  # as it was
    assert "goes on" not in command(folder, "worker", "--once").stderr
    assert ["DRAFT", "posted"] == (folder / "out").read_text().split()
    new, old = listed(folder)
    assert ("done", "replaced", new["id"]) == (new["state"], old["state"], old["successor"])
    for words in (("resume", "old"), ("answer", "old", "no"), ("cancel", "old"), edit_again[1:]):
        ended = command(folder, "runs", *words)
        assert (1, True) == (ended.returncode, f"replaced by {new['id']}" in ended.stderr), words
    assert "it replaces old" in command(folder, "runs", "show", new["id"]).stdout


def test_a_question_that_is_open_is_asked_by_the_new_run(parked_letter):
    """A person's leave is not needed for it, and --never refuses it."""
    folder = parked_letter
    edit(folder, '"held"', '"not sent"')
    command(folder, "runs", "fork", "old", "--at", "1", "--run-id", "other")
    again = command(folder, "runs", "resume", "old", "--accept-changes", "--yes")
    assert (3, True) == (again.returncode, "1 question to a person" in again.stderr)
    never = ("--accept-changes", "--yes", "--never", "1")
    refused = command(folder, "runs", "resume", "other", *never)
    assert (1, True) == (refused.returncode, "`approve` as 1 is not served" in refused.stderr)
    assert ["DRAFT"] == (folder / "out").read_text().split()


def test_what_is_refused_is_not_announced(parked_letter):
    folder = parked_letter
    edit(folder, '(act "DRAFT")', '(attempt (act "NEW") 0) (act "DRAFT")')
    words = ("--accept-changes", "--never", "0", "--again", "1", "--yes")
    told = command(folder, "runs", "resume", "old", *words)
    said = "to perform: 0 model calls, 1 other request; what follows from "
    assert (3, True) == (told.returncode, said in told.stderr), told.stderr
    assert ["DRAFT", "DRAFT"] == (folder / "out").read_text().split()


def test_a_parked_request_that_differs_is_not_performed(parked_letter):
    folder = parked_letter
    command(folder, "runs", "answer", "old", "yes")
    edit(folder, '(equal? (approve "a") "yes")', '(equal? (act "other") "yes")')
    differs = command(folder, "runs", "resume", "old")
    assert (1, True) == (differs.returncode, "and asks `run-script (1)" in differs.stderr)
    assert "--accept-changes" in differs.stderr
    assert ["DRAFT"] == (folder / "out").read_text().split()
    edit(folder, '"sent"', '"sent"')
    assert 0 == command(folder, "runs", "resume", "old").returncode
    assert ["DRAFT", "sent"] == (folder / "out").read_text().split()


def test_a_run_without_its_program_is_cancelled_by_force(parked_letter):
    folder = parked_letter
    (folder / "send.sexp").unlink()
    command(folder, "runs", "answer", "old", "yes")
    assert "old cannot go on, and is left alone" in command(folder, "worker", "--once").stderr
    lost = command(folder, "runs", "cancel", "old", "--json")
    assert (1, True) == (lost.returncode, "sexplang runs cancel old --force" in lost.stderr)
    assert "FAILED" == json.loads(lost.stdout)["status"]
    done = command(folder, "runs", "cancel", "old", "--force", "--json")
    assert {"status": "cancelled", "run": "old"} == json.loads(done.stdout)
    assert "goes on" not in command(folder, "worker", "--once").stderr


@pytest.mark.parametrize("given", ['{"a": 1, "a": 2}', '"\\ud800"', "[NaN]", '{"a": 1e999}', "[x"])
def test_an_answer_that_looks_like_json_and_is_none(folder, given):
    words = ("--pause", "approve", "--answers", "given.json", "--run-id", "r")
    (folder / "given.json").write_text('{"Send it?": "yes"}')
    assert 3 == command(folder, "run", "ask.sexp", *words).returncode
    refused = command(folder, "runs", "answer", "r", given)
    assert (1, True) == (refused.returncode, "error[bad-answer]" in refused.stderr)
    assert 1 == listed(folder)[0]["open"]
    (folder / "given.json").write_text(f'{{"1": {given}}}')
    wrong = command(folder, "run", "ask.sexp", *words[:-1], "s")
    assert (2, True) == (wrong.returncode, "it is no JSON" in wrong.stderr)


def test_an_operation_to_pause_at_is_one_of_the_program(folder):
    refused = command(folder, "run", "p.sexp", "--pause", "aprove", "--allow-run", "sh")
    assert (2, True) == (refused.returncode, "did you mean `approve`?" in refused.stderr)
    assert not (folder / "out").exists()


def test_a_store_of_an_earlier_version_is_brought_up(parked_letter):
    folder = parked_letter
    with sqlite3.connect(folder / "runs.db") as old:
        old.executescript(
            f"{_FOURTH} alter table runs drop column successor; pragma user_version = 2;"
        )
    assert 3 == command(folder, "runs", "resume", "old").returncode
    assert 1 == listed(folder)[0]["open"]
    with sqlite3.connect(folder / "runs.db") as older:
        older.executescript(
            f"{_FOURTH} drop table questions; alter table runs drop column successor; "
            "alter table runs drop column value; alter table runs drop column due; "
            "pragma user_version = 1;"
        )
    assert 0 == listed(folder)[0]["open"]
    assert 3 == command(folder, "runs", "resume", "old").returncode
    assert 1 == listed(folder)[0]["open"]


_FOURTH = (
    "drop index runs_by_state; drop table programs; drop table leaves; drop table late;"
    " drop table pressure;"
) + "".join(
    [
        f"alter table runs drop column {column};"
        for column in ("program", "priority", "held", "is_stuck", "wish")
    ]
)
"""The way back from the fourth version."""


def test_a_run_is_replaced_once(parked_letter):
    """By one of two shells, and not while another one goes on with it."""
    folder = parked_letter
    command(folder, "runs", "answer", "old", "yes")
    edit(folder, '"sent"', '"posted"')
    words = ("runs", "resume", "old", "--accept-changes", "--yes", "--again", "*")
    with ThreadPoolExecutor() as shells:
        ends = [*shells.map(lambda _: command(folder, *words), range(3))]
    refused = [end.stderr for end in ends if end.returncode]
    assert 2 == len(refused)
    assert all("run-busy" in each or "replaced by" in each for each in refused)
    assert ["DRAFT", "posted"] == (folder / "out").read_text().split()


def test_a_run_that_does_nothing_more_replaces_its_run(parked_letter):
    folder = parked_letter
    command(folder, "runs", "answer", "old", "no")
    (folder / "send.sexp").write_text("1")
    done = command(folder, "runs", "resume", "old", "--accept-changes", "--yes")
    assert "1\n" == done.stdout, done.stderr
    assert ["done", "replaced"] == [each["state"] for each in listed(folder)]


def test_a_kept_answer_stays_where_its_question_was_edited(parked_letter):
    folder = parked_letter
    command(folder, "runs", "answer", "old", "yes")
    edit(folder, '(approve "a")', '(approve "b")')
    assert "old cannot go on" in command(folder, "worker", "--once").stderr
    edit(folder, '(approve "a")', '(approve "a")')
    assert 0 == command(folder, "runs", "resume", "old").returncode
    assert ["DRAFT", "sent"] == (folder / "out").read_text().split()


def test_what_acts_otherwise_than_was_announced_is_asked_about(folder):
    """The letter that was announced has the old draft."""
    (folder / "s.json").write_text('[{"reply": "OLD"}]')
    text = """(defatom draft (instructions "Draft."))
        (define words (draft))
        (raise {reason: "bug"})"""
    (folder / "send.sexp").write_text(text)
    words = ("--model", "scripted:s.json", "--allow-run", "sh", "--run-id", "old")
    assert 1 == command(folder, "run", "send.sexp", *words).returncode
    send = '(run-script "sh" ["-c" "echo $0 >>out" words])'
    changed = text.replace('(raise {reason: "bug"})', send).replace('"Draft."', '"Draft it."')
    (folder / "send.sexp").write_text(changed)
    (folder / "s.json").write_text('[{"reply": "NEW"}]')
    resume = ("runs", "resume", "old", "--accept-changes", "--again", "1")
    asked = command(folder, *resume)
    assert (2, True) == (asked.returncode, '"OLD"]) as 1' in asked.stderr), asked.stderr
    assert not (folder / "out").exists()
    done = command(folder, *resume, "--yes")
    assert (0, "NEW") == (done.returncode, (folder / "out").read_text().strip())


def test_words_that_exclude_one_another(parked_letter):
    both = command(parked_letter, "runs", "resume", "old", "--again", "1", "--never", "1")
    assert (1, True) == (both.returncode, "--again and --never both name 1" in both.stderr)
    words = ("run", "ask.sexp", "--answers", "a.json", "--no-record")
    assert 2 == command(parked_letter, *words).returncode
    lost = command(parked_letter, "run", "ask.sexp", "--answers", "a.json")
    assert (2, True) == (lost.returncode, "--answers a.json: No such file" in lost.stderr)


def test_an_answer_may_be_quiet(parked_letter):
    """With `--resume`, the run is quiet too."""
    done = command(parked_letter, "runs", "answer", "old", "no", "--resume", "--quiet")

    assert (0, "") == (done.returncode, done.stderr) and done.stdout


def test_a_negative_number_is_an_answer(parked_letter):
    assert 0 == command(parked_letter, "runs", "answer", "old", "-5").returncode
    done = command(parked_letter, "runs", "resume", "old")
    assert "held\n" == done.stdout


def test_what_is_asked_at_a_terminal_is_not_answered_from_elsewhere(folder):
    parked(folder)
    store = open_store(str(folder / "runs.db"))
    close_questions(store, store.find("r"), "ask-user")
    store.close()
    refused = command(folder, "runs", "answer", "r", "yes")
    assert (1, True) == (refused.returncode, "no-question" in refused.stderr)
    asked = command(folder, "runs", "resume", "r")  # without a terminal it is asked again
    assert (3, True) == (asked.returncode, "Send it?" in asked.stderr)
    assert 0 == command(folder, "runs", "answer", "r", "yes").returncode


def test_a_run_is_added_and_replaces_another_at_once(parked_letter, monkeypatch):
    """Or neither, where the process ends between the two."""
    store = parked_letter / "runs.db"
    text = (parked_letter / "send.sexp").read_text()
    program = f"{text} 1"
    monkeypatch.setattr(RunStore, "replace_run", lambda *_: os._exit(9))
    if not (child := os.fork()):
        given = {"pause": ["approve"], "changes": True, "replay": {"*": "safe"}}
        sexplang.resume(program, "old", store=store, **given)
        os._exit(0)
    assert 9 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ["waiting"] == [each["state"] for each in listed(parked_letter)]


def test_a_reply_that_a_run_does_not_have_is_told_with_all_that_it_has(parked_letter):
    for store in ("with a snapshot", "without"):
        refused = command(parked_letter, "runs", "show", "old", "--at", "9")
        assert "the run old has 1 reply, not 9" in refused.stderr, store
        with sqlite3.connect(parked_letter / "runs.db") as db:
            db.execute("delete from snapshots")
