"""A call in the place of a function without parameters is refused before it is performed."""

import re
from pathlib import Path

import pytest
from support.command import sexplang
from support.running import built

from sexplang.analysis.slips.kinds import LIBRARY, THUNK
from sexplang.pipeline.pipeline import inspect

LIBRARY_FILES = sorted((Path(__file__).parents[2] / "stdlib").glob("*.sexp"))

HEAD = """(import std/agent) (import std/models) (import std/state) (import std/evaluate)
(import std/memory) (import std/subplans)
(defatom cashier (params (amount string)) (instructions "Pay {{amount}}"))
(defatom free (params (amount string)) (instructions "Pay {{amount}}") (returns any))
(define (ask-me name inputs) nil)
(define (pay-twice amount) (list (cashier amount) (cashier amount)))
"""

CALLS = {
    "retry": "(retry {})",
    "vote": "(vote {} n: 3)",
    "hedge": "(hedge {})",
    "best-of": "(best-of {} string-length)",
    "once": '(once "paid" {})',
    "with-approval": "(with-approval ask-me {})",
    "with-fallback": '(with-fallback ["backup"] {})',
    "with-log": "(with-log {})",
    "with-cache": "(with-cache {})",
    "with-matcher": "(with-matcher ask-me {})",
    "with-cells": "(with-cells {{}} {})",
    "run-cells": "(run-cells {{}} {})",
    "with-state": "(with-state 0 {})",
    "run-state": "(run-state 0 {})",
    "with-suggestions": "(with-suggestions {{calls: 8}} {})",
}

BODIES = [
    '(cashier "900")',
    '(free "900")',
    '(call-task cashier "900")',
    '(pay-twice "900")',
    '(map cashier ["900"])',
    '(par (cashier "900") (cashier "800"))',
    '(str (cashier "900"))',
]


def told(text):
    return [(each.code, each.severity, each.hint) for each in inspect(built(HEAD + text)).findings]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("body", BODIES)
def test_a_call_in_the_place_of_a_function_is_an_error(name, body):
    expected = [("wrong-type", "error", f"write `(lambda () {body})`")]
    assert expected == [each for each in told(CALLS[name].format(body)) if each[1] == "error"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "function",
    [
        '(lambda () (cashier "900"))',
        "(begin later)",
        "(choose true)",
        "(get {a: later} 'a)",
        '(partial cashier "900")',
        '(identity (lambda () "x"))',
    ],
)
def test_a_function_is_quiet(name, function):
    text = """(define (later) (cashier "900"))
    (define (choose x) (if x later (lambda () "no")))
    (define (partial f x) (lambda () (f x)))
    """
    assert [] == [each for each in told(text + CALLS[name].format(function)) if each[1] == "error"]


def test_the_table_has_every_function_of_the_library_that_takes_one():
    """As their comments say: “`f`, a function without parameters”."""
    found = set()
    for file in LIBRARY_FILES:
        text = file.read_text()
        blocks = re.findall(r"((?:^;.*\n)+)\(define \(([a-z][^ )]*)", text, re.MULTILINE)
        found |= {name for words, name in blocks if "`f`, a function without" in words}
    known = {name for name, kinds in LIBRARY.items() if THUNK in kinds.values()}

    assert found <= known == set(CALLS)
    assert len(found) > 9


def test_the_run_ends_before_the_task_is_performed(tmp_path):
    (tmp_path / "p.sexp").write_text(HEAD + '(with-approval ask-me (cashier "900"))')
    (tmp_path / "r.json").write_text('["paid"]')
    ran = sexplang("run", "p.sexp", "--model", "scripted:r.json", cwd=tmp_path)

    assert 1 == ran.returncode
    assert "`with-approval` takes a function, not the answer of `cashier`" in ran.stderr
    assert "not-a-function" not in ran.stderr and "1 call" not in ran.stderr


def test_the_signature_names_a_function():
    """As those of `retry` and its neighbours do."""
    shown = sexplang("doc", "with-approval").stdout
    assert "(with-approval allow f)" in shown
    assert '(with-approval allow (lambda () (cashier "900")))' in shown
