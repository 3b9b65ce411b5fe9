"""Models that are asked in turn: of the command line, Python and sexplang.toml."""

import json

import pytest
from runtime_support import ASK, QUICK, begun, drive, perform, table
from support.chat_server import chat_server
from support.command import sexplang as command
from support.messages_server import MessagesServer
from support.running import error_of

import sexplang
from sexplang.machine import Done
from sexplang.runtime import Journal
from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.models.prices import prices, rates
from sexplang.tasks.prompt.window import windows
from sexplang.terms.model.roles import Models, read_models

DOWN = "openai:http://127.0.0.1:1#m"
PROGRAM = (
    '(get-in (model {model: "fast" messages: [{role: "user" content: "Hi"}]}) ["content" 0 "text"])'
)


def ask(*models, journal=None, payload=ASK, **settings):
    """What a call gives whose models are these, in turn."""
    named = read_models([*models])
    performers = table(models=named, retries=QUICK, **settings)
    return drive(begun(perform("model", payload)), performers, journal=journal)


FAILS = [
    ({"status": 500}, 3, {}),
    ({"status": 429}, 3, {}),
    ({"fail": "cut"}, 3, {"uncounted": 3}),
    ({"status": 401}, 1, {}),
    ({"status": 402}, 1, {}),
]


@pytest.mark.parametrize(("item", "attempts", "lost"), FAILS, ids=str)
def test_the_next_is_asked_when_one_fails_for_what_may_pass(item, attempts, lost):
    """After its retries; the row says who answered, after how many attempts, and what was lost."""
    events, journal = [], Journal()
    with chat_server(item) as first, MessagesServer("B") as second:
        models = (f"openai:{first.url}#a", f"{second.url}#b")
        reply = ask(*models, journal=journal, on_event=events.append).value
    (row,) = journal.rows

    assert (reply["content"][0]["text"], reply["model"], row.model) == ("B", "b", "b")
    assert (len(first.journal), row.attempts) == (attempts, attempts + 1)
    assert reply.get("lost", {}) == lost
    told = [event for event in events if isinstance(event, Retrying)]
    assert len(told) == attempts  # the last one before the other model is asked
    assert (told[-1].attempt, told[-1].wait) == (attempts, 0.0)


@pytest.mark.parametrize("item", [{"status": 400}, {"status": 404}, {"fail": "garbage"}], ids=str)
def test_what_is_wrong_for_every_model_is_not_asked_again(item):
    with chat_server(item) as first, MessagesServer("B") as second:
        outcome = ask(f"openai:{first.url}#a", f"{second.url}#b")

    assert not isinstance(outcome, Done) and second.journal == []


def test_a_refusal_is_an_answer():
    refused = {"content": [{"type": "text", "text": "No."}], "stop_reason": "refusal"}
    with chat_server(refused) as first, MessagesServer("B") as second:
        assert ask(f"openai:{first.url}#a", f"{second.url}#b").value["stop_reason"] == "refusal"
    assert second.journal == []


def test_one_that_cannot_be_had_is_passed_over(monkeypatch):
    """No server, no key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with MessagesServer("B") as second:
        for first in (DOWN, "openai:gpt-5"):
            assert ask(first, f"{second.url}#b").value["model"] == "b"


def test_the_error_of_the_last_is_that_of_the_call():
    """With the attempts and what was lost of all."""
    with MessagesServer({"cut": 3, "content": [{"type": "text", "text": "half"}]}) as server:
        error = error_of(ask(DOWN, f"{server.url}#b"))

    assert (error["details"]["code"], error["details"]["attempts"]) == ("reply-cut-short", 6)
    assert error["details"]["usage"] == {"input_tokens": 21, "output_tokens": 3}


def test_the_time_of_a_call_is_that_of_all():
    with chat_server({"fail": "hang"}) as first, MessagesServer("B") as second:
        outcome = ask(f"openai:{first.url}#a", f"{second.url}#b", payload={**ASK, "timeout": 0.2})

    assert error_of(outcome)["reason"] == "seconds" and second.journal == []


SPENDING = """
(with-budget {tokens: TOKENS}
  (get (model {model: "fast" max_tokens: 40 messages: [{role: "user" content: "Hi"}]}) "model"))
"""


@pytest.mark.parametrize(("tokens", "asked"), [(100, 0), (1000, 1)])
def test_a_budget_admits_the_next_or_not(tokens, asked):
    """What the one before took is charged."""
    cut = {"cut": 3, "content": [{"type": "text", "text": "half"}], "usage": {"input_tokens": 60}}
    with MessagesServer(cut, {"status": 401}) as first, MessagesServer("B") as second:
        models = {"fast": [f"{first.url}#a", f"{second.url}#b"]}
        try:
            ended = sexplang.run(SPENDING.replace("TOKENS", str(tokens)), model=models)
        except sexplang.Failed as failed:
            ended = failed.error.fields["details"]["stopped"]

    assert (ended, len(second.journal)) == (("b", 1) if asked else ("budget", 0))


def test_roles_and_lists_lead_to_each_other():
    """Each once, however they are nested; a circle ends."""
    names = {"fast": ["cheap", "local"], "cheap": ["http://a#x", "fast"], "judge": "fast"}
    answer = read_models(None, names).answer("judge")

    assert answer.all_models() == ("http://a#x", "fast", "local")
    assert read_models("http://a#x | local").answer(None).all_models() == ("http://a#x", "local")
    assert Models().answer(None).all_models() == ()


def test_the_dearest_and_the_smallest_count():
    """Nobody knows before who will answer."""
    models = read_models(["openai:gpt-4o", "local"])
    cost = prices(models)("", 1000, 1000)

    assert cost == rates("gpt-4o").cost(1000, 1000)
    assert prices(read_models(["http://h:1#nobody", "local"]))("", 1000, 1000) is None
    assert windows(models)(None) == windows()("local")


def test_a_list_stands_in_a_configuration_in_python_and_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    own = tmp_path / "own" / "sexplang"
    own.mkdir(parents=True)
    with MessagesServer("B") as server:
        good = f"{server.url}#b"
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        assert sexplang.run(PROGRAM, model={"fast": ["openai:gpt-5", good]}) == "B"
        (own / "sexplang.toml").write_text(f"[models]\nfast = {json.dumps(['openai:gpt-5', good])}")
        record = tmp_path / "run.jsonl"
        done = command("run", "-e", PROGRAM, "--record", str(record), cwd=tmp_path)
        line = sexplang.run(PROGRAM, model={"fast": f"openai:gpt-5 | {good}"})
    again = sexplang.run(PROGRAM, model=f"replay:{record}")

    assert (done.stdout, again, line) == ("B\n", "B", "B"), done.stderr
    assert f"fast is {good}" in done.stderr


def test_a_recording_answers_alone(tmp_path):
    with pytest.raises(sexplang.Failed, match="a recording answers alone"):
        sexplang.run(PROGRAM, model={"fast": ["local", "replay:x.jsonl"]})
