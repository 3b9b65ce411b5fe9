"""Replies that are cut: what had arrived is kept, what was counted is accounted for."""

import pytest
from runtime_support import QUICK, SHORT, table
from support.messages_server import MessagesServer

from sexplang.machine import Limits, start
from sexplang.pipeline import build, meter, tasks
from sexplang.runtime import Journal, Retries, drive
from sexplang.runtime.events import Finished
from sexplang.runtime.journal import replay
from sexplang.terms.source import Source

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


def ran(script, text, budget=None, retries=QUICK, journal=None, events=None):
    """How a program ends whose model answers so, and how often it was asked."""
    program = build(Source("cut", text), lambda path, importer: ())
    outcome = start(program, {}, tasks(), Limits(), budget, meter(price))
    with MessagesServer(*script) as server:
        watch = None if events is None else events.append
        performers = table(model=f"{server.url}#m", retries=retries, endpoint=SHORT, on_event=watch)
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
    outcome, _ = ran(script, f"{TASK} (attempt (tell))")
    result = outcome.value.fields

    assert ("COMPLETE", "Tea is wet.") == (result["status"], result["content"])
    assert {"input_tokens": 180, "output_tokens": 10} == result["usage"]
    assert 99 == result["notes"]["metrics"]["context"]["peak_usage"]

    outcome, _ = ran([cut("some text")], f"{TASK} (attempt (tell))")
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
    program = f'{ASK} (model {{timeout: 0.3 messages: [{{role: "user" content: "tea?"}}]}})'
    outcome, _ = ran([cut("the counts"), slow], program, {"tokens": 10_000}, Retries(first=0.01))
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

    program = build(Source("cut", text), lambda path, importer: ())
    begun = start(program, {}, tasks(), Limits(), budget, meter(price))
    again = replay(begun, journal.rows)
    assert outcome.error.fields["details"] == again.error.fields["details"]
    assert outcome.accounts["0"].spent_tokens == again.accounts["0"].spent_tokens
