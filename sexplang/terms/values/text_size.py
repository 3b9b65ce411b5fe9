"""The length of a value's text, computed before the text is made.

Law: nothing here recurses, and the work is bounded by the size in memory: a value of sixty lists
with shared parts can stand for more nodes than there are atoms.
"""

from typing import Any

from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Record, Symbol, Value

_NEAR = 10_000
"""The number of parts from which on it pays to cache shared ones, and to test a list for integers
alone."""
_INTEGERS = {int}
_COMPOUND = frozenset((dict, Record)) | LISTS


def text_size(value: Value, most: int) -> int:
    """Return a lower bound of the length of `value`'s text, or some number above `most` if it is
    longer than that."""
    size = seen = 0
    work: list[Any] = [(value,)]
    while work:
        parts = _parts(work.pop())
        if len(parts) > _NEAR and set(map(type, parts)) == _INTEGERS:
            size += sum([item.bit_length() // 4 for item in parts]) + len(parts)
            parts = ()
        for item in parts:
            if type(item) not in _COMPOUND:
                size += _atom_size(item)
                continue
            seen += 1
            if seen > _NEAR:
                return _size_of_shared(value, most)
            size += _frame(item)
            work.append(item)
        if size > most:
            return size
    return size


def _atom_size(item: Value) -> int:
    if type(item) is int:
        return item.bit_length() // 4 + 1
    if type(item) in TEXTS:
        return len(item) + 2
    return len(item.name) if isinstance(item, Symbol) else 3


def _size_of_shared(value: Value, most: int) -> int:
    """Return the same, with every list and table measured once."""
    sizes: dict[int, int] = {}
    work = [value]
    while work:
        item = work[-1]
        if id(item) in sizes:
            work.pop()
            continue
        size, missing = _frame(item), []
        for part in _parts(item):
            if type(part) in _COMPOUND:
                known = sizes.get(id(part))
                if known is None:
                    missing.append(part)
                else:
                    size += known
            else:
                size += _atom_size(part)
        if size > most:
            return size
        if missing:
            work.extend(missing)
        else:
            sizes[id(item)] = size
            work.pop()
    return sizes[id(value)]


def _parts(item: Any) -> Any:
    if type(item) is Record:
        item = item.fields
    return item.values() if type(item) is dict else item


def _frame(item: Any) -> int:
    """Return the length of brackets, spaces and keys."""
    if type(item) is Record:
        item = item.fields
    spaces = max(len(item) - 1, 0)
    keys = sum(map(len, item)) + 2 * len(item) if type(item) is dict else 0
    return 2 + spaces + keys
