"""Values outside of the machine: lists are tuples, and texts are strs.

Law: a value without long parts is returned as it is, and shared parts stay shared.
"""

from typing import Any

from sexplang.terms.values import rope, sequences
from sexplang.terms.values.boundary import LARGEST, too_large
from sexplang.terms.values.rope import Rope, whole_text
from sexplang.terms.values.sequences import LONG
from sexplang.terms.values.value import Record, Value

_SHAPES = LONG | {Rope}
_HOLDING = frozenset((tuple, dict, Record)) | _SHAPES
_MOST = 10 * LARGEST
"""The greatest number of copied items and characters. One list or text has no more, but many may
share theirs."""


def materialize(value: Value) -> Value:
    """Return the value with tuples for all lists in it and strs for all texts. Raises Fault
    `limit-data` if that is too large because long ones share their items."""
    if (sequences.any_made or rope.any_made) and value.__class__ in _HOLDING:
        return _materialize(value) if _holds_long(value) else value
    return value


def _holds_long(value: Value) -> bool:
    seen: set[int] = set()
    work = [value]
    for item in work:  # the list grows meanwhile
        kind = item.__class__
        if kind in _SHAPES:
            return True
        parts = item if kind is tuple else _parts(item, kind)
        if _HOLDING.isdisjoint(map(type, parts)):
            continue
        for part in parts:
            if part.__class__ in _HOLDING and id(part) not in seen:
                seen.add(id(part))
                work.append(part)
    return False


def _parts(item: Any, kind: type) -> Any:
    """Return the parts of a value; the answer of a record comes last."""
    if kind is Record:
        held = item.fields.values()
        return held if item.answer is None else (*held, item.answer)
    return item.values() if kind is dict else () if kind is Rope else item


def _materialize(value: Value) -> Value:
    made: dict[int, Any] = {}
    left = _MOST
    work = [value]
    while work:
        item = work[-1]
        if id(item) in made:
            work.pop()
            continue
        kind = item.__class__
        parts = _parts(item, kind)
        waiting = [part for part in parts if part.__class__ in _HOLDING and id(part) not in made]
        if waiting:
            work += waiting
            continue
        work.pop()
        if kind in _SHAPES:
            left -= len(item)
            if left < 0:
                raise too_large()
        made[id(item)] = _remade(item, kind, parts, made)
    return made[id(value)]


def _remade(item: Any, kind: type, parts: Any, made: dict[int, Any]) -> Any:
    if kind is Rope:
        return whole_text(item)
    new = [made.get(id(part), part) if part.__class__ in _HOLDING else part for part in parts]
    if kind in LONG:
        return tuple(new)
    if all(map(_is, new, parts)):
        return item
    if kind is tuple:
        return tuple(new)
    if kind is dict:
        return dict(zip(item, new, strict=True))
    answer = None if item.answer is None else new.pop()
    return Record(item.kind, dict(zip(item.fields, new, strict=True)), answer, item.conversation)


def _is(one: Any, other: Any) -> bool:
    return one is other
