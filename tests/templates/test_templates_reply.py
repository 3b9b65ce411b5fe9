"""Reply texts to values, repairs and problems."""

import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexplang.templates import json_schema, read_reply
from sexplang.terms.template import OutputFormat
from sexplang.terms.values.boundary import plain, value_of

OBJECT = OutputFormat("json", "object")


def read(text: str, schema=None):
    return read_reply(text, OutputFormat("json", schema))


def test_a_text_reply_is_taken_as_it_is():
    """Undeclared, text stays text, whatever it looks like."""
    for text in ("", "hello", '{"a": 1}', "```json\n1\n```"):
        reading = read_reply(text, OutputFormat())

        assert (reading.value, reading.repairs, reading.problem) == (text, (), None)


@pytest.mark.parametrize(
    ("schema", "fits", "fails"),
    [
        ("object", ["{}", '{"a": [1]}'], ["[]", "null", "1", '"x"']),
        ("array", ["[]", '[1, "x"]'], ["{}", "null"]),
        ("[]", ["[]", '[1, "x"]'], ["{}", "null"]),
        ("string", ['"x"'], ["1", "null", "[]"]),
        ("string[]", ["[]", '["x"]'], ['["x", 1]', '"x"', "[null]"]),
        ("number", ["1", "-2.5"], ["true", '"1"', "null"]),
        ("number[]", ["[1, 2.5]"], ["[1, true]", "1"]),
        ("integer", ["1", "2.0"], ["1.5", "false"]),
        ("boolean", ["true"], ["1", "0", "null", '"true"']),
        ("object[]", ["[{}]"], ["[[]]", "[null]", "{}"]),
        ("string[][]", ['[["x"], []]'], ['["x"]', "[[1]]"]),
        ("any", ["null", "1"], []),
        (None, ["null", "1", "{}"], []),
    ],
)
def test_the_words_of_the_mini_language_mean_what_they_say(schema, fits, fails):
    """An object is no list and not null; a number is not a boolean. The JSON Schema that a
    model is held to says the same."""
    again = json_schema(OutputFormat("json", schema))
    for text in fits:
        assert read(text, schema).problem is None, text
        assert read(text, again).problem is None, text
    for text in fails:
        reading = read(text, schema)

        assert reading.problem is not None, text
        assert reading.details["expectedType"] == schema
        assert read(text, again).problem is not None, text


def test_a_problem_is_a_sentence_for_the_model():
    """What it must be, what it is, and what to do."""
    reading = read("[1]", "object")

    assert reading.problem == (
        "The reply is JSON, but it must be an object, and it is an array. "
        "Reply again with JSON that fits, alone."
    )
    assert reading.details == {"expectedType": "object", "actualType": "array"}


def test_a_json_schema_names_the_place_of_each_violation():
    """At most five of them."""
    schema = {
        "type": "object",
        "properties": {"points": {"type": "array", "items": {"type": "number"}}},
        "required": ["name"],
    }

    reading = read('{"points": [1, "x"]}', schema)

    assert 'points[1]: "x" is not of type "number"' in (reading.problem or "")
    assert 'the whole: "name" is a required property' in reading.details["violations"]
    many = read(f'{{"points": {["x"] * 9}, "name": 1}}'.replace("'", '"'), schema)
    assert len(many.details["violations"]) == 6
    assert read('{"points": [1], "name": "n"}', schema).value == {"points": (1,), "name": "n"}


@pytest.mark.parametrize(
    ("text", "value", "repair"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}, "code fence"),
        ('Here you are:\n```\n{"a": 1}\n```\nHope it helps', {"a": 1}, "code fence"),
        ('Sure! {"a": [1]} is it.', {"a": (1,)}, "words around"),
        ('<think>or {"a": 2}</think>\n{"a": 1}', {"a": 1}, "left out the words around the JSON"),
        ('So. <think>how</think> {"a": 1}', {"a": 1}, "left out the words around the JSON"),
        ('<think>```\n[2]\n```</think>```\n{"a": 1}\n```', {"a": 1}, "code fence"),
        ('{"a": "</think>",}', {"a": "</think>"}, "left out a comma before }"),
        ('{"a": 0.12345678901234567891}', {"a": 0.12345678901234568}, "rounded 0.1234"),
        ('{"a": 1e-400}', {"a": 0.0}, "rounded 1e-400 to 0.0"),
        ("{a: 2.0000000000000000001}", {"a": 2.0}, "to 2.0"),
        ("{'a': 1,}", {"a": 1}, "wrote straight double quotes around a string"),
        ("{'a': 1,}", {"a": 1}, "left out a comma before }"),
        ("{'a': 'it\\'s \"x\"'}", {"a": 'it\'s "x"'}, "backslash before a single quote"),
        ("{“a”: 1}", {"a": 1}, "wrote straight double quotes around a string"),
        ("{a: 1}", {"a": 1}, "wrote quotes around the key a"),
        ('{"a": True, "b": NULL}', {"a": True, "b": None}, "took NULL for null"),
        ('{"a": +.5}', {"a": 0.5}, "took +.5 for 0.5"),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "supplied a comma"),
        ('{"a": [{"b": 1} {"b": 2}]}', {"a": ({"b": 1}, {"b": 2})}, "supplied a comma"),
        ('{"a": 1 // one\n}', {"a": 1}, "left out a comment"),
        ('{"a": "x\n\ty"}', {"a": "x\n\ty"}, "escaped the line breaks and tabs of a string"),
        ('{"a": 1}}', {"a": 1}, "left out a closing bracket too many"),
        ('{"a": 1, "a": 1}', {"a": 1}, "took the key a once that occurs twice"),
        ('So: {"a": 1,} ok', {"a": 1}, "left out the words around the JSON"),
        ('```json\n{"a": 1,}\n```', {"a": 1}, "code fence"),
        ('```\nx = 1\n```\n```\n{"a": 1}\n```', {"a": 1}, "code fence"),
        ('```\n{"a": 1}\n```\n```\n{"a": 1}\n```', {"a": 1}, "code fence"),
        ('{"a": "\\ud800"}', {"a": "\ufffd"}, "half characters"),
    ],
)
def test_every_repair_is_recorded(text, value, repair):
    """From fences over words around it to slips of the pen; a good reply needs none."""
    reading = read_reply(text, OBJECT)

    assert (reading.value, reading.problem) == (value, None)
    assert repair in "; ".join(reading.repairs)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot do that.",
        '{"a": 1} {"b": 2}',
        'Use [brackets], then {"b": 2',
        "{ " * 100 + '"a" ' * 240_000,
        '{"a": NaN}',
        '{"a": 1e999}',
        "[" * 200,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        "[" * 1_000_000,
        '"' + "[" * 100_000,
        'say "' + "[" * 100_000 + '"',
        'say "' + '{"a":' * 100_000 + '"',
        "9" * 5_000,
        "nan",
        "Infinity",
    ],
)
@pytest.mark.timeout(20)
def test_what_cannot_be_read_is_a_problem_and_never_harms(text):
    """However deep, long or odd: looking at every place for every other would take hours."""
    reading = read_reply(text, OBJECT)

    assert reading.problem is not None
    assert reading.value is None or not isinstance(reading.value, dict)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Draft:\n```\n{"a": 1}\n```\nFinal:\n```\n{"a": 2}\n```', "several JSON values"),
        ('Draft:\n```\n{"a": 1,}\n```\nFinal:\n```\n{"a": 2}\n```', "several JSON values"),
        ('```\n{"a": 1}\n```\nNo: {"a": 2}', "several JSON values"),
        ('{"a": tru', "`tru` is not a value"),
        ('{"a": tru}', "`tru` is not a value"),
        ('{"a": "tr', "a string is not closed"),
        ('{"a": true', "it ends where } is due"),
        ('```\n{"a": 1\n```', "it ends where } is due"),
        ('{"a": {"b": [1, 2]}', "it ends where } is due"),
        ('{"a": 1', "it ends where } is due"),
        ('{"a": 1.', "it ends where } is due"),
        ('{"a": [1, 2', "it ends where ] is due"),
        ("{", "ends where its first item is due"),
        ('{"a": {"b": [', "ends where its first item is due"),
        ('<think>or {"a": 1}</think>', "Expecting value"),
        ('<think>or {"a": 1}', "in a part for thinking"),
        ('or {"a": 1}</think>', "in a part for thinking"),
        ('<think>\n```\n{"a": 1}\n```\nor', "in a part for thinking"),
        (f'{{"a": {"9" * 4_250}}}', "too many digits"),
        (f"{{a: -{'9' * 4_250}}}", "too many digits"),
        ('{"a": 1,', "ends where another item is due"),
        ('{"a":', "ends where a value is due"),
        ('{"a": 01}', "`01` is not a value"),
        ('{"a": [1, // ... 3 more\n]}', "a comment may stand for what is left out"),
        ('{"a": [1 2]}', "a comma or ] is due"),
        ('{"a": [1, 2}', "a comma or ] is due"),
        ('{"a": "he said "hi" now"}', "a comma or } is due"),
        (f'{{"a": {"9" * 5_000}}}', "too many digits"),
        ('{"a": 1, "a": 2}', "occurs twice, with two values"),
        ('{"a": 1, "a": true}', "occurs twice, with two values"),
        ('{a: 1, "a": 2}', "occurs twice, with two values"),
        ('{"a": {"b": 1, "c": 2}', "it ends where } is due"),
        ('{"a": {"b": 1}}, "c": 2}', "may be a part of it"),
        ('Here: [{"a": 1}]', "may be a part of it"),
        ('"b": {"a": 1}', "may be a part of it"),
        ('{"a": 1}, {"a": ', "JSON"),
        ('See {x: 1} and {"a": 2}', "JSON"),
    ],
)
def test_what_is_not_certain_is_refused(text, words):
    """Nothing is made up, and nothing is chosen."""
    reading = read_reply(text, OBJECT)

    assert reading.value is None
    assert words in (reading.problem or "")


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ("integer", "3.0", 3),
        ("integer[]", "[1e2, 4]", (100, 4)),
        ("number", "3.0", 3.0),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, '{"n": 2.0}', {"n": 2}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, '{"n": 2.0}', {"n": 2}),
        (
            {"patternProperties": {"^x": {"type": "integer"}}},
            '{"xx": 3.0, "xy": 1e2}',
            {"xx": 3, "xy": 100},
        ),
        ({"if": {}, "then": {"type": "integer"}}, "3.0", 3),
        (
            {"prefixItems": [{"type": "integer"}], "items": {"type": "number"}},
            "[1.0, 2.0]",
            (1, 2.0),
        ),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "2.0", 2),
        ({"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}, "[2.0]", (2,)),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}, "2.0", 2.0),
    ],
)
def test_an_integer_is_one_however_it_is_written(schema, text, value):
    """Where the schema asks for one; elsewhere it stays what it is."""
    assert repr(read(text, schema).value) == repr(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e23", 10**23),
        ("9007199254740993.0", 2**53 + 1),
        ("9007199254740993e0", 2**53 + 1),
        ("-3." + "0" * 5_000, -3),
    ],
)
def test_an_integer_that_no_float_holds_is_exact(text, value):
    """Its digits count, and nothing of it is rounded."""
    reading = read(text, "integer")

    assert (reading.value, reading.repairs) == (value, ())


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740991.7",
        "4503599627370497.5",
        "3.00000000000000001",
        "0.99999999999999999999",
        "-1e-400",
        "1e-999999999",
        "1e-" + "9" * 50,
        "3." + "0" * 50 + "1",
    ],
)
def test_a_fraction_is_no_integer_however_a_float_would_round_it(text):
    """What is judged is what was written; where a number will do it is rounded, which is noted."""
    for schema in ("integer", {"type": "integer"}, "integer[]"):
        asked = f"[{text}, 1]" if schema == "integer[]" else text
        assert "integer" in read(asked, schema).problem
    reading = read(text, "number")

    assert repr(reading.value) == repr(float(text))
    assert [each.partition(" ")[0] for each in reading.repairs] == ["rounded"]
    assert read(f'["\\ud800", {text}]', {"items": {"type": ["integer", "string"]}}).problem


FORMATS = [
    ("date", "2024-02-29", "2024-02-30"),
    ("time", "10:00:00Z", "noon"),
    ("date-time", "2024-02-29T10:00:00Z", "2024-02-29"),
    ("duration", "P1D", "a day"),
    ("email", "ann@tea.org", "ann"),
    ("uri", "https://tea.org/a", "tea"),
    ("uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d"),
    ("ipv4", "127.0.0.1", "127.0.0.300"),
]


@pytest.mark.parametrize(("name", "good", "bad"), FORMATS)
def test_a_format_is_checked(name, good, bad):
    schema = {"type": "string", "format": name}

    assert read(f'"{good}"', schema).problem is None
    assert f'"{bad}" is not a "{name}"' in read(f'"{bad}"', schema).problem


def test_an_unknown_format_is_a_remark_and_a_pattern_is_not():
    """As JSON Schema has it."""
    assert read('"soon"', {"type": "string", "format": "tea-time"}).problem is None
    assert read('"soon"', {"type": "string", "pattern": "^[0-9-]+$"}).problem


@pytest.mark.parametrize("name", [name for name, _, _ in FORMATS])
@pytest.mark.parametrize("part", ["a", "1", "(", ":", "@", "%61", "é"])
def test_a_format_takes_linear_time(name, part):
    text = part * (500_000 // len(part))
    begin = perf_counter()
    read(json.dumps(text), {"type": "string", "format": name})

    assert perf_counter() - begin < 1


def test_the_type_is_checked_after_a_repair():
    """A mended reply of another type is refused like a whole one."""
    reading = read_reply("[1, 2,]", OBJECT)

    assert reading.details["actualType"] == "array"
    assert reading.repairs


def test_the_schema_of_a_model_is_none_where_anything_will_do():
    """Text, and json without a schema."""
    assert json_schema(OutputFormat()) is None
    assert json_schema(OutputFormat("json")) is None
    assert json_schema(OutputFormat("json", "any")) is None
    assert json_schema(OutputFormat("json", "string[]")) == {
        "type": "array",
        "items": {"type": "string"},
    }
    assert json_schema(OutputFormat("json", {"type": "object"})) == {"type": "object"}


@pytest.mark.timeout(20)
def test_a_pattern_that_stalls_others_costs_nothing():
    """Patterns run on an engine without backtracking."""
    schema = {"type": "string", "pattern": "(a+)+b$"}

    assert read(f'"{"a" * 50_000}"', schema).problem is not None


json_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(json_data, st.booleans())
def test_json_comes_back_as_the_value_it_denotes(data, fenced):
    """Lists become tuples; a fence around it changes nothing."""
    import json

    text = json.dumps(data)
    reading = read(f"```json\n{text}\n```" if fenced else text)

    assert reading.problem is None
    assert plain(reading.value) == data
    assert reading.value == value_of(data)


@given(json_data.filter(lambda data: isinstance(data, (dict, list))), st.data())
def test_a_reply_that_lost_a_part_is_refused_or_means_the_same_for_each_part_that_is_there(
    data, drawn
):
    """Whatever is cut off a reply, no text, word or key of the answer is other than it was."""
    import json

    whole = json.dumps(data)
    cut = whole[: drawn.draw(st.integers(0, len(whole) - 1))]
    reading = read(cut)

    assert reading.problem is not None or _strings(plain(reading.value)) <= _strings(data)


def _strings(data) -> set[str]:
    if isinstance(data, str):
        return {data}
    if isinstance(data, dict):
        return set(data).union(*map(_strings, data.values()))
    return set().union(*map(_strings, data)) if isinstance(data, list) else set()


@given(
    st.text(st.sampled_from('{}[]",:\\ \n`ab1-.e'), max_size=60) | st.text(),
    st.sampled_from([None, "object", "number[]", "string", {"type": "array", "maxItems": 2}]),
)
def test_any_text_gives_a_reading(text, schema):
    """A value or a problem; never an exception."""
    reading = read(text, schema)

    assert reading.problem is None or reading.problem.endswith(".")
    assert all(isinstance(repair, str) for repair in reading.repairs)
