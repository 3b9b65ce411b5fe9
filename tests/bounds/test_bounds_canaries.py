"""Canaries: credentials that come in from everywhere, and everything that a kept run leaves."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import suppress

import pytest
from support.collector import Collector
from support.command import SEXPLANG
from support.command import sexplang as command
from support.markdown import ROOT
from support.messages_server import MessagesServer

from sexplang.guards.secrets import MARK
from sexplang.runtime.journal.compression import decompress

CANARIES = {
    "ANTHROPIC_API_KEY": "sk-ant-api03-wren4421-wren5532",
    "SHOP_TOKEN": 'heron7f3"heron9c\\heron8d41',
    "PGPASSWORD": "plover5e1→plover0c77",
    "address": "curlew9b2-curlew31aa",
}
"""In the environment, in the person's own configuration, in the address of a model."""

BIRDS = ("wren", "heron", "plover", "curlew")
"""What stands in a canary and nowhere else."""

PROGRAM = """
(define-input given)
(define-input text)
(define-input end)
(defatom say (params n) (instructions "Say {{n}}. {{n}}") (system "Be brief."))
(define (count n) (if (= n 0) 0 (count (- n 1))))
(define texts
  [given text
   (say given)
   (read-file "key.txt")
   (run-script "cat" ["key.txt"])
   (run-script "sh" ["-c" "cat key.txt >&2; exit 3"])
   (try (say text) (catch (e) e))])
(define work (count 400000))
(for-each print texts)
(log "warning" texts)
(progress (str texts) 0.5)
(write-file "out" (str texts))
(run-script "sh" ["-c" "cp -r store copy"])
(run-script "sh" ["-c" "test -e again || { touch again; sleep 30; }"])
(if (equal? end "error") (error (str texts) {details: {texts: texts}}) texts)
"""


class Place:
    """A folder in which a run is kept, with what knows the canaries."""

    def __init__(self, folder, address):
        self.folder = folder
        own = folder / "own" / "sexplang"
        own.mkdir(parents=True)
        (own / "sexplang.toml").write_text('[secrets]\nnames = ["PGPASSWORD"]\n')
        (folder / "store").mkdir()
        (folder / "p.sexp").write_text(PROGRAM)
        lines = [line for each in CANARIES.values() for line in (each, json.dumps(each))]
        self.text = "\n".join(lines)
        (folder / "key.txt").write_text(self.text)
        user = f"://me:{CANARIES['address']}@"
        self.model = f"{address.replace('://', user)}/#m"
        self.environment = {name: CANARIES[name] for name in CANARIES if name != "address"} | {
            "XDG_CONFIG_HOME": str(folder / "own"),
            "SEXPLANG_STORE": str(folder / "store" / "runs.db"),
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        }
        self.outputs = {}

    def run(self, name, *words, status=0):
        """Run a command; what it says is an output."""
        done = command(*words, cwd=self.folder, **self.environment)
        self.outputs[f"{name}: stdout"], self.outputs[f"{name}: stderr"] = done.stdout, done.stderr
        assert done.returncode == status, (name, done.returncode, done.stderr[-900:])
        return done

    def kill(self, name, *words):
        """Run a command and kill it in the midst of its last script; what it says is an output."""
        env = os.environ | {"PYTHONPATH": str(ROOT)} | self.environment
        given = {"cwd": self.folder, "env": env, "text": True}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([*SEXPLANG, *words], **given, **pipes) as process:
            until = time.monotonic() + 40
            while not (self.folder / "again").exists() and time.monotonic() < until:
                time.sleep(0.02)
            process.kill()
            said = process.communicate()
        self.outputs[f"{name}: stdout"], self.outputs[f"{name}: stderr"] = said
        assert process.returncode == -signal.SIGKILL, said[1][-900:]

    def look_at_files(self):
        """Add every file of the folder but those that were given, and each cell of a store."""
        given = (".sexp", ".txt", ".toml")
        files = [file for file in self.folder.rglob("*") if file.is_file()]
        for file in [file for file in files if file.suffix not in given]:
            name = str(file.relative_to(self.folder))
            self.outputs[name] = file.read_bytes().decode("utf-8", "replace")
        for file in [file for file in files if file.suffix == ".db"]:  # its log goes by that
            self.outputs |= cells(file, str(file.relative_to(self.folder)))


def cells(file, name):
    """Return the cells of a store, those that are compressed as they were before."""
    found = {}
    with sqlite3.connect(file) as db:
        tables = "select name from sqlite_master where type = 'table'"
        for (table,) in db.execute(tables).fetchall():
            for at, row in enumerate(db.execute(f"select * from {table}").fetchall()):
                for column, cell in enumerate(row):
                    data = cell if isinstance(cell, bytes) else str(cell).encode()
                    with suppress(ValueError):
                        data = decompress(data)
                    found[f"{name} {table} {at}.{column}"] = data.decode("utf-8", "replace")
    return found


def hits(outputs):
    """Return where a bird is heard."""
    return [(bird, name) for name, output in outputs.items() for bird in BIRDS if bird in output]


@pytest.mark.long
def test_no_canary_is_heard_in_what_a_run_leaves(tmp_path):
    """Journal, blobs, snapshots, exports, logs: of a run that is killed, looked at, resumed and
    fails, and of one that has its value."""
    reply = {"content": [{"type": "text", "text": "TEXT", "pieces": ["T"]}]}
    with MessagesServer(reply) as server, Collector() as collector:
        place = Place(tmp_path, server.url)
        pieces = [place.text[at : at + 20] for at in range(0, len(place.text), 20)]
        reply["content"][0] |= {"text": place.text, "pieces": pieces}
        server.script = (reply, {"status": 401, "message": place.text}, reply)
        words = ["run", "p.sexp", f"given={place.text}", "text=@key.txt", "--model", place.model]
        words += ["--allow-write", ".", "--allow-run", "cat", "--allow-run", "sh"]
        place.kill("killed", *words, "end=error", "--record", "r.jsonl", "--run-id", "first")
        place.run("list", "runs", "list", "--all", "--json")
        place.run("show", "runs", "show", "first")
        place.run("show as JSON", "runs", "show", "first", "--json")
        place.run("report of the killed", "runs", "report", "first", "-o", "killed.html")
        place.run("in doubt", "runs", "resume", "first", status=1)
        place.run("resumed", "runs", "resume", "first", "--again", "*", "--json", status=1)
        place.run("begun again", *words, "end=error", "--run-id", "first", status=1)
        kept = ["--run-id", "second", "--record", "r2.jsonl", "--trace", "spans.jsonl"]
        place.run("value", *words, "end=value", *kept, "--json")
        place.run("streamed", *words, "end=value", "--stream", "-v")
        named = f"{CANARIES['PGPASSWORD']}.sexp"
        (tmp_path / named).write_text('(run-script "true")')
        place.run("named", "run", named, "--allow-run", "true", "--run-id", "third")
        place.run("spans", *words, "end=error", "--trace", collector.url, status=1)
        place.run("list all", "runs", "list")
        place.run("list all as JSON", "runs", "list", "--json")
        place.run("show the second", "runs", "show", "second", "--json")
        place.run("report", "runs", "report", "first", "-o", "first.html")
        place.run("report as JSON", "runs", "report", "first", "--json")
        place.run("page of a recording", "runs", "report", "r2.jsonl", "-o", "recorded.html")
        place.outputs["OTLP"] = collector.raw.decode("utf-8", "replace")
        place.outputs["sent"] = b"".join(server.bodies).decode()
    place.look_at_files()
    outputs = place.outputs

    assert [] == hits(outputs)
    files = ("copy/runs.db-wal", "spans.jsonl", "r.jsonl", "killed.html", "first.html")
    for name in (*files, "OTLP", "sent", "resumed: stdout", "value: stdout", "killed: stderr"):
        assert MARK in outputs[name], (name, [*outputs])
    for table in ("blobs", "entries", "snapshots", "runs"):
        assert any(MARK in output for name, output in outputs.items() if f" {table} " in name)
