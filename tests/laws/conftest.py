"""Lets the laws import `support`, and leaves out the long ones unless they are asked for."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))


def pytest_collection_modifyitems(config, items):
    """`-m long` runs what takes minutes; without a `-m` it is left out."""
    if config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker("long") and HERE in item.path.parents]
    items[:] = [item for item in items if item not in long]
    config.hook.pytest_deselected(items=long)
