"""What is sent is charged: attempts that nobody answers, and calls of a run that is interrupted."""

import json
import os
import signal
import threading
import time
from io import StringIO

import anyio
import pytest
from support.command import sexplang as command
from support.interruption import interrupt_run
from support.messages_server import MessagesServer
from support.running import built
from support.spent import price

import sexplang
from sexplang.hosts.cli.output import spending
from sexplang.hosts.terminal.progress import Progress
from sexplang.machine import start
from sexplang.pipeline.pipeline import meter, tasks
from sexplang.runtime import Endpoint, Journal, Retries, Settings, drive, performers
from sexplang.runtime.driver.event_loop import finish
from sexplang.runtime.driver.events import Withdrawn
from sexplang.runtime.driver.run import Run
from sexplang.runtime.journal.fold import fold
from sexplang.terms.model.roles import read_models

SAY = '(define (say) (model {max_tokens: 9 messages: [{role: "user" content: "hi there"}]}))\n'
AGAIN = Retries(attempts=3, first=0.001, most=0.002)
SILENT = Endpoint(silence=0.4, total=9)
QUIET = [
    {"fail": "close"},
    {"fail": "reset"},
    {"fail": "hang"},
    {"fail": "garbage"},
    {"cut": 3, "then": "torn", "content": [], "usage": {"input_tokens": 0}},
    {"status": 502},
    {"status": 504},
]
"""What a server does that says nothing of what it has read."""

ANSWERED = [{"status": status} for status in (400, 429, 500, 529)]
"""It says that it has done nothing."""


def begun(text, budget):
    return start(built(SAY + text), {}, tasks(), None, budget, meter(lambda: price))


def table(url, **more):
    given = {"retries": AGAIN, "endpoint": SILENT} | more
    return performers(Settings(run_id="run", models=read_models(f"{url}#m"), **given))


def ran(script, text, budget, url=None, watch=None):
    """How a program ends, how often its server was asked, and its journal."""
    journal = Journal()
    with MessagesServer(*script) as server:
        performs = table(url or server.url)
        ended = drive(begun(text, budget), performs, journal=journal, on_event=watch)
        return ended, len(server.journal), journal


def input_of_one():
    """What an attempt is held to take: a call that is withdrawn when it was made."""
    asked = begun("(say)", {"tokens": 1_000})
    part = {"usage": {}, "text": "", "model": "", "uncounted": True}
    return asked.cancel(so_far=lambda id: part).accounts["0"].spent_tokens


@pytest.mark.parametrize("item", QUIET, ids=str)
def test_an_attempt_that_may_have_been_sent_is_charged_with_its_input(item):
    """Each of them, in the budget and the error, and when the run is repeated."""
    budget = {"tokens": 1_000, "calls": 5, "usd": 1}

    ended, asked, journal = ran([item], "(say)", budget)

    account, usage = ended.accounts["0"], ended.details["usage"]
    assert asked == ended.details["attempts"] == usage["uncounted"]
    assert asked * input_of_one() + usage.get("output_tokens", 0) == account.spent_tokens
    assert account.spent_usd >= asked * price("m", input_of_one(), 0) > 0
    assert (1, 0, 0, 0) == (account.spent_calls, *account.spent[3:])
    again = fold(begun("(say)", budget), journal.rows)
    assert account.spent == again.accounts["0"].spent


@pytest.mark.parametrize("item", ANSWERED, ids=str)
def test_a_server_that_answers_with_an_error_has_taken_nothing(item):
    """It says so, and it is not charged."""
    ended, asked, _ = ran([item], "(say)", {"tokens": 1_000})

    assert asked
    assert 0 == ended.accounts["0"].spent_tokens
    assert "usage" not in ended.details


def test_where_nobody_listens_nothing_was_sent():
    """The connection was refused."""
    ended, asked, _ = ran(["ok"], "(say)", {"tokens": 1_000}, "http://127.0.0.1:1")

    assert (0, 0) == (asked, ended.accounts["0"].spent_tokens)


def test_a_function_that_breaks_may_have_sent_something():
    """One that fails on purpose says what it took."""

    def broken(payload):
        raise ValueError("the line is dead")

    def failing(payload):
        raise sexplang.error("busy", "later")

    for model, said in ((broken, {"uncounted": 1}), (failing, None)):
        with pytest.raises(sexplang.Failed) as raised:
            sexplang.run(SAY + "(say)", model=model, budget={"tokens": 1_000})
        assert said == raised.value.details.get("usage")
        spent = raised.value.accounts["0"].spent_tokens
        assert (0 if said is None else input_of_one()) == spent


def test_a_reply_comes_after_attempts_that_nobody_counted():
    """They are charged with it, and are no part of what is learned about the model."""
    ended, asked, journal = ran([{"fail": "close"}, "ok"], "(say)", {"tokens": 1_000})

    assert (2, {"uncounted": 1}) == (asked, ended.value["lost"])
    assert 7 + 3 + input_of_one() == ended.accounts["0"].spent_tokens
    again = fold(begun("(say)", {"tokens": 1_000}), journal.rows)
    assert ended.accounts["0"].spent == again.accounts["0"].spent


def test_a_budget_of_tokens_bounds_what_is_sent_to_a_server_that_closes():
    """Six requests were sent, and none of them was told."""
    most = 2 * input_of_one() + 9
    first = "(try (say) (catch (e connection_error) (print e.details.stopped)))"

    ended, asked, journal = ran([{"fail": "close"}], f"{first} (say)", {"tokens": most, "calls": 3})

    assert (2, "tokens") == (asked, ended.reason)
    assert [("budget",)] == [row.arguments for row in journal.rows if row.operation == "print"]
    assert f"budget: 1 of 3 calls, {2 * input_of_one()} of {most} tokens" == spending(ended)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ([{"fail": "close"}], ": 1 call, 0 tokens in, 0 out, 3 attempts not counted, "),
        ([{"fail": "close"}, "ok"], ": 1 call, 7 tokens in, 3 out, 1 attempt not counted, "),
    ],
)
def test_a_person_is_told_how_many_attempts_were_not_counted(script, said):
    """Beside what was."""
    progress = Progress(StringIO(), live=False)

    ran(script, "(say)", {"calls": 3}, watch=progress)

    assert said in progress.summary()


CLEANING = "(try (par (say) (say)) (finally (loop 9 (try (say) (catch (e) nil)))))"


def test_a_run_whose_time_to_clean_up_is_over_tells_all_that_was_sent():
    """The call of a `finally` too, that is cut at the end: as an event, a row and in its budget."""
    journal, events, budget = Journal(), [], {"tokens": 5_000, "calls": 3}
    with MessagesServer({"fail": "hang"}) as server:
        performs = table(server.url, endpoint=Endpoint(silence=60, total=60))
        run = Run(begun(CLEANING, budget), performs, journal, events.append)

        async def cancelled():
            async with anyio.create_task_group() as group:
                group.start_soon(finish, run, 0.3)
                while len(server.journal) < 2:
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()

        anyio.run(cancelled)
        assert 3 == len(server.journal)

    account = run.outcome.accounts["0"]
    assert "cancelled" == run.outcome.reason
    assert (3, 3 * input_of_one(), 0, 0, 0) == (*account.spent[:2], *account.spent[3:])
    assert 3 == len([row for row in journal.rows if row.operation == "cut"])
    assert 3 == len([each for each in events if isinstance(each, Withdrawn)])


def test_a_reply_that_was_not_delivered_any_more_is_charged():
    """It came, and the program computed with it until the time was over."""
    text = "(try (say) (finally (say) (loop 1000000000000 1)))"
    progress = Progress(StringIO(), live=False)
    with MessagesServer({"fail": "hang"}, "one") as server:

        def press():
            for count in (1, 2):
                while len(server.journal) < count:
                    time.sleep(0.01)
                time.sleep(0.2)
                os.kill(os.getpid(), signal.SIGINT)

        outcome = begun(text, {"calls": 3, "tokens": 5_000})
        performs = table(server.url, endpoint=Endpoint(silence=60, total=60))
        threading.Thread(target=press).start()
        with pytest.raises(KeyboardInterrupt) as raised:
            drive(outcome, performs, on_event=progress)

    assert "model m: 1 call, 7 tokens in, 3 out, 1 withdrawn, " in progress.summary()
    said = f"budget: 2 of 3 calls, {10 + input_of_one()} of 5,000 tokens"
    assert said == spending(raised.value.__cause__)


class Never:
    """A reply that does not come."""

    def __await__(self):
        yield


CLEANUP = "(try (raise 1) (finally (say)))"


@pytest.mark.parametrize("text", [CLEANUP, f"(par {CLEANUP} 1)"])
def test_calls_of_cleanup_that_is_cut_short_are_charged(text):
    """They were sent, and the run ended before it was told that they had been interrupted."""
    outcome = begun(text, {"calls": 9})
    waits = dict.fromkeys(("model", "timer"), lambda request: Never())
    run = Run(outcome, waits, Journal())
    while run.step():
        pass
    sent = [request for request, _ in run.awaitables if request.operation == "model"]
    run.abandon()
    run.give_up()
    assert (1, 1) == (len(sent), run.outcome.accounts["0"].spent_calls)


def test_the_command_tells_what_was_sent_of_a_run_that_is_interrupted(tmp_path):
    """In its last lines, in the document and in the recording."""
    record = tmp_path / "run.jsonl"
    with MessagesServer({"fail": "hang"}) as server:
        words = ["--model", f"{server.url}#m", "--budget", "calls=3,tokens=5000"]
        words += ["--json", "--record", str(record)]
        done = interrupt_run(
            ["-e", SAY + CLEANING, *words], server, 3, signal.SIGTERM, signal.SIGTERM
        )

    took = 3 * input_of_one()
    assert "model: 0 calls, 3 withdrawn, " in done.stderr
    assert f"budget: 3 of 3 calls, {took} of 5,000 tokens" in done.stderr
    error = json.loads(done.stdout)["error"]
    assert "cancelled" == error["reason"]
    budget = {"calls": {"limit": 3, "used": 3}, "tokens": {"limit": 5_000, "used": took}}
    assert {"withdrawn": 3, "budget": budget} == error["details"]["run"]
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    cut = [row["id"] for row in rows if row.get("operation") == "cut"]
    assert (3, 3) == (len(cut), len(set(cut)))
    report = json.loads(command("runs", "report", record, "--json").stdout)
    assert (0, 3, 3) == (report["calls"], report["withdrawn"], report["uncounted"])


def test_a_recording_that_finds_no_room_is_no_reason_not_to_tell_what_was_sent(tmp_path):
    """The run ends with `record-failed`, and with its accounts."""
    text = "(par (say) (begin (sleep 0.2) (print 1)))"

    class Full(Journal):
        def append(self, row):
            from sexplang.runtime.refusal import refuse

            raise refuse("record-failed", "no room")

    events = []
    with MessagesServer({"fail": "hang"}) as server:
        performs = table(server.url, endpoint=Endpoint(silence=60, total=60))
        outcome = begun(text, {"tokens": 5_000, "calls": 3})
        ended = drive(outcome, performs, journal=Full(), on_event=events.append)
        assert 1 == len(server.journal)

    account = ended.accounts["0"]
    assert "record-failed" == ended.reason
    assert (1, input_of_one(), 0) == (account.spent_calls, account.spent_tokens, account.held_calls)
    assert "model" in [each.operation for each in events if isinstance(each, Withdrawn)]
