"""Pairs of values to whether they are equal; values to digests that equal values share.

`1` equals `1.0`, `true` does not equal `1`, tables compare without order, records by kind and
fields, symbols by name, functions by identity or by their own `same(other)`. A NaN equals a NaN
here, so that a value always equals itself.

Law: nothing here recurses, and values that share their parts cost what they weigh in memory: what
has been found to be alike so far stands in one group, and no two of a group are compared again.
Law: nobody can choose values that are different and share their digest.
"""

from math import isfinite
from typing import Any

from sexplang.terms.value import Procedure, Record, Symbol, Value


def equal(a: Value, b: Value) -> bool:
    if a is b:
        return True
    kind = type(a)
    if (kind is int or kind is str) and type(b) is kind:
        return bool(a == b)
    return _equal(a, b)


def _equal(a: Value, b: Value) -> bool:
    work: list[tuple[Value, Value]] = [(a, b)]
    groups: dict[int, int] = {}
    while work:
        a, b = work.pop()
        if a is b:
            continue
        if not isinstance(a, (tuple, dict, Record)):
            if not _same_atom(a, b):
                return False
            continue
        one, other = _group(groups, id(a)), _group(groups, id(b))
        if one == other:
            continue
        groups[one] = other
        if isinstance(a, Record) and isinstance(b, Record) and a.kind == b.kind:
            a, b = a.fields, b.fields
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            work.extend(zip(a, b, strict=True))
        elif isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
            work.extend((value, b[key]) for key, value in a.items())
        else:
            return False
    return True


def _group(groups: dict[int, int], member: int) -> int:
    """The one that stands for a member's group; the way to it is shortened."""
    while (above := groups.get(member)) is not None:
        groups[member] = groups.get(above, above)
        member = above
    return member


def _same_atom(a: Value, b: Value) -> bool:
    kind = type(a)
    if kind is int or kind is float:
        return (type(b) is int or type(b) is float) and (a == b or (a != a and b != b))
    if kind is str or isinstance(a, Symbol):
        return isinstance(b, kind) and bool(a == b)
    return isinstance(a, Procedure) and _same_function(a, b)


def _same_function(a: Procedure, b: Value) -> bool:
    same = getattr(a, "same", None)
    return type(a) is type(b) and same is not None and bool(same(b))


def digest(value: Value) -> int:
    """A number that is the same for values that are equal."""
    known: dict[int, int] = {}
    work: list[Value] = [value]
    while work:
        item = work[-1]
        if id(item) in known:
            work.pop()
            continue
        parts = _parts(item)
        missing = [part for part in parts if _is_compound(part) and id(part) not in known]
        if missing:
            work.extend(missing)
            continue
        known[id(item)] = _combined(item, known)
        work.pop()
    return known[id(value)]


def _is_compound(value: Value) -> bool:
    return isinstance(value, (tuple, dict, Record))


def _parts(value: Value) -> Any:
    if isinstance(value, Record):
        return value.fields.values()
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, tuple) else ()


def _combined(value: Value, known: dict[int, int]) -> int:
    if isinstance(value, tuple):
        return hash(("list", tuple([_hash(part, known) for part in value])))
    if isinstance(value, Record):
        return hash((value.kind, _table_hash(value.fields, known)))
    return _table_hash(value, known) if isinstance(value, dict) else _hash(value, known)


def _table_hash(table: dict[str, Value], known: dict[int, int]) -> int:
    parts = frozenset([(key, _hash(part, known)) for key, part in table.items()])
    return hash(("table", parts))


def _hash(value: Value, known: dict[int, int]) -> int:
    """All goes through text: Python keys the hashes of strings anew in every process, and those
    of numbers never."""
    if _is_compound(value):
        return known[id(value)]
    if isinstance(value, Procedure):
        return hash(type(value).__name__)  # `same` decides, and it need not follow identity
    if type(value) is float and isfinite(value) and value == int(value):
        value = int(value)
    return hash(hex(value) if type(value) is int else (type(value).__name__, str(value)))
