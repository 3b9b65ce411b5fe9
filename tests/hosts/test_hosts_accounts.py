"""What a person is told of the calls of a run: those that were cut, withdrawn and never made."""

import json
import re
from importlib.metadata import version

import pytest
from support.command import sexplang
from support.messages_server import MessagesServer
from support.recorded import put_lines, report_of

from sexplang.runtime.journal.recording_reader import read_recording

TEXT = [{"type": "text", "text": "Tea is wet."}]
WHOLE = {"content": TEXT, "usage": {"input_tokens": 70, "output_tokens": 9}}
CUT = {"cut": 3, **WHOLE}

ASK = '(define (ask n) (model {max_tokens: n messages: [{role: "user" content: "tea?"}]}))'


def ran(server, program, *options, path=None):
    record = [] if path is None else ["--record", path]
    words = ["-e", f"{ASK} {program}", "--model", f"{server.url}#claude-opus-5-5", *options]
    return sexplang("run", *words, *record)


def summary_of(done):
    """The line about the models, without its seconds."""
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("model")]
    return re.sub(r", [0-9.]+ seconds$", "", line)


def test_what_cut_replies_took_is_in_every_sum(tmp_path):
    """The line about the models, the budget's, the recording and its report."""
    path = tmp_path / "run.jsonl"
    with MessagesServer(CUT, WHOLE) as server:
        done = ran(server, "(ask 50) 1", "--budget", "tokens=1000,usd=1", path=path)
    said = report_of(path)

    assert "1\n" == done.stdout
    assert "model claude-opus-5-5: 1 call, 140 tokens in, 10 out" == summary_of(done)
    assert "budget: 150 of 1,000 tokens, $" in done.stderr
    assert (1, 140, 10) == (said["calls"], said["tokens_in"], said["tokens_out"])
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert ["attempt", "model"] == [row["operation"] for row in rows if "digest" in row]
    (entry,) = read_recording(str(path)).rows
    assert {"input_tokens": 70, "output_tokens": 1} == entry.row.reply["lost"]


def test_what_a_call_took_that_failed_has_a_model_and_a_price(tmp_path):
    """Whoever counted it said who they are."""
    path = tmp_path / "run.jsonl"
    with MessagesServer(CUT) as server:
        done = ran(server, "(attempt (ask 50)) 1", path=path)
    said = report_of(path)

    assert "model claude-opus-5-5: 1 call, 210 tokens in, 3 out" == summary_of(done)
    assert ("claude-opus-5-5", 210) == (said["rows"][0]["model"], said["tokens_in"])
    assert said["usd"] > 0


def test_input_from_a_prompt_cache_is_input(tmp_path):
    """In every sum."""
    path = tmp_path / "run.jsonl"
    usage = {**WHOLE["usage"], "cache_read_input_tokens": 20, "cache_creation_input_tokens": 5}
    with MessagesServer({**WHOLE, "usage": usage}) as server:
        done = ran(server, "(ask 50) 1", "--budget", "tokens=1000", path=path)

    assert "model claude-opus-5-5: 1 call, 95 tokens in (20 from the cache), 9 out" == summary_of(
        done
    )
    assert "budget: 104 of 1,000 tokens" in done.stderr
    assert 95 == report_of(path)["tokens_in"]


def test_a_recording_knows_what_its_models_cost(tmp_path):
    """Whatever the price table says later; of an older recording, that is what counts."""
    path, other, old = (tmp_path / name for name in ("run.jsonl", "other.jsonl", "old.jsonl"))
    with MessagesServer(WHOLE) as server:
        ran(server, "(ask 50) (ask 51) 1", path=path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    (note,) = [line for line in lines if "prices" in line]
    price = note["usd"]

    assert ("claude-opus-5-5", f"genai-prices {version('genai-prices')}") == (
        note["prices"],
        note["table"],
    )
    assert 2 * (70 * price["input"] + 9 * price["output"]) == report_of(path)["usd"]

    dearer = {**note, "usd": {kind: 10 * usd for kind, usd in price.items()}}
    unknown = {**note, "usd": None}
    for place, said in ((other, dearer), (old, unknown)):
        changed = [said if "prices" in line else line for line in lines]
        put_lines(place, map(json.dumps, changed))
    assert 10 * report_of(path)["usd"] == pytest.approx(report_of(other)["usd"])
    assert report_of(old)["usd"] is None

    kept = [line for line in lines if "prices" not in line]
    put_lines(old, map(json.dumps, kept), version=2)
    assert report_of(path)["usd"] == report_of(old)["usd"]


def test_calls_that_were_withdrawn_are_counted_apart(tmp_path):
    """Also those that had no place yet; the budget counts those alone that were made."""
    path = tmp_path / "run.jsonl"
    program = "(race (ask 1) (ask 2) (ask 3) (ask 4)) 1"

    def answer(body):
        return WHOLE if body["max_tokens"] == 2 else {"fail": "hang"}

    with MessagesServer(answer) as server:
        done = ran(server, program, "--parallel", "2", "--budget", "calls=9", path=path)
    said = report_of(path)
    page = sexplang("runs", "report", path).stdout

    assert "model claude-opus-5-5: 1 call, 70 tokens in, 9 out, 3 withdrawn" == summary_of(done)
    assert "budget: 2 of 9 calls" in done.stderr
    assert (1, 3) == (said["calls"], said["withdrawn"])
    assert "1, 3 withdrawn" in page


def test_calls_that_are_all_withdrawn_are_told_too():
    """There is no model whose name a reply would have told."""
    with MessagesServer({"fail": "hang"}) as server:
        done = ran(server, "(attempt (with-timeout 0.3 (ask 1))) 1")

    assert "model: 0 calls, 1 withdrawn" == summary_of(done)


def test_a_call_that_was_never_made_is_none():
    """The error says all there is to say."""
    done = sexplang("run", "-e", f"{ASK} (ask 1)", "--model", "bogus")

    assert 1 == done.returncode
    assert "`bogus` does not name a model" in done.stderr
    assert "call," not in done.stderr


def test_money_that_cannot_be_counted_says_what_to_type():
    """And what was used is a number."""
    with MessagesServer("x") as server:
        model = f"{server.url}#nobody-knows-it"
        words = ["--model", model, "--budget", "usd=0.5"]
        done = sexplang("run", "-e", f"{ASK} (ask 1)", *words)

    assert "nobody knows the price of the model" in done.stderr
    assert "metrics: {limit: 0.5 used: 0.0}" in done.stderr
    assert "type --budget tokens=50000 or calls=20 instead" in done.stderr
    assert [] == server.journal


def test_what_a_withdrawn_call_took_is_in_every_sum(tmp_path):
    """It is no call that was answered, and costs what its server had counted."""
    path = tmp_path / "run.jsonl"
    with MessagesServer({**CUT, "then": "silence"}) as server:
        done = ran(server, "(race (ask 50) (sleep 1)) 1", "--budget", "tokens=1000", path=path)
    said = report_of(path)

    assert "1\n" == done.stdout
    summary = "model claude-opus-5-5: 0 calls, 70 tokens in, 1 out, 1 withdrawn"
    assert summary == summary_of(done)
    assert "budget: 71 of 1,000 tokens" in done.stderr
    assert (0, 1) == (said["calls"], said["withdrawn"])
    assert (70, 1) == (said["tokens_in"], said["tokens_out"])
    assert said["usd"] > 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert ["sleep", "cut"] == [row["operation"] for row in rows if "digest" in row]
    (call,) = [each for each in read_recording(str(path)).entries if each.name == "model"]
    assert call.cut and "Tea is wet." == call.part.reply["text"]
