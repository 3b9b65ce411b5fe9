"""Patterns of names that a model or a template writes."""

import random
from fnmatch import fnmatchcase

import pytest

from benchmarks.measure import opcodes
from sexplang.runtime import Permissions, Refusal
from sexplang.runtime.files.file_reader import list_files
from sexplang.terms.texts import wildcards
from sexplang.terms.texts.wildcards import LONGEST, fits

SHAPES = {
    "open sets": lambda n: "[" * n,
    "open sets and one": lambda n: "[" * n + "]",
    "one set and open ones": lambda n: "[]" + "[" * n,
    "negative ones": lambda n: "[!" * n,
    "sets": lambda n: "[a-b]" * (n // 5),
    "stars": lambda n: "*a" * (n // 2) + "b",
    "empty sets": lambda n: "[]" * (n // 2),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_pattern_takes_time_in_its_length(shape):
    """Python looks for the end of each set through all that follows."""
    counted = []
    for size in (200, 800):
        wildcards._close_brackets.cache_clear()
        counted.append(opcodes(lambda size=size: fits("a" * 250, shape(size))))

    assert counted[1] <= 4.6 * counted[0]


def test_patterns_mean_what_they_mean_in_python():
    """Whatever is open, closed, negative or empty."""
    chance = random.Random(7)
    fitting = 0
    for _ in range(20_000):
        pattern = "".join(chance.choices("[]!-ab*?", k=chance.randint(0, 8)))
        name = "".join(chance.choices("[]!-ab", k=chance.randint(0, 4)))
        assert fnmatchcase(name, pattern) is fits(name, pattern), (name, pattern)
        fitting += fits(name, pattern)

    assert fitting > 500


def test_a_pattern_that_is_longer_than_any_path_is_refused(tmp_path):
    """And fits nothing where files are told apart."""
    (tmp_path / "a").write_text("")
    permissions = Permissions(folder=str(tmp_path))
    assert ("a",) == list_files("*" * LONGEST, permissions)
    assert () == list_files("[" * LONGEST, permissions)
    with pytest.raises(Refusal, match="more than 4,096 characters"):
        list_files("*" * (LONGEST + 1), permissions)

    assert not fits("a", "*" * (LONGEST + 1))
