"""Programs run against scripts, and what Hypothesis makes for tests."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples

import sexplang
from sexplang.reader import read
from sexplang.reader.writer import write
from sexplang.terms.source import Source
from sexplang.testing import Mismatch, forms, programs, run_script, scripts, values

BREW = '(define-effect (heat degrees)) (print "on") (if (heat 95) (ask-user "Milk?") "cold")'


def mismatch(program, script, **given):
    with pytest.raises(Mismatch) as found:
        run_script(program, script, **given)
    return str(found.value)


def test_a_true_script_gives_the_value():
    """Operations alone, with arguments, with `...`; what was left out may be None."""
    assert "no" == run_script(BREW, [("heat", True), ("ask-user", "no")])
    assert "no" == run_script(BREW, [(("heat", 95), 1), (("ask-user", ..., None), "no")])
    assert "no" == run_script(BREW, [("print", None), ("heat", 1), (("ask-user", "Milk?"), "no")])


def test_a_mismatch_shows_both_sides_and_what_came_before():
    """Another request, none, or one too many."""
    asked = mismatch(BREW, [("heat", True), (("ask-user", "Sugar?"), "no")])

    assert 'the program asks (ask-user "Milk?")\n' in asked
    assert "but the script expects (ask-user 'Sugar?')\n" in asked
    assert '   1  (print "on") → nil\n   2  (heat 95) → true' in asked
    assert "the script is at its end" in mismatch(BREW, [("heat", True)])
    assert "the program ended" in mismatch(BREW, [("heat", False), ("ask-user", "no")])
    assert "(heat 95)" in mismatch(BREW, [(("heat", 9.5), 1)])
    assert "(heat 95)" in mismatch(BREW, [(("heat",), 1)])


def test_arguments_fit_in_part():
    """Dicts name what matters, at any depth; booleans are no numbers."""
    program = '(define-effect (send x)) (send {a: 1 b: [{c: true d: "x"}]})'

    assert 1 == run_script(program, [(("send", {"b": [{"c": True}]}), 1)])
    assert 1 == run_script(program, [(("send", {"a": 1.0, "b": [...]}), 1)])
    mismatch(program, [(("send", {"b": [{"c": 1}]}), 1)])
    mismatch(program, [(("send", {"b": []}), 1)])
    mismatch(program, [(("send", {"z": ...}), 1)])


def test_branches_are_answered_in_the_order_of_the_script():
    """The first open request that fits the next pair."""
    program = "(define-effect (ask x)) (par (ask 1) (ask 2))"

    assert ["a", "b"] == run_script(program, [(("ask", 2), "b"), (("ask", 1), "a")])
    assert [1, 2] == run_script(program, [("ask", 1), ("ask", 2)])


def test_errors_are_given_and_noted():
    """A Failed in a script fails the request; a program that fails tells what it had asked."""
    cold = sexplang.error("cold", "no power")
    caught = BREW.replace("(heat 95)", "(try (heat 95) (catch (e cold) false))")

    assert "cold" == run_script(caught, [("heat", cold)])
    with pytest.raises(sexplang.Failed) as failed:
        run_script(BREW, [("heat", cold)])
    assert "   2  (heat 95) fails: USER_ERROR cold: no power" in failed.value.__notes__[0]


def test_time_passes_when_the_script_says_so():
    """A deadline is a request of its own."""
    program = "(define-effect (ask)) (with-timeout 5 (ask))"

    assert 1 == run_script(program, [("ask", 1)])
    with pytest.raises(sexplang.Failed, match="seconds"):
        run_script(program, [("timer", None)])


def test_a_function_may_answer_everything():
    """It may also fail what it is asked."""

    def answer(operation, *arguments):
        if operation == "heat":
            raise sexplang.error("cold", "no power")

    with pytest.raises(sexplang.Failed, match="cold"):
        run_script(BREW, answer)


def test_models_say_what_scripted_models_say():
    """A text, a call of a tool, an error."""
    task = '(defatom ask (allowed_tools f) (instructions "Ask.")) (str (ask))'
    call = {"tool_use": {"name": "f", "input": {}}}

    assert "b" == run_script(task, [("model", call), (("tool", "f", ...), "a"), ("model", "b")])
    with pytest.raises(sexplang.Failed, match="connection_error"):
        run_script(task, [("model", {"error": "connection_error"})])


# -- Strategies ---------------------------------------------------------------------------------


@given(forms())
def test_forms_read_as_they_are_written(form):
    """read after write is the identity."""
    assert (form,) == read(Source("", write(form)))


@given(values())
def test_values_are_json(value):
    """And programs that mean themselves."""
    assert value == json.loads(json.dumps(value))
    assert value == sexplang.run(json.dumps(value))


def reply(request):
    return len(request.id) + sum(request.arguments)


def played(outcome, cancel_after=1_000):
    """The value or the reason in the end."""
    steps = 0
    while isinstance(outcome, sexplang.Suspended):
        steps += 1
        if steps == cancel_after:
            outcome = outcome.cancel()
            continue
        request = outcome.requests[0]
        outcome = outcome.resume(request.id, reply(request))
    if isinstance(outcome, sexplang.Failed):
        return outcome.reason
    return sexplang.result(outcome)


@examples(20, 120, programs())
def test_programs_are_programs_that_end(text):
    """They build without an error, and end in two numbers or an error of their own."""
    value = played(sexplang.start(sexplang.build(text), limits=sexplang.Limits(steps=1_000_000)))

    assert isinstance(value, (list, str))
    assert value != "limit-steps"


@examples(20, 120, programs(), st.integers(1, 5))
def test_resuming_twice_is_two_runs(text, at):
    """A law of the language, from outside: an outcome is a value."""
    outcome = sexplang.start(sexplang.build(text))
    first = played(outcome)
    played(outcome, cancel_after=at)

    assert first == played(outcome)


def test_programs_have_what_is_asked_for():
    """Kinds are left out by name."""
    found = []

    @settings(max_examples=100, database=None, suppress_health_check=list(HealthCheck))
    @given(programs(size=30, without=("handlers", "par", "errors")))
    def collect(text):
        found.append(text)

    collect()

    assert not any(word in text for text in found for word in ("(handle", "(par", "(raise"))
    assert any("(try" in text for text in found)


@examples(
    40,
    200,
    scripts(
        texts=st.just("done"),
        tools={"f": st.builds(dict, x=st.integers())},
        errors=True,
        max_size=3,
    ),
)
def test_scripts_end_a_task(script):
    """Calls of tools, then a text or an error: a task takes the whole of it."""
    task = '(defatom ask (allowed_tools f) (instructions "Ask.")) (str (ask))'
    calls = []
    try:
        value = sexplang.run(task, model=script, tools={"f": lambda x: calls.append(x)})
    except sexplang.Failed as failed:
        value = {"error": failed.reason}

    assert script[-1] == value
    assert len(calls) == len(script) - 1 < 3
