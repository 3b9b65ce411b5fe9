"""Whom a clause works for: the machine against the oracle, on programs that call tasks."""

from collections import Counter
from random import Random

import pytest
from support.laws import CONVERSING, LAWS, first_finding
from support.programs import program

SOME, ALL = 100, 10_000


def test_each_request_is_for_whom_the_oracle_says():
    """Also after a conversation has failed, and in tools, handlers, branches and cleaning up."""
    assert None is first_finding(LAWS["working_for"], range(SOME))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", range(SOME, ALL, 700))
def test_each_of_10_000_programs_asks_for_whom_the_oracle_says(start: int):
    assert None is first_finding(LAWS["working_for"], range(start, min(ALL, start + 700)))


def test_the_programs_are_about_conversations():
    """Most call tasks, and many of these have handlers, errors, branches, deadlines, budgets."""
    kinds: Counter[str] = Counter()
    for seed in range(SOME):
        found = program(Random(seed), CONVERSING).kinds
        kinds.update(found if "tasks" in found else ())

    assert kinds["tasks"] > 0.8 * SOME
    assert min(kinds[kind] for kind in ("handlers", "errors", "finally")) > 0.4 * SOME
    assert min(kinds[kind] for kind in ("par", "races", "timeouts", "budgets")) > 0.1 * SOME
