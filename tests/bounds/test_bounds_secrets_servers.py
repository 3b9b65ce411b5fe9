"""A credential that a person gives to a server reaches that server, and nothing else."""

import html
import json
import sys

import pytest
from support.command import sexplang as command
from support.odd_mcp_http import OddServer, say

import sexplang

SECRETS = {f"CANARY{at}": f"c4nary-{at}-{at * 7919:x}{end}" for at, end in enumerate("abc+/=")}
"""By names from which nobody would guess that their values are credentials."""

HEADERS = {
    "Authorization": "Bearer secret:CANARY0",
    "X-Api-Key": "secret:CANARY1",
    "X-Colour": "secret:CANARY2",
}
GIVEN = {name: f"secret:{name}" for name in ("CANARY3", "CANARY4", "CANARY5")}

TELLING = """
import os, sys, anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

SECRETS = [os.environ[f"CANARY{at}"] for at in (3, 4, 5)]
TEXT = " ".join(SECRETS)
server = MCPServer("telling", log_level="CRITICAL")

@server.tool(structured_output=False, description=TEXT)
async def text(context: Context) -> str:
    await context.report_progress(1, 2, TEXT)
    await anyio.sleep(0.05)
    return TEXT

@server.tool()
def data() -> dict[str, list[str]]:
    return {each: [each] for each in SECRETS}

@server.tool()
def broken() -> str:
    raise ValueError("x" * 470 + TEXT)

@server.tool()
def die() -> str:
    print(TEXT + "x" * 1990, file=sys.stderr, flush=True)  # what is told begins in a credential
    os._exit(3)

@server.resource("file:///key.txt")
def key() -> str:
    return TEXT

server.run("stdio")
"""

PROGRAM = """
(define-input end)
(defatom say (params) (instructions "Say it.") (allowed_tools pipe:text))
(define (failure f) (try (f) (catch (e) e)))
(define texts
  [(tool "pipe:text" {})
   (tool "pipe:data" {})
   (tool "pipe:resources/read" {uri: "file:///key.txt"})
   (failure (lambda () (tool "pipe:broken" {})))
   (failure (lambda () (tool "pipe:die" {})))
   (tool "net:ping" {how: "text"})
   (tool "net:ping" {how: "data"})
   (failure (lambda () (tool "net:ping" {how: "broken"})))
   (failure (lambda () (tool "net:ping" {how: "refused"})))
   (say)])
(for-each print texts)
(log "info" texts)
(progress (str texts) 0.5)
(write-file "out.txt" (str texts))
(if (equal? end "error") (error (str texts)) texts)
"""

REPLIES = [{"tool_use": {"name": "pipe_text", "input": {}}}, "done"]


class TellingServer(OddServer):
    """It answers with the headers that it was sent."""

    def call(self, at, inputs, made):
        text = "\n".join(self.headers[-1].values())
        if inputs["how"] == "text":
            say(at, 200, {**made, "result": {"content": [{"type": "text", "text": text}]}})
        elif inputs["how"] == "data":
            result = {"content": [], "structuredContent": self.headers[-1]}
            say(at, 200, {**made, "result": result})
        elif inputs["how"] == "broken":
            say(at, 200, {**made, "error": {"code": -32000, "message": text * 9, "data": text}})
        else:
            say(at, 502, text, "text/plain")


def test_headers_stand_in_no_value_event_recording_or_error(tmp_path, monkeypatch):
    """Their server is sent them, and tells them in its answers."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    events = []
    with TellingServer() as server:
        given = {
            "mcp": {"net": {"url": server.url, "headers": HEADERS}},
            "permissions": sexplang.Permissions(net=["127.0.0.1"]),
            "on_event": events.append,
            "event_content": True,
        }
        record = tmp_path / "run.jsonl"
        data = sexplang.run('(tool "net:ping" {how: "data"})', record=record, **given)
        with pytest.raises(sexplang.Failed) as raised:
            sexplang.run('(tool "net:ping" {how: "broken"})', **given)
    texts = [str(data), record.read_text(), str(raised.value), str(raised.value.details)]
    texts += [f"{each!r} {vars_of(each)}" for each in events]

    assert (SECRETS["CANARY1"], SECRETS["CANARY2"]) == (
        server.headers[-1]["x-api-key"],
        server.headers[-1]["x-colour"],
    )
    assert ("Bearer [redacted]", "[redacted]") == (data["authorization"], data["x-colour"])
    assert [] == [text for text in texts for value in SECRETS.values() if value[:-1] in text]


@pytest.mark.long
def test_what_a_server_is_given_stands_in_no_output(tmp_path, monkeypatch):
    """Six credentials, three in headers and three in variables, told by the servers in nine ways.
    Looked at are both outputs of a run that ends well and of one that fails, the JSON of both, the
    recording, spans, both reports, what a file got, an index of all that, and events in Python."""
    outputs = {}
    (tmp_path / "telling.py").write_text(TELLING)
    (tmp_path / "p.sexp").write_text(PROGRAM)
    (tmp_path / "replies.json").write_text(json.dumps(REPLIES))
    own = tmp_path / "own" / "sexplang"
    own.mkdir(parents=True)
    with TellingServer() as server:
        pipe = {"command": sys.executable, "args": ["telling.py"], "env": GIVEN}
        net = {"url": server.url, "headers": HEADERS}
        (own / "sexplang.toml").write_text(
            f"[mcp.pipe]\ncommand = {json.dumps(sys.executable)}\nargs = ['telling.py']\n"
            f"[mcp.pipe.env]\n{toml(GIVEN)}"
        )
        words = ["run", "p.sexp", "--model", "scripted:replies.json", "--allow-write", "."]
        words += ["--mcp", f"net={{url = '{server.url}', headers = {{{toml(HEADERS, ', ')}}}}}"]
        words += ["--allow-run", sys.executable, "--allow-net", "127.0.0.1"]
        environment = {
            **SECRETS,
            "XDG_CONFIG_HOME": str(own.parent),
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        }
        for end in ("value", "error"):
            more = ["--record", f"{end}.jsonl", "--trace", f"{end}.spans", f"end={end}"]
            for how, flags in (("plain", more), ("json", [f"end={end}", "--json"])):
                done = command(*words, *flags, cwd=tmp_path, **environment)
                assert (end == "error") == done.returncode, done.stderr[-800:]
                outputs |= {f"{end} {how} out": done.stdout, f"{end} {how} err": done.stderr}
            for flags, name in (([], f"{end}.html"), (["--json"], f"{end}.report")):
                told = command(
                    *("runs", "report", f"{end}.jsonl", *flags, "-o", name), cwd=tmp_path
                )
                assert 0 == told.returncode, told.stderr
        for name in (*SECRETS, "XDG_CONFIG_HOME"):
            monkeypatch.setenv(name, environment[name])
        monkeypatch.chdir(tmp_path)
        events = []
        with pytest.raises(sexplang.Failed) as raised:
            sexplang.run(
                PROGRAM,
                inputs={"end": "error"},
                mcp={"pipe": pipe, "net": net},
                model=REPLIES,
                on_event=events.append,
                event_content=True,
                permissions=sexplang.Permissions(
                    run=[sys.executable], net=["127.0.0.1"], write=["."]
                ),
            )
    outputs["events"] = "\n".join([f"{each!r} {vars_of(each)}" for each in events])
    outputs["raised"] = f"{raised.value} {raised.value.details} {raised.value.trail}"
    for name in SECRETS:
        monkeypatch.delenv(name)
    (tmp_path / "telling.py").unlink()
    (tmp_path / "own" / "sexplang" / "sexplang.toml").unlink()
    assert 0 == command("index", ".", "--index", "notes.db", cwd=tmp_path).returncode
    for each in tmp_path.iterdir():
        if each.is_file():
            outputs[each.name] = each.read_bytes().decode("utf-8", "replace")

    assert ["Bearer " + SECRETS["CANARY0"]] == [*{each["authorization"] for each in server.headers}]
    assert {"value.jsonl", "value.spans", "value.html", "error.report", "out.txt", "notes.db"} <= {
        *outputs
    }
    assert "tool" in outputs["events"] and "Progressed" in outputs["events"]
    assert 10 < outputs["out.txt"].count("[redacted]")
    hits = [
        (name, secret)
        for name, output in outputs.items()
        for secret, value in SECRETS.items()
        if value[3:-1] in html.unescape(output)  # a text may be cut
    ]
    assert [] == hits


def toml(table, between="\n"):
    return between.join(
        [f"{json.dumps(name)} = {json.dumps(text)}" for name, text in table.items()]
    )


def vars_of(event):
    """All that an event says of itself and of its request."""
    return [getattr(event, name) for name in dir(event) if not name.startswith("__")]
