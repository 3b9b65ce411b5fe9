"""Replies that are cut: what had arrived is kept, what was counted is accounted for."""

import anyio
import pytest
from attrs import evolve
from runtime_support import QUICK, SHORT, table
from support.messages_server import MessagesServer
from support.running import built

import sexplang
from sexplang.machine import Limits, start
from sexplang.pipeline.pipeline import meter, tasks
from sexplang.runtime import Endpoint, Journal, Retries, drive
from sexplang.runtime.driver.event_loop import finish
from sexplang.runtime.driver.events import Finished, Withdrawn
from sexplang.runtime.driver.run import Run
from sexplang.runtime.journal.fold import fold
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.journal.recording_reader import lines
from sexplang.terms.json.tagged import unpack
from sexplang.terms.values.boundary import plain

TEXT = [{"type": "text", "text": "Tea is wet."}]
USED = {"input_tokens": 70, "cache_read_input_tokens": 20, "output_tokens": 9}
WHOLE = {"content": TEXT, "usage": USED}

PLACES = {
    "the beginning": (1, "", 1),
    "some text": (3, "Tea is wet.", 1),
    "the counts": (5, "Tea is wet.", 9),
}
"""Where a reply is cut: after how many events, with what text, with how many tokens of output."""


def cut(place, then="torn"):
    return {"cut": PLACES[place][0], "then": then, **WHOLE}


def used(*places):
    """What was counted until there, of as many attempts."""
    given = sum(9 if place == "whole" else PLACES[place][2] for place in places)
    many = len(places)
    return {
        "input_tokens": 70 * many,
        "cache_read_input_tokens": 20 * many,
        "output_tokens": given,
    }


def price(model, taken, given, written=0, read=0):
    return 1e-5 * taken + 5e-5 * given + 1e-6 * read


def ran(script, text, budget=None, retries=QUICK, journal=None, events=None, endpoint=SHORT):
    """How a program ends whose model answers so, and how often it was asked."""
    program = built(text)
    outcome = start(program, {}, tasks(), Limits(), budget, meter(lambda: price))
    with MessagesServer(*script) as server:
        watch = None if events is None else events.append
        performers = table(
            model=f"{server.url}#m", retries=retries, endpoint=endpoint, on_event=watch
        )
        ended = drive(outcome, performers, journal=journal, on_event=watch)
        return ended, len(server.journal)


ASK = '(define (ask most) (model {max_tokens: most messages: [{role: "user" content: "tea?"}]}))'
TASK = '(defatom tell (instructions "Tell me of tea.") (limits max_turns: 5 max_output_tokens: 50))'


@pytest.mark.parametrize("then", ["end", "torn", "error", "silence"])
@pytest.mark.parametrize("place", PLACES)
def test_a_cut_reply_leaves_its_text_and_what_was_counted(place, then):
    """In the error, in the budget, in the journal and in what a watcher is told."""
    journal, events = Journal(), []
    budget = {"tokens": 10_000, "usd": 1}
    outcome, asked = ran(
        [cut(place, then)], f"{ASK} (ask 50)", budget, Retries(attempts=1), journal, events
    )
    error, account = outcome.error.fields, outcome.accounts["0"]

    assert 1 == asked
    assert PLACES[place][1] == (error["content"] or "")
    assert used(place) == error["details"]["usage"] == journal.rows[0].usage
    assert sum(used(place).values()) == account.spent_tokens
    assert price("", 70, PLACES[place][2], 0, 20) == pytest.approx(account.spent_usd)
    assert 0 == account.held_tokens == account.held_usd
    (finished,) = [each for each in events if isinstance(each, Finished)]
    assert used(place) == finished.usage


@pytest.mark.parametrize("place", PLACES)
def test_a_reply_that_comes_at_last_tells_what_all_attempts_took(place):
    """`lost` says how much of it was for nothing; of the window only the last one's is in use."""
    journal = Journal()
    outcome, asked = ran(
        [cut(place), cut(place, "error"), WHOLE],
        f"{ASK} (ask 50)",
        {"tokens": 10_000, "usd": 1},
        journal=journal,
    )
    whole, account = used(place, place, "whole"), outcome.accounts["0"]

    assert 3 == asked
    assert whole == outcome.value["usage"] == journal.rows[-1].usage
    assert used(place, place) == outcome.value["lost"]
    assert sum(whole.values()) == account.spent_tokens
    assert 0 == account.held_tokens == account.held_usd


def test_all_attempts_of_a_task_are_in_its_usage_and_one_of_them_in_its_window():
    """Whether it ends well or not."""
    script = [cut("some text"), WHOLE]
    outcome, _ = ran(script, f"{TASK} (attempt (call-task tell))")
    result = outcome.value.fields

    assert ("COMPLETE", "Tea is wet.") == (result["status"], result["content"])
    assert {"input_tokens": 180, "output_tokens": 10} == result["usage"]
    assert 99 == result["notes"]["metrics"]["context"]["peak_usage"]

    outcome, _ = ran([cut("some text")], f"{TASK} (attempt (call-task tell))")
    result = outcome.value.fields

    assert ("FAILED", "Tea is wet.") == (result["status"], result["content"])
    assert {"input_tokens": 270, "output_tokens": 3} == result["usage"]


def test_a_subagent_whose_reply_is_cut_keeps_what_it_said_and_took():
    """It ends without success, and its parent goes on with what there is."""
    program = '(spawn-subagent task: "tea")'
    outcome, _ = ran([cut("some text")], program)

    assert not outcome.value["success"]
    assert "Tea is wet." == outcome.value["content"]
    assert {"input": 270, "output": 3} == outcome.value["token_usage"]


def test_what_a_paused_turn_had_said_stands_before_what_a_cut_one_said():
    """They are one text."""
    paused = {**WHOLE, "stop_reason": "pause_turn"}
    outcome, _ = ran([paused, cut("some text")], f"{TASK} (attempt (tell))")
    result = outcome.value.fields

    assert "Tea is wet.Tea is wet." == result["content"]
    assert {"input_tokens": 360, "output_tokens": 12} == result["usage"]


def test_a_call_whose_time_is_up_tells_too_what_it_took():
    """Of the attempt that was under way as well."""
    slow = cut("some text", "silence")
    program = f'{ASK} (model {{timeout: 1.5 messages: [{{role: "user" content: "tea?"}}]}})'
    again = Retries(first=0.01)
    outcome, _ = ran(
        [cut("the counts"), slow], program, {"tokens": 10_000}, again, endpoint=PATIENT
    )
    error = outcome.error.fields

    assert ("RESOURCE_EXHAUSTION", "seconds") == (error["type"], error["reason"])
    assert "Tea is wet." == error["content"]
    assert used("the counts", "some text") == error["details"]["usage"]
    assert sum(used("the counts", "some text").values()) == outcome.accounts["0"].spent_tokens


@pytest.mark.parametrize("bound", ["tokens", "usd"])
def test_no_attempt_is_begun_for_which_there_is_no_room(bound):
    """What the first one took and what the second may take have to fit together."""
    budget = {"tokens": 150} if bound == "tokens" else {"usd": 0.004}
    outcome, asked = ran([cut("the counts"), WHOLE], f"{ASK} (ask 60)", budget)
    error, account = outcome.error.fields, outcome.accounts["0"]

    assert 1 == asked
    assert ("reply-cut-short", "budget") == (error["details"]["code"], error["details"]["stopped"])
    assert "does not fit into the budget" in error["hint"]
    assert used("the counts") == error["details"]["usage"]
    assert sum(used("the counts").values()) == account.spent_tokens or bound == "usd"
    assert 0 == account.held_tokens == account.held_usd


def test_what_an_attempt_took_is_held_while_the_next_one_is_on_its_way():
    """So another branch finds no room; and a run that is repeated from its journal refuses the
    same calls."""
    text = f"""{ASK}
        (par (ask 60)
             (begin (sleep 0.4) (attempt (ask 60))))"""
    budget = {"tokens": 190}
    journal = Journal()
    script = [cut("some text"), {"fail": "hang"}]
    slow = Retries(attempts=2, first=0.01)
    outcome, asked = ran(script, text, budget, slow, journal)

    rows = [row.operation for row in journal.rows]
    assert 2 == asked
    assert "attempt" in rows
    assert outcome.error.fields["reason"] == "tokens"

    program = built(text)
    begun = start(program, {}, tasks(), Limits(), budget, meter(lambda: price))
    again = fold(begun, journal.rows)
    assert outcome.error.fields["details"] == again.error.fields["details"]
    assert outcome.accounts["0"].spent_tokens == again.accounts["0"].spent_tokens


PATIENT = Endpoint(silence=60, total=60)
"""Nothing but the program ends a call."""

WITHDRAWN = {
    "a deadline": "(attempt (with-timeout 60 (ask 50)))",
    "a budget's seconds": "(attempt (with-budget {seconds: 60} (ask 50)))",
    "a race": "(race (ask 50) (sleep 60))",
    "a budget's calls": """
        (attempt (with-budget {calls: 1} (par (ask 50) (begin (sleep 60) (ask 50)))))""",
    "an error": "(attempt (par (ask 50) (begin (sleep 60) (raise 'no))))",
    "the end": "(with-budget {seconds: 60} (ask 50))",
}
"""Programs that withdraw a call in flight, once its reply has arrived up to a place: see
`run_until_arrived`."""


def run_until_arrived(place, text, budget=None, journal=None, events=None):
    """How a program ends whose deadlines and sleeps end when its call has got `place`, and how
    often its model was asked."""
    program = built(text)
    outcome = start(program, {}, tasks(), Limits(), budget, meter(lambda: price))
    watch = None if events is None else events.append

    async def wait_for_place(_):
        wanted = used(place), PLACES[place][1]
        while not any(
            wanted == (part["usage"], part["text"])
            for _, attempts in run.in_flight._progress.values()
            for part in [attempts.so_far()]
        ):
            await anyio.sleep(0.01)

    with MessagesServer(cut(place, "silence")) as server:
        performers = table(model=f"{server.url}#m", retries=QUICK, endpoint=PATIENT, on_event=watch)
        performers = {**performers, "timer": wait_for_place, "sleep": wait_for_place}
        run = Run(outcome, performers, Journal() if journal is None else journal, watch)
        anyio.run(finish, run, 1)
        return run.outcome, len(server.journal)


def repeated(text, journal, budget=None):
    """The end of the run that follows from the rows alone."""
    program = built(text)
    return fold(start(program, {}, tasks(), Limits(), budget, meter(lambda: price)), journal.rows)


def accounts(outcome):
    """What a run's budgets and deadlines ended with."""
    return {
        id: evolve(scope, bounds=evolve(scope.bounds, span=None))
        for id, scope in outcome.accounts.items()
    }


def said(outcome):
    """A run's value or error, as plain data."""
    return plain(getattr(outcome, "value", None)), plain(getattr(outcome, "error", None))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", WITHDRAWN)
def test_a_call_that_is_withdrawn_is_charged_what_was_counted(what, place):
    """In the budget, the journal and what a watcher is told; and when it is repeated, too."""
    journal, events, text = Journal(), [], f"{ASK} {WITHDRAWN[what]}"
    budget = {"tokens": 10_000, "usd": 1}
    outcome, asked = run_until_arrived(place, text, budget, journal, events)
    account = outcome.accounts["0"]

    assert 1 == asked
    assert sum(used(place).values()) == account.spent_tokens
    assert price("", 70, PLACES[place][2], 0, 20) == pytest.approx(account.spent_usd)
    assert 0 == account.held_tokens == account.held_usd
    (row,) = [row for row in journal.rows if row.operation == "cut"]
    assert (used(place), PLACES[place][1]) == (row.usage, row.reply["text"])
    (gone,) = [each for each in events if isinstance(each, Withdrawn) and each.operation == "model"]
    assert (used(place), row.model) == (gone.usage, gone.model)
    again = repeated(text, journal, budget)
    assert accounts(outcome) == accounts(again)
    assert said(outcome) == said(again)


@pytest.mark.parametrize("place", PLACES)
def test_the_error_of_a_deadline_has_the_beginning_of_the_answer(place):
    """As that of a call whose own time is up."""
    outcome, _ = run_until_arrived(place, f"{ASK} (with-timeout 60 (ask 50))")
    error = outcome.error.fields

    assert "seconds" == error["reason"]
    assert PLACES[place][1] == (error["content"] or "")
    assert used(place) == error["details"]["usage"]
    assert error["details"]["model"]


@pytest.mark.parametrize("task", ["(with-timeout 0.5 (tell))", "(short)"])
def test_a_task_that_is_cut_by_a_deadline_keeps_what_it_said_and_took(task):
    """With what its paused turns had said; of its limits as of a deadline around it."""
    short = TASK.replace("tell", "short").replace("max_turns: 5", "max_turns: 5 timeout: 0.5")
    paused = {**WHOLE, "stop_reason": "pause_turn"}
    script, journal = [paused, cut("some text", "silence")], Journal()
    text = f"{TASK} {short} (attempt {task})"
    outcome, _ = ran(script, text, journal=journal, endpoint=PATIENT)
    result = outcome.value.fields

    assert ("FAILED", "Tea is wet.Tea is wet.") == (result["status"], result["content"])
    assert {"input_tokens": 180, "output_tokens": 10} == result["usage"]
    assert said(outcome) == said(repeated(text, journal))


def test_a_subagent_whose_time_is_up_keeps_the_beginning_of_its_answer():
    """Its time is a deadline around it."""
    text = '(spawn-subagent task: "tea" timeout: 1)'
    outcome, _ = ran([cut("some text", "silence")], text, endpoint=PATIENT)

    assert "the subagent timed out after 1 seconds" == outcome.value["error"]
    assert "Tea is wet." == outcome.value["content"]
    assert {"input": 90, "output": 1} == outcome.value["token_usage"]


def test_attempts_that_were_cut_are_a_part_of_what_a_withdrawn_call_took():
    """Where nothing is counted of the one under way, its input counts as it was estimated."""
    text = f"{ASK} (attempt (with-timeout 0.5 (ask 50)))"
    budget, retries = {"tokens": 10_000}, Retries(first=0.01)
    script = [cut("the counts"), cut("some text", "silence")]
    outcome, _ = ran(script, text, budget, retries, endpoint=PATIENT)
    assert sum(used("the counts", "some text").values()) == outcome.accounts["0"].spent_tokens

    journal = Journal()
    script = [cut("the counts"), {"fail": "hang"}]
    outcome, _ = ran(script, text, budget, retries, journal, endpoint=PATIENT)
    account = outcome.accounts["0"]
    assert used("the counts") == journal.rows[-1].usage == outcome.value.fields["usage"]
    assert sum(used("the counts").values()) < account.spent_tokens < 200
    assert accounts(outcome) == accounts(repeated(text, journal, budget))


def test_a_run_that_is_cancelled_keeps_what_was_counted():
    """And is repeated with the same accounts."""
    journal, budget, text = Journal(), {"tokens": 10_000}, f"{ASK} (ask 50)"
    program = built(text)
    outcome = start(program, {}, tasks(), Limits(), budget, meter(lambda: price))
    with MessagesServer(cut("some text", "silence")) as server:
        run = Run(outcome, table(model=f"{server.url}#m", endpoint=PATIENT), journal)

        async def cancelled():
            async with anyio.create_task_group() as group:
                group.start_soon(finish, run, 1)
                while not any(
                    lost.so_far()["text"] for _, lost in run.in_flight._progress.values()
                ):
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()

        anyio.run(cancelled)

    assert "cancelled" == run.outcome.error.fields["reason"]
    assert ["cancel", "cut"] == [row.operation for row in journal.rows]
    assert sum(used("some text").values()) == run.outcome.accounts["0"].spent_tokens
    assert accounts(run.outcome) == accounts(repeated(text, journal, budget))


@pytest.mark.parametrize(
    "body",
    [
        "(attempt (with-timeout 0.5 (ask 50)))",
        "(par (attempt (with-timeout 0.5 (ask 50))) (ask 51))",
        "(race (ask 50) (begin (sleep 0.5) 1))",
        "(attempt (par (ask 50) (begin (sleep 0.5) (raise 1))))",
    ],
)
def test_a_recording_is_a_model_that_is_as_slow_where_calls_were_withdrawn(body, tmp_path):
    """The same value, the same accounts: each is withdrawn again, with what it had got."""
    path, text, budget = tmp_path / "run.jsonl", f"{ASK} {body}", {"tokens": 10_000}

    def answer(asked):
        return WHOLE if asked["max_tokens"] == 51 else cut("some text", "silence")

    journal = record_to(path)
    outcome, _ = ran([answer], text, budget, journal=journal, endpoint=PATIENT)
    journal.close()
    assert any(row.operation == "cut" for row in journal.rows)

    program = built(text)
    begun = start(program, {}, tasks(), Limits(), budget, meter(lambda: price))
    again = drive(begun, table(model=f"replay:{path}"))

    assert said(outcome) == said(again)
    assert accounts(outcome) == accounts(again)


def test_a_model_that_is_a_function_is_in_the_recording_when_it_is_withdrawn(tmp_path):
    """What it had got nobody knows, but that it was asked: so the recording replays."""

    async def slow(payload):
        await anyio.sleep(20)

    path = str(tmp_path / "run.jsonl")
    program = (
        '(race (str (model {messages: [{role: "user" content: "tea?"}]})) (begin (sleep 0.1) 7))'
    )

    assert 7 == sexplang.run(program, model=slow, record=path)
    (cut,) = [row for _, row in lines(path) if row.get("operation") == "cut"]
    assert ("0.0.0", True) == (cut["id"], unpack(cut["reply"])["uncounted"])
    assert 7 == sexplang.run(program, model=f"replay:{path}")


def test_a_call_that_nobody_had_begun_with_takes_nothing_of_a_budget():
    """Because it waited for a place, or for the reply to an equal one."""
    text = f"{ASK} (race (ask 50) (ask 51) (ask 52))"
    program = built(text)
    outcome = start(
        program, {}, tasks(), Limits(), {"tokens": 300, "calls": 3}, meter(lambda: price)
    )
    journal = Journal()
    with MessagesServer(WHOLE) as server:
        ended = drive(outcome, table(model=f"{server.url}#m"), journal=journal, parallel=1)
        assert 1 == len(server.journal)

    account = ended.accounts["0"]
    assert (1, sum(USED.values())) == (account.spent_calls, account.spent_tokens)
    assert (0, 0) == (account.held_calls, account.held_tokens)
    assert accounts(ended) == accounts(repeated(text, journal, {"tokens": 300, "calls": 3}))


def test_a_call_that_is_withdrawn_as_soon_as_it_is_asked_for_was_never_made():
    """By the delivery that asks for it, or at the very beginning: it does not count."""
    cut_off = '(attempt (par (ask 50) (ask 51) (error "no")))'
    text = f'{ASK} {cut_off} (ask 50) {cut_off} (ask 52) "fits"'
    budget, journal = {"tokens": 1_000, "calls": 3}, Journal()
    ended, times = ran([WHOLE], text, budget, journal=journal)

    account = ended.accounts["0"]
    assert ("fits", 2) == (ended.value, times)
    assert (2, 2 * sum(USED.values())) == (account.spent_calls, account.spent_tokens)
    assert accounts(ended) == accounts(repeated(text, journal, budget))
