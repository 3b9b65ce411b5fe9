"""The boundary of a program: values as plain data of Python, both ways, and the limits on the way.

`plain` and `value_of` convert, and `materialize` gives a value its tuples and strs. The limits are
those of parts, of bits of integers, and of text that cannot be encoded. Nothing here recurses but
the fast path, whose depth is bounded.
"""

import re
from collections.abc import Callable
from typing import Any

from sexplang.terms.values import rope, sequences
from sexplang.terms.values.rope import Rope, whole_text
from sexplang.terms.values.sequences import LISTS, LONG
from sexplang.terms.values.value import Fault, Procedure, Record, Symbol, Value

INTEGER_BITS = 14_000
"""Bits of an integer: about 4,200 digits, below the length at which CPython refuses to print."""

LARGEST = 1_000_000
"""Parts of a value that leaves the program. A value with shared parts may stand for more of them
than fit in memory."""

_HALF = "[\ud800-\udfff]"


def check_integer(number: int) -> int:
    """Return the number. Raises Fault `limit-integer` for one beyond the limit of programs."""
    if number.bit_length() > INTEGER_BITS:
        raise Fault(
            "limit-integer",
            f"an integer of more than {INTEGER_BITS:,} bits does not enter a program",
            hint="give it as text",
        )
    return number


def too_large() -> Fault:
    """Return the fault for a value of more than LARGEST parts; each container is a part too."""
    return Fault(
        "limit-data",
        f"a value of more than {LARGEST:,} parts neither enters nor leaves a program",
        hint="lists may share their parts inside a program, but not outside of it",
    )


def endless() -> Fault:
    """Return the fault for data that contains itself."""
    words = "a list or a table that holds itself is not a value"
    return Fault("not-data", words, hint="give the part that matters, or refer to it by a name")


def without_functions(value: Value, words: Callable[[Value], str]) -> Value:
    """Return the value as data, with `words` in place of each function and continuation. Raises
    Fault `limit-data` for more than LARGEST parts."""
    root = [value]
    work: list[Any] = [root]
    made: list[tuple[Any, Any, str | None]] = []
    left = LARGEST
    for parts in work:  # the list grows meanwhile
        for key, item in parts.items() if parts.__class__ is dict else enumerate(parts):
            if isinstance(item, Procedure):
                parts[key] = words(item)
            elif isinstance(item, (tuple, dict, Record)):
                kind = item.kind if isinstance(item, Record) else None
                inside = item.fields if isinstance(item, Record) else item
                parts[key] = list(inside) if isinstance(inside, tuple) else inside.copy()
                made.append((parts, key, kind))
                work.append(parts[key])
                left -= len(inside) + 1
                if left < 0:
                    raise too_large()
    for parts, key, kind in reversed(made):  # inner ones come first
        part = parts[key]
        whole: Any = tuple(part) if part.__class__ is list else part
        parts[key] = whole if kind is None else Record(kind, whole)
    return root[0]


def holds_itself(data: Any) -> bool:
    """Return whether some list or table of Python contains itself."""
    around: set[int] = set()
    done: set[int] = set()
    work = [(data, False)]
    while work:
        item, is_left = work.pop()
        if is_left:
            around.discard(id(item))
            done.add(id(item))
        elif id(item) in around:
            return True
        elif isinstance(item, (list, tuple, dict)) and id(item) not in done:
            around.add(id(item))
            work.append((item, True))
            parts = item.values() if isinstance(item, dict) else item
            work.extend([(part, False) for part in parts])
    return False


def check_texts(value: Value) -> Value:
    """Return the value. Raises Fault `not-text` if a text in it cannot be encoded in UTF-8."""
    texts: list[str] = []
    work = [value]
    for item in work:  # the list grows meanwhile
        kind = item.__class__
        if kind is str:
            texts.append(item)
        elif kind is tuple:
            work += item
        elif kind is dict or kind is Record:
            fields = item if kind is dict else item.fields
            texts += fields
            work += fields.values()
    check_text("".join(texts))
    return value


def check_text(text: str) -> None:
    """Raise Fault `not-text` for a text that UTF-8 cannot encode."""
    if not text.isascii() and re.search(_HALF, text):
        raise Fault(
            "not-text",
            "half of a surrogate pair is no character",
            hint=r"look at where the text comes from: \ud800 to \udfff stand only in pairs",
        )


def opaque_text(value: Value) -> str:
    """Return the text of a value that is not data, such as `#<function f>`."""
    if isinstance(value, Procedure):
        name = getattr(value, "name", None)
        return f"#<function {name}>" if name else "#<function>"
    return f"#<{type(value).__name__}>"


# -- The fast path of `value_of` ------------------------------------------------------------------

# Law: the result is that of `value_of` for the same data. Unusual or large data is refused.

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


# -- Plain data -----------------------------------------------------------------------------------

Made = Callable[[str, dict[str, Any]], Any]
"""The replacement of a record, by its kind and its fields as plain data."""


def plain(value: Value, record: Made | None = None) -> Any:
    """Return a value as plain Python data: lists, dicts, str (also for symbols), numbers, None. A
    record becomes the dict of its fields, or the result of `record`.

    Raises Fault `not-data` for functions and continuations, and `limit-data` for more than LARGEST
    parts.
    """
    if value.__class__ in _FLAT:
        return value
    root = [value]
    work: list[Any] = [root]
    records: list[tuple[Any, Any, str]] = []
    left = LARGEST
    for made in work:  # the list grows meanwhile
        for key, item in made.items() if made.__class__ is dict else enumerate(made):
            kind = item.__class__
            if kind in _FLAT:
                continue
            part: Any
            if kind is dict:
                part = item.copy()
            elif kind is list or kind in LISTS:
                part = list(item)
            elif isinstance(item, (dict, Record)):
                part = dict(item if isinstance(item, dict) else item.fields)
                if record is not None and isinstance(item, Record):
                    records.append((made, key, item.kind))
            else:
                made[key] = _plain_scalar(item)
                continue
            left -= len(part) + 1
            if left < 0:
                raise too_large()
            made[key] = part
            work.append(part)
    if record is not None:
        for made, key, word in reversed(records):  # inner ones come first
            made[key] = record(word, made[key])
    return root[0]


def _plain_scalar(item: Value) -> Any:
    if isinstance(item, Symbol):
        return item.name
    if isinstance(item, (str, int, float)):
        return item
    if type(item) is Rope:
        return whole_text(item)
    raise Fault("not-data", f"{opaque_text(item)} is not data", hint="send its result instead")


Known = Callable[[Any], tuple[str, dict[str, Any]] | None]
"""The kind and the fields (plain data) of a Python object that is a record, or None."""


def value_of(data: Any, record: Known | None = None) -> Value:
    """Return plain Python data as a value: lists become tuples. Raises Fault `not-data` for an
    object that is neither data nor known to `record`.

    Raises `not-data` for a list that contains itself too, `limit-data` for more than LARGEST parts,
    and `limit-integer` for an integer beyond the limit of programs.
    """
    if data.__class__ in FREE:
        return data
    try:
        return small(data)
    except Unusual:
        return _value_of(data, record)


def writable_value(data: Any, record: Known | None = None) -> Value:
    """Return data as a value like `value_of`. Raises `not-text`, too, for a text that UTF-8 cannot
    encode."""
    made = value_of(data, record)
    return made if made.__class__ in _WITHOUT_TEXT else check_texts(made)


_WITHOUT_TEXT = frozenset((int, float, bool, type(None)))


def _value_of(data: Any, record: Known | None) -> Value:
    """Return large or unusual data as a value."""
    root = [data]
    work: list[Any] = [root]
    lists: list[tuple[Any, Any]] = []
    left = LARGEST
    for made in work:  # the list grows meanwhile
        for key, item in made.items() if made.__class__ is dict else enumerate(made):
            kind = item.__class__
            if kind in FREE:
                continue
            part: Any
            if kind is int:
                if not -USUAL < item < USUAL:
                    check_integer(item)
                continue
            if kind is dict and _TEXT.issuperset(map(type, item)):
                made[key] = part = item.copy()
            elif kind is tuple or isinstance(item, (list, tuple)):
                made[key] = part = list(item)
                lists.append((made, key))
            elif isinstance(item, dict):
                made[key] = part = _table(item)
            else:
                made[key], part = _other(item, record)
                if part is None:
                    continue
            left -= len(part) + 1
            if left < 0:
                raise endless() if holds_itself(data) else too_large()
            work.append(part)
    for made, key in reversed(lists):  # inner ones come first
        made[key] = tuple(made[key])
    return root[0]


_FLAT = FREE | {int}


_TEXT = frozenset((str,))


def _table(data: dict[Any, Any]) -> dict[str, Any]:
    others = [type(key).__name__ for key in data if not isinstance(key, str)]
    if others:
        words = f"a key of a table is a str, not {others[0]}"
        raise Fault("not-data", words, hint="write such keys as text: {'1': …}, not {1: …}")
    return {str.__str__(key): item for key, item in data.items()}


def _other(item: Any, record: Known | None) -> tuple[Value, dict[str, Any] | None]:
    """Return the value of an unusual object, and the fields if it is a record."""
    if isinstance(item, (Symbol, Record, Procedure)):
        return item, None
    for kind, exact in _EXACT:
        if isinstance(item, kind):
            return exact(item), None
    known = record(item) if record is not None else None
    if known is None:
        raise Fault("not-data", f"a Python {type(item).__name__} is not a value here")
    fields = _table(known[1])
    return Record(known[0], fields), fields


_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, lambda number: check_integer(int.__int__(number))),
    (float, float.__float__),
)
"""The conversion of an instance of a subclass, such as a member of an enumeration."""


# -- Materialization ------------------------------------------------------------------------------

# Law: a value without long parts is returned as it is, and shared parts stay shared.

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
        made[id(item)] = _remake(item, kind, parts, made)
    return made[id(value)]


def _remake(item: Any, kind: type, parts: Any, made: dict[int, Any]) -> Any:
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
