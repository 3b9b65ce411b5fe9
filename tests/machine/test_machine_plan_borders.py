"""What a program from a model gives back is data, however it ends."""

import pytest
from support.running import begun

from sexplang.machine import Done
from sexplang.terms.values.value import Procedure, Record

WAYS_OUT = [
    "(raise F)",
    "(raise [1 {a: F}])",
    '(raise {reason: "r" details: {a: [F]}})',
    '(raise {reason: "r" content: F})',
    '(raise {reason: "r" content: {deep: [[F]]}})',
    '(error "r" 1 F)',
    "(match F (5 1))",
    "(race (raise F) (raise [F]))",
    "(par 1 (raise F))",
    "(raise (attempt (raise F)))",
    '(raise {reason: "r" details: {t: (attempt (raise F))}})',
    "(try (raise 1) (finally (raise F)))",
    "(try (raise F) (catch (e) (raise {reason: 1 details: {e: e}})))",
    "(try (raise F) (catch (e) e))",
    "(attempt (raise F))",
    "(handle (perform x) ((x) k (raise k)))",
    '(raise (eval-plan "(raise car)" inputs: {f: F}))',
    "(given F)",
    "F",
    "{a: [F]}",
]


@pytest.mark.parametrize("function", ["(lambda () 1)", '(get {f: now} "f")', "car", "given"])
@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_function_leaves_a_plan(way, function):
    """Called outside, it would have the rights of whoever calls."""
    text = way.replace("F", function).replace("\\", "\\\\").replace('"', '\\"')

    outcome = begun(f'(eval-plan "{text}" inputs: {{given: (lambda (x) (raise x))}})')

    assert isinstance(outcome, Done)
    assert outcome.value["status"] == "failed"
    assert not any(isinstance(part, Procedure) for part in parts(outcome.value))


def test_an_error_of_a_plan_that_shares_its_parts_is_told_as_too_large():
    """Written out it would not fit into memory."""
    text = "(raise (fold (lambda (a x) [a a]) [car] (range 40)))"

    outcome = begun(f'(eval-plan "{text}")')

    assert outcome.value["error"].fields["reason"] == "limit-data"


@pytest.mark.parametrize("name", ["list", "append", "map", "docs"])
def test_an_input_of_a_plan_may_be_called_like_anything(name):
    """It is the plan's own name, also where the language means another by it."""
    text = f"[{name} [0 ~@{name}] (par-map (lambda (n) (+ n 1)) {name})]".replace("[0", "`[0")

    outcome = begun(f'(eval-plan "{text}" inputs: {{{name}: [1 2]}})')

    assert {"status": "done", "value": ((1, 2), (0, 1, 2), (2, 3))} == outcome.value


def parts(value):
    yield value
    if isinstance(value, Record):
        value = value.fields
    for part in value.values() if isinstance(value, dict) else value:
        yield from parts(part) if isinstance(part, (dict, tuple, Record)) else [part]
