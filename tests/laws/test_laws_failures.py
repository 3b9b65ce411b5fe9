"""Laws of failures: what the error of a task says, on programs that nobody thought of."""

import pytest
from support.laws import LAWS, first_finding

FEW = 100


def test_a_task_that_fails_is_located_at_its_call():
    """Whatever stands around the call: the error has its place and the name of the task."""
    assert None is first_finding(LAWS["located"], range(FEW))


def test_what_was_bound_before_is_in_the_error():
    """Whatever binds the names, and whatever calls stand between them and the task."""
    assert None is first_finding(LAWS["bound_before"], range(FEW))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("law", ["located", "bound_before"])
def test_the_laws_of_failures_many_times(law: str):
    """The same laws for many more programs."""
    assert None is first_finding(LAWS[law], range(FEW, 10_000))
