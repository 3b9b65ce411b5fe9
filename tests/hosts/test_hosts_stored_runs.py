"""`sexplang runs list`, `show` and `resume`, and what `run` says of runs that are kept."""

import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import time

import pytest
from support.command import SEXPLANG
from support.messages_server import MessagesServer

import sexplang

PROGRAM = """
(define (step i) (begin (run-script "sh" ["-c" "echo $0 >>out; sleep 0.2" (str i)]) i))
(map step [1 2 3 4])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p.sexp").write_text(PROGRAM)
    return tmp_path


def command(folder, *words, **more):
    env = {**os.environ, "SEXPLANG_STORE": str(folder / "runs.db"), **more}
    return subprocess.run(
        [*SEXPLANG, *words], cwd=folder, env=env, text=True, capture_output=True, timeout=60
    )


RUN = ("run", "p.sexp", "--allow-run", "sh")


def killed(folder, number, done=2, words=RUN, given=""):
    """Run the program and end its process when it has done some steps."""
    env = {**os.environ, "SEXPLANG_STORE": str(folder / "runs.db")}
    (folder / "given").write_text(given)
    with (
        (folder / "given").open() as stdin,
        subprocess.Popen(
            [*SEXPLANG, *words],
            cwd=folder,
            env=env,
            text=True,
            stdin=stdin,
            stderr=subprocess.PIPE,
        ) as run,
    ):
        until = time.monotonic() + 30
        while len(steps(folder)) < done and time.monotonic() < until:
            time.sleep(0.01)
        run.send_signal(number)
        return run.communicate()[1]


def steps(folder):
    out = folder / "out"
    return out.read_text().split() if out.exists() else []


def id_of(folder):
    (run, *_) = json.loads(command(folder, "runs", "list", "--json").stdout)
    return run["id"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on(folder, number):
    """A person decides on what was under way; the rest is done once."""
    said = killed(folder, number)
    id = id_of(folder)
    assert (f"resume with: sexplang runs resume {id}" in said) == (number == signal.SIGINT)
    listed = command(folder, "runs", "list").stdout
    assert re.fullmatch(rf"{id}  \S+ \S+  interrupted\s+1 reply  p\.sexp\n", listed)

    (begun,) = json.loads(command(folder, "runs", "show", id, "--json").stdout)["begun"]
    assert "1" == begun["id"]
    assert "1          begun, and not answered" in command(folder, "runs", "show", id).stdout
    asked = command(folder, "runs", "resume", id, "--again", "99")
    assert 1 == asked.returncode
    assert f"runs resume {id} --again 1" in asked.stderr
    assert 'it may have been done: run-script (1) "sh" ["-c"' in asked.stderr
    assert "`99` fits no request in doubt" in asked.stderr

    done = command(folder, "runs", "resume", id[:6], "--again", "*", "--never", "7")
    assert (0, "[1 2 3 4]\n") == (done.returncode, done.stdout)
    assert f"resuming {id}: 1 reply served" in done.stderr
    assert "in doubt: run-script (1), to be performed again" in done.stderr
    assert "  7 fits no request in doubt" in done.stderr
    assert ["1", "2", "2", "3", "4"] == steps(folder)
    report = json.loads(command(folder, "runs", "report", id, "--json").stdout)
    assert [{"id": "1", "operation": "run-script", "decision": "safe"}] == report["doubts"]
    assert "run-script (1) performed again" in command(folder, "runs", "report", id).stdout
    shown = command(folder, "runs", "show", id).stdout
    assert "sexplang run p.sexp --allow-run sh" in shown
    assert "in doubt: run-script (1), performed again" in shown


def test_the_next_start_of_the_command_tells_of_the_interruption(folder):
    killed(folder, signal.SIGKILL)
    id = id_of(folder)
    again = command(folder, "run", "p.sexp", "--allow-run", "sh")
    assert f"note: run {id} was interrupted after 1 reply; resume with" in again.stderr
    assert "interrupted" not in command(folder, "run", "p.sexp", "--allow-run", "sh").stderr


def test_the_first_run_says_where_runs_are_kept(folder):
    ask = ("run", "-e", '(run-script "true")', "--allow-run", "true")
    assert str(folder / "runs.db") in command(folder, *ask).stderr
    assert "" == command(folder, *ask).stderr
    assert 2 == len(json.loads(command(folder, "runs", "list", "--json").stdout))


@pytest.mark.parametrize(
    "words",
    [("-e", "(+ 1 2)"), ("-e", '(run-script "true")', "--allow-run", "true", "--no-record")],
)
def test_some_runs_touch_no_disk(folder, words):
    assert "" == command(folder, "run", *words).stderr
    assert not (folder / "runs.db").exists()


def test_a_store_of_another_person_grants_nothing(folder):
    killed(folder, signal.SIGKILL)
    given = ("--store", "runs.db", "--again", "*")
    other = {"SEXPLANG_STORE": str(folder / "mine.db")}
    id = id_of(folder)
    asked = command(folder, "runs", "resume", id, *given, **other)
    assert 2 == asked.returncode
    typed = f"sexplang runs resume {id} --store {folder}/runs.db --as-recorded"
    shown = command(folder, "runs", "show", id, *given[:2], **other).stdout
    assert f"{typed} (--as-recorded, because this store is not your own)\n" in shown
    doubt = command(folder, "runs", "resume", id, *given[:2], "--as-recorded", **other)
    assert f"{typed} --again 1" in doubt.stderr
    assert "was begun with: sexplang run p.sexp --allow-run sh" in asked.stderr
    assert ["1", "2"] == steps(folder)
    assert 0 == command(folder, "runs", "resume", id, *given, "--as-recorded", **other).returncode


def test_a_store_that_cannot_be_written_ends_only_runs_that_must_be_kept(folder):
    ask = ("run", "-e", '(run-script "echo" ["x"])', "--allow-run", "echo", "--store", "p.sexp/x")
    free = command(folder, *ask)
    assert (0, True) == (free.returncode, "warning: this run is not kept" in free.stderr)
    named = command(folder, *ask, "--run-id", "night")
    assert (1, True) == (named.returncode, "store-failed" in named.stderr)


def test_a_report_is_made_of_a_kept_run(folder):
    """The tree of work follows from the rows; nothing is performed."""
    ask = ("run", "p.sexp", "--allow-run", "sh", "--run-id", "night")
    command(folder, *ask, "--record", "run.jsonl")
    recorded = json.loads(command(folder, "runs", "report", "run.jsonl", "--json").stdout)
    kept = json.loads(command(folder, "runs", "report", "night", "--json").stdout)
    for told in (recorded, kept):
        for row in told["rows"]:
            del row["started"], row["ended"], row["seconds"]
        del told["seconds"]
    assert recorded == kept
    assert 4 == len(steps(folder))


TALLY = """
<task name="tally" type="atomic">
  <description>Counts.</description>
  <params><param name="text" type="string">What.</param></params>
  <instructions>Count {{text}}</instructions>
  <allowed_tools><tool>system:run_script</tool></allowed_tools>
</task>
"""
STEP = "echo x >>out; sleep 0.3; echo counted"
CALL = {"name": "system_run_script", "input": {"command": "sh", "args": ["-c", STEP]}}
REPLIES = [{"tool_use": CALL}, "One."]
TASK = ("task", "tally", "text=tea", "--model", "scripted:replies.json", "--allow-run", "sh")


@pytest.fixture
def tally(folder):
    """The folder with a template and a model that calls a script."""
    (folder / "tally.xml").write_text(TALLY)
    (folder / "replies.json").write_text(json.dumps(REPLIES))
    return folder


@pytest.mark.parametrize(
    ("words", "given", "name", "value"),
    [
        (TASK[1:5], "", "tally", "One."),
        (("system:run_script", "command=sh", f'args=["-c", "{STEP}"]'), "", None, "counted"),
        ((f'(begin (run-script "sh" ["-c" "{STEP}"]) text)', "text=-"), "tea", "task", "tea"),
    ],
)
def test_a_killed_task_goes_on(tally, words, given, name, value):
    """With its inputs, which are not read again, and the shape of its result."""
    killed(tally, signal.SIGKILL, 1, ("task", *words, "--allow-run", "sh"), given)
    (told,) = json.loads(command(tally, "runs", "list", "--json").stdout)
    assert (name or words[0], "interrupted") == (told["name"], told["state"])
    shown = json.loads(command(tally, "runs", "show", told["id"], "--json").stdout)
    assert ["sexplang", "task", *words] == shown["command"][: 2 + len(words)]
    done = command(tally, "runs", "resume", told["id"], "--again", "*", "--json")
    assert (0, value) == (done.returncode, json.loads(done.stdout)["content"].strip())
    assert ["x", "x"] == steps(tally)
    assert 0 == command(tally, "runs", "report", told["id"]).returncode


def test_a_task_that_is_gone_does_not_go_on(tally):
    killed(tally, signal.SIGKILL, 1, TASK)
    (tally / "tally.xml").unlink()
    done = command(tally, "runs", "resume", id_of(tally))
    assert (1, True) == (done.returncode, "no task or tool called `tally`" in done.stderr)


def test_a_task_takes_the_options_of_kept_runs(folder):
    typed = ("task", '(run-script "true")', "--allow-run", "true")
    assert "" == command(folder, *typed, "--no-record").stderr
    assert not (folder / "runs.db").exists()
    command(folder, *typed, "--store", "other.db", "--run-id", "night")
    listed = command(folder, "runs", "list", "--store", "other.db").stdout
    assert listed.startswith("night ")
    refused = command(folder, *typed, "--preview", "--run-id", "night")
    assert (2, True) == (refused.returncode, "leave out --run-id" in refused.stderr)


@pytest.mark.long
def test_what_an_interrupted_run_has_cost_is_told(folder):
    """In dollars where all prices are known: of what an earlier process has asked, too."""
    usage = {"input_tokens": 100_000, "output_tokens": 20_000}
    said = {"content": [{"type": "text", "text": "x"}], "usage": usage}
    call = '(model {messages: [{role: "user" content: "a"}]})'
    step = f'(run-script "sh" ["-c" "{STEP}"])'
    with MessagesServer(said) as server:
        ask = f"(begin {call} {step} {call} {step} 1)"
        model = ("--model", f"{server.url}#claude-haiku-4-5")
        words = ("run", "-e", ask, "--allow-run", "sh", *model)
        told = killed(folder, signal.SIGINT, 1, words)
        id = id_of(folder)
        line = rf"run {id} was interrupted after 1 reply \(120,000 tokens, \$0\.2000\); resume"
        assert re.search(line, told)
        again = ("runs", "resume", id, "--again", "*")
        killed(folder, signal.SIGKILL, 3, again)
        line = rf"run {id} was interrupted after 3 replies \(240,000 tokens, \$0\.4000\); resume"
        assert re.search(line, command(folder, *words).stderr)
    assert command(folder, "runs", "list").stdout.splitlines()[-1].endswith("  $0.4000")
    assert "3 replies, 240,000 tokens, $0.4000\n" in command(folder, "runs", "show", id).stdout
    assert 0.4 == json.loads(command(folder, "runs", "show", id, "--json").stdout)["usd"]


def test_a_run_that_went_on_without_the_store_is_not_resumed(folder):
    """The disk is full in its midst: what it did then is not known."""
    step = 'import os; print(os.urandom(20000).hex()); open("out", "a").write("x\\n")'
    (folder / "step.py").write_text(step)
    (folder / "p.sexp").write_text(
        '(map (lambda (n) (begin (run-script "python3" ["step.py"]) n)) [1 2 3 4 5 6])'
    )
    env = {**os.environ, "SEXPLANG_STORE": str(folder / "runs.db")}
    done = subprocess.run(
        [*SEXPLANG, "run", "p.sexp", "--allow-run", "python3"],
        cwd=folder,
        env=env,
        text=True,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000)),
    )
    assert (0, True) == (done.returncode, "warning: this run is not kept" in done.stderr)
    assert 6 == len(steps(folder))
    (told,) = json.loads(command(folder, "runs", "list", "--json").stdout)
    assert "unkept" == told["state"]
    refused = command(folder, "runs", "resume", told["id"], "--again", "*")
    assert (1, True) == (refused.returncode, "error[not-kept]" in refused.stderr)
    assert f"runs fork {told['id']} --at N" in refused.stderr
    assert 6 == len(steps(folder))
    with sqlite3.connect(folder / "runs.db") as db:  # the disk had no room for the state either
        db.execute("update runs set state = 'running'")
    assert " unkept " in command(folder, "runs", "show", told["id"]).stdout


def test_a_store_that_others_can_write_grants_nothing(folder):
    killed(folder, signal.SIGKILL)
    (folder / "runs.db").chmod(0o666)
    asked = command(folder, "runs", "resume", id_of(folder), "--again", "*")
    assert (2, True) == (asked.returncode, "others can write it" in asked.stderr)
    (folder / "runs.db").chmod(0o600)
    folder.chmod(0o777)
    assert 2 == command(folder, "runs", "resume", id_of(folder), "--again", "*").returncode
    typed = ("runs", "resume", id_of(folder), "--again", "*", "--as-recorded")
    assert 0 == command(folder, *typed).returncode


def test_a_run_from_python_goes_on_from_python(folder):
    with pytest.raises(sexplang.Failed):
        program = "(define-effect (pay)) (pay)"
        sexplang.run(program, effects={"pay": lambda: 1 / 0}, store=folder / "runs.db", run_id="py")
    how = f"resume it from Python: sexplang.resume(program, 'py', store='{folder}/runs.db')"
    assert how in command(folder, "runs", "show", "py").stdout
    refused = command(folder, "runs", "resume", "py")
    assert (1, True) == (refused.returncode, how in refused.stderr)
    assert "was begun from Python" in refused.stderr


def test_a_damaged_run_does_not_hide_the_others(folder):
    given = {"store": folder / "runs.db", "effects": {"f": lambda: 1}}
    for id in ("header", "time", "x"):
        sexplang.run("(define-effect (f)) (f)", run_id=id, **given)
    with sqlite3.connect(folder / "runs.db") as db:
        db.execute("update runs set header = cast(x'ff7b' as text) where id = 'header'")
        db.execute("update runs set began = 1e300 where id = 'time'")
    lines = command(folder, "runs", "list", "--all").stdout.splitlines()
    assert ["time", "x", "header"] == [line.split()[0] for line in lines]
    assert "?" == lines[0].split()[1]
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.resume("(define-effect (f)) (f)", "header", **given)
    assert failed.value.reason in ("bad-store", "run-ended")


def test_a_report_of_a_run_with_a_short_name(folder):
    command(folder, *RUN, "--run-id", "n2")
    assert 0 == command(folder, "runs", "report", "n2").returncode
    assert "unknown-run" in command(folder, "runs", "report", "n3").stderr
    assert "bad-recording" in command(folder, "runs", "report", "missing.jsonl").stderr


def test_the_replies_of_a_run_at_work_are_counted(folder):
    """Its third step is at work as long as the test is."""
    (folder / "p.sexp").write_text(PROGRAM.replace("sleep 0.2", "[ $0 -lt 3 ] || sleep 60"))
    env = {**os.environ, "SEXPLANG_STORE": str(folder / "runs.db")}
    with subprocess.Popen([*SEXPLANG, *RUN], cwd=folder, env=env, stderr=subprocess.PIPE) as run:
        while len(steps(folder)) < 3:
            time.sleep(0.01)
        (told,) = json.loads(command(folder, "runs", "list", "--json").stdout)
        named = command(folder, *RUN, "--run-id", told["id"])
        run.kill()
    assert "error[run-exists]" in named.stderr
    assert ("running", True) == (told["state"], told["replies"] > 0)


def test_a_failed_run_that_was_given_too_little_says_how_to_give_more(folder):
    """A resumption has the permissions and the budget of the command."""
    (folder / "p.sexp").write_text('(begin (run-script "sh" ["-c" "true"]) (run-script "ls"))')
    more = "to give more, run the command again, with --cache for the replies of models\n"
    assert command(folder, *RUN, "--run-id", "night").stderr.endswith(more)
    say = '(defatom say (params (n string)) (instructions "{{n}}"))'
    (folder / "p.sexp").write_text(f'{say} [(say "a") (say "b")]')
    (folder / "replies.json").write_text('["one", "two"]')
    words = ("run", "p.sexp", "--model", "scripted:replies.json", "--budget")
    assert command(folder, *words, "calls=1").stderr.endswith(more)
    again = command(folder, *words, "calls=2", "--cache")
    assert (0, True) == (again.returncode, "1 call," in again.stderr), again.stderr


@pytest.mark.parametrize("id", ["-x", ".", "..", "a/b", "x" * 65])
def test_an_id_is_a_word(folder, id):
    refused = command(folder, *RUN, "--run-id", id)
    assert (2, True) == (refused.returncode, "--run-id takes at most 64" in refused.stderr)
    with pytest.raises(TypeError, match="run_id is at most 64"):
        sexplang.run("1", run_id=id, store=folder / "runs.db")


def test_a_run_with_a_name_is_kept(folder):
    refused = command(folder, *RUN, "--run-id", "night", SEXPLANG_STORE="")
    assert (2, True) == (refused.returncode, "runs are not kept here" in refused.stderr)
    (folder / "sexplang").mkdir()
    (folder / "sexplang/sexplang.toml").write_text("[runs]\nkeep = false\n")
    own = {"XDG_CONFIG_HOME": str(folder)}
    assert 2 == command(folder, *RUN, "--run-id", "night", **own).returncode
    assert [] == steps(folder)
    other = command(folder, *RUN, "--run-id", "night", "--store", "other.db", **own)
    assert 0 == other.returncode


def test_a_reply_that_is_cut_names_the_clause_to_raise(folder):
    (folder / "p.sexp").write_text('(defatom f (instructions "F")) (f)')
    (folder / "r.json").write_text('[{"text": "a", "stop_reason": "max_tokens"}]')
    said = command(folder, "run", "p.sexp", "--model", "scripted:r.json").stderr
    assert "hint: raise `(limits max_output_tokens: …)` of the task, or ask" in said


def test_a_failed_run_says_how_to_go_on(folder):
    (folder / "p.sexp").write_text('(begin (run-script "sh" ["-c" "true"]) (read-file "cause"))')
    words = (*RUN, "--run-id", "night", "--allow-read", ".")
    how = (
        "run night is kept; when the cause is mended, go on with: sexplang runs resume night "
        "(edited the program? add --accept-changes)\n"
    )
    assert command(folder, *words).stderr.endswith(how)
    assert how not in command(folder, *words[:-3], "quiet", *words[-2:], "-q").stderr
    (folder / "cause").write_text("mended")
    assert "mended\n" == command(folder, "runs", "resume", "night").stdout
    ended = command(folder, "runs", "resume", "night").stderr
    assert "sexplang runs show night shows its value" in ended
