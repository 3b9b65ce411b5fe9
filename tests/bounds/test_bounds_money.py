"""Money has no grace: what a spent budget refuses wherever it is asked, and what is reported."""

import json
from typing import Any

import pytest
from support.command import sexplang
from support.laws import LAWS, first_finding
from support.running import begun, built
from support.spent import price
from support.wide_server import WideServer

from sexplang.hosts.cli.output import ROOT, spending
from sexplang.machine import Done, Failed, Suspended, start
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.pipeline.pipeline import meter, tasks
from sexplang.runtime import Settings, drive, performers
from sexplang.terms.model.roles import read_models

SAY = "(define (say x) (model {max_tokens: 40 messages: []}))\n"


def answered(outcome: Any) -> tuple[int, Any]:
    """How many model calls a run makes, in time, first come first served; and its end."""
    calls = 0
    while isinstance(outcome, Suspended):
        request = next(each for each in outcome.requests if each.operation != "timer")
        calls += request.operation == "model"
        outcome = outcome.resume(request.id, {"content": [], "usage": USAGE})
    return calls, outcome


USAGE = {"input_tokens": 10, "output_tokens": 20}


def bounded(text: str, **budget: float) -> Any:
    """The outcome of a program under a budget for the whole run."""
    return start(built(SAY + text), {}, tasks(), None, budget, meter(lambda: price))


def test_a_loop_in_a_finally_does_not_spend_what_is_not_there(tmp_path):
    """At the command line: 42 calls were made, and 2 reported."""
    (tmp_path / "r.json").write_text(json.dumps(["reply"] * 60))
    text = '(defatom t (instructions "x"))\n(try (loop 3 (t)) (finally (loop 40 (t))))\n'
    (tmp_path / "pc.sexp").write_text(text)

    budget = ("--budget", "calls=2,seconds=60")
    done = sexplang("run", "pc.sexp", "--model", "scripted:r.json", *budget, cwd=tmp_path)

    assert 1 == done.returncode
    assert "2 calls, " in done.stderr and "budget: 2 of 2 calls" in done.stderr
    refused = "  = suppressed: pc.sexp:2:37: no more model calls fit into the budget: 2 allowed, 3"
    assert refused in done.stderr
    assert "--budget calls=4" in done.stderr


@pytest.mark.parametrize(
    ("budget", "most"), [({"calls": 2}, 2), ({"tokens": 150}, 5), ({"usd": 0.002}, 6)]
)
def test_a_plan_does_not_spend_in_a_finally_what_is_not_there(budget, most):
    """Of 3,000 inputs, whatever bounds the plan: the caller gets its error."""
    plan = "(define (say x) (model {max_tokens: 40 messages: []}))"
    plan = f"{plan} (try (map say xs) (finally (map say xs)))"
    bound = " ".join(f"{name}: {limit}" for name, limit in budget.items())
    text = f"(eval-plan p inputs: {{xs: (range 3000)}} allow: ['model] budget: {{{bound}}})"

    calls, outcome = answered(bounded(f'(define p "{plan}") {text}', calls=9000))

    assert 2 <= calls <= most
    assert "failed" == outcome.value["status"]
    assert [*budget] == [outcome.value["error"].fields["reason"]]
    assert calls == outcome.accounts[ROOT].spent_calls


def test_branches_that_clean_up_do_not_spend_what_is_not_there():
    """258 real calls went to a server of 300 ms, until the five seconds of grace were over."""
    text = "(try (par-map say (range 300)) (finally (par-map say (range 300))))"
    with WideServer(latency=0.3) as server:
        settings = Settings(run_id="money", models=read_models(f"{server.url}#m"))
        outcome = drive(bounded(text, calls=2), performers(settings), parallel=300)

        assert 2 >= server.counts()["requests"]
    assert isinstance(outcome, Failed) and "calls" == outcome.reason
    assert "" == spending(outcome) or "budget: 2 of 2 calls" == spending(outcome)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("(try (par (say 1) (begin (say 2) (raise 1))) (finally (say 3)))", 2),
        ("(race (try (say 1) (finally (say 2))) (begin (say 3) 7))", 2),
        ("(handle (try (say (perform x)) (finally (say 2))) ((x) k (+ (length [(k 1)]) 1)))", 2),
        ("(with-budget {calls: 1} (try (par (say 1) (say 2)) (finally (say 3))))", 1),
        ("(try (loop 5 (attempt (try (raise 1) (finally (say 1))))) (finally (say 2)))", 2),
    ],
)  # fmt: skip
def test_every_call_that_was_made_is_reported(body, said):
    """Also where it was withdrawn, where a continuation was abandoned, where it failed."""
    calls, outcome = answered(bounded(body, calls=2))

    assert said == calls
    assert f"budget: {said} of 2 calls" == spending(outcome)


def test_a_call_that_fails_while_cleaning_up_counts():
    """As everywhere."""
    outcome = bounded("(try (raise 1) (finally (attempt (say 1)) (say 2) (say 3)))", calls=2)
    failed = outcome.fail(outcome.requests[0].id, begun("(raise 1)").error)

    calls, ended = answered(failed)

    assert (1, "budget: 2 of 2 calls") == (calls, spending(ended))
    (refused,) = ended.details["suppressed"]
    assert "calls" == refused["reason"] if isinstance(refused, dict) else refused.fields["reason"]


def test_a_run_that_is_cancelled_cleans_up_within_its_budget():
    """Nobody gives it more."""
    outcome = bounded("(try (say 1) (finally (say 2) (say 3) (say 4)))", calls=2)

    calls, ended = answered(outcome.cancel())

    assert (1, "cancelled", "budget: 2 of 2 calls") == (calls, ended.reason, spending(ended))
    assert 1 == len(ended.details["suppressed"])


def test_eight_refusals_are_told_of_a_thousand():
    """The list is bounded, and so is what an error takes."""
    deep = "(define (f n) (if (< n 1) (raise n) (try (f (- n 1)) (finally (say n)))))"

    ended = bounded(f"{deep} (f 1000)", calls=0)

    assert ("raised", 8) == (ended.reason, len(ended.details["suppressed"]))


CLEARED = "(handle (try {} (finally (close))) ((close) k (begin (say 2) (k 1))))"


@pytest.mark.parametrize(
    ("body", "resource"),
    [
        (CLEARED.format("(raise 1)"), None),
        (CLEARED.format("(close)"), None),
        (f"(with-timeout 1 {CLEARED.format('(ask)')})", "seconds"),
        (f"(try {CLEARED.format('(ask)')} (finally (say 3)))", "seconds"),
    ],
)
def test_what_is_refused_where_the_body_of_a_finally_is_left_is_told(body, resource):
    """In the clause of a handler that serves what cleans up there: a Python exception came out."""
    text = f"""(define-effect (close)) (define-effect (ask))
        (try (with-timeout 2 (with-budget {{calls: 0}} (try (say 1) (finally {body}))))
          (catch (e) e.details))"""
    outcome = bounded(text, calls=9)
    while isinstance(outcome, Suspended):
        timers = [each for each in outcome.requests if each.operation == "timer"]
        outcome = outcome.resume(timers[0].id)

    assert isinstance(outcome, Done), outcome
    assert "calls" in [each.fields["reason"] for each in outcome.value["suppressed"]]
    assert resource is None or resource == outcome.value["resource"]


def test_a_frozen_run_keeps_what_was_refused():
    """The outer `finally` waits while the inner one has been refused already."""
    text = "(define-effect (close)) (try (try (raise 1) (finally (say 1))) (finally (close)))"
    outcome = bounded(text, calls=0)

    again = thaw(
        built(SAY + text), json.loads(json.dumps(freeze(outcome))), tasks(), meter(lambda: price)
    )
    ended = again.resume(again.requests[0].id, None)

    assert ("raised", 1) == (ended.reason, len(ended.details["suppressed"]))


def test_what_a_program_raises_itself_is_told_as_it_is():
    """`suppressed` of an error that is no list of errors stays, whoever made it."""
    text = (
        '(try (try (raise {reason: "x" details: {suppressed: 3}}) (finally (say 1))) (catch (e) e))'
    )

    ended = bounded(text, calls=0)

    assert isinstance(ended, Done)


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_no_program_spends_or_tells_otherwise(start):
    """At the border of the machine; `python -m support.laws counted 0 10000` looks at more."""
    assert None is first_finding(LAWS["counted"], range(start, start + 40))


def test_no_program_sends_otherwise():
    """To a server; `python -m support.laws sent 0 10000` looks at more."""
    assert None is first_finding(LAWS["sent"], range(8))
