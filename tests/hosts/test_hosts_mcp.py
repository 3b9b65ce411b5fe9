"""Programs and conversations with tools of MCP servers, from Python and from the command."""

import os
import shlex
import signal
import subprocess
import sys
import time

import anyio
import pytest
from support import odd_mcp_server
from support.command import SEXPLANG, served, sexplang
from support.markdown import ROOT
from support.odd_mcp_http import OddServer
from support.processes import list_process_files

import sexplang as package
from sexplang import Permissions
from sexplang.hosts.settings.mcp_options import in_json

PYTHON = sys.executable
ODD = f"odd={PYTHON} {odd_mcp_server.__file__}"
ALLOWED = Permissions(run=[PYTHON])

CALCULATE = """
(defatom calculate (params question) (allowed_tools demo:add lookup)
  (instructions "{{question}}"))
(str (calculate "What is 1 + 2?"))
"""


def demo():
    """A server, as Python names one."""
    command, *words = served()
    return {"demo": {"command": command, "args": words}}


def named():
    """The same, as the command does."""
    return f"demo={shlex.join(served())}"


def lookup(word: str) -> str:
    """Looks a word up."""
    return word


def model(seen, *uses):
    """A model that makes the calls, and then says what it was told last."""

    def reply(payload):
        seen.append(payload)
        done = sum(message["role"] == "assistant" for message in payload["messages"])
        if done < len(uses):
            return {"tool_use": uses[done]}
        (told,) = payload["messages"][-1]["content"]
        return f"{told.get('is_error', False)} {told['content']}"

    return reply


@pytest.mark.parametrize("way", ["run", "asyncio", "trio"])
def test_a_conversation_uses_tools_of_a_server(way):
    """The model sees their schemas under names that it can take; the answer goes back to it."""
    seen = []
    given = {
        "model": model(seen, {"name": "demo_add", "input": {"a": 1, "b": 2}}),
        "mcp": demo(),
        "tools": [lookup],
        "permissions": ALLOWED,
    }
    if way == "run":
        said = package.run(CALCULATE, **given)
    else:
        said = anyio.run(lambda: package.arun(CALCULATE, **given), backend=way)

    assert 'False {"result": 3}' == said
    add, other = seen[0]["tools"]
    assert ("demo_add", "Adds two whole numbers.") == (add["name"], add["description"])
    assert ["a", "b"] == add["input_schema"]["required"]
    assert "lookup" == other["name"]


def test_what_a_server_refuses_the_model_is_told():
    """As an error of the tool, not of the task."""
    seen = []
    said = package.run(
        CALCULATE,
        model=model(seen, {"name": "demo_add", "input": {"a": "one"}}),
        mcp=demo(),
        permissions=ALLOWED,
    )

    assert said.startswith("True ") and "tool_execution_error" in said


def test_a_server_that_a_task_needs_is_there_or_the_program_does_not_begin():
    """Denied, or without such a tool: said before anything has happened."""
    happened = []
    program = f'(note "begun") {CALCULATE.replace("demo:add", "demo:ad")}'
    for permissions, reason in ((None, "run-denied"), (ALLOWED, "unknown-tool")):
        with pytest.raises(package.Failed) as raised:
            package.run(
                program,
                effects={"note": happened.append},
                mcp=demo(),
                permissions=permissions,
                model=["x"],
            )
        assert reason == raised.value.reason
    assert [] == happened


def test_a_task_with_a_tool_of_a_server_that_nobody_named_cannot_begin():
    """A model would see a name and nothing else; other tasks go on, and so does a program that
    answers `tool` itself, or whose host does."""
    caught = f'(defatom other (instructions "Go.")) {CALCULATE}'
    program = caught.replace("(str (calc", "(str (other)) (str (calc")
    with pytest.raises(package.Failed) as raised:
        package.run(program, model=["gone", "x"], tools=[lookup])
    assert "unknown-tool" == raised.value.reason
    assert "no MCP server `demo` is named" in str(raised.value)

    handled = '(handle (str (calculate "1?")) ((tool name inputs) resume (resume "3")))'
    program = CALCULATE.replace('(str (calculate "What is 1 + 2?"))', handled)
    for source, effects in ((program, {}), (CALCULATE, {"tool": lambda name, inputs: "3"})):
        seen = []
        asked = model(seen, {"name": "demo_add", "input": {"a": 1}})
        assert "False 3" == package.run(source, model=asked, effects=effects)


def test_names_of_tools_are_unique():
    """A function cannot be called like a tool of a server, nor like one of the language."""
    for tools in ({"demo:add": lookup}, {"read_file": lookup}, {"system:run_script": lookup}):
        with pytest.raises(package.Diagnostics) as raised:
            package.run("1", tools=tools, mcp=demo())
        assert "bad-function" == raised.value.diagnostics[0].code


def test_a_tool_of_a_server_is_dispatched_by_its_name():
    """Like a function of Python."""
    given = {"mcp": demo(), "permissions": ALLOWED}
    result = package.dispatch("demo:add", {"a": 1, "b": 2}, **given)

    assert ("COMPLETE", "direct_tool") == (result.status, result.notes["execution_path"])
    assert "3" in result.content


# -- The command


@pytest.fixture
def project(tmp_path):
    """A program in a project that names a server."""
    (tmp_path / "sexplang.toml").write_text(
        f'[mcp.demo]\ncommand = "{PYTHON}"\nargs = {served()[1:]}\n'
    )
    (tmp_path / "programs").mkdir()
    file = tmp_path / "programs" / "ask.sexp"
    file.write_text('(get (tool "demo:add" {a: 1 b: 2}) "result")')
    return file


def test_the_configuration_names_servers_and_grants_nothing(project):
    """It is looked for upward from the program."""
    denied = sexplang("run", project)
    done = sexplang("run", project, "--allow-run", PYTHON)

    assert (1, "") == (denied.returncode, denied.stdout)
    assert f"allow it with --allow-run {PYTHON}" in denied.stderr
    assert ("3\n", "", 0) == (done.stdout, done.stderr, done.returncode)


def test_the_command_names_servers_too():
    """And wins."""
    program = '(tool "odd:ping" {})'
    done = sexplang("run", "-e", program, "--mcp", f"{ODD} good", "--allow-run", PYTHON)

    assert ("pong\n", "", 0) == (done.stdout, done.stderr, done.returncode)


def test_servers_that_nobody_asks_are_not_started(project):
    """Nor is the library loaded."""
    project.write_text("(print 1)")
    watch = (
        "import sys; from sexplang.hosts import main; status = main(sys.argv[1:]);"
        "print([name for name in sys.modules if name.split('.')[0] == 'mcp'])"
    )
    done = subprocess.run(
        [PYTHON, "-c", watch, "run", str(project)], capture_output=True, text=True, cwd=ROOT
    )

    assert "1\n[]\n" == done.stdout, done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[mcp.demo", "sexplang.toml cannot be used"),
        ("mcp = 3", "`mcp` is no table"),
        ("[mcp.demo]\ncolour = 1", "there is no `colour`"),
        ("[mcp]\ndemo = 'unclosed \" quote'", "never closed"),
        ("\xff", "cannot be used"),
    ],
)
def test_a_configuration_that_is_none_is_misuse(project, text, words):
    """Nothing runs."""
    file = project.parent.parent / "sexplang.toml"
    file.write_bytes(text.encode("latin-1"))
    done = sexplang("run", project)

    assert (2, "") == (done.returncode, done.stdout)
    assert words in done.stderr and "Traceback" not in done.stderr


def test_the_person_has_a_configuration_as_well(project, tmp_path):
    """The project's wins."""
    home = tmp_path / "home" / "sexplang"
    home.mkdir(parents=True)
    (home / "sexplang.toml").write_text('[mcp.demo]\ncommand = "nobody"\n[mcp.own]\nurl = "x"')
    done = sexplang("run", project, XDG_CONFIG_HOME=str(home.parent))

    assert 2 == done.returncode
    assert "the MCP server `own` cannot be used" in done.stderr


@pytest.mark.parametrize(
    "given, hint",
    [
        ("demo", "write --mcp demo=COMMAND --allow-run COMMAND, or --mcp demo=http://"),
        ("=x y", "write --mcp files='x y' --allow-run x"),
        ("=http://h:1/mcp", "write --mcp files=http://h:1/mcp --allow-net h:1"),
        ("demo= ", "write --mcp demo=COMMAND --allow-run COMMAND, or --mcp demo=http://"),
        ("npx x --k=v", "write --mcp files='npx x --k=v' --allow-run npx"),
        ("system=x", "call it `files`, say"),
        ("demo='x", "close it, or take it away"),
        ("demo=http://", "write it like http://127.0.0.1:8000/mcp"),
        ("demo={url = 3", 'write --mcp \'docs={url = "http://HOST:PORT/mcp", headers = {NAME'),
        ('demo={url = "http://h", headers = {A = "secret:NO_SUCH"}}', "type: export NO_SUCH=VALUE"),
    ],
)
def test_an_option_that_names_no_server_is_misuse(given, hint):
    """With how to write it, and with what permits it."""
    done = sexplang("run", "-e", "1", "--mcp", given)

    assert 2 == done.returncode
    assert "bad-server" in done.stderr
    assert f"= hint: {hint}" in done.stderr


def test_a_table_names_a_server_with_headers(tmp_path):
    """As in the configuration, and in place of a project's, which sends no secret."""
    with OddServer() as server:
        table = f'{{url = "{server.url}", headers = {{Authorization = "Bearer secret:TEA"}}}}'
        (tmp_path / "sexplang.toml").write_text(f"[mcp]\nodd = {table}\n")
        words = ["run", "-e", '(tool "odd:ping" {})', "--allow-net", "127.0.0.1"]
        refused = sexplang(*words, cwd=tmp_path, TEA="odd-4c1d9e77")
        typed = shlex.split(refused.stderr.partition("hint: type: ")[2].partition(", or move")[0])
        done = sexplang(*words[:3], *typed, cwd=tmp_path, TEA="odd-4c1d9e77")

    assert (2, 0) == (refused.returncode, done.returncode), done.stderr
    assert "only a person gives a secret to a server" in refused.stderr
    assert "pong\n" == done.stdout
    assert {"Bearer odd-4c1d9e77"} == {each["authorization"] for each in server.headers}


def test_a_server_that_is_named_twice_is_misuse():
    """Nobody knows which is meant; the configuration's may be named again."""
    done = sexplang("run", "-e", "1", "--mcp", "demo=true", "--mcp", "demo=cat")

    assert 2 == done.returncode
    assert "the MCP server `demo` is named twice" in done.stderr


@pytest.mark.parametrize("words", [["a=1", "b=2"], ["a:=1", "b=2"]])
def test_inputs_are_of_the_types_of_the_tool(words):
    """A server says which of them take no text; its permission is wanted before."""
    server = named()
    done = sexplang("task", "demo:add", *words, "--mcp", server, "--allow-run", PYTHON)
    refused = sexplang("task", "demo:add", *words, "--mcp", server)
    told = sexplang("task", "demo:greet", "name=3", "--mcp", server, "--allow-run", PYTHON)

    assert ("{result: 3}\n", 0) == (done.stdout, done.returncode), done.stderr
    assert (1, True) == (refused.returncode, "may not be run here" in refused.stderr)
    assert "Hello, 3.\n" == told.stdout


def test_an_input_that_is_no_json_where_no_text_is_taken_is_misuse():
    """Before the tool is called; a preview says what would be sent."""
    words = ["--mcp", named(), "--allow-run", PYTHON]
    done = sexplang("task", "demo:add", "a=x", "b=2", *words)
    shown = sexplang("task", "demo:add", "a=1", "b=2", "--preview", *words)

    assert (2, "") == (done.returncode, done.stdout)
    assert "the input `a` takes JSON, not `x`" in done.stderr
    assert '(tool "demo:add" {a: 1 b: 2})' in shown.stdout


@pytest.mark.parametrize(
    ("said", "takes"),
    [
        ({}, True),
        (None, True),
        ({"type": "string"}, True),
        ({"type": ["string", "null"]}, True),
        ({"type": ["integer", "null"]}, False),
        ({"type": "array"}, False),
        ({"enum": ["a", 1]}, True),
        ({"enum": [1, 2]}, False),
        ({"const": "a"}, True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, False),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, True),
        ({"$ref": "#/$defs/Cup"}, False),
        ({"$ref": "#/$defs/Loop"}, True),
        ({"$ref": "#/$defs/None"}, True),
        ({"anyOf": "x"}, True),
        ({"enum": 3}, True),
    ],
)
def test_which_schemas_take_a_text(said, takes):
    """As far as they say; what says nothing that can be understood takes any."""
    defined = {"Cup": {"type": "object"}, "Loop": {"$ref": "#/$defs/Loop"}}
    schema = {"properties": {"x": said}, "$defs": defined}

    class Known:
        def describe(self, names):
            return {"m:t": {"input_schema": schema}}

    assert takes is ("x" not in in_json(Known(), "m:t"))


# -- Nothing is left


def is_alive(mark):
    for place in list_process_files("cmdline"):
        try:
            if mark.encode() in place.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGKILL])
def test_a_server_ends_with_the_run(number):
    """Also one that does not hear, and has left somebody behind: at the run's own end, by Ctrl-C,
    by kill -9."""
    mark = f"7{os.getpid()}.{number or 0}"
    program = f'(print (tool "odd:ping" {{}})) {"(sleep 60)" if number else "1"}'
    with subprocess.Popen(
        [*SEXPLANG, "run", "-e", program, "--mcp", f"{ODD} deaf {mark}", "--allow-run", PYTHON],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert "pong\n" == process.stdout.readline(), process.stderr.read()
        assert number is None or is_alive(mark)
        if number is not None:
            process.send_signal(number)
        process.communicate(timeout=60)

    until(lambda: not is_alive(mark))
    assert {None: 0, 2: 130, 9: -9}[number] == process.returncode


def test_help_describes_a_tool_of_a_server(tmp_path):
    """As it does a task; a tool that the server does not have is said."""
    way = ["--help", "--mcp", named(), "--allow-run", PYTHON]
    done = sexplang("task", "demo:add", *way, cwd=tmp_path)
    none = sexplang("task", "demo:nosuch", *way, cwd=tmp_path)

    assert "demo:add: Adds two whole numbers.\n  a=<integer>" in done.stdout
    assert ("", 0) == (done.stderr, done.returncode)
    assert "there is no tool `demo:nosuch`" in none.stderr


def test_a_tool_that_is_run_by_its_name_starts_its_server_once(tmp_path):
    """Who asked it what its inputs are keeps it for the call."""
    starting = tmp_path / "server.py"
    starting.write_text(
        f"open({str(tmp_path / 'starts')!r}, 'a').write('x')\n"
        "import runpy\n"
        f"runpy.run_path({served()[-1]!r}, run_name='__main__')\n"
    )
    named = ("--mcp", f"demo={shlex.join(served(starting))}", "--allow-run", PYTHON)
    done = sexplang("task", "demo:add", "a=1", "b=2", *named, cwd=tmp_path)

    assert (0, "{result: 3}\n") == (done.returncode, done.stdout), done.stderr
    assert "x" == (tmp_path / "starts").read_text()

    wrong = sexplang("task", "demo:add", "a=[", *named, cwd=tmp_path)
    assert (2, "xx") == (wrong.returncode, (tmp_path / "starts").read_text())
