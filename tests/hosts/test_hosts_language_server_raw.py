"""The language server, sent messages that no good client sends."""

import json
import os
import subprocess

import pytest
from support.command import warm
from support.markdown import ROOT

ADDRESS = "file:///a.sexp"
BEGIN = {"id": 0, "method": "initialize", "params": {"capabilities": {}}}


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


def spoken(stream):
    """What a server does that is sent a stream of bytes: its messages, standard error, status."""
    done = subprocess.run(
        [*warm(), "lsp"],
        input=stream,
        capture_output=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return messages(done.stdout), done.stderr.decode(), done.returncode


def served(*requests):
    """The responses by id, all other messages, and standard error."""
    text = {"uri": ADDRESS, "languageId": "sexplang", "version": 1, "text": "(print 1)"}
    opened = {"method": "textDocument/didOpen", "params": {"textDocument": text}}
    ending = [{"id": 99, "method": "shutdown"}, {"method": "exit"}]
    every = [BEGIN, {"method": "initialized", "params": {}}, opened, *requests, *ending]
    sent, said, status = spoken(b"".join(map(framed, every)))
    assert 0 == status
    responses = {each["id"]: each for each in sent if "id" in each and "method" not in each}
    return responses, [each for each in sent if "method" in each], said


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


def note(method, params):
    return {"method": f"textDocument/{method}", "params": params}


def change(text, **document):
    document = {"uri": ADDRESS, **document}
    return note("didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


def named(others, method):
    return [each["params"] for each in others if each["method"] == method]


@pytest.mark.parametrize("version", [{}, {"version": None}, {"version": "2"}, {"version": 2**40}])
def test_a_text_counts_whatever_is_said_of_its_version(version):
    """Questions are answered from it, and nothing is shown for the one before."""
    responses, others, said = served(
        change("(car [])", **version), hover(1, {"line": 0, "character": 2})
    )

    assert "car" in str(responses[1]["result"])
    assert [] == named(others, "window/showMessage") == named(others, "window/logMessage")
    assert "" == said


MALFORMED = [
    note("didChange", {"textDocument": {"uri": ADDRESS, "version": 2}}),
    note("didChange", [1]),
    note("didChange", None),
    note("didOpen", {"textDocument": {"uri": ADDRESS}}),
    note("didClose", {}),
    {"method": "workspace/didChangeWatchedFiles", "params": {"changes": [{"uri": "", "type": 9}]}},
    {"method": "$/cancelRequest", "params": {}},
    change("(car [])", uri="file:///nowhere.sexp", version=2),
]


def test_a_notification_that_cannot_be_read_changes_nothing():
    """It is told to the editor's log; one that nobody knows is ignored."""
    responses, others, said = served(
        *MALFORMED,
        {"method": "nosuch"},
        {"method": "$/nosuch"},
        hover(1, {"line": 0, "character": 2}),
    )

    assert "print" in str(responses[1]["result"])
    assert len(MALFORMED) == len(named(others, "window/logMessage"))
    assert [] == named(others, "window/showMessage")
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "address",
    ["", "x", ":", "http://[", "file:///%00.sexp", "file:///%ff.sexp", "file://host/x", "file:///"],
)
def test_a_question_about_no_document_is_answered(address):
    """With nothing; no response holds a traceback."""
    document = {"textDocument": {"uri": address}, "position": {"line": 0, "character": 1}}
    responses, others, _ = served(
        {"id": 1, "method": "textDocument/hover", "params": document},
        {"id": [2], "method": "textDocument/hover", "params": document},
        {"id": 3, "method": "workspace/executeCommand", "params": {"command": "x"}},
        hover(4, {"line": 0, "character": 2}),
    )

    assert responses[1]["result"] is None
    assert "the id of a request" in str(named(others, "window/logMessage"))
    assert -32602 == responses[3]["error"]["code"]
    assert "print" in str(responses[4]["result"])
    assert "raceback" not in str(responses) + str(others)


def test_texts_that_are_odd_or_large_are_answered():
    """Columns inside a pair of surrogates, halves of pairs, a megabyte, three hundred changes."""
    responses, others, said = served(
        change('(str "\U0001f642\U0001f642" 1)', version=2),
        *[hover(at, {"line": 0, "character": at}) for at in range(1, 16)],
        change('(str "\ud83d" \udc00 x)', version=3),
        *[hover(at, {"line": at - 20, "character": 9}) for at in range(20, 23)],
        *[change("(car " * (at % 5), version=at) for at in range(4, 300)],
        change("(" * 1_000_000, version=300),
        hover(30, {"line": 0, "character": 999_999}),
        change("(print 1)\n" * 100_000, version=301),
        hover(31, {"line": 99_999, "character": 2}),
        change("(print 1)", version=302),
        hover(32, {"line": 0, "character": 2}),
    )

    assert "error" not in str([each.keys() for each in responses.values()])
    assert "print" in str(responses[32]["result"])
    assert [] == named(others, "window/showMessage")
    assert "" == said


@pytest.mark.parametrize(
    ("message", "id", "code"),
    [
        ({"id": 1, "method": 5}, 1, -32600),
        ({"id": 2, "method": "shutdown", "jsonrpc": "1.0"}, 2, -32600),
        ({"id": 3, "method": "shutdown", "jsonrpc": None}, 3, -32600),
        ({"id": 4}, 4, -32600),
        ({"method": 5}, None, -32600),
        ({"id": 6, **{key: BEGIN[key] for key in ("method", "params")}}, 6, -32600),
    ],
)
def test_what_is_no_request_is_refused(message, id, code):
    """With the code that JSON-RPC has for it; the next one is served."""
    responses, _, said = served(message, hover(90, {"line": 0, "character": 2}))

    assert code == responses[id]["error"]["code"]
    assert "print" in str(responses[90]["result"])
    assert "" == said


@pytest.mark.parametrize(
    ("body", "code"),
    [
        *[(body, -32600) for body in (b"[]", b"5", b'"x"', b"null", b"{}")],
        (b'{"id": 1, "method": "shutdown"}', -32600),
        *[(body, -32700) for body in (b"{", b"\xff", b"[" * 100_000)],
    ],
    ids=range(9),
)
def test_what_is_no_message_is_refused(body, code):
    """Also where it is no JSON, and without a traceback; the next one is served."""
    sent, said, status = spoken(
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        + b"".join(map(framed, [BEGIN, {"id": 99, "method": "shutdown"}, {"method": "exit"}]))
    )

    refused, *others = [each for each in sent if "id" in each]
    assert code == refused["error"]["code"]
    assert (1 if b"shutdown" in body else None) == refused["id"]
    assert [0, 99] == [each["id"] for each in others if "result" in each]
    assert ("", 0) == (said, status)


def test_requests_have_their_time():
    """Between `initialize` and `shutdown`; a notification outside of it changes nothing."""
    question = hover(1, {"line": 0, "character": 2})
    ending = [{"id": 2, "method": "shutdown"}, question | {"id": 3}, MALFORMED[0]]
    every = [question, MALFORMED[0], BEGIN, *ending, {"method": "exit"}]
    sent, said, status = spoken(b"".join(map(framed, every)))

    codes = {each["id"]: each.get("error", {}).get("code") for each in sent if "id" in each}
    assert {1: -32002, 0: None, 2: None, 3: -32600} == codes
    assert ("", 0) == (said, status)


def test_a_message_of_any_size_is_not_read():
    """Whoever announces it is told, and the connection ends."""
    sent, said, status = spoken(framed(BEGIN) + b"Content-Length: 99999999999\r\n\r\n{}")

    assert [0] == [each["id"] for each in sent if "id" in each]
    assert "a message of 99999999999 bytes is too large, at most 64000000 are read" in said
    assert "bug" not in said
    assert 1 == status
