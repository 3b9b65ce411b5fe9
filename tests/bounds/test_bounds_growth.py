"""The tables of benchmarks/growth.py: each routine still works on a small value of each shape."""

import pytest

from benchmarks.growth import routines

TINY = 16
ROUTINES = {each.name: each for each in routines()}


def test_each_routine_has_a_name_of_its_own():
    assert len(ROUTINES) == len(routines())


@pytest.mark.parametrize("name", ROUTINES)
def test_a_routine_works_on_each_shape(name):
    """A count of work, where there is one, is positive."""
    routine = ROUTINES[name]
    amount = routine.work(routine.make(TINY))
    assert amount is None or amount > 0
