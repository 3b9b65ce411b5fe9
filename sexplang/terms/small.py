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
_TEXT = frozenset((str,))

_PARTS, _LEVELS = 30, 4
"""A container has at most so many parts, and stands in at most so many others: a value has fewer
parts than may be too many."""


class Unusual(Exception):
    """The data is not what this is for."""


def small(data: Any, texts: list[str], levels: int = _LEVELS) -> Any:
    """Tables, lists and scalars as a value; its texts are added to `texts`. Raises Unusual."""
    kind = data.__class__
    if kind is dict and levels and len(data) <= _PARTS and _TEXT.issuperset(map(type, data)):
        texts += data
        made = data.copy()
        for key, part in data.items():
            kind = part.__class__
            if kind is str:
                texts.append(part)
            elif kind not in FREE and (kind is not int or not _LEAST < part < USUAL):
                made[key] = small(part, texts, levels - 1)
        return made
    if (kind is tuple or kind is list) and levels and len(data) <= _PARTS:
        return tuple([small(part, texts, levels - 1) for part in data])
    if kind is str:
        texts.append(data)
    elif kind not in FREE and (kind is not int or not _LEAST < data < USUAL):
        raise Unusual
    return data
