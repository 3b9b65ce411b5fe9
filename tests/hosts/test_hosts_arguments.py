"""Arguments of the command to settings, inputs and output."""

import json
import os

import pytest
from hypothesis import strategies as st
from support.examples import examples

import sexplang
from sexplang.hosts.cli.output import as_json, format_value
from sexplang.hosts.settings.input_arguments import describe_inputs, values_of
from sexplang.hosts.settings.run_arguments import RUN_OPTIONS, Settings, quick
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.program import Input
from sexplang.terms.source import Source, Span
from sexplang.terms.task import task_result
from sexplang.terms.values.value import Fault, symbol

HERE = Span(Source("a", ""), 0, 0)


def an_input(name, type="string", choices=(), doc="", required=True, default=None):
    return Input(name, type, choices, doc, required, default, HERE)


def values(arguments, *inputs, files=None):
    return values_of(arguments, inputs, lambda path: (files or {})[path])


def codes(arguments, *inputs):
    with pytest.raises(Diagnostics) as refused:
        values(arguments, *inputs)
    return [found.code for found in refused.value.diagnostics]


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["a.sexp"], Settings("a.sexp")),
        (["-e", "(+ 1 2)"], Settings(expression="(+ 1 2)")),
        (["-e", "-5"], Settings(expression="-5")),
        (["-", "x=1"], Settings("-", inputs=("x=1",))),
        (["a", "x=a=b", "--json", "-q"], Settings("a", inputs=("x=a=b",), json=True, quiet=True)),
        (["a", "--model=local"], Settings("a", model=("local",))),
        (["a", "--allow-read", "b", "--allow-read=c"], Settings("a", allow_read=("b", "c"))),
        (["a", "--parallel", "4", "--strict"], Settings("a", parallel=4, strict=True)),
    ],
)
def test_a_plain_run_is_understood_at_once(words, settings):
    """What people type most needs no command line library."""
    assert settings == quick(words)


@pytest.mark.parametrize(
    "words",
    [[], ["--help"], ["a", "--modle", "x"], ["a", "--model"], ["a", "--json=1"], ["a", "b"]]
    + [["a", "--parallel", count] for count in ("0", "-1", "x")]
    + [["a", f"--allow-{what}", ""] for what in ("read", "write", "run", "net")]
    + [["a", "--allow-net=http://x"]],
)
def test_whatever_is_unusual_is_left_to_the_library(words):
    """The quick reading guesses nothing."""
    assert quick(words) is None


def test_options_have_one_list():
    """Every setting besides the program, its folder, its inputs, how a task was named and what a
    configuration alone says is an option."""
    names = {option.name for option in RUN_OPTIONS}

    beside = {"file", "folder", "inputs", "task", "places", "way", "models"}
    beside |= {"headers"}  # of a configuration
    beside |= {"reuse", "again", "never", "yes"}  # of a resumption
    assert set(Settings.__annotations__) - beside == names


def test_inputs_are_converted_by_their_declared_type():
    """Text stays text; the others are read as JSON writes them."""
    given = values(
        ["s=3", "n=1.5", "i=3", "b=true", 'j={"a": [1, null]}', "f=x.txt"],
        an_input("s"),
        an_input("n", "number"),
        an_input("i", "integer"),
        an_input("b", "boolean"),
        an_input("j", "json"),
        an_input("f", "file"),
    )

    plain = {"s": "3", "n": 1.5, "i": 3, "b": True, "j": {"a": (1, None)}}
    assert given == {**plain, "f": os.path.abspath("x.txt")}


def test_an_input_can_come_from_a_file_or_from_standard_input():
    """`name=@path` and `name=-` give the text there, converted like any other."""
    files = {"note.txt": "hello\n", "-": "[1]"}

    assert values(["a=@note.txt", "b=-"], an_input("a"), an_input("b", "json"), files=files) == {
        "a": "hello\n",
        "b": (1,),
    }


def test_inputs_that_do_not_fit_are_named():
    """Wrong, missing and unknown inputs are all reported at once."""
    assert codes(["i=1.5"], an_input("i", "integer")) == ["bad-input"]
    assert codes(["b=True"], an_input("b", "boolean")) == ["bad-input"]
    assert codes(["n=true"], an_input("n", "number")) == ["bad-input"]
    assert codes(["c=blue"], an_input("c", choices=("red", "green"))) == ["bad-input"]
    assert codes(["x=1"], an_input("y")) == ["unknown-input", "missing-input"]


def test_help_describes_inputs():
    """Name, type, doc, choices, default."""
    assert describe_inputs(
        (
            an_input("topic", doc="what it is about"),
            an_input("style", choices=("dry", "warm"), required=False, default="dry"),
        )
    ) == [
        ("topic=<string>", "what it is about  [required]"),
        ("style=<string>", '[dry|warm]  [default: "dry"]'),
    ]


def test_help_tells_the_types_of_the_program():
    """As they are written, with the fields of those that have a name; of a long one its kind."""
    program = sexplang.build(
        """
        (define-type Flight {origin: string price?: number})
        (define-type Tree {value: integer kids: [Tree]})
        (define-input flight type: Flight doc: "which")
        (define-input flights type: [Flight] default: [])
        (define-input kind type: (one-of "a"   "b"))
        (define-input tree type: Tree)
        (define-input row type: {number: integer words?: [string] other: (or string nil)})
        (define-input table type: table)
        (define-input data type: json)
        """
    )

    assert describe_inputs(program.inputs) == [
        ("flight=<Flight>", "which  {origin: string price?: number}  [required]"),
        ("flights=<[Flight]>", "[{origin: string price?: number}]  [default: []]"),
        ('kind=<(one-of "a" "b")>', "[required]"),
        ("tree=<Tree>", "{value: integer kids: [Tree]}  [required]"),
        ("row=<table>", "{number: integer words?: [string] other: (or string nil)}  [required]"),
        ("table=<table>", "[required]"),
        ("data=<json>", "[required]"),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("tea", "tea\n"),
        ("two\nlines\n", "two\nlines\n"),
        ("", "\n"),
        (task_result("an answer"), "an answer\n"),
        ((1, symbol("x"), "s", {"a": 1.5}), '[1 \'x "s" {a: 1.5}]\n'),
        (True, "true\n"),
    ],
)
def test_the_value_is_shown_by_its_kind(value, text):
    """Text as it is, nil not at all, data so that it can be read again."""
    assert text == format_value(value)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@examples(40, 200, json_values)
def test_json_output_is_one_document(value):
    """What JSON can hold comes out as it is, on one line."""
    text = as_json(value)

    assert text.endswith("\n") and "\n" not in text[:-1]
    assert json.loads(json.dumps(value)) == json.loads(text)


def test_json_output_refuses_what_json_cannot_hold():
    """NaN and infinities are `not-json`; symbols are strings, records objects."""
    assert as_json((symbol("a"), task_result("x"))).startswith('["a",')
    for value in (float("nan"), float("inf")):
        with pytest.raises(Fault) as refused:
            as_json((value,))
        assert refused.value.code == "not-json"


def test_depth_is_no_limit_for_output():
    """A value 20,000 levels deep is written."""
    value = ()
    for _ in range(20_000):
        value = (value,)

    assert format_value(value).count("[") == as_json(value).count("[") == 20_001
