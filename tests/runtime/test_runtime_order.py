"""The order in which a recording is told to the run that asks it."""

from itertools import count
from time import sleep

import pytest
from runtime_support import table
from support.messages_server import MessagesServer
from support.running import error_of
from support.sources import no_files

from sexplang.machine import Done, Limits, start
from sexplang.pipeline.pipeline import build, meter, tasks
from sexplang.runtime import Endpoint, drive
from sexplang.runtime.journal.json_lines import record_to
from sexplang.terms.source import Source
from sexplang.terms.values.boundary import plain

ASK = """(define (ask t)
  (get-in (model {max_tokens: 100 messages: [{role: "user" content: t}]}) ["content" 0 "text"]))
"""
AFTER_EACH_OTHER = '(par (ask "0.2 a") (begin (ask "0 b") (ask "0 c")))'
SAME = [
    f'(ask "0") (with-budget {{tokens: 240}} {AFTER_EACH_OTHER})',
    f'(ask "0") (with-budget {{tokens: 340}} (race (begin {AFTER_EACH_OTHER} 1) (ask "9 d")))',
    '(with-budget {tokens: 900} (par (race (ask "9 a") (begin (sleep 0.1) (ask "0 b")))'
    ' (ask "0.2 c")))',
    '(with-budget {tokens: 400} [(try (with-timeout 0.1 (par (ask "9 a") (ask "0 b")))'
    ' (catch (e) 1)) (ask "0 c")])',
    '(par (begin (sleep 0.05) (ask "0.1 x")) (ask "0.1 x") (begin (log "debug" "a") (ask "0 y")))',
    '(race (begin (print "a") 1) (begin (print "b") 2) (ask "0 c"))',
    '(attempt (par (ask "9 a") (begin (ask "0 b") (error "no"))))',
]


PATIENT = Endpoint(silence=60, total=60)


def slow():
    """Replies after as many seconds as the message begins with; no two with the same text."""
    numbers = count()

    def answer(asked):
        (message,) = asked["messages"]
        seconds = float(message["content"].split()[0])
        if seconds > 1:
            return {"fail": "silence"}
        sleep(seconds)
        content = [{"type": "text", "text": f"reply {next(numbers)}"}]
        return {"content": content, "usage": {"input_tokens": 10, "output_tokens": 5}}

    return answer


def run(text, record=None, replay=None):
    """A run's end, what it printed, its accounts and its rows: recorded, or told from there."""
    program = build(Source("order", ASK + text), no_files)
    journal, printed = record_to(record), []
    begun = start(program, {}, tasks(), Limits(), {"calls": 100}, meter(lambda: lambda *_: None))
    with MessagesServer(slow()) as server:
        model = f"{server.url}#m" if replay is None else f"replay:{replay}"
        performers = table(model=model, write=printed.append, endpoint=PATIENT)
        ended = drive(begun, performers, journal=journal)
    journal.close()
    accounts = [
        (id, each.spent_calls, each.spent_tokens) for id, each in sorted(ended.accounts.items())
    ]
    return ended, printed, accounts, [(row.operation, row.id, row.digest) for row in journal.rows]


@pytest.mark.parametrize("text", SAME)
def test_a_run_that_asks_for_the_same_is_the_same(tmp_path, text):
    """Its value or error, what it printed, its budgets, the order of its replies."""
    first, *seen = run(text, record=tmp_path / "run.jsonl")
    again, *told = run(text, replay=tmp_path / "run.jsonl")

    assert isinstance(first, Done)
    assert isinstance(again, Done), again
    assert (plain(first.value), seen) == (plain(again.value), told)


def test_a_call_that_was_withdrawn_is_found_by_what_it_asked(tmp_path):
    """Wherever in the program it stands now."""
    run('(race (begin (sleep 0.05) (ask "0 b")) (ask "9 a"))', record=tmp_path / "run.jsonl")
    again, _, _, rows = run(
        '(log "debug" "new") (race (begin (sleep 0.01) (ask "0 b")) (ask "9 a"))',
        replay=tmp_path / "run.jsonl",
    )

    assert isinstance(again, Done)
    assert ["log", "sleep", "model", "cut"] == [operation for operation, _, _ in rows]


@pytest.mark.parametrize(
    "text",
    [
        '(ask "9 d")',
        '(with-timeout 3600 (ask "9 d"))',
        '(attempt (ask "0 new"))',
        '(attempt (par (ask "0 a") (ask "0 a")))',
    ],
)
def test_a_run_that_asks_for_something_else_ends(tmp_path, text):
    """At once, with the reason, and not with what its program makes of an error."""
    run('(race (ask "0 a") (ask "9 d"))', record=tmp_path / "run.jsonl")
    again, *_ = run(text, replay=tmp_path / "run.jsonl")

    assert "journal-mismatch" == error_of(again)["reason"]


def test_what_still_fits_is_told_in_the_same_order(tmp_path):
    """Also where other calls have come before it, or gone."""
    first, *_ = run(
        '[(ask "0 a") (ask "0 b") (ask "0 b") (ask "0 c")]', record=tmp_path / "run.jsonl"
    )
    again, *_ = run('[(ask "0 c") (ask "0 b") (ask "0 b")]', replay=tmp_path / "run.jsonl")

    assert (first.value[3], *first.value[1:3]) == again.value
