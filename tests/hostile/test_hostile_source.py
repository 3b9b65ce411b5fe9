"""Program texts that are made to break whoever reads and compiles them."""

import pytest
from support.bounded import assert_ends
from support.hostile import EXPANDING, LARGE, NESTED, SOUND, WRONG


@pytest.mark.parametrize("hostile", NESTED.values(), ids=NESTED)
def test_a_text_that_is_nested_too_deep_is_refused(hostile):
    """At level 10,001, however far it goes on."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", LARGE.values(), ids=LARGE)
def test_a_text_that_is_too_large_is_refused(hostile):
    """In characters, or in words and brackets."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", WRONG.values(), ids=WRONG)
def test_a_text_that_is_wrong_all_over_is_refused(hostile):
    """The first error has the code; how many there are, and what else is wrong, makes no
    difference."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", EXPANDING.values(), ids=EXPANDING)
def test_an_expansion_without_end_is_refused(hostile):
    """By depth, by size and by steps."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", SOUND.values(), ids=SOUND)
def test_a_text_within_the_limits_is_a_program(hostile):
    """However strange it looks."""
    assert_ends(hostile)
