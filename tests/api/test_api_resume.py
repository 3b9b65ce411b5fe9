"""Runs that are kept in a store, and that go on after an interruption."""

import inspect
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from threading import Timer

import anyio
import pytest
from support.interrupted_runs import STEPS, acting, interrupted, reason_of, resumed, rows_of
from support.killed_runs import in_child
from support.messages_server import MessagesServer

import sexplang
from sexplang.runs.durable_run import refuse_doubts
from sexplang.runtime.journal import stored_journal
from sexplang.runtime.journal.compression import decompress
from sexplang.runtime.journal.doubts import Doubt
from sexplang.runtime.journal.run_store import open_store
from sexplang.terms.effect import Request
from sexplang.terms.json.tagged import dump, pack


def test_a_run_goes_on_and_performs_nothing_twice_that_was_recorded(tmp_path):
    """Of the request that was under way, a person says what becomes of it."""
    store = tmp_path / "runs.db"
    assert [1, 2] == interrupted(store)
    assert "in-doubt" == reason_of(resumed, store)
    assert ([10, 20, 30], [2, 3]) == resumed(store, replay={"act": "safe"})
    assert "run-ended" == reason_of(resumed, store)


def test_a_request_in_doubt_may_fail(tmp_path):
    store, program = tmp_path / "runs.db", "(define x (act 1)) [x (attempt (act 2) 7) (act 3)]"
    interrupted(store, program)
    assert ([10, 7, 30], [3]) == resumed(store, program, replay={"*": "never"})
    (doubt,) = rows_of(store).doubts
    assert ("act", "never") == (doubt["operation"], doubt["decision"])


def test_a_store_belongs_to_its_person(tmp_path):
    store = tmp_path / "runs.db"
    interrupted(store)
    assert 0o600 == store.stat().st_mode & 0o777


def test_a_program_without_effects_touches_no_disk(tmp_path):
    store = tmp_path / "runs.db"
    assert 3 == sexplang.run("(+ 1 2)", store=store)
    assert not store.exists()


def test_another_program_goes_on_as_far_as_it_asks_the_same(tmp_path):
    store = tmp_path / "runs.db"
    interrupted(store)
    other = STEPS.replace("(act 1)", "(act 0)")
    assert "journal-mismatch" == reason_of(resumed, store, other, replay={"*": "safe"})
    renamed = STEPS.replace(" a", " first").replace("[a", "[first") + " ; renamed"
    assert ([10, 20, 30], [2, 3]) == resumed(store, renamed, replay={"*": "safe"})


def test_a_name_is_given_once(tmp_path):
    store = tmp_path / "runs.db"
    interrupted(store)
    given = {"store": store, "run_id": "r", "effects": acting([])}
    assert "run-exists" == reason_of(sexplang.run, STEPS, **given)
    assert "unknown-run" == reason_of(sexplang.resume, "1", "other", store=store)


def test_a_failed_run_goes_on_before_the_reply_that_ended_it(tmp_path):
    store, tries = tmp_path / "runs.db", []

    def act(n):
        tries.append(n)
        if len(tries) == 2:
            raise sexplang.error("down", "the server is down")
        return n * 10

    given = {"store": store, "effects": {"act": act}}
    assert "down" == reason_of(sexplang.run, STEPS, run_id="r", **given)
    assert [10, 20, 30] == sexplang.resume(STEPS, "r", **given)
    assert [1, 2, 2, 3] == tries


def test_finalizers_of_an_interrupted_run_are_not_a_part_of_it(tmp_path):
    """What `finally` did at the interruption is cut, with the cancellation."""
    store = tmp_path / "runs.db"
    program = "(try [(act 1) (act 2)] (finally (act 9)))"
    assert [1, 2, 9] == interrupted(store, program)
    assert ([10, 20], [2, 9]) == resumed(store, program, replay={"*": "safe"})


def test_what_two_interruptions_cut_is_in_doubt(tmp_path, monkeypatch):
    """The second comes before the run has noted the first."""
    import asyncio

    def interrupt(*given):
        raise KeyboardInterrupt

    async def wait(n):
        await asyncio.sleep(9)

    store, program = tmp_path / "runs.db", "(par (wait 1) (act 2))"
    with monkeypatch.context() as patched:
        patched.setattr("sexplang.runtime.driver.drive._abandon_now", interrupt)
        with pytest.raises(KeyboardInterrupt):
            effects = {"act": interrupt, "wait": wait}
            sexplang.run(program, effects=effects, store=store, run_id="r")
    effects = {"wait": lambda n: n * 10}
    assert [10, 20] == resumed(store, program, replay={"*": "safe"}, effects=effects)[0]
    assert ["wait", "act"] == [each["operation"] for each in rows_of(store).doubts]


def test_what_an_interruption_of_computing_cut_is_in_doubt(tmp_path):
    """A reply is delivered, and the run computes on, when Ctrl-C comes."""
    import asyncio

    def act(n):
        Timer(0.03, os.kill, (os.getpid(), signal.SIGINT)).start()
        return n * 10

    async def wait(n):
        await asyncio.sleep(9)

    def work():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt):
            effects = {"act": act, "wait": wait}
            sexplang.run(program, effects=effects, store=store, run_id="r")

    store = tmp_path / "runs.db"
    program = """(define (spin n) (if (= n 0) 7 (spin (- n 1))))
                 (par (wait 1) (begin (act 2) (spin 800000)))"""
    assert in_child(work)
    assert "in-doubt" == reason_of(resumed, store, program, effects={"wait": lambda n: n})


FAILING = "(par (begin (sleep 0.01) (act 1)) (try (begin (sleep 9) 0) (finally (act 2))))"


@pytest.mark.parametrize(
    ("replay", "decision"), [("safe", "safe"), ("ask", "safe"), ("never", "never")]
)
def test_a_finalizer_of_a_failed_run_is_done_again_and_said_or_not_done(tmp_path, replay, decision):
    """The run fails again in the same way. What failed by itself is no doubt."""
    store, done = tmp_path / "runs.db", []

    def act(n):
        done.append(n)
        if n == 1:
            raise sexplang.error("down", "the server is down")
        return n

    given = {"store": store, "effects": {"act": act}}
    assert "down" == reason_of(sexplang.run, FAILING, run_id="r", **given)
    assert [1, 2] == done
    for _ in range(2):
        assert "down" == reason_of(sexplang.resume, FAILING, "r", replay={"*": replay}, **given)
    assert ([1, 2, 1, 2, 1, 2] if decision == "safe" else [1, 2, 1, 1]) == done
    assert [("act", decision)] * 2 == [
        (each["operation"], each["decision"]) for each in rows_of(store).doubts
    ]


def test_a_sleep_has_nothing_of_a_finalizer_with_its_number(tmp_path):
    """The run goes on another way than it went when it failed."""
    store, program, done = (
        tmp_path / "runs.db",
        "(try (begin (act 1) (sleep 0.2) 3) (finally (act 2)))",
        [],
    )

    def act(n):
        done.append(n)
        if done == [1]:
            raise sexplang.error("down", "the server is down")
        return n

    given = {"store": store, "effects": {"act": act}}
    assert "down" == reason_of(sexplang.run, program, run_id="r", **given)
    time.sleep(0.2)
    began = time.monotonic()
    assert 3 == sexplang.resume(program, "r", **given)
    assert time.monotonic() - began > 0.19
    assert [1, 2, 1, 2] == done


def test_no_snapshot_is_of_a_run_that_was_interrupted(tmp_path):
    """Its process dies in a `finally` body."""
    store, program = (
        tmp_path / "runs.db",
        "(try [(act 1) (act 2)] (finally (begin (act 9) (act 8))))",
    )

    def act(n):
        if n == 2:
            raise KeyboardInterrupt
        if n == 8:
            os.kill(os.getpid(), signal.SIGKILL)
        return n * 10

    def work():
        stored_journal.LEAST_SECONDS = stored_journal.SNAPSHOT_SHARE = 0.0
        sexplang.run(program, effects={"act": act}, store=store, run_id="r")

    assert not in_child(work)
    assert ([10, 20], [2, 9, 8]) == resumed(store, program, replay={"*": "safe"})


def test_a_deadline_has_what_was_left(tmp_path):
    store = tmp_path / "runs.db"

    def slow(n):
        time.sleep(0.3)
        return n

    program = "(with-timeout 0.5 (begin (slow 1) (act 2) (slow 3) (wait 60)))"
    import asyncio

    async def wait(n):
        await asyncio.sleep(n)

    more = {"slow": slow, "wait": wait}
    with pytest.raises(KeyboardInterrupt):
        sexplang.run(program, effects={**acting([], 2), **more}, store=store, run_id="r")
    began = time.monotonic()
    assert "seconds" == reason_of(resumed, store, program, replay={"*": "safe"}, effects=more)
    assert time.monotonic() - began < 0.9


def test_a_sleep_ends_when_it_would_have_ended(tmp_path):
    store, program = tmp_path / "runs.db", "(par (sleep 1.5) (begin (sleep 0.1) (act 2)))"
    interrupted(store, program)
    time.sleep(1.0)
    began = time.monotonic()
    resumed(store, program, replay={"*": "safe"})
    assert time.monotonic() - began < 0.9


def test_a_run_counts_with_the_prices_that_it_began_with(tmp_path, monkeypatch):
    store = tmp_path / "runs.db"
    program = (
        '(defatom say (params n) (instructions "Say {{n}}") (model "claude-sonnet-4-5"))'
        "(say 1) (act 2) (say 3)"
    )

    def reply(payload):
        return {"text": "x", "usage": {"input_tokens": 1000, "output_tokens": 1000}}

    interrupted(store, program, model=reply, budget={"usd": 0.1})
    from sexplang.runtime.models import prices

    monkeypatch.setattr(prices, "rates", lambda name: prices.Rates(1.0, 1.0, 1.0, 1.0))
    value, _ = resumed(store, program, model=reply, replay={"*": "safe"})
    assert "x" == value


def test_a_conversation_takes_the_space_of_its_messages(tmp_path):
    """A message is stored once, however many calls repeat it."""
    store = tmp_path / "runs.db"
    program = """
        (defatom chat (params text) (instructions "{{text}}"))
        (define (turns r n) (if (= n 0) r (turns (continue r "more") (- n 1))))
        (answer (turns (call-task chat "begin") 60))"""

    def reply(payload):
        return "a reply of some length, as models give it, with the number " + str(
            len(payload["messages"])
        )

    sexplang.run(program, model=reply, store=store, run_id="r")
    rows = [row for row in rows_of(store).rows if row.operation == "model"]
    said = len(dump(pack(rows[-1].arguments[0]["messages"])))
    with sqlite3.connect(store) as db:
        (blobs,) = db.execute("select sum(length(data)) from blobs").fetchone()
    assert 61 == len(rows)
    assert blobs < 1.5 * said


@pytest.mark.parametrize("table", ["entries", "blobs", "runs"])
def test_a_damaged_store_is_refused(tmp_path, table):
    store = tmp_path / "runs.db"
    program = '(defatom say (params n) (instructions "Say {{n}}")) (say 1) (act 2)'
    interrupted(store, program, model=["a", "b"])
    column = "header" if table == "runs" else "data"
    with sqlite3.connect(store) as db:
        db.execute(f"update {table} set {column} = substr({column}, 1, 10)")
    assert "bad-store" == reason_of(resumed, store, program, model=["b"], replay={"*": "safe"})


def test_a_file_that_is_no_store_is_refused(tmp_path):
    store = tmp_path / "runs.db"
    store.write_text("no database, and long enough to be read as one" * 100)
    assert "bad-store" == reason_of(sexplang.resume, "1", "r", store=store)
    assert "store-failed" == reason_of(sexplang.resume, "1", "r", store=tmp_path / "none.db")


def test_a_deadline_that_was_frozen_half_way_has_half_left():
    """Of a day, half has passed; the run that goes on waits for the other half."""
    from sexplang.runtime.driver.deadlines import Deadlines

    program = sexplang.build("(with-timeout 86400 (ask 1))", effects={"ask": print})
    waiting = sexplang.start(program)
    (timer,) = [each for each in waiting.requests if each.operation == "timer"]
    data = sexplang.freeze(waiting, passed={timer.id: 43_200})
    again = sexplang.thaw(program, json.loads(json.dumps(data)))
    assert {timer.id: 43_200} == again.passed
    waits = []
    Deadlines(waits.append, passed_seconds=again.passed)(timer)
    (left,) = waits
    assert 43_199 < left < 43_201


def test_a_thawed_run_has_what_was_left_of_its_deadline():
    program = sexplang.build("(with-timeout 0.9 (sleep 60))")
    waiting = sexplang.start(program)
    (timer,) = [each for each in waiting.requests if each.operation == "timer"]
    began = time.monotonic()
    thawed = sexplang.thaw(program, sexplang.freeze(waiting, passed={timer.id: 0.8}))
    assert "seconds" == reason_of(sexplang.run, thawed)
    assert time.monotonic() - began < 0.7


def test_a_program_error_after_an_effect_asks_before_it_is_done_again(tmp_path):
    """The reply that led to the error is cut, and its request is in doubt."""
    store, program, done = tmp_path / "runs.db", "(act 1) (/ 1 0)", []
    given = {"store": store, "effects": acting(done)}
    assert "division-by-zero" == reason_of(sexplang.run, program, run_id="r", **given)
    assert "in-doubt" == reason_of(sexplang.resume, program, "r", **given)
    assert [1] == done


def test_a_decision_against_a_request_is_asked_again(tmp_path):
    store = tmp_path / "runs.db"
    interrupted(store)
    assert "in-doubt" == reason_of(resumed, store, replay={"*": "never"})
    assert "in-doubt" == reason_of(resumed, store)
    assert ([10, 20, 30], [2, 3]) == resumed(store, replay={"act": "safe"})


def test_no_credential_is_in_a_store(tmp_path, monkeypatch, caplog):
    """Not in the header, the rows, the messages, a snapshot, or the error that ended the run; not
    in the log of writes while the run is at work, in the recording, or in what is logged."""
    from sexplang.runtime.journal import stored_journal

    key = "sk-ant-canary-0123456789abcdef"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    monkeypatch.setattr(stored_journal, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(stored_journal, "SNAPSHOT_SHARE", 0.0)
    store = tmp_path / "runs.db"
    program = """
        (define-input word)
        (defatom say (params text) (instructions "Say {{text}}") (allowed_tools tell))
        (define held (list word (act 1) (say word) (attempt (act -1)) (tool "tell" {}) (act 2)))
        (log "warning" held)
        (act 3) (raise (str held))"""
    at_work, seen = [], set()

    def act(n):
        at_work.extend(file.read_bytes() for file in tmp_path.glob("runs.db*") if file.is_file())
        with sqlite3.connect(store) as db:
            for table in ("entries", "blobs", "snapshots"):
                kept = [decompress(data) for (data,) in db.execute(f"select data from {table}")]
                at_work.extend(kept)
                seen.update([table] * len(kept))
        if n < 0:
            raise sexplang.error("leaky", f"not with {key}", details={key: [key]})
        return {"said": f"{key} {n}", key: n}

    def tell() -> str:
        """Tell a secret."""
        return f"told {key}"

    replies = [{"tool_use": {"name": "tell", "input": {"n": key}}}, f"said {key}"]
    given = {"store": store, "effects": {"act": act}, "tools": [tell], "inputs": {"word": key}}
    given |= {"model": replies, "record": tmp_path / "r.jsonl", "run_id": "r"}
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program, **given)
    assert {"entries", "blobs", "snapshots"} == seen
    texts = [file.read_bytes() for file in tmp_path.iterdir() if file.is_file()]
    texts += at_work
    told = [str(failed.value), repr(failed.value.details), caplog.text]
    texts += [each.encode() for each in told]
    assert len(texts) >= 12
    assert not [each for each in texts if key.encode() in each]
    assert b"[redacted]" in b"".join(at_work)
    assert "[redacted]" in caplog.text


PAUSED = """
import os, signal, sys
import sexplang

def stop(event):
    if isinstance(event, sexplang.Retrying):
        if sys.argv[3] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise KeyboardInterrupt

ask = sys.argv[4]
budget = {"tokens": 100_000}
sexplang.run(ask, model=sys.argv[1], store=sys.argv[2], run_id="r", budget=budget, on_event=stop)
"""
ASK = '(model {messages: [{role: "user" content: "a"}]})'


@pytest.mark.parametrize("end", ["kill", pytest.param("interrupt", marks=pytest.mark.long)])
def test_a_pause_between_attempts_goes_on(tmp_path, end):
    """From its recorded beginning, and with the attempts that are left."""
    times = []

    def busy(body):
        times.append(time.monotonic())
        return {"status": 429, "headers": {"retry-after": "2"}}

    with MessagesServer(busy, busy, busy, "ok") as server:
        model, store = f"{server.url}#m", tmp_path / "runs.db"
        words = [sys.executable, "-c", PAUSED, model, str(store), end, ASK]
        assert 0 != subprocess.run(words, capture_output=True, timeout=60).returncode
        heard = []
        given = {"model": model, "store": store, "on_event": heard.append}
        assert "llm_error" == reason_of(sexplang.resume, ASK, "r", **given)
    first, second, third = times
    assert 1.9 < second - first
    assert 1.9 < third - second
    assert [2] == [each.attempt for each in heard if isinstance(each, sexplang.Retrying)]
    assert 3 == rows_of(store).rows[-1].attempts


def test_a_call_with_failed_attempts_is_in_doubt(tmp_path):
    """The row of a failed attempt answers nothing."""
    cut = {"cut": 3, "then": "end", "content": [{"type": "text", "text": "Tea is wet."}]}
    with MessagesServer(cut, "ok") as server:
        model, store = f"{server.url}#m", tmp_path / "runs.db"
        words = [sys.executable, "-c", PAUSED, model, str(store), "kill", ASK]
        assert 0 != subprocess.run(words, capture_output=True, timeout=60).returncode
        assert ["attempt"] == [row.operation for row in rows_of(store).rows]
        assert "in-doubt" == reason_of(
            sexplang.resume, ASK, "r", model=model, store=store, replay={"model": "ask"}
        )


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_run_goes_on_in_an_event_loop(tmp_path, backend):
    """A resumption that is cancelled leaves a run that goes on."""
    store, began = tmp_path / "runs.db", []
    interrupted(store)

    async def slow(n):
        began.append(n)
        await anyio.sleep(0.01 if len(began) > 2 else 60)
        return n * 10

    given = {"store": store, "effects": {"act": slow}, "replay": {"act": "safe"}}

    async def main():
        with anyio.move_on_after(0.2) as scope:
            await sexplang.aresume(STEPS, "r", **given)
        assert scope.cancelled_caught
        with pytest.raises(sexplang.Failed) as failed:
            await sexplang.aresume(STEPS, "r", **{**given, "replay": {}})
        assert "in-doubt" == failed.value.reason
        began.append("again")
        return await sexplang.aresume(STEPS, "r", **given)

    assert [10, 20, 30] == anyio.run(main, backend=backend)
    assert [2, "again", 2, 3] == began


def test_both_resumptions_take_the_same():
    assert inspect.signature(sexplang.resume) == inspect.signature(sexplang.aresume)


TASKS = [f'(defatom {name} (params x) (instructions "{{{{x}}}}"))' for name in ("say", "sing")]
TALK = " ".join(TASKS) + "[(say 1) (sing 2) (say 3) (act 2) (say 4) (sing 5)]"


@pytest.mark.parametrize("kind", ["list", "file", "rules"])
@pytest.mark.parametrize("has_snapshots", [False, True])
def test_a_script_goes_on_behind_the_replies_that_were_served(
    tmp_path, monkeypatch, kind, has_snapshots
):
    """For each task, also from a snapshot."""
    if has_snapshots:
        monkeypatch.setattr(stored_journal, "LEAST_SECONDS", 0)
        monkeypatch.setattr(stored_journal, "SNAPSHOT_SHARE", 0)
    script = ["a", "b", "c"]
    if kind == "rules":
        script = [
            {"task": "say", "reply": "a", "times": 1},
            {"task": "say", "reply": "b", "times": 1},
        ]
        script += [{"task": "sing", "reply": "a", "times": 1}]
        script += [{"task": "say", "reply": "c"}, {"task": "sing", "reply": "b"}]
    model = script
    if kind != "list":
        (tmp_path / "script.json").write_text(json.dumps(script))
        model = {"default": f"scripted:{tmp_path / 'script.json'}"}
    store = tmp_path / "runs.db"

    def act(n):
        raise SystemExit  # like a kill, it leaves no row

    with pytest.raises(SystemExit):
        sexplang.run(TALK, model=model, effects={"act": act}, store=store, run_id="r")
    told = resumed(store, TALK, model=model, replay={"act": "safe"})
    assert (["a", "a", "b", 20, "c", "b"], [2]) == told


def test_another_model_is_not_asked_for_what_was_served(tmp_path):
    """Neither one that takes the place of a script, nor a function beside it."""
    store, asked = tmp_path / "runs.db", []
    interrupted(store, TALK, model=["a", "b", "c"])

    def model(payload):
        asked.append(payload)
        return "m"

    given = {"model": ["a", "b", "c"], "replay": {"act": "safe"}}
    assert (["a", "a", "b", 20, "m", "m"], [2]) == resumed(
        store, TALK, **given, effects={"model": model}
    )
    assert 2 == len(asked)


def test_no_snapshot_is_written_behind_a_cancellation(tmp_path, monkeypatch):
    """A resumption goes on before it."""
    monkeypatch.setattr(stored_journal, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(stored_journal, "SNAPSHOT_SHARE", 0.0)
    store = tmp_path / "runs.db"
    program = """
    (define (burn n) (if (= n 0) 0 (burn (- n 1))))
    (try (act 1) (finally (burn 100000) (act 2) (burn 100000) (act 3)))
    """
    done = []

    def act(n):
        done.append(n)
        if len(done) == 1:
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.1)
        return n

    with pytest.raises(KeyboardInterrupt):
        sexplang.run(program, effects={"act": act}, store=store, run_id="r")
    assert [1, 2, 3] == done
    assert (10, [1, 2, 3]) == resumed(store, program, replay={"*": "safe"})


def test_twenty_doubts_are_named_with_their_arguments(tmp_path):
    interrupted(tmp_path / "runs.db")
    doubts = [Doubt(Request(f"0.{n}", "pay", (n, "x" * 99)), 0.0, "ask") for n in range(25)]
    store = open_store(str(tmp_path / "runs.db"))
    try:
        fields = refuse_doubts(store, store.find("r"), doubts).error.fields
    finally:
        store.close()
    assert 20 == fields["message"].count("pay (")
    assert 'pay (0.7) 7 "xxx' in fields["message"]
    assert fields["message"].endswith("; and 5 more")
    assert 'replay={"0.0": "safe"}' in fields["hint"]


def test_an_effect_whose_reply_is_no_data_is_in_doubt(tmp_path):
    """It was performed."""
    store, program = tmp_path / "runs.db", "(define-effect (pay n)) (pay 1)"
    done = []

    def pay(n):
        done.append(n)
        return object() if len(done) == 1 else n

    given = {"store": store, "effects": {"pay": pay}}
    assert "not-data" == reason_of(sexplang.run, program, run_id="r", **given)
    assert "in-doubt" == reason_of(sexplang.resume, program, "r", **given)
    assert [1] == done
    assert 1 == sexplang.resume(program, "r", replay={"pay": "safe"}, **given)
