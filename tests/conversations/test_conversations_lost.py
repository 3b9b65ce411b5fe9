"""Nothing that was paid for is lost: every way out of a conversation, and all it may have been
given."""

import pytest
from support.lost import CELLS, nothing_lost

NAMES = [f"{way.name}: {given.name}" for way, given in CELLS]


@pytest.mark.parametrize("cell", range(len(CELLS)), ids=NAMES)
def test_what_was_given_is_told(cell: int):
    """The words are in the error's partial results and in the notes of the FAILED result."""
    assert nothing_lost(cell) is None
