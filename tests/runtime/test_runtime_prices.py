"""Prices by a library, and budgets in US dollars that follow from them."""

import pytest

import sexplang
from sexplang.runtime.models.prices import prices
from sexplang.terms.model.roles import read_models


@pytest.mark.parametrize(
    "model", ["claude-opus-5-5", "anthropic:claude-opus-5-5", "http://127.0.0.1:1#claude-opus-5-5"]
)
def test_a_model_has_its_price_however_it_is_named(model):
    """Output costs more than input, and twice as much costs twice as much."""
    price = prices()

    assert 0 < price(model, 1_000, 0) < price(model, 0, 1_000)
    assert price(model, 2_000, 10) == pytest.approx(2 * price(model, 1_000, 5))


def test_what_runs_here_costs_nothing_and_what_nobody_knows_has_no_price(monkeypatch):
    monkeypatch.setattr("sexplang.runtime.models.adapters.local.is_installed", lambda: False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    price = prices()

    assert price("local", 1_000, 1_000) == price("scripted:x.json", 1, 1) == 0
    assert price("some-model-of-nobody", 1, 1) is None
    assert price("", 1, 1) is None
    assert (
        prices(read_models("local"))("", 1, 1) == prices(read_models("local"))("a role", 1, 1) == 0
    )


def test_a_budget_in_dollars_lets_through_what_fits_and_refuses_the_rest():
    """At the price of the model that the payload names; a call is refused before it is made."""
    program = """
    (define (ask) (model {model: "claude-opus-5-5" max_tokens: 1000
                          messages: [{role: "user" content: "Hello"}]}))
    (define (asked n) (if (= n 0) "all" (begin (ask) (asked (- n 1)))))
    (try (with-budget {usd: LIMIT} (asked COUNT)) (catch (problem usd) problem.details.resource))
    """
    calls = []

    def model(payload):
        calls.append(min(payload["max_tokens"], 900))
        usage = {"input_tokens": 10, "output_tokens": calls[-1]}
        return {"content": [], "stop_reason": "end_turn", "usage": usage, "model": "m"}

    price = prices()
    few, many = program.replace("COUNT", "3"), program.replace("COUNT", "30")
    assert sexplang.run(few.replace("LIMIT", "10"), model=model) == "all"
    assert calls == [900, 900, 900]
    calls.clear()
    limit = price("claude-opus-5-5", 10, 1_100)
    assert sexplang.run(many.replace("LIMIT", f"{limit:.9f}"), model=model) == "usd"
    assert 0 < sum(price("claude-opus-5-5", 10, given) for given in calls) <= limit


def test_a_budget_in_dollars_refuses_a_model_without_a_price():
    program = (
        '(with-budget {usd: 1} (model {model: "odd-one" messages: [{role: "user" content: "x"}]}))'
    )

    with pytest.raises(sexplang.Failed) as raised:
        sexplang.run(program, model=lambda payload: "x")
    assert raised.value.reason == "usd"
    assert raised.value.details["metrics"] == {"limit": 1, "used": 0.0}
    assert (
        "nobody knows the price" in str(raised.value)
        and "bound `tokens:` or `calls:`" in raised.value.error.fields["hint"]
    )


def test_a_count_that_no_float_holds_has_a_price():
    """A program may ask for so much output, and a server may report it."""
    program = f"""
    (with-budget {{usd: 1}}
      (model {{model: "claude-opus-5-5" max_tokens: {10**400}
              messages: [{{role: "user" content: "Hello"}}]}}))
    """
    given = []

    def model(payload):
        given.append(payload["max_tokens"])
        return {"content": [], "model": "m", "usage": {"input_tokens": 1, "output_tokens": 10**400}}

    assert 10**400 == sexplang.run(program, model=model)["usage"]["output_tokens"]
    assert 0 < given[0] < 10**6
    assert 0 == prices()("local", 10**400, 10**400)


def test_a_prompt_cache_has_prices_of_its_own():
    """To write into it costs more than other input, and to read from it less."""
    price = prices()
    model = "claude-opus-5-5"

    plain, written, read = (
        price(model, 1_000, 0),
        price(model, 0, 0, 1_000),
        price(model, 0, 0, 0, 1_000),
    )

    assert 0 < read < plain < written
    assert price(model, 1_000, 5, 1_000, 1_000) == pytest.approx(
        plain + written + read + price(model, 0, 5)
    )
    assert 0 == prices(read_models(names={model: "local"}))(model, 1, 1, 1, 1)


def test_nobody_knows_the_price_of_a_function():
    """Where no model is named that it stands for; a list of replies costs nothing."""
    program = '(defatom say (instructions "Hi.") MODEL) (with-budget {usd: 9} (str (say)))'
    plain = program.replace("MODEL", "")

    with pytest.raises(sexplang.Failed, match="nobody knows the price"):
        sexplang.run(plain, model=lambda payload: "x")
    assert sexplang.run(plain, model=["x"]) == "x"
    named = program.replace("MODEL", '(model "anthropic:claude-sonnet-4-5")')
    assert sexplang.run(named, model=lambda payload: "x") == "x"
