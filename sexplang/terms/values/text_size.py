"""Values to how much text they would make, known before any of it is made.

Law: nothing here recurses, and no more is looked at than there is in memory: a value of sixty
lists that share their parts can stand for more nodes than there are atoms.
"""

from typing import Any

from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Record, Symbol, Value

_NEAR = 10_000
"""Parts to look at before it pays to remember what shared ones come to, or to see whether all of
a list are integers."""
_INTEGERS = {int}
_COMPOUND = frozenset((dict, Record)) | LISTS


def text_size(value: Value, most: int) -> int:
    """A length that the written `value` has at least, or some number above `most` if it is longer
    than that."""
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
    """The same, where every list and table is measured once."""
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
    """Brackets, spaces and keys."""
    if type(item) is Record:
        item = item.fields
    spaces = max(len(item) - 1, 0)
    keys = sum(map(len, item)) + 2 * len(item) if type(item) is dict else 0
    return 2 + spaces + keys
