"""The terms of a run: one noun, of plain data, without credentials."""

import json

import sexplang
from sexplang.machine import Done, Limits
from sexplang.runs.assembly import begin, terms_of
from sexplang.terms.json.tagged import dump, pack, unpack
from sexplang.terms.model.roles import read_models


def test_a_run_begins_from_its_terms():
    """Inputs, limits and budget are those of the terms."""
    program = sexplang.build("(define-input n type: integer) (* n 2)")
    terms = terms_of(program, {"n": 21}, limits=Limits(steps=1_000), budget={"calls": 3})

    outcome = begin(program, terms)

    assert isinstance(outcome, Done) and outcome.value == 42
    assert (1_000, {"calls": 3}) == (terms.limits["steps"], terms.budget)
    assert "held" not in terms.limits


def test_a_thawed_run_counts_money_as_the_run_did():
    """It had lost its prices: the next call was refused, as if nobody knew them."""
    call = '(model {model: "claude-sonnet-4-5" max_tokens: 100 messages: []})'
    text = f"(try (with-budget {{usd: 0.0042}} (list {call} {call} {call})) (catch (e) e.details))"
    program = sexplang.build(text)
    outcome = sexplang.start(program)
    thawed = sexplang.thaw(program, json.loads(json.dumps(sexplang.freeze(outcome))))

    def end(outcome):
        while not isinstance(outcome, Done):
            usage = {"input_tokens": 200, "output_tokens": 100}
            outcome = outcome.resume(outcome.requests[0].id, {"content": [], "usage": usage})
        return outcome.value

    assert end(outcome) == end(thawed)
    assert 0.0042 == end(thawed)["spent"]


def test_the_terms_can_be_written_down():
    """Each part is data, and comes back as it was."""
    program = sexplang.build("(define-input n) n")
    terms = terms_of(program, {"n": (1, "a")}, limits=Limits(), tools={"t": {"description": "d"}})

    for part in (terms.inputs, terms.limits, terms.budget, terms.tools):
        assert part == unpack(json.loads(dump(pack(part))))


def test_no_credentials_are_in_the_terms():
    """Of an address that a person gave, they hold what is shown."""
    models = read_models("http://user:secret@example.org/v1#one")
    terms = terms_of(sexplang.build("1"), {}, models=models, windows=models)

    assert models.credentials and "secret" not in repr(terms)


def test_a_program_is_told_by_its_digest():
    """The same files have the same; where one begins and another ends matters."""
    one, same, other = [terms_of(sexplang.build(each), {}) for each in ("1", "1", "2")]

    assert one.program == same.program != other.program
    assert 64 == len(one.program) and one.version == same.version
