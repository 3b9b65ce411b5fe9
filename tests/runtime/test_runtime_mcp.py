"""MCP servers: real ones, on pipes and on the loopback, asked by programs and by conversations."""

import os
import re
import socket
import subprocess
import sys
import time

import anyio
import pytest
from runtime_support import begun, par, perform, table
from support import odd_mcp_server
from support.command import served
from support.pictures import PICTURE
from support.running import error_of

import sexplang
from sexplang.machine import Done
from sexplang.runtime import Permissions, Refusal, adrive, drive
from sexplang.runtime.mcp import Servers, connection, servers_of, stdio

PYTHON = sys.executable


def piped():
    """A server on pipes."""
    command, *words = served()
    return {"command": command, "args": words}


def odd(kind, *more):
    return {"command": PYTHON, "args": [odd_mcp_server.__file__, kind, *more]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("program")


@pytest.fixture(scope="module")
def address():
    """Where a server listens on the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*served(), str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        for _ in range(3000):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()


@pytest.fixture(scope="module")
def servers(folder, address):
    """The same server in three ways: as `pipe`, as `net` in events and as `json`."""
    given = {
        "pipe": {**piped(), "env": {"COLOUR": "green"}},
        "net": {"url": address},
        "json": {"url": address.replace("/mcp", "/json"), "headers": {"x-colour": "blue"}},
    }
    allowed = Permissions(folder=folder, run=[PYTHON], net=["127.0.0.1"])
    made = Servers(servers_of(given), allowed)
    yield made
    made.close()


@pytest.fixture
def serving(folder):
    """Makes servers for one test, and ends them."""
    made = []

    def serve(given, **allowed):
        permissions = Permissions(**{"folder": folder, "run": [PYTHON], **allowed})
        made.append(Servers(servers_of(given), permissions))
        return made[-1]

    yield serve
    for each in made:
        each.close()


def called(servers, tool, inputs=None):
    return drive(begun(perform("tool", tool, inputs or {})), table(servers=servers))


def refused(servers, tool, inputs=None):
    error = error_of(called(servers, tool, inputs))
    return error["reason"], error["details"].get("code"), error["message"]


# -- What a server does


@pytest.mark.parametrize("name", ["pipe", "net"])
def test_tools_are_described_with_their_schemas(servers, name):
    """As a model is to see them; what is no server's tool is left alone."""
    found = servers.describe([f"{name}:add", "read_file", "elsewhere:add"])

    assert [f"{name}:add"] == list(found)
    assert "Adds two whole numbers." == found[f"{name}:add"]["description"]
    schema = found[f"{name}:add"]["input_schema"]
    assert ("object", ("a", "b")) == (schema["type"], schema["required"])


@pytest.mark.parametrize("name", ["pipe", "net", "json"])
def test_a_program_calls_a_tool(servers, name):
    """What comes back is plain data: blocks with an image, what is structured, else text."""
    assert Done({"result": 5}) == called(servers, f"{name}:add", {"a": 2, "b": 3})
    assert Done("Hello, Ann.") == called(servers, f"{name}:greet", {"name": "Ann"})
    words, picture = called(servers, f"{name}:show").value
    assert {"type": "text", "text": "a picture"} == words
    assert ("image", "image/png") == (picture["type"], picture["source"]["media_type"])
    rest = called(servers, f"{name}:hand_over").value
    assert ["document", "text", "text", "text", "text"] == [block["type"] for block in rest]
    assert [block.get("text") for block in rest[1:]] == [
        "file:///a.txt text/plain:\nTea.",
        "[audio that models cannot read: audio/wav, 3 bytes]",
        "a page file:///b.html",
        "[a file that models cannot read: file:///c.zip application/zip, 3 bytes]",
    ]


@pytest.mark.parametrize("name", ["pipe", "net", "json"])
def test_a_tool_that_fails_is_an_error_of_the_tool(servers, name):
    """With its own words; the server goes on."""
    reason, code, message = refused(servers, f"{name}:refuse", {"why": "it is late"})

    assert ("tool_execution_error", "tool-failed") == (reason, code)
    assert message.endswith("failed: it is late")
    assert "tool-failed" == refused(servers, f"{name}:add", {"a": "one"})[1]
    assert Done({"result": 2}) == called(servers, f"{name}:add", {"a": 1, "b": 1})


def test_a_tool_that_is_not_there_is_unknown(servers):
    """With the nearest one that is."""
    error = error_of(called(servers, "pipe:ad", {}))

    assert "unknown-tool" == error["reason"]
    assert "did you mean `pipe:add`?" in error["hint"]
    assert "unknown-tool" == error_of(called(servers, "other:add", {}))["reason"]
    with pytest.raises(Refusal) as raised:
        servers.describe(["net:greed"])
    assert "unknown-tool" == raised.value.error.fields["reason"]


def test_branches_ask_at_the_same_time(servers, tmp_path):
    """Each call waits for its own answer."""
    slow = [perform("tool", "pipe:wait", {"seconds": 0.3, "mark": str(tmp_path / n)}) for n in "ab"]
    quick = perform("tool", "pipe:add", {"a": 1, "b": 2})
    done = drive(begun(par(*slow, quick)), table(servers=servers))

    assert ({"result": "done"}, {"result": "done"}, {"result": 3}) == done.value


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("name", ["pipe", "net"])
def test_a_call_that_is_cancelled_is_cancelled_there_too(servers, name, backend, tmp_path):
    """The server is told."""
    mark = tmp_path / "mark"
    program = begun(perform("tool", f"{name}:wait", {"seconds": 60, "mark": str(mark)}))

    async def main():
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: adrive(program, table(servers=servers)))
                while not mark.exists():
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()
            while mark.read_text() != "cancelled":
                await anyio.sleep(0.01)

    anyio.run(main, backend=backend)


def test_a_server_sees_as_little_as_a_script(servers, folder, monkeypatch):
    """The program's folder, a small environment, and what is said to be added to it."""
    seen = called(servers, "pipe:describe", {"path": "a"}).value

    assert os.path.realpath(folder) == os.path.realpath(seen["folder"])
    assert (
        {"COLOUR", "PATH"}
        <= {*seen["environment"]}
        <= {*("COLOUR", "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")}
    )


def test_a_server_that_dies_is_an_error_and_begins_anew(serving):
    """With its last words; the next call finds it well."""
    servers = serving({"pipe": piped()})
    error = error_of(called(servers, "pipe:die"))

    assert ("tool_execution_error", "mcp-failed") == (error["reason"], error["details"]["code"])
    assert "the MCP server `pipe` ended while `pipe:die` was at work" == error["message"]
    assert "no more" in error["details"]["said"]
    assert Done({"result": 2}) == called(servers, "pipe:add", {"a": 1, "b": 1})


def test_a_server_that_ended_between_two_calls_is_started_again(serving):
    """Nothing was sent to it, so nothing failed."""
    servers = serving({"odd": odd("retires")})

    assert Done("pong") == called(servers, "odd:ping")
    time.sleep(0.2)
    assert Done("pong") == called(servers, "odd:ping")


def test_a_call_in_whose_midst_a_server_died_is_repeated_if_the_server_says_it_may_be(
    serving, tmp_path
):
    """Once; any other may have been done, and its error says so."""
    mark, safe = tmp_path / "mark", tmp_path / "safe"
    given = {"odd": odd("stumbles", str(mark)), "safe": odd("stumbles safely", str(safe))}
    servers = serving(given)

    hint = error_of(called(servers, "odd:ping"))["hint"]
    assert "look whether it was done before you call it again" in hint
    assert Done("pong") == called(servers, "safe:ping")
    assert ("x", "xx") == (mark.read_text(), safe.read_text())


def test_a_call_has_its_time(serving, address, tmp_path):
    """Then it is an error, and cancelled."""
    servers = serving({"net": {"url": address, "timeout": 0.3}}, net=["127.0.0.1"])
    mark = tmp_path / "mark"
    reason, code, message = refused(servers, "net:wait", {"seconds": 60, "mark": str(mark)})

    assert ("tool_execution_error", "mcp-timeout") == (reason, code)
    assert "within 0.3 seconds" in message


def test_a_call_does_not_wait_longer_for_its_server(monkeypatch, serving):
    """Whoever begins has more patience: a server may take its time to be there once."""
    monkeypatch.setattr(stdio, "PATIENCE", 0.3)
    reason, code, message = refused(serving({"odd": {**odd("mute"), "timeout": 0.3}}), "odd:ping")

    assert ("tool_execution_error", "mcp-timeout") == (reason, code)
    assert message.endswith("within 0.3 seconds: the MCP server `odd` is not there yet")


@pytest.mark.parametrize("name", ["pipe", "net"])
def test_what_a_server_says_is_bounded(servers, name, tmp_path):
    """One message of more than four million bytes is no answer; the next call is answered, and so
    is what the server was at meanwhile."""
    assert 3_000_000 == len(called(servers, f"{name}:flood", {"size": 3_000_000}).value)
    ends = []

    async def ask(tool, **inputs):
        program = begun(perform("tool", f"{name}:{tool}", inputs))
        ends.append(await adrive(program, table(servers=servers)))

    async def main():
        async with anyio.create_task_group() as group:
            mark = tmp_path / "mark"
            group.start_soon(lambda: ask("wait", seconds=1, mark=str(mark)))
            while not mark.exists():
                await anyio.sleep(0.01)
            group.start_soon(lambda: ask("flood", size=5_000_000))

    anyio.run(main)
    other, flood = sorted(ends, key=lambda end: not isinstance(end, Done))
    error = error_of(flood)
    assert ("tool_execution_error", "answer-too-large") == (
        error["reason"],
        error["details"]["code"],
    )
    assert f"`{name}:flood` failed: its answer is larger than 4,000,000 bytes" in error["message"]
    assert Done({"result": "done"}) == other
    assert Done({"result": 2}) == called(servers, f"{name}:add", {"a": 1, "b": 1})


# -- Resources, prompts, progress, headers


def test_resources_are_listed_and_read(servers):
    """By the protocol's own methods, which are called as tools are."""
    listed = called(servers, "net:resources/list").value
    assert ["file:///tea.txt", "file:///dot.png"] == [each["uri"] for each in listed]
    assert ("text/plain", "How tea is made.") == (listed[0]["mimeType"], listed[0]["description"])
    (template,) = called(servers, "net:resources/templates/list").value
    assert "cups://{number}" == template["uriTemplate"]

    assert Done("Boil water.") == called(servers, "pipe:resources/read", {"uri": "file:///tea.txt"})
    assert Done("cup 3") == called(servers, "json:resources/read", {"uri": "cups://3"})
    (image,) = called(servers, "net:resources/read", {"uri": "file:///dot.png"}).value
    assert ("image", PICTURE) == (image["type"], image["source"]["data"])
    assert "tool-failed" == refused(servers, "net:resources/read", {"uri": "file:///no.txt"})[1]


def test_prompts_are_messages(servers):
    (prompt,) = called(servers, "net:prompts/list").value
    assert ("brew", "leaves") == (prompt["name"], prompt["arguments"][0]["name"])

    asked = {"name": "brew", "arguments": {"leaves": "Assam"}}
    assert Done(({"role": "user", "content": "Brew Assam."},)) == called(
        servers, "net:prompts/get", asked
    )


@pytest.mark.parametrize(
    ("tool", "inputs", "words"),
    [
        ("resources/read", {}, "uri: Field required"),
        ("resources/read", {"uri": 3}, "uri: Input should be a valid string"),
        ("resources/list", {"path": "x"}, "there is no `path`"),
        ("prompts/get", {"name": "brew", "arguments": {"leaves": 3}}, "should be a valid string"),
    ],
)
def test_a_method_takes_its_inputs(servers, tool, inputs, words):
    reason, code, message = refused(servers, f"pipe:{tool}", inputs)

    assert ("input_validation_failure", "bad-tool-input") == (reason, code)
    assert words in message


def test_a_server_has_the_methods_that_it_says_it_has(serving, servers):
    """A model sees them with a schema as it sees tools."""
    described = servers.describe(["pipe:resources/read"])["pipe:resources/read"]
    assert ("uri",) == described["input_schema"]["required"]
    error = error_of(called(serving({"odd": odd("good")}), "odd:resources/read", {"uri": "x"}))
    assert ("unknown-tool", "the server has ping") == (error["reason"], error["hint"])


def test_a_list_has_an_end(serving):
    """Of a server without tools, whose pages have none."""
    listed = called(serving({"odd": odd("papers")}), "odd:resources/list").value
    error = error_of(called(serving({"odd": odd("books")}), "odd:resources/list"))

    assert ("a:0", "a:999", 1000) == (listed[0]["uri"], listed[-1]["uri"], len(listed))
    assert "answer-too-large" == error["details"]["code"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("name", ["pipe", "net"])
def test_progress_of_a_tool_is_told(servers, name, backend, tmp_path, monkeypatch):
    """As the server reports it, while the tool is at work."""
    monkeypatch.setattr(connection, "OFTEN", 0)
    mark, events = tmp_path / "mark", []
    mark.write_text("")

    def hear(event):
        events.append(event)
        mark.write_text("x" * len(events))

    steps = [[1, 4, "water"], [2, 4, None], [5, 4, "tea"], [6, None, None], [7, 0, "cup"]]
    program = begun(perform("tool", f"{name}:report", {"steps": steps, "mark": str(mark)}))
    performers = table(servers=servers, on_event=hear)
    done = anyio.run(lambda: adrive(program, performers), backend=backend)

    assert Done({"result": "reported"}) == done
    assert [
        *(("water", 0.25), ("2 of 4", 0.5), ("tea", 1.0), ("6", None), ("cup", None)),
    ] == [(each.text, each.fraction) for each in events]
    assert {"tool"} == {each.operation for each in events}


def test_progress_is_told_ten_times_a_second_at_most(servers):
    """However often a server reports it."""
    events = []
    steps = [[at, 300, None] for at in range(300)]
    program = begun(perform("tool", "pipe:report", {"steps": steps, "mark": ""}))
    began = time.monotonic()
    drive(program, table(servers=servers, on_event=events.append))

    assert 1 <= len(events) <= 2 + 10 * (time.monotonic() - began)


def test_headers_are_sent_with_every_request(servers):
    assert "blue" == called(servers, "json:hear").value["x-colour"]


# -- What a server should not do


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("huge", "mcp-failed", "sent a message of more than 4,000,000 bytes while `odd:ping`"),
        ("id last", "answer-too-large", "larger than 4,000,000 bytes"),
        ("id then version", "answer-too-large", "larger than 4,000,000 bytes"),
        ("endless", "mcp-failed", "sent a message of more than 100,000,000 bytes while"),
        (
            "other id",
            "mcp-failed",
            "a request that it was never sent, with the id 99 while",
        ),
        ("odd", "mcp-failed", "with no result: content: Input should be a valid list"),
        ("own code", "tool-failed", "boom"),
        ("own ping", "tool-failed", "boom"),
        ("no ping", "tool-failed", "Connection closed"),
        ("bare", "mcp-failed", "with no result: its answer is none of the protocol"),
        ("nonsense", "tool-failed", "it broke"),
        ("long", "mcp-failed", "with no result: its answer is none of the protocol"),
        ("deep", "mcp-failed", "with no result: its answer is none of the protocol"),
    ],
)
def test_a_call_that_goes_wrong_is_an_error(serving, kind, code, words):
    """Whatever a server sends."""
    reason, found, message = refused(serving({"odd": odd(kind)}), "odd:ping")

    assert ("tool_execution_error", code) == (reason, found)
    assert words in message


def test_inputs_are_a_table(servers):
    """Also where a program, and not a model, calls."""
    reason, code, message = refused(servers, "pipe:add", (1, 2))

    assert ("input_validation_failure", "bad-tool-input") == (reason, code)
    assert "takes a table" in message


def deep(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"a": float("inf"), "b": 1}, "not-json"),
        ({"a": 1, "b": {"c": (float("nan"),)}}, "not-json"),
        ({"a": 1, "b": deep(3_000)}, "bad-tool-input"),
    ],
)
def test_inputs_are_what_json_can_say(servers, inputs, code):
    """Nothing is put in the place of a number that it has not."""
    reason, found, _ = refused(servers, "pipe:add", inputs)

    assert ("input_validation_failure", code) == (reason, found)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (odd("many"), "more than 1000 tools"),
        (odd("verbose"), "`odd` has too long a description of its tool `ping`"),
        (odd("schema"), "cannot be used: tools.0.inputSchema: Input should be a valid dictionary"),
        (odd("mute"), "is not there after 0.5 seconds"),
        ({"command": PYTHON, "args": ["-c", "print('hello')"]}, "cannot be used"),
        ({"command": PYTHON, "args": ["-c", "while True: print('y' * 999)"]}, "is not there after"),
        ({"url": "http://127.0.0.1:9/mcp"}, "cannot be used"),
    ],
)
def test_what_is_no_server_is_an_error(serving, monkeypatch, given, words):
    """Before the program begins, and at a call."""
    if "is not there" in words:
        monkeypatch.setattr(connection, "START", 0.5)
        monkeypatch.setattr(stdio, "PATIENCE", 0.3)
    servers = serving({"odd": given}, net=["127.0.0.1"])
    with pytest.raises(Refusal) as raised:
        servers.describe(["odd:ping"])

    error = raised.value.error.fields
    assert ("connection_error", "mcp-failed") == (error["reason"], error["details"]["code"])
    assert words in error["message"]
    assert "mcp-failed" == refused(servers, "odd:ping")[1]


@pytest.mark.parametrize(
    ("given", "allowed", "reason", "hint"),
    [
        (odd("good"), {"run": []}, "run-denied", f"--allow-run {PYTHON}"),
        (odd("good"), {"run": ["python3"]}, "run-denied", f"--allow-run {PYTHON}"),
        ({"command": "no-such-server"}, {"run": ["no-such-server"]}, "script-not-found", "PATH"),
        ("http://Tools.example/mcp", {}, "net-denied", "--allow-net tools.example"),
        ("http://tools.example:81/mcp", {"net": ["tools.example:80"]}, "net-denied", "--allow-net"),
        ("http://tools.example/mcp", {"net": ["example"]}, "net-denied", "--allow-net"),
    ],
)
def test_naming_a_server_grants_nothing(serving, given, allowed, reason, hint):
    """Neither to start it nor to reach it."""
    servers = serving({"odd": given}, **allowed)
    with pytest.raises(Refusal) as raised:
        servers.describe(["odd:ping"])

    assert reason == raised.value.error.fields["reason"]
    assert hint in raised.value.error.fields["hint"]
    assert reason == error_of(called(servers, "odd:ping"))["reason"]


def test_a_host_may_be_permitted_with_its_port(serving, address):
    """And then with no other."""
    port = re.search(r":(\d+)/", address)[1]

    assert serving({"net": address}, net=[f"127.0.0.1:{port}"]).describe(["net:add"])


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("system", "x", "`system` is taken"),
        ("a:b", "x", "letters"),
        ("", "x", "letters"),
        ("a", 3, "a command line, an address or a table"),
        ("a", "", "either"),
        ("a", "x 'y", "never closed"),
        ("a", {}, "either"),
        ("a", {"command": "x", "url": "http://h"}, "either"),
        ("a", {"command": ["x"]}, "executable"),
        ("a", {"command": "x", "args": "y"}, "list of texts"),
        ("a", {"command": "x", "args": [1]}, "list of texts"),
        ("a", {"command": "x", "env": {"A": 1}}, "table of texts"),
        ("a", {"command": "x", "env": {"LD_PRELOAD": "evil.so"}}, "what is run"),
        ("a", {"command": "x", "env": {"PATH": "."}}, "what is run"),
        ("a", {"command": "x", "timeout": 0}, "seconds"),
        ("a", {"command": "x", "timeout": True}, "seconds"),
        ("a", {"command": "x", "replay": "safe"}, "`replay` is a table of texts"),
        ("a", {"command": "x", "replay": {"t": "twice"}}, '`replay` of `t` is "safe" or "ask"'),
        ("a", {"command": "x", "colour": "red"}, "no `colour`"),
        ("a", {"url": "ftp://h/x"}, "address"),
        ("a", {"url": "http://"}, "address"),
        ("a", {"url": "http://h:99999/"}, "address"),
        ("a", {"url": 3}, "address"),
        ("a", {"command": "x", "headers": {"a": "b"}}, "`headers` are sent to a `url`"),
        ("a", {"url": "http://h", "headers": ["a"]}, "`headers` is a table of texts"),
        ("a", {"url": "http://h", "headers": {"a": 1}}, "`headers` is a table of texts"),
        ("a", {"url": "http://h", "headers": {"a b": "c"}}, "`a b` is no name of a header"),
        ("a", {"url": "http://h", "headers": {"a": "b\r\nc: d"}}, "`a` has a line break"),
        ("a", {"url": "http://h", "headers": {"a": "secret:LINES"}}, "`LINES` has a line break"),
        ("a", {"url": "http://h", "headers": {"a": "Bearer secret:"}}, "behind `secret:NAME`"),
        ("a", {"url": "http://h", "headers": {"a": "b c secret:X"}}, "before or behind"),
        ("a", {"url": "http://h", "headers": {"a": "Bearer secret:GONE"}}, "has no `GONE`"),
        ("a", {"url": "http://h", "headers": {"a": "secret:SHORT"}}, "`SHORT` is shorter than 8"),
    ],
)
def test_what_names_no_server_is_refused(name, given, words, monkeypatch):
    """Where it stands, before anything is started."""
    monkeypatch.setenv("LINES", "k3y-of-lines\nand more")
    monkeypatch.setenv("SHORT", "k3y")
    with pytest.raises(sexplang.Diagnostics) as raised:
        servers_of({name: given})

    (found,) = raised.value.diagnostics
    assert "bad-server" == found.code
    assert words in found.title
    assert "GONE" not in found.title or "type: export GONE=VALUE" in found.hint


def test_without_the_library_it_is_said_how_to_get_it(serving, monkeypatch):
    """It is an extra, and loaded by nobody who does not use it."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "sexplang.runtime.mcp.connection")
    error = error_of(called(serving({"odd": odd("good")}), "odd:ping"))

    assert ("not-available", "type: pip install 'sexplang[mcp]'") == (
        error["reason"],
        error["hint"],
    )
