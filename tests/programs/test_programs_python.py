"""Programs with Python around them: an agent, an approval over the web, a server, a property."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import strategies as st
from programs import agent, server
from support.command import sexplang as command
from support.examples import examples
from support.markdown import ROOT
from support.messages_server import MessagesServer

import sexplang
from sexplang.testing import run_script, scripts

HERE = Path(__file__).parent
PROGRAMS = sorted(path for path in HERE.glob("*.sexp") if ".test." not in path.name)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_laid_out_and_checks(program):
    """`check` knows all but the tools of Python."""
    left_out = ["unknown-tool"] if program.stem == "agent" else []

    assert left_out == [found.code for found in sexplang.check(program)]
    assert 0 == command("fmt", "--check", program).returncode


def test_an_agent_has_files_prices_and_notes(tmp_path):
    """A path outside of its folder and an unknown item are told to the model."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "kettle.txt").write_text("A kettle.")
    replies = [
        {"tool_use": {"name": "read_file", "input": {"path": "/etc/passwd"}}},
        {"tool_use": {"name": "price", "input": {"item": "pot"}}},
        {"tool_use": {"name": "price", "input": {"item": "kettle", "count": 3}}},
        {"tool_use": {"name": "save-note", "input": {"title": "kettles", "text": "3 cost 90"}}},
        "They cost 90.",
    ]

    assert "They cost 90." == agent.ask("What do 3 kettles cost?", tmp_path, replies)
    assert "3 cost 90" == (tmp_path / "notes/kettles.md").read_text()


STEP = """
import json, pathlib, sys
from programs import approval
word, said, path = sys.argv[1:]
letters = lambda payload: "Dear customer: " + payload["messages"][0]["content"][0]["text"]
print(json.dumps(getattr(approval, word)(said, pathlib.Path(path), letters)))
"""


def step(word, said, path):
    """A step of an approval, in a process of its own: what it prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", STEP, word, said, path],
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


def test_an_approval_lives_in_a_file_between_four_processes(tmp_path):
    path = tmp_path / "run.json"
    asked, choices = json.loads(step("begin", "3 kettles", path)[-1])
    words, *_ = json.loads(step("answer", "change", path)[-1])
    again, *_ = json.loads(step("answer", "Say when.", path)[-1])
    letter, end = step("answer", "yes", path)

    assert "Send this?\nDear customer: " in asked and ["yes", "no", "change"] == choices
    assert "What has to change?" == words
    assert "Say when." in again and "Say when." in letter
    assert '"sent"' == end


def test_a_run_behind_a_web_server_tells_its_events(tmp_path, monkeypatch):
    """Its last event is its value."""

    async def read():
        async with TestClient(TestServer(server.application(["A drink.", "Both."]))) as client:
            response = await client.get("/digest")
            return await response.text()

    (tmp_path / "documents").mkdir()
    for name in ("tea", "milk"):
        (tmp_path / f"documents/{name}.txt").write_text(name)
    shutil.copy(HERE / "reduce.sexp", tmp_path)
    monkeypatch.setattr(server, "PROGRAM", sexplang.build(tmp_path / "reduce.sexp"))
    events = anyio.run(read).split("\n\n")

    assert 'event: Finished\ndata: ["model", "summarize"]' in events
    assert 'event: Finished\ndata: ["model", "combine"]' in events
    assert ['event: Done\ndata: "A drink."', ""] == events[-2:]


def test_a_backup_answers_for_an_overloaded_server():
    """Each is asked by the name that the program gives it."""
    overload = {"status": 529, "headers": {"retry-after": "0"}}
    with MessagesServer(overload) as main, MessagesServer("Yes.") as backup:
        models = {"main": f"{main.url}#m", "backup": f"{backup.url}#m"}
        said = sexplang.run(HERE / "fallback.sexp", inputs={"question": "Tea?"}, model=models)

    assert "Yes." == said and 1 == len(backup.journal)


def test_a_second_run_has_all_from_its_cache(tmp_path):
    program = shutil.copy(HERE / "cache.sexp", tmp_path)
    (tmp_path / "cache").mkdir()
    permissions = sexplang.Permissions(folder=tmp_path, read=[tmp_path], write=[tmp_path])
    given = {"inputs": {"texts": ["tea", "milk"]}, "permissions": permissions}
    first = sexplang.run(Path(program), model=["Good.", "Good."], **given)
    second = sexplang.run(Path(program), model=[{"error": "overloaded_error"}], **given)

    assert ["Good.", "Good."] == first == second


FIELDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ROWS = st.lists(st.fixed_dictionaries({"a": FIELDS, "b, c": FIELDS}), min_size=1, max_size=4)
CSV = sexplang.build("(define-input rows type: json) (csv-parse (csv-string rows))")


@examples(40, 2_000, ROWS)
def test_rows_come_back_from_csv(rows):
    assert rows == sexplang.run(CSV, inputs={"rows": rows})


def test_a_program_is_told_what_a_script_says():
    """The requests in order, each with its reply."""
    save = '(write-file "rows.csv" (csv-string [{a: "x, y"}])) (csv-parse (read-file "rows.csv"))'
    text = 'a\n"x, y"\n'
    rows = run_script(save, [(("write-file", "rows.csv", text), None), ("read-file", text)])

    assert [{"a": "x, y"}] == rows


@examples(40, 500, scripts(errors=True))
def test_any_reply_of_a_model_is_a_field(script):
    """What fails is an error of the model."""
    ask = '(defatom ask (instructions "Say it.")) (define said (ask)) '
    try:
        said, rows = sexplang.run(ask + '[said (csv-rows (csv-string [["a" said]]))]', model=script)
        assert [["a", said]] == rows
    except sexplang.Failed as failed:
        assert failed.reason in ("llm_error", "connection_error", "protocol_error")
