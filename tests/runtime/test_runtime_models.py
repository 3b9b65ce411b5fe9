"""Models over the Messages protocol: what they answer, and every way in which they fail."""

import json
import socket
import time
from threading import Thread

import pytest
from runtime_support import ASK, asked, begun, par, perform, table
from support.messages_server import MessagesServer
from support.running import error_of

from sexplang.runtime import Endpoint, Journal, Refusal, Retries, choose_model, drive
from sexplang.runtime.driver.events import Finished, Retrying, Said, Started
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.models.adapters.messages import build_body
from sexplang.runtime.models.protocols import read_target
from sexplang.runtime.models.retry import backoff
from sexplang.terms.model.roles import Models, read_models

KEY = "sk-ant-very-secret-0123456789"


def test_a_schema_for_the_reply_is_sent_in_the_form_that_servers_enforce():
    """What such a schema cannot say is left to the check of the reply."""
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}

    sent = build_body({**ASK, "messages": [], "output_schema": schema}, "m")["output_config"][
        "format"
    ]

    assert ("json_schema", False) == (sent["type"], sent["schema"]["additionalProperties"])


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "array", "items": {"type": "object", "additionalProperties": True}},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
        {"type": ["string", "null"]},
        {"type": "object", "properties": {"a": True}},
    ],
    ids=json.dumps,
)
def test_a_schema_that_servers_cannot_enforce_is_not_sent(schema):
    """They would allow no key that it does not name, or refuse it whole."""
    assert "output_config" not in build_body({**ASK, "messages": [], "output_schema": schema}, "m")


def test_what_cannot_be_written_is_cleaned_out_of_replies(tmp_path):
    """Also deep inside the input of a tool: `?` stands for half of a surrogate pair."""
    call = {"name": "look", "input": {"a\ud800": ["\udfff", {"b": "\ud83d\ude00"}]}}
    (tmp_path / "script.json").write_text(json.dumps([{"tool_use": call}]))
    with MessagesServer("a\ud800b") as server:
        said = asked(f"{server.url}#m").value
    with MessagesServer({"tool_use": call}) as server:
        called = asked(f"{server.url}#m").value
    scripted = asked(f"scripted:{tmp_path}/script.json").value

    assert "a?b" == said["content"][0]["text"]
    for each in (called, scripted):
        assert {"a?": ("?", {"b": "\U0001f600"})} == each["content"][0]["input"]


def test_a_reply_holds_no_key(tmp_path, monkeypatch):
    """Whoever replies."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    (tmp_path / "script.json").write_text(json.dumps([f"it is {KEY}", {"error": KEY}]))
    performers = table(model=f"scripted:{tmp_path}/script.json")

    said = drive(begun(perform("model", ASK)), performers).value
    error = error_of(drive(begun(perform("model", ASK)), performers))

    assert "it is [redacted]" == said["content"][0]["text"]
    assert KEY not in str(error)


def test_a_server_that_is_not_there_is_a_connection_error():
    """Nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]  # nobody else gets it meanwhile
        error = error_of(asked(f"http://127.0.0.1:{port}#m"))

    assert ("connection_error", "no-connection") == (error["reason"], error["details"]["code"])


def test_a_failure_that_passes_is_not_seen_by_the_program():
    """The journal and the events tell how many attempts it took."""
    events, journal = [], Journal()
    with MessagesServer({"status": 529}, {"fail": "reset"}, "at last") as server:
        performers = table(model=f"{server.url}#m", on_event=events.append)
        outcome = drive(
            begun(perform("model", ASK)), performers, journal=journal, on_event=events.append
        )

    assert "at last" == outcome.value["content"][0]["text"]
    kinds = [type(event) for event in events]
    assert [Started, Retrying, Retrying, Finished] == [kind for kind in kinds if kind is not Said]
    assert (3, 3) == (events[-1].attempts, journal.rows[0].attempts)
    assert {"input_tokens": 7, "output_tokens": 3, "uncounted": 1} == journal.rows[0].usage


def test_the_server_says_how_long_to_wait_but_not_for_ever():
    """retry-after is obeyed up to a bound; the spread of waits follows from the identity, and goes
    over all of what doubles."""
    retries = Retries(first=1, most=60)
    ids = [f"0.{at}" for at in range(200)]
    firsts = [backoff(id, 1, None, retries) for id in ids]
    seconds = [backoff(id, 2, None, retries) for id in ids]

    assert 60 == backoff("0.1", 1, 1e9, retries)
    assert 7 <= backoff("0.1", 1, 7, retries) <= 8
    assert 0 <= min(firsts) < 0.1 and 0.9 < max(firsts) <= 1
    assert 0 <= min(seconds) < 0.2 and 1.8 < max(seconds) <= 2
    assert firsts == [backoff(id, 1, None, retries) for id in ids]
    for header in ("nan", "-5", "Wed, 21 Oct 2026 07:28:00 GMT", "1e9"):
        with MessagesServer({"status": 429, "headers": {"retry-after": header}}) as server:
            started = time.monotonic()
            asked(f"{server.url}#m")

            assert time.monotonic() - started < 15


def test_a_reply_that_drips_for_ever_meets_the_deadline_of_the_attempt():
    """`total` bounds an attempt whatever arrives."""
    endpoint = Endpoint(silence=30, total=0.3)
    with MessagesServer({"fail": "hang"}) as server:
        error = error_of(asked(f"{server.url}#m", endpoint=endpoint, retries=Retries(attempts=1)))

    assert "model-timeout" == error["details"]["code"]
    assert "0.3 seconds" in error["message"]


def test_branches_ask_at_the_same_time_and_connections_end():
    """One client serves a drive; a second drive has its own."""
    with MessagesServer("x") as server:
        for _ in range(2):
            program = par(*[perform("model", ASK) for _ in range(20)])
            assert 20 == len(drive(begun(program), table(model=f"{server.url}#m")).value)

    assert 40 == len(server.journal)


@pytest.mark.parametrize("item", [{"status": 401, "message": f"bad key {KEY}"}, KEY])
def test_the_key_is_never_shown(monkeypatch, tmp_path, item):
    """Not in errors, replies, the journal or the recording, even if a server echoes it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    record = tmp_path / "run.jsonl"
    with MessagesServer(item) as server:
        journal = record_to(record)
        outcome = drive(
            begun(perform("model", ASK)), table(model=f"{server.url}#m"), journal=journal
        )

    assert f"Bearer {KEY}" == server.headers[0]["authorization"]
    seen = repr(outcome) + repr(journal) + record.read_text()
    seen += repr(getattr(outcome, "error", None) and outcome.error.fields)
    assert KEY not in seen
    assert KEY not in repr(read_target(server.url))


def test_a_key_is_needed_only_for_anthropics_own_server(monkeypatch):
    """The error says where to get one and what needs none; a server of one's own gets a
    placeholder."""
    error = error_of(asked("anthropic:claude-sonnet-5-5"))

    assert ("configuration_error", "missing-key") == (error["reason"], error["details"]["code"])
    assert "--model local" in error["hint"]
    with MessagesServer("x") as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        asked("anthropic:some-model")

    assert "some-model" == server.journal[0]["model"]


def test_an_address_may_have_a_path_and_the_name_of_a_model():
    """The SDK adds /v1/messages itself; a password is not shown."""
    at = read_target("http://me:secret@host:8080/base/v1/messages#small")

    assert ("http://host:8080/base", "me:secret", "small") == (at.base_url, at.user, at.model)
    assert "host:8080" == at.display_name
    for wrong in ("http://", "http://[", "http://host:port"):
        with pytest.raises(Refusal):
            read_target(wrong)


def test_who_answers_to_a_name(monkeypatch):
    """The name itself says it, then `*`, then the id; a role without a model gets the default, and
    what names nobody. Without one it is Anthropic's, if there is a key."""

    def who(models, name=None):
        return choose_model(models, name).model

    some = read_models(
        "local", {"judge": "http://a#j", "claude-x": "strong", "strong": "http://a#s"}
    )
    assert ["local", "local"] == [who(some), who(some, "fast")]
    assert ["http://a#j", "http://a#s"] == [who(some, "judge"), who(some, "anthropic:claude-x")]
    assert ["anthropic:claude-y", "http://b"] == [who(some, "claude-y"), who(some, "http://b")]
    every = read_models(names={"*": "local", "judge": "http://a#j"})
    assert ["local", "http://a#j", "local"] == [who(every, n) for n in (None, "judge", "claude-y")]
    for played in ("scripted:a.json", "replay:a.jsonl"):
        assert {played} == {
            who(read_models(played), n) for n in (None, "judge", "claude-y", "http://b")
        }
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert who(Models(), "fast") == who(Models()) == "anthropic:claude-sonnet-5-5"
    for name in ("gpt-9", "nonsense:x", "anthropic:", "http:"):
        error = error_of(asked(name))

        assert "unknown-model" == error["details"]["code"], name


def test_the_recorded_rows_are_lines_of_json(tmp_path):
    """A header with the version, then a row for each reply."""
    record = tmp_path / "run.jsonl"
    with MessagesServer("x") as server:
        drive(
            begun(perform("model", ASK)),
            table(model=f"{server.url}#m"),
            journal=record_to(record, "r1"),
        )
    header, row = map(json.loads, record.read_text().splitlines())

    assert (7, "r1") == (header["sexplang-journal"], header["run"])
    assert ("model", 1, 64) == (row["operation"], row["attempts"], len(row["digest"]))
    assert "x" == row["reply"]["content"][0]["text"]


def test_no_header_is_sent_twice():
    """As it stands on the socket: some servers take a list of types for none that they know."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        said = []

        def serve():
            connection, _ = listening.accept()
            with connection:
                data = b""
                while not data.endswith(b"}"):  # what is left unread would reset the connection
                    data += connection.recv(65536)
                said.append(data.partition(b"\r\n\r\n")[0].decode().lower())
                connection.sendall(b"HTTP/1.1 400 no\r\ncontent-length: 0\r\n\r\n")

        serving = Thread(target=serve)
        serving.start()
        asked(f"http://127.0.0.1:{listening.getsockname()[1]}#m")
        serving.join()
    headers = dict(line.split(": ", 1) for line in said[0].split("\r\n")[1:])

    assert len(headers) == len(said[0].split("\r\n")) - 1
    assert "application/json" == headers["content-type"]
    once = {name: value for name, value in headers.items() if name != "accept-encoding"}
    assert [] == [value for value in once.values() if ", " in value]


def test_a_server_that_is_not_there_is_named_as_it_was():
    error = error_of(asked("http://127.0.0.1:1#m"))

    assert error["message"].startswith("the connection to 127.0.0.1:1 failed: Cannot connect to ")
    assert "ssl" not in error["message"]
