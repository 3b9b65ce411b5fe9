"""What the tests of this folder share."""

import pytest

from sexplang.runtime.files import confined_open


@pytest.fixture(params=["kernel", "step by step"])
def both_ways(request, monkeypatch):
    """With the kernel's own resolution and without it."""
    if request.param == "step by step":
        monkeypatch.setattr(confined_open, "_kernel_resolves", lambda: False)
