"""Laws of graphs: who begins when, and what ends with whom."""

import pytest
from support.laws import LAWS, first_finding


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_a_graph_is_worked_on_as_it_says(start: int):
    """Whoever is answered first."""
    assert None is first_finding(LAWS["graphs"], range(start, start + 100))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_graphs_many_times():
    """The same, a hundred times as often."""
    assert None is first_finding(LAWS["graphs"], range(40_000))
