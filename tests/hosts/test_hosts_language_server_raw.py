"""The language server, sent messages that no good client sends."""

import json
import os
import subprocess

import pytest
from support.editor import COMMAND
from support.markdown import ROOT

ADDRESS = "file:///a.sexp"


def framed(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def messages(stream):
    """What a server sent, in its order."""
    found = []
    while stream:
        header, _, rest = stream.partition(b"\r\n\r\n")
        (length,) = [
            int(line[15:]) for line in header.split(b"\r\n") if line[:15] == b"Content-Length:"
        ]
        found.append(json.loads(rest[:length]))
        stream = rest[length:]
    return found


def served(*requests):
    """The responses by id, all other messages, and standard error."""
    begin = {"id": 0, "method": "initialize", "params": {"capabilities": {}}}
    text = {"uri": ADDRESS, "languageId": "sexplang", "version": 1, "text": "(print 1)"}
    opened = {"method": "textDocument/didOpen", "params": {"textDocument": text}}
    ending = [{"id": 99, "method": "shutdown"}, {"method": "exit"}]
    every = [begin, {"method": "initialized", "params": {}}, opened, *requests, *ending]
    done = subprocess.run(
        COMMAND,
        input=b"".join(map(framed, every)),
        capture_output=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    sent = messages(done.stdout)
    assert 0 == done.returncode
    responses = {each["id"]: each for each in sent if "id" in each and "method" not in each}
    return responses, [each for each in sent if "method" in each], done.stderr.decode()


def hover(id, position):
    params = {"textDocument": {"uri": ADDRESS}, "position": position}
    return {"id": id, "method": "textDocument/hover", "params": params}


@pytest.mark.parametrize(
    "position",
    [
        {"line": -1, "character": 0},
        {"line": 0, "character": -5},
        {"line": 2**40, "character": 0},
        {"line": "first", "character": 0},
        {"line": 0},
        {},
    ],
)
def test_a_malformed_request_is_answered(position):
    """As JSON-RPC says it: an error with the code of wrong parameters; the next one is served."""
    responses, others, said = served(hover(1, position), hover(2, {"line": 0, "character": 2}))

    assert -32602 == responses[1]["error"]["code"]
    assert "malformed parameters" in responses[1]["error"]["message"]
    assert "print" in str(responses[2]["result"])
    assert "window/showMessage" not in [each["method"] for each in others]
    assert "" == said
