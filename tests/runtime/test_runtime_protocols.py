"""Servers of the OpenAI protocol: their names, what permits them, their keys, and one program that
does the same with every protocol."""

import importlib.util
import json

import anyio
import pytest
from conformance_support import here
from runtime_support import ASK, asked
from support.chat_server import chat_server
from support.engine_server import KEY as ENGINE_KEY
from support.engine_server import engine_url
from support.messages_server import MessagesServer
from support.running import error_of

import sexplang
from sexplang import Permissions
from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.models import server_of, warm_up
from sexplang.runtime.models.adapters import sdk_loader
from sexplang.runtime.models.prices import rates
from sexplang.runtime.models.protocols import read_target
from sexplang.tasks.prompt.window import output, windows
from sexplang.terms.model.roles import id_of, read_models

KEY = "sk-openai-very-secret-0123456789"
ANTHROPICS = "sk-ant-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "base_url", "model"),
    [
        ("openai:http://127.0.0.1:11434#llama3.2:3b", "http://127.0.0.1:11434/v1", "llama3.2:3b"),
        ("openai:http://127.0.0.1:11434/v1/#m", "http://127.0.0.1:11434/v1", "m"),
        ("openai:https://h/v1/chat/completions#m", "https://h/v1", "m"),
        (
            "openai:https://h/deployments/x?api-version=1#m",
            "https://h/deployments/x?api-version=1",
            "m",
        ),
        ("openai:http://h:1", "http://h:1/v1", "default"),
    ],
)
def test_an_address_may_have_a_path_and_the_name_of_a_model(name, base_url, model):
    at = read_target(name)

    assert (at.base_url, at.model, at.is_provider) == (base_url, model, False)


@pytest.mark.parametrize("wrong", ["openai:http://", "openai:http://[", "openai:http://host:port"])
def test_a_name_that_is_no_address_is_told_what_to_write(wrong):
    error = error_of(asked(wrong))

    assert error["details"]["code"] == "unknown-model"
    assert "openai:http://127.0.0.1:11434/v1#llama3.2" in error["hint"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("openai:127.0.0.1:8080/v1#m", "openai:http://127.0.0.1:8080/v1#m"),
        ("openai:models.example:80", "openai:http://models.example:80#NAME"),
        ("openai:localhost/v1", "openai:http://localhost/v1#NAME"),
        ("openai:gpu:8000/v1#m", "openai:http://gpu:8000/v1#m"),
        ("openai:ftp://host/v1#m", "openai:http://host/v1#m"),
        ("openai:http://host/v1 #m", "openai:http://127.0.0.1:11434/v1#llama3.2"),
    ],
)
def test_an_address_without_http_is_no_id_that_gets_a_key(wrong, meant, monkeypatch):
    """The prompt and the key would go to the provider."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    error = error_of(asked(wrong))

    assert error["details"]["code"] == "unknown-model" and error["hint"].endswith(meant)


@pytest.mark.parametrize("id", ["gpt-4.1", "ft:gpt-5-mini:me::a1", "meta/llama-3.2", "qwen3:32b"])
def test_the_id_of_a_model_is_no_address(id, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    assert (id, None) == (read_target(f"openai:{id}").model, read_target(f"openai:{id}").base_url)


def test_openai_itself_needs_a_key(monkeypatch):
    """Or an address in the environment, which gets the key."""
    error = error_of(asked("openai:gpt-5"))
    assert (error["details"]["code"], "OPENAI_API_KEY" in error["hint"]) == ("missing-key", True)
    with chat_server("x") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert asked("openai:gpt-5").value["content"][0]["text"] == "x"

    assert server.journal[0]["model"] == "gpt-5"
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_each_key_goes_to_its_own_protocol(monkeypatch):
    """And the organisation, as the SDK reads it, with it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANTHROPICS)
    with chat_server("x") as ours, MessagesServer("x") as theirs:
        asked(f"openai:{ours.url}#m")
        asked(f"{theirs.url}#m")

    assert ours.headers[0]["authorization"] == f"Bearer {KEY}"
    assert ours.headers[0]["openai-organization"] == "org-1"
    assert theirs.headers[0]["authorization"] == f"Bearer {ANTHROPICS}"
    assert ANTHROPICS not in json.dumps(ours.headers) and KEY not in json.dumps(theirs.headers)
    assert "sk-admin" not in json.dumps(ours.headers)


def test_credentials_of_an_address_are_sent_and_not_shown():
    with chat_server({"status": 401, "message": "no access for hunter2-secret"}) as server:
        address = server.url.replace("//", "//me:hunter2-secret@")
        with pytest.raises(sexplang.Failed) as failed:
            sexplang.run(PROGRAM, model=f"openai:{address}#m")

    assert server.headers[0]["authorization"].startswith("Basic ")
    assert "hunter2" not in str(failed.value) + repr(failed.value.error)


PROGRAM = '(answer (model {messages: [{role: "user" content: "Hello"}]}))'


def run_named(name, model, **given):
    """What a program gives that names a model itself."""
    text = f'(get (model {{model: "{name}" messages: [{{role: "user" content: "Hi"}}]}}) "model")'
    return sexplang.run(text, model=model, **given)


def test_a_program_reaches_what_it_may_reach_without_a_model(monkeypatch, tmp_path):
    """Where it is permitted, it gets no key and no header of the person's."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    (tmp_path / "script.json").write_text('["s"]')
    with chat_server("x") as server, MessagesServer("x") as mine:
        name, default = f"openai:{server.url}#m", f"{mine.url}#d"
        with pytest.raises(sexplang.Failed, match=r"127.0.0.1 may not be reached"):
            run_named(name, default, permissions=Permissions(net=["localhost"]))
        assert run_named(name, default, permissions=Permissions(net=["127.0.0.1"])) == "m"
        assert run_named(f"openai:{server.url}#n", {"default": default, "other": name}) == "n"

    assert [each["authorization"] for each in server.headers] == ["Bearer none", f"Bearer {KEY}"]
    assert "openai-organization" not in server.headers[0]


def test_a_program_names_openais_models_where_a_person_did(monkeypatch):
    """Or where an address in the environment says whose they are."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with MessagesServer("x") as mine, chat_server("x") as server:
        with pytest.raises(sexplang.Failed, match=r"api.openai.com may not be reached") as failed:
            run_named("openai:gpt-5", f"{mine.url}#d")
        assert "--allow-net api.openai.com" in str(failed.value.error.fields["hint"])
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert run_named("openai:gpt-5", f"{mine.url}#d") == "gpt-5"


def test_a_credential_in_an_address_of_a_program_is_refused():
    with pytest.raises(sexplang.Failed, match="named with a credential") as failed:
        run_named("openai:http://me:hunter2-secret@127.0.0.1:1#m", "local")

    assert "hunter2" not in str(failed.value)


def test_a_missing_package_is_told_with_what_to_type(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "openai" else find(name)
    )
    error = error_of(asked("openai:http://127.0.0.1:1#m"))

    assert error["details"]["code"] == "not-available"
    assert "pip install 'sexplang[openai]'" in error["hint"]


def test_the_sdk_of_a_protocol_is_loaded_in_the_background(monkeypatch):
    """Of each that tasks may need, and of no other."""
    begun = []
    monkeypatch.setattr(sdk_loader, "start_loading", lambda protocol: begun.append(protocol.title))
    warm_up(read_models("local", {"fast": ["openai:gpt-5", "claude-x"]}), ["fast", None])

    assert begun == ["OpenAI", "Messages"]


@here
def test_a_real_server_refuses_a_key():
    error = error_of(asked(f"openai:{engine_url()}#m"))

    assert (error["details"]["code"], error["details"]["status"]) == ("bad-key", 401)
    assert "export OPENAI_API_KEY" in error["hint"]


def test_a_call_is_made_in_any_event_loop():
    async def main(url):
        return await sexplang.arun(PROGRAM, model=f"openai:{url}#m")

    with chat_server("x") as server:
        for library in ("asyncio", "trio"):
            assert anyio.run(main, server.url, backend=library)["model"] == "m"


def test_what_is_known_of_a_model_is_found_by_its_id():
    """Whoever serves it; a colon in an id is a part of it."""
    names = ["openai:gpt-4o", "openai:http://h:1/v1#gpt-4o"]

    assert [id_of(name) for name in names] == ["gpt-4o", "gpt-4o"]
    assert id_of("openai:http://h:1#llama3.2:3b") == "llama3.2:3b"
    assert rates(names[0]) == rates(names[1]) == rates("gpt-4o") is not None
    assert {windows()(name) for name in names} == {102_400}
    assert {output(name) for name in ("gpt-5", "openai:gpt-5")} == {80_000}
    assert [server_of(name) for name in names] == ["OpenAI", "h:1"]


def test_neither_a_key_nor_its_beginning_is_shown(monkeypatch, tmp_path):
    """By a server that tells it again."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    record = tmp_path / "run.jsonl"
    for item in (f"It is {KEY}.", {"status": 401, "message": f"bad key {KEY}"}):
        with chat_server(item) as server:
            outcome = asked(f"openai:{server.url}#m", ASK)
            try:
                value = sexplang.run(PROGRAM, model=f"openai:{server.url}#m", record=record)
            except sexplang.Failed as failed:
                value = failed.error
        assert KEY not in repr([outcome, getattr(outcome, "error", 0), value]) + record.read_text()
        record.unlink()


@here
def test_a_server_that_closes_its_connections_is_asked_without_a_loss(monkeypatch):
    """llama.cpp says that it keeps them, and closes each."""
    monkeypatch.setenv("OPENAI_API_KEY", ENGINE_KEY)
    events = []
    text = """(map (lambda (n) (get-in (model {max_tokens: 1 messages:
        [{role: "user" content: "Hi"}]}) ["usage" "uncounted"])) (range 4))"""

    values = sexplang.run(text, model=f"openai:{engine_url()}#m", on_event=events.append)

    assert values == [None] * 4
    assert [event for event in events if isinstance(event, Retrying)] == []


# -- One program with two roles -------------------------------------------------------------------

ROLES = """
(defatom draft (model "writer") (options stop_sequences: ["." "," " of"] temperature: 0)
  (instructions "Say: tea is wet."))
(defatom judge (model "judge") (limits max_output_tokens: 30) (params (text string))
  (returns (one-of "yes" "no")) (instructions "Is this about tea? {{text}}"))
(progress "a line" 0.5)
(define line (draft))
[(judge line)]
"""
VERDICT = '{"answer": "yes"}'


def operations(model, record):
    """What a run asks for, in order: each operation, with the task and the name of the model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", ENGINE_KEY)
        values = sexplang.run(ROLES, model={"*": model}, record=record)
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert all(value in ("yes", "no") for value in values)
    return [(row["operation"], row["id"]) for row in rows if "id" in row]


@here
def test_one_program_does_the_same_with_every_protocol(tmp_path):
    def said(body):
        asks = "output_config" in body or "response_format" in body
        return VERDICT if asks else "Tea is wet."

    with MessagesServer(said) as messages, chat_server(said) as chat:
        models = {
            "messages": f"{messages.url}#m",
            "chat": f"openai:{chat.url}#m",
            "engine": f"openai:{engine_url()}#m",
            "local": "local",
        }
        found = {
            name: operations(model, tmp_path / f"{name}.jsonl") for name, model in models.items()
        }

    assert [operation for operation, _ in found["local"]].count("model") == 2
    assert found["messages"] == found["chat"] == found["engine"] == found["local"]
