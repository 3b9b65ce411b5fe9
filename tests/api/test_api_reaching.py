"""Which model a program reaches: a person's word permits it, and nobody else's does."""

import json

import pytest
from support.messages_server import MessagesServer

import sexplang
from sexplang import Permissions

KEY = "sk-ant-very-secret-0123456789"

ASK = '(model {messages: [{role: "user" content: "Hello"}] model: NAME})'
TASK = '(defatom say (model NAME) (instructions "Hello")) (say)'
XML = """<task name="say" type="atomic"><description>Says.</description>
<instructions>Hello</instructions><model>NAME</model></task>"""


def planned(text, name=None):
    """The text as a plan of a model that may ask this one, whose failure is raised."""
    allowed = f"'(model {json.dumps(name)})" if name else "'model"
    return f"(raise (get (eval-plan {json.dumps(text)} allow: [{allowed}]) 'error))"


def named(text, name):
    return text.replace("NAME", json.dumps(name))


def asking(name):
    return named(ASK, name)


DATA = """(defatom say (instructions "Hello"))
(call-atomic-task 'say model: (get (json-parse TABLE) "at"))"""

WAYS = {
    "a payload": asking,
    "a template": lambda name: named(TASK, name),
    "a template of XML": lambda name: '(import "say.xml") (say)',
    "data": lambda name: DATA.replace("TABLE", json.dumps(json.dumps({"at": name}))),
    "a plan": lambda name: planned(asking(name), name),
    "a plan's template": lambda name: planned(named(TASK, name), name),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-mine: {KEY}")
    return tmp_path


def failed(text, **given):
    with pytest.raises(sexplang.Failed) as raised:
        sexplang.run(text, **given)
    return raised.value


@pytest.mark.parametrize("way", WAYS)
def test_a_server_that_no_person_names_is_not_reached(way, here):
    with MessagesServer("Yes.") as server:
        name = f"{server.url}#m"
        (here / "say.xml").write_text(XML.replace("NAME", name))
        error = failed(WAYS[way](name), permissions=Permissions(read=["."]))

    assert server.journal == []
    assert (error.reason, error.details["host"]) == ("net-denied", "127.0.0.1")
    assert f"--allow-net 127.0.0.1, or name the model yourself: --model '{name}'" in str(
        error.error
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:{port}"])
def test_what_is_permitted_is_reached_and_gets_no_key(host):
    with MessagesServer("Yes.") as server:
        port = server.url.rpartition(":")[2]
        net = Permissions(net=[host.format(port=port)])
        sexplang.run(asking(f"{server.url}#m"), permissions=net)

    (headers,) = server.headers
    assert headers["authorization"] == "Bearer none"
    assert KEY not in str(headers)


def test_what_the_caller_names_is_reached_and_gets_the_key():
    """Whatever the program names beside it; as a default it answers to no name of the program."""
    with MessagesServer("Yes.") as server, MessagesServer("No.") as other:
        text = WAYS["a template"](f"{other.url}#m")
        assert str(sexplang.run(text, model={"*": f"{server.url}#m"})) == "Yes."
        assert failed(text, model=f"{server.url}#m").reason == "net-denied"

    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert other.journal == []


@pytest.mark.parametrize("before", ["user@", "evil.example\\@", "evil.example/@", "#@", "%00"])
def test_an_address_that_can_be_read_in_two_ways_is_none(before):
    with MessagesServer("Yes.") as server:
        name = server.url.replace("//", "//" + before)
        error = failed(asking(name), permissions=Permissions(net=["127.0.0.1", "user"]))

    assert server.journal == []
    if before in ("user@", "evil.example\\@"):  # nobody but a person gives what opens a server
        assert error.reason == "net-denied"
    elif before != "evil.example/@":  # whose host is another
        assert error.details["code"] == "unknown-model"


def test_a_task_by_its_name_reaches_no_more(here):
    with MessagesServer("Yes.") as server:
        (here / "say.xml").write_text(XML.replace("NAME", f"{server.url}#m"))
        result = sexplang.dispatch("say", library="say.xml")

    assert result.status == "FAILED"
    assert "net-denied" in str(result.notes["error"])
    assert server.journal == []


@pytest.mark.parametrize("scheme", ["scripted", "replay", "local"])
def test_a_file_that_may_not_be_read_is_no_model(scheme, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.json"
    secret.write_text('["the secret"]')
    text = asking(f"{scheme}:{secret}")

    assert failed(text).reason == "path-denied"
    assert failed(text, permissions=Permissions(read=["."])).reason == "path-denied"
    plan = planned(text, f"{scheme}:{secret}")
    assert failed(plan, permissions=Permissions(folder=".")).reason == "path-denied"
    assert failed(planned(text)).reason == "plan-denied"


def test_a_link_is_no_way_out(here, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.json"
    secret.write_text('["the secret"]')
    (here / "inside.json").symlink_to(secret)

    error = failed(asking("scripted:inside.json"), permissions=Permissions(folder="."))
    assert error.reason == "path-denied"


def test_a_file_that_may_be_read_may_be_a_model(here, monkeypatch):
    """From the program's folder, wherever one stands."""
    (here / "replies.json").write_text('["Yes."]')
    monkeypatch.chdir("/")
    reply = sexplang.run(asking("scripted:replies.json"), permissions=Permissions(folder=here))

    assert reply["content"] == [{"type": "text", "text": "Yes."}]


def test_weights_are_given_by_name(here):
    """The program's folder is not enough: the engine was not written for files from anywhere."""
    (here / "m.gguf").write_bytes(b"no weights")

    text = asking("local:m.gguf")
    refused = failed(text, permissions=Permissions(folder="."))
    assert "path-denied" == refused.reason
    assert "is in a file that may not be read" in str(refused)
    assert f"--allow-read {here / 'm.gguf'}" in refused.error.fields["hint"]
    given = Permissions(folder=".", read=["m.gguf"])
    assert failed(text, permissions=given).reason == "configuration_error"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    with MessagesServer("Yes.") as other:
        to = {"location": f"{other.url}/v1/messages"}
        with MessagesServer({"status": status, "headers": to}) as server:
            error = failed(ASK.replace("NAME", "nil"), model=f"{server.url}#m")

    assert (error.reason, error.details["code"]) == ("configuration_error", "model-redirected")
    assert f"answered {status}: it leads to {other.url}/v1/messages" in str(error)
    assert (len(server.journal), other.journal) == (1, [])
