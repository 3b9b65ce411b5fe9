"""Budgets in the world: 64 branches against a server that is slow and fails, in seeded runs."""

import pytest
from support import budgeted
from support.wide_server import WideServer


@pytest.fixture(scope="module")
def server():
    with WideServer(latency=0.003, spread=True, failing=0.15) as server:
        yield server


def check(seed, server):
    """Nothing goes above its limit, and nothing stays reserved."""
    seen = budgeted.run(seed, server)

    assert [] == seen.over, seed
    assert [] == seen.leaks, seed


@pytest.mark.parametrize("seed", range(14))
def test_no_run_passes_its_budget_or_leaves_anything_reserved(server, seed):
    """Calls are counted where they arrive."""
    check(seed, server)


@pytest.mark.long
@pytest.mark.timeout(3_000)
def test_no_run_of_a_thousand_does(server):
    """The same for 1,000 seeds."""
    for seed in range(1_000):
        check(seed, server)
