"""Values that are small to write down and too large to hold: refused before they are made."""

import pytest
from support.bounded import all_ended, assert_ends
from support.hostile import INTEGERS, LISTS, PLACED, QUADRATIC, STRINGS


@pytest.mark.parametrize("hostile", INTEGERS.values(), ids=INTEGERS)
def test_an_integer_that_is_too_large_is_refused(hostile):
    """From its operands, before anything of that size is computed."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", STRINGS.values(), ids=STRINGS)
def test_a_string_that_is_too_long_is_refused(hostile):
    """From its parts, before anything of that length is made."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", LISTS.values(), ids=LISTS)
def test_a_list_that_is_too_long_is_refused(hostile):
    """From its bounds or its parts."""
    assert_ends(hostile)


SOME = {name: dict([*uses.items()][at::4]) for at, (name, uses) in enumerate(PLACED.items())}
"""Every use with one of the shapes."""


@pytest.mark.parametrize("uses", SOME.values(), ids=SOME)
def test_a_value_that_stands_for_more_than_there_is_can_be_put_anywhere(uses):
    """It is used, or refused with an error that says why; messages hold what is short."""
    assert_used_or_refused(uses)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("uses", PLACED.values(), ids=PLACED)
def test_each_of_these_values_can_be_put_anywhere(uses):
    """Every use with every shape."""
    assert_used_or_refused(uses)


def assert_used_or_refused(uses):
    endings = list(all_ended([hostile.text for hostile in uses.values()]))

    assert len(uses) == len(endings), endings[-1]
    for (use, hostile), ending in zip(uses.items(), endings, strict=True):
        assert ending.exit == 0 and ending.code in hostile.codes, (use, ending)
        assert ending.megabytes < 400, (use, ending)
        short = ending.code and ending.code not in ("raised", "limit-data")
        assert not short or len(ending.text) < 400, (use, ending)


@pytest.mark.parametrize("hostile", QUADRATIC.values(), ids=QUADRATIC)
def test_what_looks_quadratic_is_not(hostile):
    """One call does work in proportion to what it is given: work that grew with the square would
    not end before its process is stopped."""
    assert_ends(hostile)
