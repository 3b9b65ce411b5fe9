"""What is said of a reply that fits no branch of a union: by the branch that was meant."""

import json

import pytest

from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat

RESUME = {
    "type": "object",
    "properties": {"kind": {"const": "resume"}, "seniority": {"enum": ["JUNIOR", "SENIOR"]}},
    "required": ["kind"],
}
LETTER = {
    "type": "object",
    "properties": {"kind": {"enum": ["letter", "mail"]}, "to": {"type": "string"}},
    "required": ["kind", "to"],
}
NAMED = [{"$ref": "#/$defs/R"}, {"$ref": "#/$defs/a~1b"}]
DEFINED = {"$defs": {"R": RESUME, "a/b": LETTER}, "type": "object"}
TREE = {
    "$defs": {
        "T": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/N"}]},
        "N": {"type": "object", "properties": {"to": {"$ref": "#/$defs/T"}}},
    },
    "$ref": "#/$defs/T",
}

TOLD = [
    ({"kind": "resume", "seniority": "BOSS"}, 'seniority: "BOSS" is not one of "JUNIOR"'),
    ({"seniority": "BOSS"}, 'seniority: "BOSS" is not one of "JUNIOR"'),
    ({"kind": "mail", "seniority": "BOSS"}, '"to" is a required property'),
    ({"kind": "mail", "to": 3}, 'to: 3 is not of type "string"'),
    ({"kind": "note", "to": 3}, 'kind: "note" is none of "resume", "letter", "mail"'),
    ({"kind": True}, 'kind: true is none of "resume"'),
]


def problem(schema, data, typed=False):
    return read_reply(json.dumps(data), OutputFormat("json", schema, typed=typed)).problem


@pytest.mark.parametrize(("data", "words"), TOLD)
@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_the_branch_that_was_meant_says_what_is_wrong(word, data, words):
    """Wherever the union stands, and whether its branches have names."""
    assert words in problem({word: [RESUME, LETTER]}, data)
    listed = {"type": "array", "items": {word: [RESUME, LETTER]}}
    said = problem(listed, [{"kind": "resume"}, data])
    assert words in said and ": [1]" in said
    named = {**DEFINED, "properties": {"doc": {word: NAMED}}}
    assert words in problem(named, {"doc": data})


def test_a_union_that_nobody_can_tell_apart_is_told_as_a_whole():
    """A value of no branch's kind, or of several."""
    assert "the whole: 3 is not valid under any" in problem({"anyOf": [RESUME, LETTER]}, 3)
    several = {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    assert "more than one" in problem(several, 3)


def test_a_union_in_itself_is_told_by_its_path():
    """As deep as the data goes."""
    assert "to.to: 3 is not valid under any" in problem(TREE, {"to": {"to": 3}})


def test_a_type_of_the_language_is_told_by_the_branch_too():
    """`(or {kind: (one-of "a") …} …)`, where a field with choices says which it is."""
    branches = [
        {"type": "object", "properties": {"kind": {"enum": ["a"]}, "x": {"type": "integer"}},
         "required": ["kind", "x"], "additionalProperties": False},
        {"type": "object", "properties": {"kind": {"enum": ["b"]}, "x": {"type": "string"}},
         "required": ["kind", "x"], "additionalProperties": False},
    ]  # fmt: skip
    said = problem({"anyOf": branches}, {"kind": "a", "x": "one", "to": 2}, typed=True)
    assert 'x: expected integer, got "one"' in said
    said = problem({"anyOf": branches}, {"kind": "c", "x": 1}, typed=True)
    assert 'kind: expected one of "a", "b", got "c"' in said
