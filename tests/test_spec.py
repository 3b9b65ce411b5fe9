"""Every block of the specification, the README and the error pages does what it says."""

import pytest
from support.chunks import check, chunks


@pytest.mark.parametrize("chunk", list(chunks("spec", "README.md")), ids=str)
def test_block(chunk, request):
    """The marks of a block are true."""
    check(chunk, update=request.config.getoption("--update"))
