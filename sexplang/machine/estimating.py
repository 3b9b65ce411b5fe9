"""The payload of a model call to about how many tokens it takes, before anything is known of it."""

from marshal import dumps
from typing import Any


def rough_estimate(payload: Any) -> int:
    """Input tokens from the length of the payload as bytes: one for every three of them."""
    try:
        return len(dumps(payload, 2)) // 3 + 1  # 2: the same for what is equal, shared or not
    except ValueError:
        return _deep_estimate(payload)


def _deep_estimate(payload: Any) -> int:
    """About the same for what nests deeper than that goes."""
    length = 0
    work = [payload]
    while work:
        item = work.pop()
        if isinstance(item, dict):
            length += sum([len(repr(key)) for key in item]) + max(2, 4 * len(item))
            work.extend(item.values())
        elif isinstance(item, (list, tuple)):
            length += 2 * max(1, len(item))
            work.extend(item)
        else:
            length += len(repr(item))
    return length // 3 + 1
