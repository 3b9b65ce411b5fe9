"""Plain Python data of few parts to a value, as most replies are: in one go, and without counting.

Law: what this makes is what `value_of` makes of the same data; whatever is out of the common, or
may be too much, is left to that.
"""

from typing import Any

FREE = frozenset((str, bool, float, type(None)))
"""Classes of scalars of which there is nothing to look at."""

USUAL = 1 << 64
"""What most integers are below, which are no closer looked at."""

_LEAST = -USUAL

_PARTS, _LEVELS = 30, 4
"""A container has at most so many parts, and stands in at most so many others: a value has fewer
parts than may be too many."""


class Unusual(Exception):
    """The data is not what this is for."""


def small(data: Any, levels: int = _LEVELS) -> Any:
    """Tables, lists and scalars as a value. Raises Unusual."""
    kind = data.__class__
    if kind is dict and levels and len(data) <= _PARTS:
        made = data.copy()
        for key, part in data.items():
            kind = part.__class__
            if key.__class__ is not str:
                raise Unusual
            if kind not in FREE and (kind is not int or not _LEAST < part < USUAL):
                made[key] = small(part, levels - 1)
        return made
    if (kind is tuple or kind is list) and levels and len(data) <= _PARTS:
        if len(data) == 1:
            (part,) = data
            return (part if part.__class__ in FREE else small(part, levels - 1),)
        parts = list(data)
        for at, part in enumerate(parts):
            if part.__class__ not in FREE:
                parts[at] = small(part, levels - 1)
        return tuple(parts)
    if kind is int and _LEAST < data < USUAL:
        return data
    raise Unusual
