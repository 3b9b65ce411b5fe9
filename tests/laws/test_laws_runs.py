"""Laws of runs: suspended values, orders of replies, identities, cancellation."""

import pytest
from support.laws import LAWS, first_finding

SOME, ALL = 60, 6_000


def test_resuming_twice_is_two_runs():
    """A Suspended is a value: two runs from it know nothing of each other, also in turns."""
    assert None is first_finding(LAWS["twice"], range(SOME))


def test_the_order_of_replies_does_not_matter():
    """Without failures, any order of the same replies gives the same value and identities."""
    assert None is first_finding(LAWS["any_order"], range(SOME))


def test_a_run_is_its_journal():
    """Races, deadlines that passed and budgets that broke follow from it, however often it is
    replayed, and from wherever a run that was killed goes on."""
    assert None is first_finding(LAWS["replayed"], range(SOME))


def test_what_is_cancelled_is_left_once():
    """A run cancelled at a suspension runs the finally of every try that it entered, once."""
    assert None is first_finding(LAWS["cancelled"], range(2 * SOME))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("law", ["twice", "any_order", "replayed", "cancelled"])
def test_the_laws_of_runs_many_times(law: str):
    """The same laws for many more programs."""
    assert None is first_finding(LAWS[law], range(SOME, ALL))
