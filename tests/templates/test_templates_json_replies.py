"""JSON as models write it when they do not mind: read as it was meant, or refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat
from sexplang.terms.text import plain

# What has a meaning in JSON, in what looks like it, and around it.
words = st.text("ab {}[]:,'\"“”/*#\\\n\té`-1", max_size=8)
scalars = st.none() | st.booleans() | st.integers(-999, 999) | st.floats(-99, 99) | words
data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4)
)
documents = data.filter(lambda value: isinstance(value, (dict, list)) and value)

SLIPS = (
    *("comma", "comment", "single", "curly", "bare key", "constant", "number", "break"),
    *("no comma", "no closer", "twice", "fence", "words", "halves"),
)


class Sloppy:
    """Writes JSON with some slips, each at some of the places where it can be made."""

    def __init__(self, slips, chance):
        self.slips, self.chance = slips, chance

    def slips_into(self, slip, share=0.4):
        return slip in self.slips and self.chance.random() < share

    def document(self, value):
        said = self.value(value)
        if self.slips_into("no closer", 1):
            said = said[:-1]
        if self.slips_into("fence", 1):
            said = f"```json\n{said}\n```"
        if self.slips_into("words", 1):
            said = f"Here it is:\n\n{said}\n\nI hope that this helps."
        return said

    def value(self, value):
        if isinstance(value, dict):
            return self.within("{", [self.pair(*pair) for pair in value.items()], "}")
        if isinstance(value, list):
            return self.within("[", [self.value(item) for item in value], "]")
        if isinstance(value, str):
            return self.string(value)
        said = json.dumps(value)
        if isinstance(value, (bool, type(None))):
            return str(value) if self.slips_into("constant") else said
        if self.slips_into("number") and value > 0:
            return f"+{said}"
        return said

    def within(self, opener, items, closer):
        if items and self.slips_into("twice"):
            items = [*items, items[-1]] if opener == "{" else items
        said = opener
        for at, item in enumerate(items):
            between = "\n" if at and self.slips_into("no comma") else ",\n " if at else ""
            said += between + (f" // {at}\n" if self.slips_into("comment") else "") + item
        return said + ("," if items and self.slips_into("comma") else "") + closer

    def pair(self, key, value):
        if key.isidentifier() and self.slips_into("bare key"):
            return f"{key}: {self.value(value)}"
        return f"{self.string(key)}: {self.value(value)}"

    def string(self, value):
        said = json.dumps(value, ensure_ascii=self.slips_into("halves"))
        if self.slips_into("break"):
            said = said.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\\\")
        if self.slips_into("single") and "'" not in value:
            return f"'{said[1:-1]}'"
        if self.slips_into("curly") and "”" not in value:
            return f"“{said[1:-1]}”"
        return said


def read(text):
    return read_reply(text, OutputFormat("json", None))


@given(documents, st.sets(st.sampled_from(SLIPS), max_size=3), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_slips_of_the_pen_never_change_a_value(value, slips, chance):
    """Up to three kinds in one reply; what is not certain is refused."""
    assert_kept(value, slips, chance)


@pytest.mark.long
@pytest.mark.timeout(600)
@given(documents, st.sets(st.sampled_from(SLIPS), max_size=3), st.randoms(use_true_random=False))
@settings(max_examples=15_000)
def test_slips_of_the_pen_never_change_a_value_many_times(value, slips, chance):
    """The same for many more replies."""
    assert_kept(value, slips, chance)


def assert_kept(value, slips, chance):
    text = Sloppy(slips, chance).document(value)
    reading = read(text)

    if reading.problem is None:
        assert repr(value) == repr(plain(reading.value)), text  # to Python, 1 is True


@given(documents, st.sampled_from(SLIPS), st.randoms(use_true_random=False))
@settings(max_examples=250)
def test_one_kind_of_slip_is_put_right_wherever_it_was_made(value, slip, chance):
    """But for the last bracket: what is open inside may have ended before it."""
    sloppy = Sloppy({slip}, chance)
    sloppy.slips_into = lambda asked, share=1: asked == slip
    reading = read(sloppy.document(value))

    if reading.problem is None:
        assert repr(value) == repr(plain(reading.value))
    else:
        assert "no closer" == slip
