"""Pairs of values to whether they are equal; many values to which of them are.

`1` equals `1.0`, `true` does not equal `1`, tables compare without order, records by kind and
fields, symbols by name, functions by their `identity`. A NaN equals a NaN here, so that a value
always equals itself.

Law: nothing here recurses, and values that share their parts cost what they weigh in memory: what
has been found to be alike so far stands in one group, and no two of a group are compared again.
Law: nobody can choose values that are different and share their digest.
Law: what is done in one call counts as steps of the run, where it is much.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from sexplang.terms.allowance import SMALL, scan, work
from sexplang.terms.value import Procedure, Record, Symbol, Value


def equal(a: Value, b: Value) -> bool:
    if a is b:
        return True
    kind = type(a)
    if kind is int and type(b) is int:
        return bool(a == b)
    if kind is str:
        return _same_atom(a, b)
    return _equal(a, b, {})


def firsts(values: Sequence[Value]) -> list[int]:
    """For each of the values, where the first one stands that is equal to it."""
    places: list[int] = []
    near: dict[int, list[int]] = {}
    known: dict[int, int] = {}
    groups: dict[int, int] = {}
    for here, value in enumerate(values):
        found = here
        others = near.setdefault(_digest(value, known), [])
        for other in others:
            if _equal(values[other], value, groups):
                found = other
                break
            groups.clear()  # what was alike in a pair that is different may not be
        else:
            others.append(here)
        places.append(found)
    return places


def _equal(a: Value, b: Value, groups: dict[int, int]) -> bool:
    """`groups` is what was found to be alike in pairs of values that are equal and still there."""
    pairs: list[tuple[Value, Value]] = [(a, b)]
    done = 0
    try:
        while pairs:
            a, b = pairs.pop()
            if a is b:
                continue
            kind = type(a)
            if kind not in _COMPOUND:
                if not _same_atom(a, b):
                    return False
                continue
            one, other = _group(groups, id(a)), _group(groups, id(b))
            if one == other:
                continue
            groups[other] = one
            if kind is not type(b):
                return False
            if kind is Record:
                if a.kind != b.kind:
                    return False
                a, b = a.fields, b.fields
            if kind is tuple and len(a) == len(b):
                pairs.extend(zip(a, b, strict=True))
            elif kind is not tuple and a.keys() == b.keys():
                pairs.extend((value, b[key]) for key, value in a.items())
            else:
                return False
            done += len(a)
    finally:
        if done > SMALL:
            work(done)
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
    if kind is str:
        if type(b) is not str or len(a) != len(b):
            return False
        scan(len(a))
        return bool(a == b)
    if isinstance(a, Symbol):
        return isinstance(b, Symbol) and bool(a == b)
    return isinstance(a, Procedure) and type(a) is type(b) and a.identity == b.identity


def _digest(value: Value, known: dict[int, int]) -> int:
    """A number that is the same for values that are equal. `known` is that of others, which are
    still there, by their ids."""
    if type(value) not in _COMPOUND:
        return _hash(value, known)
    pending: list[Value] = [value]
    done = 0
    while pending:
        item = pending[-1]
        if id(item) in known:
            pending.pop()
            continue
        parts = _parts(item)
        missing = [p for p in parts if type(p) in _COMPOUND and id(p) not in known]
        if missing:
            pending.extend(missing)
            continue
        known[id(item)] = _combined(item, known)
        pending.pop()
        done += len(parts)
    if done > SMALL:
        work(done)
    return known[id(value)]


_COMPOUND = frozenset((tuple, dict, Record))


def _parts(value: Value) -> Any:
    if type(value) is Record:
        return value.fields.values()
    return value.values() if type(value) is dict else value


def _combined(value: Value, known: dict[int, int]) -> int:
    if type(value) is tuple:
        return hash(("list", tuple([_hash(part, known) for part in value])))
    if type(value) is Record:
        return hash((value.kind, _table_hash(value.fields, known)))
    return _table_hash(value, known)


def _table_hash(table: dict[str, Value], known: dict[int, int]) -> int:
    parts = frozenset([(key, _hash(part, known)) for key, part in table.items()])
    return hash(("table", parts))


def _hash(value: Value, known: dict[int, int]) -> int:
    """All goes through text: Python keys the hashes of strings anew in every process, and those
    of numbers never."""
    kind = type(value)
    if kind is int:
        return hash(hex(value))
    if kind in _COMPOUND:
        return known[id(value)]
    if isinstance(value, Procedure):
        return hash((type(value).__name__, value.identity))
    if kind is float and isfinite(value) and value == int(value):
        return hash(hex(int(value)))
    return hash((kind.__name__, str(value)))
