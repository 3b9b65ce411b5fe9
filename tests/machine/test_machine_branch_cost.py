"""The cost of a branch: Python calls from its beginning to its value."""

import sys
from typing import Any

from support.running import built

from sexplang.machine import Done, start, state_of

ASK = "(define-effect (ask n))\n(par-map ask (range %d))"


def calls_of(branches: int) -> int:
    """The Python functions that are called when so many branches each ask once and are answered."""
    made = built(ASK % branches)
    outcome: Any = start(made)  # what is made at the first use is there
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        outcome = start(made)
        for request in state_of(outcome).opened:
            outcome = outcome.resume(request.id, 1)
    finally:
        sys.setprofile(None)
    assert isinstance(outcome, Done) and len(outcome.value) == branches
    return count


def test_a_branch_takes_few_calls():
    """Each costs about half a microsecond, beside what it does."""
    assert calls_of(200) - calls_of(100) <= 100 * 48


def test_a_branch_among_many_takes_no_more_calls():
    assert calls_of(800) - calls_of(700) <= calls_of(200) - calls_of(100) + 10
