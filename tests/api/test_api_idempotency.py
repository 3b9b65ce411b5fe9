"""The idempotency keys that functions, scripts and servers are given."""

import asyncio
import json
import os
import sys

import pytest
from support.command import served
from support.messages_server import MessagesServer

import sexplang
from sexplang.guards.secrets import look, redact_text
from sexplang.package.process import IDEMPOTENCY_KEY
from sexplang.runtime.journal import stored_journal


def key():
    return sexplang.current_request().key


async def key_later():
    await asyncio.sleep(0.01)
    return key()


def kept(tmp_path, **more):
    return {"store": tmp_path / "runs.db", "run_id": "r", **more}


@pytest.mark.parametrize("answer", [key, key_later])
def test_each_request_has_its_own_key(tmp_path, answer):
    """Also of branches that wait at the same time."""
    program = "[(par (key) (key)) (key)]"
    (one, other), last = sexplang.run(program, **kept(tmp_path, effects={"key": answer}))
    assert ["r:0.0.0:1", "r:0.1.0:1", "r:1:1"] == [one, other, last]


def test_a_function_knows_its_request(tmp_path):
    """In a tool too, and after a run within it."""
    heard = []

    def look_up() -> str:
        """Looks up."""
        sexplang.run("(inner)", effects={"inner": lambda: heard.append(sexplang.current_request())})
        heard.append(sexplang.current_request())
        return ""

    sexplang.run("(tool 'look_up {})", **kept(tmp_path, tools=[look_up]))
    inner, outer = heard
    assert ("inner", "tool") == (inner.operation, outer.operation)
    assert ("r", "0", "r:0:1") == (outer.run_id, outer.id, outer.key)
    with pytest.raises(LookupError, match="no request"):
        sexplang.current_request()


def test_a_key_is_ascii(tmp_path):
    given = {"store": tmp_path / "runs.db", "run_id": "é.1"}
    assert "%C3%A9.1:0:1" == sexplang.run("(key)", effects={"key": key}, **given)


def test_a_run_that_is_not_kept_has_keys_of_its_own():
    """Its id may name many runs: `random` follows from it."""
    one, other = [sexplang.run("(key)", effects={"key": key}, run_id="r") for _ in range(2)]
    assert one != other
    assert one.endswith(":0:1")


@pytest.mark.parametrize("has_snapshots", [False, True])
def test_a_key_changes_when_the_request_has_failed(tmp_path, monkeypatch, has_snapshots):
    """It does not while nobody knows whether it was done, however often it is performed."""
    if has_snapshots:
        monkeypatch.setattr(stored_journal, "LEAST_SECONDS", 0)
        monkeypatch.setattr(stored_journal, "SNAPSHOT_SHARE", 0)
    # Like a kill, it leaves no row.
    ends = iter([SystemExit, SystemExit, "down", SystemExit, "down", None])
    keys, program = [], "(define a (first-of 1)) (act a)"

    def act(n):
        keys.append(key())
        end = next(ends)
        if end == "down":
            raise sexplang.error("down", "the server is down")
        if end is not None:
            raise end
        return n

    given = {"store": tmp_path / "runs.db", "effects": {"act": act, "first-of": lambda n: n}}
    with pytest.raises(SystemExit):
        sexplang.run(program, run_id="r", **given)
    for raised in (SystemExit, sexplang.Failed, SystemExit, sexplang.Failed):
        with pytest.raises(raised):
            sexplang.resume(program, "r", replay={"act": "safe"}, **given)
    assert 1 == sexplang.resume(program, "r", replay={"act": "safe"}, **given)
    assert ["r:1:1", "r:1:1", "r:1:1", "r:1:2", "r:1:2", "r:1:3"] == keys


def test_a_script_has_the_key_in_its_environment(tmp_path, monkeypatch):
    """It is no credential: a run that the script begins does not take it out of texts."""
    program = '(get (run-script "sh" ["-c" "echo $SEXPLANG_IDEMPOTENCY_KEY"]) "stdout")'
    allowed = sexplang.Permissions(run=["sh"])
    assert "r:0:1\n" == sexplang.run(program, permissions=allowed, **kept(tmp_path))
    monkeypatch.setenv(IDEMPOTENCY_KEY, "4c7491216e8b67f3:0:1")
    look()
    assert os.environ[IDEMPOTENCY_KEY] == redact_text(os.environ[IDEMPOTENCY_KEY])


def test_the_tool_of_a_server_is_sent_the_key(tmp_path):
    command, *words = served()
    server = {"demo": {"command": command, "args": words}}
    allowed = sexplang.Permissions(run=[sys.executable])
    told = sexplang.run('(tool "demo:hear" {})', mcp=server, permissions=allowed, **kept(tmp_path))
    assert "r:0:1" == json.loads(told["_meta"])["sexplang/idempotency-key"]


def test_the_server_of_a_model_is_sent_a_digest_of_the_key(tmp_path):
    """The same for each attempt at one request, another one for another body or request."""
    busy = {"status": 429, "headers": {"retry-after": "0"}}
    with MessagesServer(busy, "one", "two", busy, "three") as server:
        ask = '(model {messages: [{role: "user" content: "a"}]})'
        other = '(model {messages: [{role: "user" content: "b"}]})'
        sexplang.run(f"{ask} {ask} {other}", model=f"{server.url}#m", **kept(tmp_path))
    first, again, second, third, third_again = [each["idempotency-key"] for each in server.headers]
    assert (first, third) == (again, third_again)
    assert 3 == len({first, second, third})
