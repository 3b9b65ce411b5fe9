"""Equality of values.

`1` equals `1.0`, `true` does not equal `1`, tables compare without order, records by kind and
fields, symbols by name, functions by their `identity`. A NaN equals a NaN, so that equality is
reflexive.

Law: nothing here recurses, and values with shared parts cost time by their size in memory: values
found equal are in one group, and no two of a group are compared again. Law: no program can choose
unequal values whose keys have equal hashes. Law: long work counts as steps of the run.
"""

from collections.abc import Hashable, Sequence
from math import isfinite
from typing import Any

from sexplang.terms.quota import GLANCE, SMALL, scan, work
from sexplang.terms.values.rope import TEXTS, Rope, whole_text
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Procedure, Record, Symbol, Value


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
    """Return, for each of the values, the index of the first one that is equal to it."""
    if len(values) > SMALL:
        work(len(values))
    places: dict[Hashable, int] = {}
    keys = _Keys()
    return [places.setdefault(keys.of(value), at) for at, value in enumerate(values)]


def _equal(a: Value, b: Value, groups: dict[int, int]) -> bool:
    """Return whether two values are equal. `groups` are the equal parts of earlier pairs that are
    still alive."""
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
            if kind in LISTS:
                if type(b) not in LISTS or len(a) != len(b):
                    return False
                pairs.extend(zip(a, b, strict=True))
                done += len(a)
                continue
            if kind is not type(b):
                return False
            if kind is Record:
                if a.kind != b.kind:
                    return False
                a, b = a.fields, b.fields
            if a.keys() != b.keys():
                return False
            pairs.extend((value, b[key]) for key, value in a.items())
            done += len(a)
    finally:
        if done > SMALL:
            work(done)
    return True


def _group(groups: dict[int, int], member: int) -> int:
    """Return the representative of a member's group, with path compression."""
    while (above := groups.get(member)) is not None:
        groups[member] = groups.get(above, above)
        member = above
    return member


def _same_atom(a: Value, b: Value) -> bool:
    kind = type(a)
    if kind is int or kind is float:
        return (type(b) is int or type(b) is float) and (a == b or (a != a and b != b))
    if kind is str or kind is Rope:
        if type(b) not in TEXTS or len(a) != len(b):
            return False
        scan(len(a))
        return whole_text(a) == whole_text(b)
    if isinstance(a, Symbol):
        return isinstance(b, Symbol) and bool(a == b)
    return isinstance(a, Procedure) and type(a) is type(b) and a.identity == b.identity


class _Keys:
    """Hashable keys that are equal for equal values only.

    The key of a list, a table or a record is an interned tuple of its parts' keys. Numbers become
    text: Python salts the hashes of strings and bytes in every process, and those of numbers never.
    """

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}
        """Keys of compound values and long texts by id; all are still alive."""
        self._names: dict[Hashable, Any] = {}

    def of(self, value: Value) -> Hashable:
        if type(value) not in _COMPOUND:
            return self._atom(value)
        known, names = self._known, self._names
        pending: list[Value] = [value]
        done = 0
        while pending:
            item = pending[-1]
            if id(item) not in known:
                parts: Any = item.fields if type(item) is Record else item
                try:
                    held = self._key_of_parts(item)
                except KeyError:
                    parts = parts.values() if type(parts) is dict else parts
                    pending += [p for p in parts if type(p) in _COMPOUND and id(p) not in known]
                    continue
                known[id(item)] = names.get(held) or names.setdefault(held, b"#%x" % len(names))
                done += len(parts)
            pending.pop()
        if done > SMALL:
            work(done)
        key: Hashable = known[id(value)]
        return key

    def _key_of_parts(self, item: Any) -> Hashable:
        """Return the keys of all parts. Raises KeyError if one has none yet."""
        known, atom = self._known, self._atom
        if type(item) in LISTS:
            return tuple([known[id(p)] if type(p) in _COMPOUND else atom(p) for p in item])
        kind, fields = (item.kind, item.fields) if type(item) is Record else (None, item)
        keys = [known[id(p)] if type(p) in _COMPOUND else atom(p) for p in fields.values()]
        return kind, frozenset(zip(fields, keys, strict=True))

    def _atom(self, value: Value) -> Hashable:
        kind = type(value)
        if kind is int:
            return b"%x" % value
        if kind is str:
            return value if len(value) < GLANCE else self._long(value)
        if kind is Rope:
            return self._atom(whole_text(value))
        if value is None or kind is bool:
            constant: Hashable = value
            return constant
        if kind is float:
            return b"%x" % int(value) if isfinite(value) and value == int(value) else b"%a" % value
        return kind, value.identity if isinstance(value, Procedure) else value

    def _long(self, text: str) -> str:
        """Return the first of equal texts, so that later comparisons are by identity."""
        found: str | None = self._known.get(id(text))
        if found is None:
            scan(len(text))
            found = self._known[id(text)] = self._names.setdefault(text, text)
        return found


_COMPOUND = frozenset((dict, Record)) | LISTS
