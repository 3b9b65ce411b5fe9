"""A run that is ended from outside tells what it had: by Ctrl-C, `cancel`, or a limit."""

import json
import os
import signal
import subprocess
import time

import pytest
from support.command import SEXPLANG
from support.messages_server import MessagesServer
from support.running import built

import sexplang
from sexplang.machine import Limits, start
from sexplang.pipeline.pipeline import tasks
from sexplang.runtime.models.adapters.scripted import shape_reply
from sexplang.terms.values.boundary import plain, value_of

TASKS = """
(import std/steps)
(defatom leaf (params (what string)) (instructions "Do {{what}}."))
(defatom parent (instructions "Reach it.") (allowed_tools spawn_subtask))
"""
STEPS = '(bind a (leaf "one")) (bind b (sequence [leaf (lambda (x) (parent))] "two")) (list a b)'
ASKED = {
    "content": [
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "spawn_subtask",
            "input": {"name": "leaf", "inputs": {"what": "it"}},
        }
    ],
    "stop_reason": "tool_use",
}
REPLIES = ("FIRST", "SECOND", ASKED, "THIRD")
HANG = {"fail": "hang"}


def interrupted(tmp_path, *options, calls=4):
    """Standard output and error of a run that gets Ctrl-C when it waits for one call more."""
    program = tmp_path / "p.sexp"
    program.write_text(TASKS + STEPS)
    with MessagesServer(*REPLIES[:calls], HANG) as server:
        words = ["run", str(program), "--model", server.url, *options]
        with subprocess.Popen(
            [*SEXPLANG, *words],
            text=True,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "ANTHROPIC_API_KEY": "a-key"},
        ) as process:
            for _ in range(600):
                if len(server.journal) > calls or process.poll() is not None:
                    break
                time.sleep(0.05)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            said, errors = process.communicate(timeout=60)
    assert 130 == process.returncode, errors
    return said, errors.splitlines()


def test_the_command_says_how_much_is_not_kept(tmp_path):
    """After a run that is not recorded."""
    said, errors = interrupted(tmp_path)

    assert "" == said
    assert ["sexplang: interrupted"] == errors[-1:]
    assert errors[-2].startswith("sexplang: not kept: 4 model calls, ")
    assert errors[-2].endswith("; --record FILE keeps it, --json tells what was done")


def test_the_command_says_where_it_is_kept_and_what_there_is(tmp_path):
    """The recording holds what models have said, the document what the program had."""
    said, errors = interrupted(tmp_path, "--json", "--record", "a run.jsonl")
    error = json.loads(said)["error"]
    partial = error["details"]["partial_results"]

    assert errors[-2].startswith("sexplang: kept in a run.jsonl: 4 model calls, ")
    assert errors[-2].endswith("; look at it: sexplang runs report 'a run.jsonl'")
    assert "THIRD" in (tmp_path / "a run.jsonl").read_text()
    assert ("cancelled", "FIRST") == (
        error["reason"],
        error["details"]["step_error"]["details"]["partial_results"]["a"],
    )
    assert "SECOND" == partial[0]["output"]
    assert "THIRD" == partial[1]["notes"]["unfinished"][0]["subtasks"][0]["content"]


def test_the_command_is_quiet_where_there_is_nothing(tmp_path):
    """No model has answered, or nobody wants to read of it."""
    _, nothing = interrupted(tmp_path, calls=0)
    _, quiet = interrupted(tmp_path, "--quiet", calls=1)

    assert 2 == len(nothing)
    assert ["sexplang: interrupted"] == quiet


def test_python_sees_it():
    """The interruption comes from the run's own error."""

    async def asked(payload):
        if len(seen) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
        seen.append(payload)
        return {"content": [{"type": "text", "text": "FIRST"}], "stop_reason": "end_turn"}

    seen = []
    with pytest.raises(KeyboardInterrupt) as raised:
        sexplang.run(TASKS + STEPS, effects={"model": asked})

    failed = raised.value.__cause__
    assert isinstance(failed, sexplang.Failed)
    assert ("cancelled", "FIRST") == (
        failed.reason,
        failed.details["step_error"]["details"]["partial_results"]["a"],
    )


def ended(program, *replies, limits=None):
    """The error of a run that is cancelled when it has these replies, unless a limit ends it."""
    outcome = start(built(TASKS + program), {}, tasks(), limits or Limits())
    for reply in replies:
        request = outcome.requests[0]
        outcome = outcome.resume(request.id, value_of(shape_reply(reply, "script", request)))
    return plain((outcome.cancel() if limits is None else outcome).error)


@pytest.mark.parametrize("limits", [None, Limits(model_calls=2)], ids=["cancelled", "a limit"])
@pytest.mark.parametrize(
    ("program", "words", "told"),
    [
        (
            '(sequence [leaf {id: "last" do: (lambda (x) (leaf (leaf x)))}] "x")',
            "error in step 2 of 2 (last): ",
            ["A"],
        ),
        ('(map-tasks leaf ["x" "y" "z"])', "error at input 3 of 3: ", ["A", "B"]),
        (
            '(reduce-tasks leaf (lambda (one all x) (append all [one])) [] ["x" "y" "z"])',
            "error at input 3 of 3: ",
            ["A", "B"],
        ),
    ],
)
def test_steps_and_inputs_are_told(program, words, told, limits):
    """With where it was, as by a deadline."""
    error = ended(program, "A", "B", limits=limits)
    partial = error["details"]["partial_results"]

    assert error["message"].startswith(words)
    assert told == [each.get("output", each.get("result")) for each in partial]


@pytest.mark.parametrize("limits", [None, Limits(model_calls=2)], ids=["cancelled", "a limit"])
def test_what_was_bound_is_told(limits):
    """Around the calls in which the run stands."""
    program = """
    (define (work topic)
      (let* ((draft (leaf topic)) (better (leaf draft))) (str (leaf "x") better)))
    (work "tea")
    """
    error = ended(program, "A", "B", limits=limits)

    assert {"draft": "A", "better": "B"} == error["details"]["partial_results"]
