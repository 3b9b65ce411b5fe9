"""The fast path of `value_of`: small plain data, as in most replies.

Law: the result is that of `value_of` for the same data. Unusual or large data is refused.
"""

from typing import Any

FREE = frozenset((str, bool, float, type(None)))
"""Classes of scalars that need no check."""

USUAL = 1 << 64
"""The bound of most integers, which need no further check."""

_LEAST = -USUAL

_PARTS, _LEVELS = 30, 4
"""The parts of a container, and the containers around it: the product is below the limit of
parts."""


class Unusual(Exception):
    """The data needs `value_of`."""


def small(data: Any, levels: int = _LEVELS) -> Any:
    """Return tables, lists and scalars as a value. Raises Unusual."""
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
