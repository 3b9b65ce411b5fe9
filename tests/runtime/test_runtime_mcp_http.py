"""MCP servers over HTTP that refuse, break off, forget and come back: one error each, of its own
request, and one new connection."""

from contextlib import ExitStack
from threading import Timer

import pytest
from runtime_support import begun, perform, table
from support.odd_mcp_http import OddServer
from support.running import error_of

from sexplang.machine import Done
from sexplang.runtime import Permissions, drive
from sexplang.runtime.mcp import Servers, connection, servers_of


@pytest.fixture
def reach():
    """Makes the servers of a run from an odd one, and closes them."""
    with ExitStack() as stack:

        def make(server, **more):
            given = {"odd": {"url": server.url, "timeout": 5, **more}}
            made = Servers(servers_of(given), Permissions(net=["127.0.0.1"]))
            stack.callback(made.close)
            return made

        yield make


def ping(servers):
    return drive(begun(perform("tool", "odd:ping", {})), table(servers=servers))


@pytest.mark.parametrize(
    ("kind", "code", "words", "hint"),
    [
        ("401", "bad-key", "`odd` answered 401", "give it a credential: headers = {Authorization"),
        ("403", "bad-key", "`odd` answered 403", "give it a credential: headers = {Authorization"),
        ("500", "mcp-failed", "`odd` answered HTTP 500 Internal Server Error", "address is right"),
        ("page", "mcp-failed", "cannot be used: Unexpected content type: text/html", "address"),
        ("accepted", "mcp-failed", "cannot be used: server answered a request with 202", "address"),
    ],
)
def test_a_server_that_does_not_begin_is_an_error(reach, kind, code, words, hint):
    with OddServer(kind) as server:
        error = error_of(ping(reach(server)))

    assert ("connection_error", code) == (error["reason"], error["details"]["code"])
    assert words in error["message"]
    assert hint in error["hint"]


@pytest.mark.parametrize(
    ("kind", "code", "words", "hint"),
    [
        ("call 401", "bad-key", "`odd` answered 401", "check the credential in its `headers`"),
        ("call 502", "mcp-failed", "answered HTTP 502 Bad Gateway", "address is right"),
        ("other id", "mcp-failed", "with no result: its answer has the id 999, not 4", "address"),
        ("no message", "mcp-failed", "no result: its answer is none of the protocol", "address"),
        ("no JSON", "mcp-failed", "no result: its answer is none of the protocol", "address"),
        ("large", "answer-too-large", "larger than 4,000,000 bytes", "ask for less"),
        ("cut", "mcp-failed", "went away (peer closed connection", "look whether it was done"),
        ("cut events", "mcp-failed", "went away (SSE stream ended", "look whether it was done"),
        ("closed", "mcp-failed", "went away (Server disconnected", "look whether it was done"),
    ],
)
def test_a_call_that_goes_wrong_is_an_error(reach, monkeypatch, kind, code, words, hint):
    """It is sent once; the next call is answered, on the same connection."""
    monkeypatch.setenv("ODD", "odd-4c1d9e77")
    with OddServer(kind) as server:
        servers = reach(server, headers={"Authorization": "Bearer secret:ODD"})
        error = error_of(ping(servers))
        assert 1 == server.methods.count("tools/call")
        again = ping(servers) if kind == "call 502" else None
        server.kind = "good"
        assert Done("pong") == ping(servers)

    assert ("tool_execution_error", code) == (error["reason"], error["details"]["code"])
    assert words in error["message"]
    assert hint in error["hint"]
    assert again is None or "answer-too-large" == error_of(again)["details"]["code"]
    assert 1 == server.methods.count("initialize")
    assert {"Bearer odd-4c1d9e77"} == {each["authorization"] for each in server.headers}


def test_a_session_that_was_forgotten_is_begun_again_once(reach):
    """The call was not performed, so it is sent again; a server that forgets always is an error."""
    with OddServer("forgets once") as server:
        assert Done("pong") == ping(reach(server))
        assert (2, 2) == (server.methods.count("initialize"), server.methods.count("tools/call"))
    with OddServer("forgets") as server:
        error = error_of(ping(reach(server)))

    assert 2 == server.methods.count("tools/call")
    assert "`odd` is not there for `odd:ping`: it has forgotten the session" in error["message"]


def test_a_server_that_is_not_reached_is_called_up_again_once(reach, monkeypatch):
    """After a while: it may be starting. Nothing was sent, so the call is sent then."""
    monkeypatch.setattr(connection, "PAUSE", 0.1)
    server = OddServer()
    with server:
        servers = reach(server)
        assert Done("pong") == ping(servers)
    error = error_of(ping(servers))
    assert ("tool_execution_error", "mcp-failed") == (error["reason"], error["details"]["code"])
    assert "`odd` is not there for `odd:ping`" in error["message"]

    monkeypatch.setattr(connection, "PAUSE", 0.5)
    with ExitStack() as stack:
        Timer(0.1, lambda: stack.enter_context(server)).start()
        assert Done("pong") == ping(servers)
    assert 2 == server.methods.count("tools/call")
