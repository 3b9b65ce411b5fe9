"""Laws of long lists and texts: nobody can tell what shape they have."""

import pytest
from support.laws import LAWS, first_finding

SOME = 100


def test_a_program_is_the_same_in_every_shape():
    """Its value, requests, errors and what it freezes to."""
    assert None is first_finding(LAWS["shapes"], range(SOME))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_program_is_the_same_in_every_shape_many_times():
    """The same for many more programs."""
    assert None is first_finding(LAWS["shapes"], range(SOME, 10_000))
