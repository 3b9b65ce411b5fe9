"""Text: code points, TaskResults as their content, sizes checked before anything is made."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.primitive_calls import call, refused

from sexplang import error
from sexplang.primitives import PRIMITIVES
from sexplang.terms.json import json_reader
from sexplang.terms.task import task_result
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Record, Symbol, Value

RESULT = task_result("tea")
HALF = "x" * 6_000_000


VALUES = [
    ("", "str", []),
    ("a1[2 'b]tea", "str", ["a", 1, (2, Symbol("b")), None, RESULT]),
    ("atea", "string-append", ["a", RESULT]),
    (3, "string-length", ["a\U0001f600b"]),
    (3, "string-length", [RESULT]),
    ("bc", "substring", ["abcd", 1, 3]),
    ("bcd", "substring", ["abcd", 1]),
    ("", "substring", ["abcd", 4]),
    (("a", "", "b"), "string-split", ["a,,b", ","]),
    (("",), "string-split", ["", ","]),
    (("a", "b"), "string-split", ["ab", ""]),
    ("a, tea", "string-join", [("a", RESULT), ", "]),
    ("", "string-join", [(), ", "]),
    ("a b", "string-trim", ["\n a b\t"]),
    ("SS", "string-upcase", ["ß"]),
    ("é", "string-downcase", ["É"]),
    (True, "string-contains?", [RESULT, "ea"]),
    (False, "string-contains?", ["tea", "ae"]),
    ("bb", "string-replace", ["aa", "a", "b"]),
    ("", "string-replace", ["aa", "a", ""]),
    (True, "string=?", ["tea", RESULT, "tea"]),
    (False, "string=?", ["a", "a", "b"]),
    ('1 of "x"\n~', "format", ["~a of ~s~%~~", 1, "x"]),
    ("tea", "format", ["~a", RESULT]),
]


@pytest.mark.parametrize(("expected", "name", "arguments"), VALUES)
def test_text_gives_what_the_chapter_says(expected, name, arguments):
    """Code points, all occurrences, content for TaskResults."""
    assert expected == call(name, *arguments)


REFUSED = [
    ("wrong-type", "string-append", ["a", 1]),
    ("wrong-type", "string-length", [("a",)]),
    ("wrong-type", "string-join", ["a", "b"]),
    ("wrong-type", "string-join", [(1,), ""]),
    ("wrong-type", "string=?", ["a", "a", Symbol("a")]),
    ("wrong-type", "format", [False, "~a"]),
    ("wrong-type", "substring", ["abc", 1.0]),
    ("out-of-range", "substring", ["abc", 2, 1]),
    ("out-of-range", "substring", ["abc", 0, 4]),
    ("out-of-range", "substring", ["abc", -1]),
    ("out-of-range", "string-replace", ["abc", "", "x"]),
    ("bad-format", "format", ["~a"]),
    ("bad-format", "format", ["a", 1]),
    ("bad-format", "format", ["~q", 1]),
    ("bad-format", "format", ["~"]),
    ("limit-string", "string-append", [HALF, HALF]),
    ("limit-string", "str", [HALF, HALF]),
    ("limit-string", "str", [(HALF, HALF)]),
    ("limit-string", "string-join", [("a", "b"), HALF * 2]),
    ("limit-string", "string-replace", ["x" * 10_000, "x", "y" * 10_000]),
    ("limit-string", "format", ["~a~a", HALF, HALF]),
    ("limit-string", "string-upcase", ["ß" * 6_000_000]),
]


@pytest.mark.parametrize(("code", "name", "arguments"), REFUSED, ids=lambda x: str(x)[:12])
def test_what_is_no_text_or_too_long_is_refused(code, name, arguments):
    """By code; nothing longer than the limit is ever made."""
    assert code == refused(name, *arguments).code


@pytest.mark.parametrize("last", [7, -8, True, 1.5, (9,)])
def test_a_long_list_is_written_as_a_short_one_is(last):
    """Also where all of it are integers."""
    items = (*range(-200, 200), last)
    words = {True: "true", (9,): "[9]"}.get(last, str(last))

    assert call("str", items) == f"[{' '.join(map(str, range(-200, 200)))} {words}]"
    assert call("json-string", items) == f"[{','.join(map(str, range(-200, 200)))},{words}]"


def test_a_value_that_shares_its_parts_is_not_written_out():
    """Sixty small lists can stand for more text than there is memory."""
    value: Value = ("a",)
    for _ in range(60):
        value = (value, value)

    assert refused("str", value).code == "limit-string"
    assert refused("json-string", value).code == "limit-string"
    assert "takes numbers, not a list of 2 items" in refused("+", value).message


ERROR = error("wrong-type", "tea " * 100).error


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"tea": 1}, "{tea: 1}"),
        ({"tea": "x" * 300}, 'a table of 1 key: "tea"'),
        ({f"k{n}": n for n in range(99)}, 'a table of 99 keys: "k0" "k1" "k2" "k3" "k4" "k5" …'),
        ({"k" * 80: "x" * 300}, f'a table of 1 key: "{"k" * 50}…"'),  # and a key is abbreviated
        (ERROR, "an error record: wrong-type"),
        (Record("error", {**ERROR.fields, "reason": None}), "an error record"),
        (task_result("x" * 300), "a TaskResult record"),
    ],
)
def test_a_long_value_is_described_in_a_message(value, words):
    assert abbreviate(value) == words


DOCUMENTS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=("Cs",))),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text('ab"\\\u2028é'), inner)),
    max_leaves=20,
)


def tupled(document: Value) -> Value:
    if isinstance(document, list):
        return tuple(map(tupled, document))
    if isinstance(document, dict):
        return {key: tupled(value) for key, value in document.items()}
    return document


@examples(80, 400, DOCUMENTS, st.booleans(), st.sampled_from([None, 2]))
def test_json_parse_reads_what_python_writes(document, ascii_only, indent):
    """Any document, escaped or not, on one line or many; also beside escaped pairs."""
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    beside = f'["\\ud83d\\ude00", {text}]'

    assert repr(tupled(document)) == repr(call("json-parse", text))
    assert repr(("😀", tupled(document))) == repr(call("json-parse", beside))


@pytest.mark.parametrize(
    "odd", ["1" * 300, "9" * 4_199, '"\\ud83d\\ude00"', '"\\ud55c"', f'"{"1" * 9_000}"']
)
def test_a_long_json_text_is_read_quickly_beside_odd_parts(odd, monkeypatch):
    """The slow reader takes seconds for a text of the largest size."""
    monkeypatch.setattr(json_reader, "_Reader", None)

    read = call("json-parse", f"[1, {odd}]")

    assert repr(read) == repr((1, json.loads(odd)))


@pytest.mark.parametrize(
    "odd",
    ['"\\ud83d"', '"\\ude00\\ud83d"', '"\\\\ud83d\\ude00"', "1" * 4_216, '"\\ud83d\\\\ude00"'],
)
def test_json_beyond_what_a_value_may_hold_is_refused(odd):
    """A backslash that is escaped begins no pair."""
    assert refused("json-parse", f"[1, {odd}]").code in ("bad-json", "limit-integer")


@examples(80, 400, DOCUMENTS)
def test_json_string_writes_what_python_reads(document):
    """And json-parse takes it back."""
    text = call("json-string", tupled(document))

    assert repr(document) == repr(json.loads(text))
    assert repr(tupled(document)) == repr(call("json-parse", text))


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('[]{},:"\\u0d8ecn1.-e \nt"rueéx'), max_size=12))
def test_json_parse_takes_exactly_what_python_takes(text):
    """Less lone surrogates; both refuse the rest."""
    try:
        expected = repr(tupled(json.loads(text)))
        expected.encode()
    except (ValueError, UnicodeEncodeError):
        expected = "refused"
    try:
        actual = repr(call("json-parse", text))
    except Fault as fault:
        assert fault.code == "bad-json"
        actual = "refused"
    if "inf" not in expected:
        assert expected == actual


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1, column 1: a value is missing here; the text ends"),
        ("[1,\n 2", "line 2, column 3: a comma or a `]` is missing here"),
        ("[1] 2", "the document ended before this"),
        ("{a: 1}", "a key in double quotes is missing here"),
        ('{"a" 1}', "a colon is missing here"),
        ('"\\ud800"', "half of a surrogate pair stands alone"),
        ('"\\ude00\\ud83d"', "half of a surrogate pair stands alone"),
        ("NaN", "a value is missing here"),
        ("1e999", "larger than any float"),
        ('"a\nb"', "a raw line break in it"),
    ],
)
def test_bad_json_names_the_place_and_what_is_missing(text, words):
    """Line, column, what was expected."""
    fault = refused("json-parse", text)

    assert fault.code == "bad-json"
    assert words in fault.message


@pytest.mark.parametrize(("end", "column"), [("x", 120_002), ("1]]", 120_004), ("", 120_002)])
def test_a_long_text_that_is_not_json_is_not_read_again(end, column):
    """The place is told, and not what is missing there: that would take seconds."""
    fault = refused("json-parse", "[" + "1," * 60_000 + end)

    assert fault.code == "bad-json"
    assert "something else has to stand here" in fault.message
    assert fault.details == {"line": 1, "column": column}


def test_json_may_be_10000_levels_deep():
    """One level more is refused, and so is nothing at the default recursion limit."""
    text = "[" * 10_000 + "]" * 10_000

    assert text == call("json-string", call("json-parse", text))
    assert refused("json-parse", "[" + text + "]").code == "bad-json"
    assert refused("json-parse", '{"a":' * 10_001).code == "bad-json"


def test_what_json_cannot_say_is_not_json():
    """Functions, NaN and infinities; symbols become strings and records objects."""
    assert refused("json-string", float("nan")).code == "not-json"
    assert refused("json-string", (PRIMITIVES["car"],)).code == "not-json"
    assert '{"s":"x","r":{"status":"COMPLETE"' in call(
        "json-string", {"s": Symbol("x"), "r": RESULT}
    )
