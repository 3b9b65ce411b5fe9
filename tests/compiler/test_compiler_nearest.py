"""The word that was probably meant."""

import pytest

from sexplang.terms.texts.nearest import did_you_mean, fewest_letters_off, find_misspelled, nearest

NAMES = ("summary", "summarise", "total", "totals", "review")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sumary", "summary"),  # one left out
        ("reveiw", "review"),  # two swapped
        ("toatl", "total"),
        ("smmry", None),  # two wrong in a short name
        ("sumarry", "summary"),  # two wrong in a long one
        ("revue", None),
        ("entirely", None),
    ],
)
def test_a_slip_is_one_letter_or_two_of_a_long_name(name, meant):
    """A neighbour swapped is one letter off."""
    assert meant == find_misspelled(name, NAMES)


def test_the_first_of_the_nearest_is_meant():
    """Every third letter may be wrong where nobody says how many."""
    assert "total" == fewest_letters_off("totl", NAMES)
    assert fewest_letters_off("xy", NAMES) is None
    assert "bat" == fewest_letters_off("cat", ("bat", "rat"))


def test_words_are_alike_by_the_letters_that_they_share():
    """Half a word is enough where the bound says so."""
    assert "summary" == nearest("sum", NAMES) == nearest("summ", NAMES, 0.5)
    assert nearest("summ", NAMES, 0.9) is None
    assert "did you mean {total}?" == did_you_mean("totl", ("total",), shape="{{{}}}")
    assert "no" == did_you_mean("zzz", NAMES, "no")
