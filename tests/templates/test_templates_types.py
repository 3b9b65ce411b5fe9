"""Types and values: one that is made from a type fits it, a planted misfit is told by its path."""

from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import strategies as st
from support.examples import examples

from sexplang.compiler.types.type_reader import TypeReader
from sexplang.reader import read
from sexplang.schemas.type_check import TypeCheck
from sexplang.schemas.values import misfit_of
from sexplang.templates import json_schema, read_reply
from sexplang.terms.schemas import TypeSchema
from sexplang.terms.source import Source
from sexplang.terms.template import OutputFormat
from sexplang.terms.values.boundary import plain, value_of

NAMES = ["a", "b", "note", "max-size", "x1"]
WRONG = {
    "string": 7,
    "integer": 1.5,
    "number": "12",
    "boolean": "yes",
    "nil": 0,
    "list": {},
    "table": [],
}
"""A value that is not of the type."""

LEAVES = {
    "string": st.text(max_size=3),
    "integer": st.integers(-9, 9),
    "number": st.integers(-9, 9) | st.floats(-9, 9),
    "boolean": st.booleans(),
    "nil": st.none(),
    "list": st.lists(st.integers(), max_size=2),
    "table": st.dictionaries(st.sampled_from(NAMES), st.none(), max_size=2),
}


@st.composite
def types(draw: Any, depth: int = 3) -> Any:
    """A type as a tree: a word, a list of choices, or a kind with its parts."""
    kinds = ["word", "choice"] + (["list", "table", "tagged"] if depth else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "word":
        return draw(st.sampled_from(sorted(LEAVES)))
    if kind == "choice":
        return ("choice", draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)))
    if kind == "list":
        return ("list", draw(types(depth - 1)))
    if kind == "table":
        return ("table", draw(fields(depth)))
    return ("tagged", draw(fields(depth)), draw(fields(depth)))


@cache  # Hypothesis reads a strategy once
def fields(depth: int) -> Any:
    field = st.tuples(types(depth - 1), st.booleans())
    return st.dictionaries(st.sampled_from(NAMES), field, max_size=3)


def write(type_: Any) -> str:
    match type_:
        case str():
            return type_
        case ("choice", names):
            return f"(one-of {' '.join(names)})"
        case ("list", item):
            return f"[{write(item)}]"
        case ("table", found):
            return "{" + _write_fields(found) + "}"
        case ("tagged", one, other):
            return (
                f'(or {{kind: (one-of "one") {_write_fields(one)}}}'
                f' {{kind: (one-of "other") {_write_fields(other)}}})'
            )
    raise AssertionError(type_)


def _write_fields(found: dict[str, Any]) -> str:
    words = [
        f"{name}{'?' if may_be_absent else ''}: {write(of)}"
        for name, (of, may_be_absent) in found.items()
    ]
    return " ".join(words)


def make(draw: Any, type_: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """A value of a type, and values with one misfit, each with its path."""
    match type_:
        case str():
            return draw(LEAVES[type_]), [("", WRONG[type_])]
        case ("choice", names):
            return draw(st.sampled_from(names)), [("", "?"), ("", 3)]
        case ("list", item):
            return _make_list(draw, item)
        case ("table", found):
            return _make_table(draw, found, {})
        case ("tagged", one, other):
            tag, found = draw(st.sampled_from([("one", one), ("other", other)]))
            value, misfits = _make_table(draw, found, {"kind": tag})
            wrong = (".kind", {**value, "kind": "neither"})
            return value, [wrong, *[each for each in misfits if each[0]]]
    raise AssertionError(type_)


def _make_list(draw: Any, item: Any) -> tuple[Any, list[tuple[str, Any]]]:
    made = [make(draw, item) for _ in range(draw(st.integers(0, 3)))]
    values = [value for value, _ in made]
    misfits: list[tuple[str, Any]] = [("", "x")]
    for at, (_, wrong) in enumerate(made):
        misfits += [
            (f"[{at}]{path}", [*values[:at], each, *values[at + 1 :]]) for path, each in wrong
        ]
    return values, misfits


def _make_table(
    draw: Any, found: dict[str, Any], value: dict[str, Any]
) -> tuple[Any, list[tuple[str, Any]]]:
    inside: list[tuple[str, str, Any]] = []
    for name, (of, may_be_absent) in found.items():
        if may_be_absent and draw(st.booleans()):
            continue
        value[name], misfits = make(draw, of)
        inside += [(name, path, each) for path, each in misfits]
    wrong: list[tuple[str, Any]] = [("", 5)]
    wrong += [(f".{name}{path}", {**value, name: each}) for name, path, each in inside]
    for name, (_, may_be_absent) in found.items():
        if not may_be_absent:
            left = {key: each for key, each in value.items() if key != name}
            wrong.append((f".{name}", left))
    if draw(st.booleans()):
        value["extra"] = 1
    return value, wrong


def schema_of(written: str, *, closed: bool = False) -> TypeSchema:
    return TypeReader(closed=closed).read(read(Source("a type", written))[0])


@examples(200, 3_000, types(), st.data())
def test_a_value_of_a_type_fits_it_and_a_planted_misfit_is_told_by_its_path(type_, data):
    schema = schema_of(write(type_)).whole
    value, misfits = make(data.draw, type_)

    assert misfit_of(value_of(value), schema) is None
    path, wrong = data.draw(st.sampled_from(misfits))
    told = misfit_of(value_of(wrong), schema)
    assert told is not None
    assert told.startswith(f"{path.lstrip('.') or 'the value'}: "), (told, path)


TREE = TypeSchema(
    {"$ref": "#/$defs/Tree"},
    {
        "Tree": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
            "required": ["value", "kids"],
        }
    },
)


def _tree(depth: int, leaf: Any) -> dict[str, Any]:
    tree: dict[str, Any] = {"value": leaf, "kids": []}
    for _ in range(depth):
        tree = {"value": 1, "kids": [tree]}
    return tree


def test_a_type_that_refers_to_itself_is_followed():
    assert misfit_of(value_of(_tree(20, 2)), TREE.whole) is None
    assert misfit_of(value_of(_tree(2, "x")), TREE.whole) == (
        'kids[0].kids[0].value: expected integer, got "x"'
    )


def test_what_is_nested_too_deep_is_refused():
    assert "128 levels" in misfit_of(value_of(_tree(100, 1)), TREE.whole)


def test_a_part_by_the_library_sees_the_definitions():
    """`minItems` is no word of the language's types."""
    kids = {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "minItems": 1}
    tree = {"type": "object", "properties": {"kids": {"anyOf": [kids, {"type": "null"}]}}}
    schema = {"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}}

    assert TypeCheck(schema).unfit({"kids": [{"kids": None}]}) is None
    assert TypeCheck(schema).unfit({"kids": [{"kids": []}]}).violations == (
        "kids[0].kids: [] has less than 1 item",
    )


def test_a_true_or_false_in_place_of_a_schema_is_one():
    schema = {"type": "object", "properties": {"a": True, "b": False}}

    assert TypeCheck(schema).unfit({"a": [1]}) is None
    assert TypeCheck(schema).unfit({"b": 1}).violations


CHOICE = {"enum": ["Up", "Down"]}
MOODS = {
    "type": "object",
    "properties": {
        "mood": CHOICE,
        "kids": {"type": "array", "items": {"$ref": "#/$defs/Moods"}},
    },
    "required": ["mood"],
    "additionalProperties": False,
}


def test_a_reply_of_a_type_that_refers_to_itself_is_repaired_like_any_other():
    schema = {"type": "array", "items": {"$ref": "#/$defs/Moods"}, "$defs": {"Moods": MOODS}}
    format_ = OutputFormat("json", schema, typed=True)
    reading = read_reply(
        '{"answer": [{"mood": "up", "kids": [{"mood": "DOWN", "x": 1}]}]}', format_
    )

    assert plain(reading.value) == [{"mood": "Up", "kids": [{"mood": "Down"}]}]
    assert reading.repairs == (
        'took "up" for "Up"',
        "left out the field `x`",
        'took "DOWN" for "Down"',
    )
    problem = read_reply('[{"mood": "up", "kids": [{"mood": 3}]}]', format_).problem
    assert '[0].kids[0].mood: expected one of "Up", "Down", got 3' in problem


def test_a_type_with_definitions_is_wrapped_with_them():
    schema = {"type": "array", "items": {"$ref": "#/$defs/Moods"}, "$defs": {"Moods": MOODS}}
    asked = json_schema(OutputFormat("json", schema, typed=True))

    assert asked["properties"]["answer"] == {"type": "array", "items": {"$ref": "#/$defs/Moods"}}
    assert asked["$defs"] == {"Moods": MOODS}


def test_a_schema_that_refers_to_its_root_is_not_wrapped():
    schema = {"type": "array", "items": {"$ref": "#"}}
    format_ = OutputFormat("json", schema, typed=True)

    assert json_schema(format_) == schema
    assert plain(read_reply("[[], [[]]]", format_).value) == [[], [[]]]
    assert read_reply("[[3]]", format_).problem


def test_fields_that_refer_to_other_fields_are_held_to_them():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#/properties/a", "minimum": 3},
        },
    }
    format_ = OutputFormat("json", schema, typed=True)

    assert plain(read_reply('{"a": 1, "b": 2}', format_).value) == {"a": 1, "b": 2}
    assert plain(read_reply('{"c": 3}', format_).value) == {"c": 3}
    assert "b: expected integer" in read_reply('{"a": 1, "b": "x"}', format_).problem
    assert 'c: "x" is not of type "integer"' in read_reply('{"c": "x"}', format_).problem


LIBRARY = [
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "x"}, "a:"),
    ({"anyOf": [{"type": "object"}], "required": ["a"]}, {}, '"a" is a required property'),
    ({"enum": ["a", 1], "type": "integer"}, "a", "integer"),
    ({"type": "array", "items": [{"type": "integer"}]}, ["x"], None),
    ({"type": ["integer", "null"]}, "x", "integer"),
]


@pytest.mark.parametrize(("schema", "data", "words"), LIBRARY)
def test_a_schema_of_other_words_is_checked_as_a_whole(schema, data, words):
    """No word of it is passed over."""
    schema = (
        {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
        if words is None
        else schema
    )
    wrong = TypeCheck(schema).unfit(data)

    assert wrong is not None
    assert (words or "") in wrong.sentence


KINDS = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(NAMES),
    lambda part: (
        st.lists(part, max_size=2) | st.dictionaries(st.sampled_from(NAMES), part, max_size=3)
    ),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.booleans() | st.builds(dict, type=KINDS) | st.builds(dict, enum=st.lists(DATA, max_size=2)),
    lambda part: (
        st.fixed_dictionaries(
            {"type": st.just("object")},
            optional={
                "properties": st.dictionaries(st.sampled_from(NAMES), part, max_size=3),
                "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
                "additionalProperties": st.booleans(),
            },
        )
        | st.builds(lambda items: {"type": "array", "items": items}, part)
        | st.builds(lambda each: {"anyOf": each}, st.lists(part, min_size=1, max_size=3))
    ),
    max_leaves=5,
)


@examples(200, 5_000, SCHEMAS.filter(lambda each: isinstance(each, dict)), DATA)
def test_what_fits_no_schema_has_a_misfit(schema, data):
    """The same as by the library of JSON Schema, and a misfit is always told."""
    fitting = jsonschema.Draft202012Validator(schema).is_valid(data)
    assert fitting == (misfit_of(value_of(data), schema) is None)
