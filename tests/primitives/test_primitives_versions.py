"""What programs compute is the same under every Python: a kept run may go on under another one."""

import json
from unicodedata import category

import pytest
from support.primitive_calls import call
from support.running import begun

from sexplang.runtime.models.prices import Rates
from sexplang.terms.json.json_reader import NotJson, normalize_error
from sexplang.terms.json.strict import read_json, strict
from sexplang.terms.values.sums import add_up, add_up_floats
from sexplang.terms.values.text import pattern_of_unseen, quote

TENTHS = (0.1, 0.2, 0.3)


def test_a_sum_of_floats_does_not_depend_on_the_sum_of_python():
    """Which rounds after each addition, or once at the end."""
    assert 0.6 == call("vector-dot", TENTHS, (1, 1, 1)) == add_up_floats(list(TENTHS))
    assert 0.6000000000000001 == add_up(TENTHS) == Rates(*TENTHS, 0.0).cost(1, 1, 1)
    assert 0.6000000000000001 == begun('(parse-duration "PT0.1S")').value + 0.2 + 0.3


def test_a_sum_beyond_the_floats_is_infinite():
    assert float("inf") == add_up_floats([1e308, 1e308, -1e308])
    assert "nan" == str(add_up_floats([float("inf"), float("-inf")]))
    assert 0.0 == add_up_floats([]) == call("vector-dot", (), ())
    assert 0 == add_up([]) and 6 == add_up([1, 2, 3])


def test_a_quoted_text_has_escapes_for_what_has_no_ink():
    """Characters of the years after are as they are: a Python that knows them and one that does
    not say the same."""
    assert '"🩷 \U0001e4d0 \u0378"' == quote("🩷 \U0001e4d0 \u0378")
    assert '["🩷" "\\u0000"]' == begun('(str ["🩷" "\\u0000"])').value
    assert r'"\u200b\ue000\u007f\u00a0 \"\\"' == quote('\u200b\ue000\x7f\xa0 "\\')
    odd = {
        char
        for char in map(chr, range(0x110000))
        if category(char) != "Cn" and char.isprintable() == bool(pattern_of_unseen().match(char))
    }
    assert not odd


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1,2 , \n ]", "Expecting value at line 2, column 2"),
        ('{"a": 1,}', "Expecting property name enclosed in double quotes at line 1, column 9"),
    ],
)
def test_a_comma_too_much_is_told_alike(text, words):
    """Python names it from 3.13 on; a model is told what it always was."""
    with pytest.raises(NotJson, match=words):
        strict(text)
    kind = "array" if text.startswith("[") else "object"
    newer = json.JSONDecodeError(
        f"Illegal trailing comma before end of {kind}", text, text.rindex(",")
    )
    with pytest.raises(json.JSONDecodeError) as older:
        json.loads(text)
    assert str(normalize_error(newer)) == str(normalize_error(older.value))


@pytest.mark.parametrize("depth", [301, 900, 9_000])
def test_json_that_is_too_deep_is_so_from_any_place(depth):
    """Python stops at a depth of its own stack, which is another one in each version."""
    with pytest.raises(ValueError, match="nested more than 300 levels deep"):
        read_json("[" * depth + "]" * depth, [])
    assert read_json("[" * 299 + "]" * 299, []) is not None
