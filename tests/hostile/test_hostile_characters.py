"""Program texts that do not say what they seem to say."""

import pytest
from support.bounded import end

UNSEEN = {
    "override": "\u202e",
    "isolate": "\u2066",
    "end of isolate": "\u2069",
    "zero width": "\u200b",
    "byte order mark": "\ufeff",
    "tag": "\U000e0041",
    "null": "\x00",
    "escape": "\x1b",
    "next line": "\x85",
    "half a character": "\ud800",
}
PLACES = {
    "symbol": "a{0}b",
    "string": '"a{0}b"',
    "block": '"""a{0}"""',
    "comment": "; a{0}b\n1",
    "nested comment": "#| {0} |# 1",
    "white space": "1 {0} 1",
    "definition": "(define a{0} 1)",
    "table": "{{a: 1 {0} b: 2}}",
}
ONLY_QUOTED = {
    "line separator": "\u2028",
    "variation selector": "\ufe0f",
    "fullwidth bracket": "\uff08",
    "combining mark alone": "\u0301",
}


@pytest.mark.parametrize("character", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_cannot_be_seen_stands_nowhere(character, place):
    """In code, strings and comments alike: what is read is what a person sees."""
    assert end(place.format(character)).code == "bad-character"


@pytest.mark.parametrize("character", ONLY_QUOTED.values(), ids=ONLY_QUOTED)
def test_what_looks_like_something_else_stands_in_strings_alone(character):
    """Text may hold it, names may not."""
    assert end(f'(string-length "{character}")').code == ""
    assert end(f"(define {character}x 1)").code in ("bad-character", "bad-symbol")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(define pаypal 1)", "bad-symbol"),
        ("(define e\u0301 1)", "bad-symbol"),
        ("(define a" + "\u0301" * 100_000 + " 1)", "bad-symbol"),
        ("（+ 1 2）", "bad-character"),
        ('"\\ud800"', "bad-escape"),
        ('(json-parse "\\"\\\\ud800\\"")', "bad-json"),
    ],
    ids=["scripts", "form", "marks", "brackets", "surrogate", "JSON surrogate"],
)
def test_names_are_what_they_look_like(text, code):
    """One script, one normal form, real brackets; half a character is none."""
    assert end(text).code == code


@pytest.mark.parametrize("character", [*UNSEEN.values(), *ONLY_QUOTED.values()], ids=repr)
def test_what_a_program_makes_at_run_time_is_written_so_that_it_can_be_seen(character):
    """Whatever a string holds, its written form is program text that gives it back."""
    if character == "\ud800":
        return  # no string holds it
    escaped = character.encode("utf-16-be").hex("/", 2).replace("/", "\\u")

    ending = end(f'["\\u{escaped}"]')
    again = end(ending.text)

    assert ending.code == "" and ending.text == again.text
    assert character not in ending.text or character in ONLY_QUOTED.values()
