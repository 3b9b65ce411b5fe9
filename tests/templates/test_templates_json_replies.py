"""JSON as models write it when they do not mind: read as it was meant, or refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from benchmarks.json_corpus import SLIPS, Sloppy
from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat
from sexplang.terms.values.boundary import plain

# What has a meaning in JSON, in what looks like it, and around it.
words = st.text("ab {}[]:,'\"“”/*#\\\n\té`-1", max_size=8)
scalars = st.none() | st.booleans() | st.integers(-999, 999) | st.floats(-99, 99) | words
data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4)
)
documents = data.filter(lambda value: isinstance(value, (dict, list)) and value)


def read(text):
    return read_reply(text, OutputFormat("json", None))


@examples(
    120,
    600,
    documents,
    st.sets(st.sampled_from(SLIPS), max_size=3),
    st.randoms(use_true_random=False),
)
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


@examples(100, 500, documents, st.sampled_from(SLIPS), st.randoms(use_true_random=False))
def test_one_kind_of_slip_is_put_right_wherever_it_was_made(value, slip, chance):
    """But for a bracket that is missing at the end: more could have followed."""
    sloppy = Sloppy({slip}, chance)
    sloppy.slips_into = lambda asked, share=1: asked == slip
    reading = read(sloppy.document(value))

    if slip == "no closer":
        assert reading.problem
    else:
        assert repr(value) == repr(plain(reading.value))
