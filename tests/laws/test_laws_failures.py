"""Laws of failures: what the error of a task says, on programs that nobody thought of."""

import pytest
from support.laws import LAWS, first_finding

FEW = 300


def test_a_task_that_fails_is_located_at_its_call():
    """Whatever stands around the call: the error has its place and the name of the task."""
    assert None is first_finding(LAWS["located"], range(FEW))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_task_that_fails_is_located_many_times():
    """The same law for many more programs."""
    assert None is first_finding(LAWS["located"], range(FEW, 10_000))
