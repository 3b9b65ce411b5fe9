"""Programs that never end, or want more than there is."""

import pytest
from support.bounded import assert_ends
from support.hostile import COPYING, DEEP, ENDLESS, FORKING, KEEPING, PLANNED


@pytest.mark.parametrize("hostile", ENDLESS.values(), ids=ENDLESS)
def test_a_program_that_never_ends_is_ended(hostile):
    """By the limit of steps, which neither handlers nor finally see."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", DEEP.values(), ids=DEEP)
def test_a_recursion_that_never_ends_is_ended(hostile):
    """By the limit of frames, whatever it is that nests; two million of them by default."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", FORKING.values(), ids=FORKING)
def test_branches_without_end_are_ended(hostile):
    """In number, also where each waits for the next."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", PLANNED.values(), ids=PLANNED)
def test_a_plan_never_ends_the_program_that_runs_it(hostile):
    """Whatever its text does, the program has its outcome as data."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", COPYING.values(), ids=COPYING)
def test_a_program_that_copies_without_end_is_ended(hostile):
    """Everything made is charged, whether or not it is kept."""
    assert_ends(hostile)


@pytest.mark.parametrize("hostile", KEEPING.values(), ids=KEEPING)
def test_a_program_that_keeps_without_end_is_ended(hostile):
    """By what the process holds, whatever it is that holds on to the rest."""
    assert_ends(hostile)
