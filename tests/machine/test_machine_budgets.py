"""Budgets under any order of replies: exact for calls, never passed for tokens."""

from collections.abc import Iterator
from random import Random

import pytest
from support.running import begun, built

from sexplang.machine import Done, Failed, Limits, Suspended, start, state_of
from sexplang.machine.scopes.budgets import METER, Meter

ASK = "(perform model {messages: [] max_tokens: 40})"


def branches(width, inside):
    """A `par` of model calls under `attempt`, so that every branch comes to its end."""
    return f"(par {' '.join([f'(attempt {inside})'] * width)})"


def spent(request, random):
    """A reply that used up to what was asked for."""
    payload = request.arguments[0]
    tokens = random.randint(1, payload["max_tokens"])
    usage = {"input_tokens": random.randint(1, 10), "output_tokens": tokens}
    return {"content": [], "stop_reason": "end_turn", "usage": usage, "model": "m"}


def driven(outcome, random):
    """The end of a run whose requests are answered in random order; the calls, and the tokens."""
    calls = tokens = 0
    while isinstance(outcome, Suspended):
        request = random.choice(outcome.requests)
        if random.random() < 0.1:
            error = begun("(raise 1)").error
            outcome, calls = outcome.fail(request.id, error), calls + 1
            continue
        reply = spent(request, random)
        calls, tokens = calls + 1, tokens + sum(reply["usage"].values())
        outcome = outcome.resume(request.id, reply)
    return outcome, calls, tokens


def orders(outcome: Suspended) -> Iterator[tuple[list[str], Suspended]]:
    """Every order in which the requests of a run can be answered."""
    work = [([], outcome)]
    while work:
        ids, now = work.pop()
        if not isinstance(now, Suspended):
            yield ids, now
            continue
        for request in now.requests:
            reply = {"content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}
            work.append(([*ids, request.id], now.resume(request.id, reply)))


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_calls_are_exact_under_every_order_of_replies(width, limit):
    """All orders, up to four branches of two calls: as many calls as fit, and not one more."""
    inside = f"(begin {ASK} {ASK})" if width < 4 else ASK
    wanted = min(limit, width * (2 if width < 4 else 1))
    text = f"(attempt (with-budget {{calls: {limit}}} {branches(width, inside)}))"

    for ids, outcome in orders(begun(text)):
        assert len(ids) <= wanted
        assert isinstance(outcome, Done)


@pytest.mark.parametrize("seed", range(20))
def test_no_order_passes_a_budget(seed):
    """64 branches, replies and failures in random order, calls and tokens bounded."""
    check(seed)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("start", range(0, 10_000, 1_000))
def test_no_order_passes_a_budget_10_000_times(start):
    """The same for 10,000 seeds."""
    for seed in range(start, start + 1_000):
        check(seed)


def check(seed):
    random = Random(seed)
    calls, tokens = random.randint(0, 130), random.randint(0, 3_000)
    text = (
        f"(with-budget {{calls: {calls} tokens: {tokens}}} {branches(64, f'(begin {ASK} {ASK})')})"
    )

    outcome, made, used = driven(begun(text), random)

    assert made <= calls
    assert used <= tokens + 10 * made
    assert isinstance(outcome, (Done, Failed))


@pytest.mark.parametrize(
    "payload", ["nil", "3", "{max_tokens: 0}", "{max_tokens: -9}", '{max_tokens: "x"}']
)
def test_a_call_says_how_many_tokens_it_asks_for(payload):
    """Under a budget of tokens, what does not is an error of the call; nothing is given back."""
    call = f"(perform model {payload})"
    text = f"(with-budget {{tokens: 60}} [(attempt {call}) (attempt {ASK})])"

    outcome = begun(text)

    assert isinstance(outcome, Suspended)
    (request,) = outcome.requests
    assert request.arguments[0]["max_tokens"] == 40
    failed, _ = outcome.resume(request.id, {}).value
    assert failed.fields["notes"]["error"].fields["reason"] == "wrong-type"


def test_a_budget_of_calls_counts_whatever_is_asked():
    """Also a call without a payload, which is the host's to refuse."""
    call = "(perform model nil)"
    outcome = begun(f"(try (with-budget {{calls: 1}} {call} {call}) (catch (e calls) 7))")

    assert outcome.resume("1", None).value == 7


def test_a_payload_of_any_depth_is_estimated():
    """One token for three characters, however deep they stand."""
    nested = "(loop ((n 0) (x 1)) (if (< n 20000) (recur (+ n 1) [x]) x))"
    outcome = begun(f"(with-budget {{tokens: 15000}} (perform model {{m: {nested}}}))")

    assert outcome.requests[0].arguments[0]["max_tokens"] == 15_000 - (40_008 // 3 + 1)


def test_a_budget_breaks_at_its_form_and_cancels_its_branches():
    """What is around the form goes on; nothing inside of it sees the error."""
    text = f"(try (with-budget {{calls: 2}} {branches(3, ASK)}) (catch (err calls) err.message))"

    outcome = begun(text)

    words = "no more model calls fit into the budget: 2 allowed, 3 asked for"
    assert outcome == Done(words)  # of what it cancelled nobody has heard

    text = f"(try (with-budget {{calls: 2}} (par {ASK} (begin {ASK} {ASK}))) (catch (e) e.message))"
    one, other = (request.id for request in state_of(begun(text)).opened)

    assert begun(text).resume(other, {}) == Done(words, (one,))


def test_two_futures_of_a_continuation_spend_from_one_account():
    """The budget is named by its entry, not copied with the continuation."""
    text = f"""
    (handle (with-budget {{calls: 3}} (begin (perform choose) {ASK} {ASK}))
      ((choose) k (begin (attempt (k 1)) (attempt (k 2)))))
    """
    outcome, made = begun(text), 0
    while isinstance(outcome, Suspended):
        outcome = outcome.resume(outcome.requests[0].id, {"content": []})
        made += 1

    assert made == 3
    assert outcome.value.fields["notes"]["error"].fields["reason"] == "calls"


def accounts_of(outcome):
    """The accounts of a run that waits or has ended."""
    return (
        state_of(outcome).scheduler.times if isinstance(outcome, Suspended) else outcome
    ).accounts


def reply_of(taken, given):
    usage = {"input_tokens": taken, "output_tokens": given}
    return {"content": [], "stop_reason": "end_turn", "usage": usage, "model": "m"}


def test_what_is_reserved_is_told_from_what_is_spent():
    """Until the reply is there; then nothing is reserved any more."""
    outcome = begun(f"(with-budget {{tokens: 600}} (par {ASK} {ASK}))")
    first, second = outcome.requests

    account = accounts_of(outcome)["0"]
    assert (2, 2, account.spent_tokens) == (
        account.held_calls,
        account.spent_calls,
        account.held_tokens,
    )
    after = accounts_of(outcome.resume(first.id, reply_of(3, 4)))["0"]
    assert (1, account.held_tokens / 2) == (after.held_calls, after.held_tokens)
    assert 7 == after.spent_tokens - after.held_tokens
    ended = accounts_of(outcome.resume(first.id, reply_of(3, 4)).resume(second.id, {"content": []}))
    assert (0, 0) == (ended["0"].held_calls, ended["0"].held_tokens)
    assert ended["0"].spent_tokens == 7 + account.held_tokens / 2


def test_a_call_that_is_withdrawn_gives_back_what_it_held_for_its_output():
    """Its input may have been sent, and it may have been made: that stays."""
    text = f"(with-budget {{tokens: 600 calls: 9}} (race {ASK} (perform now)))"
    outcome = begun(text)
    held = accounts_of(outcome)["0"].held_tokens

    ended = outcome.resume(next(r.id for r in outcome.requests if r.operation == "now"), 1)

    account = accounts_of(ended)["0"]
    assert Done(1, ended.withdrawn) == ended
    assert (0, 0, 1) == (account.held_calls, account.held_tokens, account.spent_calls)
    assert held - 40 == account.spent_tokens


@pytest.mark.parametrize("end", ["cancel", "steps"])
def test_nothing_stays_reserved_where_a_run_is_cut_short(end):
    """Cancelled from outside, or stopped at a limit, with calls in flight."""
    busy = "(begin (perform now) (loop ((n 0)) (recur (+ n 1))))"
    outcome = begun(f"(with-budget {{tokens: 600}} (par {ASK} {busy}))", limits=Limits(steps=5_000))
    other = next(r.id for r in outcome.requests if r.operation == "now")

    ended = outcome.cancel() if end == "cancel" else outcome.resume(other, 1)

    assert isinstance(ended, Failed)
    account = accounts_of(ended)["0"]
    assert (0, 0, 1) == (account.held_calls, account.held_tokens, account.spent_calls)


def test_estimates_follow_what_replies_report():
    """A quarter above their share, per model; the same replies give the same refusals."""
    text = f"(with-budget {{tokens: 100000}} (list {ASK} {ASK} {ASK}))"
    held = []
    outcome = begun(text)
    while isinstance(outcome, Suspended):
        held.append(accounts_of(outcome)["0"].held_tokens - 40)
        learned = state_of(outcome).scheduler.times.learned
        outcome = outcome.resume(outcome.requests[0].id, reply_of(2 * held[0], 1))

    guess = held[0]
    assert {"": (2 * guess, 4 * guess)} == dict(learned)
    assert [guess, -(-guess * 2 * 5 // 4) + 8] * 2 == [*held[:2], held[0], held[2]]


def test_what_one_model_reports_says_nothing_about_another():
    """And a model that counts nothing teaches nothing."""
    other = '(perform model {messages: [] max_tokens: 40 model: "other"})'
    outcome = begun(f"(with-budget {{tokens: 100000}} (list {ASK} {other} {other}))")
    outcome = outcome.resume("1", reply_of(500, 1))
    outcome = outcome.resume("2", {"content": [], "usage": None})

    assert {""} == set(state_of(outcome).scheduler.times.learned)


def test_an_error_says_what_is_spent_what_is_reserved_and_what_to_do():
    """At the form, and for the budget of a whole run."""
    text = f"(with-budget {{calls: 2}} (par {ASK} {ASK} {ASK}))"
    fields = begun(text).error.fields
    assert (0, 2) == (fields["details"]["spent"], fields["details"]["reserved"])
    assert "raise `calls:` there" in fields["hint"]

    outcome = start(built(f"(list {ASK} {ASK})"), budget={"calls": 1})
    fields = outcome.resume("1", reply_of(1, 1)).error.fields
    assert (1, 0) == (fields["details"]["spent"], fields["details"]["reserved"])
    assert "--budget calls=2" in fields["hint"]


def test_what_a_prompt_cache_keeps_and_gives_has_its_own_price():
    """What a reply says is charged part by part."""

    def price(model, taken, given, written=0, read=0):
        return 0.001 * taken + 0.01 * given + 0.002 * written + 0.0001 * read

    meter = Meter(METER.estimate, lambda: price)
    outcome = start(built(f"(with-budget {{usd: 50}} {ASK})"), meter=meter)
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 1_000,
        "output_tokens": 10,
    }
    ended = outcome.resume("1", {"content": [], "usage": usage})

    assert 0.1 + 0.4 + 0.1 + 0.1 == pytest.approx(accounts_of(ended)["0"].spent_usd)
    assert 1_310 == accounts_of(ended)["0"].spent_tokens


def test_what_is_kept_for_an_hour_is_held_and_charged_as_twice_the_input():
    """What is kept for five minutes costs one and a quarter of it."""

    def price(model, taken, given, written=0, read=0):
        return taken + 1.25 * written

    def used(cache, created):
        meter = Meter(lambda payload: 1000, lambda: price)
        payload = f'{{messages: [] max_tokens: 40 cache: {cache} system: "x"}}'
        outcome = start(
            built(f"(with-budget {{usd: 9000}} (perform model {payload}))"), meter=meter
        )
        held = accounts_of(outcome)["0"].spent_usd
        usage = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 100}
        ended = outcome.resume("1", {"content": [], "usage": {**usage, "cache_creation": created}})
        return held, accounts_of(ended)["0"].spent_usd, accounts_of(ended)["0"].spent_tokens

    assert (1000, 10 + 125, 111) == used("false", None)
    assert (1250, 10 + 125, 111) == used("true", {"ephemeral_5m_input_tokens": 100})
    assert (2000, 10 + 200, 111) == used('"1h"', {"ephemeral_1h_input_tokens": 100})


def test_nobody_asks_for_a_price_where_no_budget_bounds_money():
    """Prices are looked up in tables; a budget of tokens needs none, one around it may."""
    asked = []
    meter = Meter(METER.estimate, lambda: lambda *tokens: asked.append(tokens) or 0.001)
    usage = {"input_tokens": 10, "output_tokens": 10}

    def prices(text):
        asked.clear()
        outcome = start(built(text), meter=meter)
        assert isinstance(outcome.resume("2" if "usd" in text else "1", {"usage": usage}), Done)
        return len(asked)

    assert 0 == prices(f"(with-budget {{tokens: 500 calls: 2}} {ASK})")
    assert 0 < prices(f"(with-budget {{usd: 1}} (with-budget {{tokens: 500}} {ASK}))")


def test_a_misspelt_bound_has_the_one_that_was_meant():
    """In the hint."""
    error = begun("(with-budget {cals: 1} 1)").error.fields

    assert ("wrong-type", "`cals` is no bound of a budget") == (error["reason"], error["message"])
    assert error["hint"].startswith("did you mean `calls`? for example (with-budget {calls: 20 ")
