"""What a value looks like as text, and whether it is plain data. Nothing here recurses."""

import json
from collections.abc import Callable
from math import isinf, isnan
from typing import Any

from sexplang.terms.border import LARGEST, bounded, take
from sexplang.terms.extent import text_size
from sexplang.terms.value import Fault, Procedure, Record, Symbol, Value

LONGEST = 10_000_000
"""Code points of a written value."""


def text(value: Value) -> str:
    """A value in text position: strings as they are, a TaskResult is its content, nil is empty;
    everything else as it would be written."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if isinstance(value, Record) and value.kind == "TaskResult":
        return str(value.fields["content"])
    if isinstance(value, Symbol):
        return value.name
    return written(value)


def quoted(string: str) -> str:
    """A string as a literal of the language (and of JSON): characters that source may not hold
    become escapes."""
    plainly = string.isascii() and "\x7f" not in string
    return json.dumps(string, ensure_ascii=False) if plainly else _quoted(string)


def _quoted(string: str) -> str:
    return "".join(
        char if char.isprintable() else json.dumps(char)[1:-1]
        for char in json.dumps(string, ensure_ascii=False)
    )


def number(value: int | float) -> str:
    """A number as text: JSON's syntax; NaN and infinities, which it lacks, as `+nan.0` …"""
    if isinstance(value, int):
        return int.__repr__(value)
    if isnan(value):
        return "+nan.0"
    if isinf(value):
        return "+inf.0" if value > 0 else "-inf.0"
    return float.__repr__(value)


def written(value: Value) -> str:
    """A value so that reading and evaluating the text gives it back (functions aside):
    `[1 'x {k: "v"}]`. Raises Fault `limit-string` for more than LONGEST code points."""
    _fits(text_size(value, LONGEST))
    out: list[str] = []
    work: list[Any] = [(value,)]
    size = 0
    while work:
        item = work.pop()
        if type(item) is not str:
            (value,) = item
            if type(value) is tuple and not any(map(_NESTED.__contains__, map(type, value))):
                item = f"[{' '.join(map(_atom, value))}]"
            elif type(value) is tuple:
                work.extend(_around("[", [((v,),) for v in value], "]"))
                continue
            elif isinstance(value, (dict, Record)):
                fields = value if isinstance(value, dict) else value.fields
                pairs: list[tuple[Any, ...]] = [(f"{_key(k)}: ", (v,)) for k, v in fields.items()]
                work.extend(_around("{", pairs, "}"))
                continue
            else:
                item = _atom(value)
        out.append(item)
        size += len(item)
        _fits(size)
    return "".join(out)


_NESTED = frozenset((tuple, dict, Record))


def _fits(size: int) -> None:
    if size > LONGEST:
        raise Fault("limit-string", f"a text of more than {LONGEST:,} code points")


def _around(opening: str, parts: list[tuple[Any, ...]], closing: str) -> list[Any]:
    """What to push so that the parts come out in order between the brackets."""
    work: list[Any] = [closing]
    for at, part in enumerate(reversed(parts)):
        if at:
            work.append(" ")
        work.extend(reversed(part))
    work.append(opening)
    return work


def _key(key: str) -> str:
    plain = key.replace("_", "a").replace("-", "a")
    fits = plain.isascii() and plain.isalnum() and plain[0].isalpha()
    return key if fits else quoted(key)


_CALCULATED = {"+inf.0": "(/ 1.0 0.0)", "-inf.0": "(/ -1.0 0.0)", "+nan.0": "(/ 0.0 0.0)"}
"""What to write for a float that has no literal."""


def _atom(value: Value) -> str:
    if value is None:
        return "nil"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (int, float)):
        words = number(value)
        return _CALCULATED.get(words, words)
    if isinstance(value, Symbol):
        return f"'{value.name}"
    if isinstance(value, Procedure):
        name = getattr(value, "name", None)
        return f"#<function {name}>" if name else "#<function>"
    return f"#<{type(value).__name__}>"


_NEAR = 40
"""How deep Python's own stack is used, for speed; what is deeper goes the iterative way."""


Made = Callable[[str, dict[str, Any]], Any]
"""A record's kind and its fields, as plain data → what stands for the record."""


def plain(value: Value, record: Made | None = None) -> Any:
    """A value as plain Python data: lists, dicts, str (also for symbols), numbers, None. A record
    is the dict of its fields, or what `record` makes of them.

    Raises Fault `not-data` for functions and continuations.
    """
    left = [LARGEST]
    return _plain(value, _NEAR, left) if record is None else _plain_deep(value, left, record)


def _plain(value: Value, room: int, left: list[int]) -> Any:
    kind = type(value)
    if kind in _FLAT:
        return value
    if room == 0:
        return _plain_deep(value, left)
    # Most parts are flat; asking here saves a call for each.
    if kind is dict or kind is Record:
        fields = value if kind is dict else value.fields
        take(left, len(fields))
        return {
            key: item if item.__class__ in _FLAT else _plain(item, room - 1, left)
            for key, item in fields.items()
        }
    if kind is tuple or kind is list:
        take(left, len(value))
        return [item if item.__class__ in _FLAT else _plain(item, room - 1, left) for item in value]
    return _plain_deep(value, left)


def _plain_deep(value: Value, left: list[int], record: Made | None = None) -> Any:
    root: list[Any] = []
    records: list[tuple[Any, Any, str]] = []
    work: list[tuple[Any, Any, Any]] = [(root, None, value)]
    while work:
        place, key, item = work.pop()
        made: Any = None
        if type(item) is tuple or type(item) is list:
            take(left, len(item))
            made = [None] * len(item)
            work.extend((made, at, part) for at, part in enumerate(item))
        elif isinstance(item, (dict, Record)):
            fields = item if isinstance(item, dict) else item.fields
            take(left, len(fields))
            made = dict[str, Any].fromkeys(fields)
            work.extend((made, name, part) for name, part in fields.items())
            if record is not None and isinstance(item, Record):
                records.append((place, 0 if key is None else key, item.kind))
        elif item is None or isinstance(item, (str, bool, int, float)):
            made = item
        elif isinstance(item, Symbol):
            made = item.name
        else:
            raise Fault("not-data", f"{_atom(item)} is not data", hint="send its result instead")
        if key is None:
            place.append(made)
        else:
            place[key] = made
    if record is not None:
        for place, key, kind in reversed(records):  # those inside of others come first
            place[key] = record(kind, place[key])
    return root[0]


Known = Callable[[Any], tuple[str, dict[str, Any]] | None]
"""A Python object → the kind and the fields (plain data) of the record it is, or None."""


def value_of(data: Any, record: Known | None = None) -> Value:
    """Plain Python data as a value: lists become tuples; anything that neither is data nor known
    to `record` is `not-data`.

    Raises `limit-data` for more than LARGEST parts, so also for a list that holds itself, and
    `limit-integer` for an integer that no program could have made.
    """
    return _value(data, _NEAR, [LARGEST], record)


def _value(data: Any, room: int, left: list[int], record: Known | None) -> Value:
    kind = type(data)
    if kind is int:
        return bounded(data)
    if kind in _FLAT:
        return data
    if kind is dict and room:
        take(left, len(data))
        return {
            key if key.__class__ is str else str(key): item
            if item.__class__ in _FREE
            else _value(item, room - 1, left, record)
            for key, item in data.items()
        }
    if (kind is list or kind is tuple) and room:
        take(left, len(data))
        return tuple([_value(item, room - 1, left, record) for item in data])
    return _value_deep(data, left, record)


_FREE = frozenset((str, bool, float, type(None)))
"""Scalars of which there is nothing to look at."""

_FLAT = _FREE | {int}


def _name(key: Any) -> str:
    return key if type(key) is str else str(key)


_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, lambda number: bounded(int.__int__(number))),
    (float, float.__float__),
)
"""What makes a plain one of an instance of a subclass: an enumeration's member, say."""


def _scalar(item: Any) -> Any:
    """The item, if it is no container; else None, which is a scalar too."""
    if type(item) in _FLAT or isinstance(item, (Symbol, Record, Procedure)):
        return bounded(item) if type(item) is int else item
    return next((exact(item) for kind, exact in _EXACT if isinstance(item, kind)), None)


def _value_deep(data: Any, left: list[int], record: Known | None) -> Value:
    done: dict[int, Any] = {}
    for item, kind, parts in _children_first(data, left, record):
        if kind == "list":
            done[id(item)] = tuple([done[id(part)] for part in parts])
        elif kind == "scalar":
            done[id(item)] = parts
        else:
            fields = {_name(key): done[id(part)] for key, part in parts.items()}
            done[id(item)] = fields if kind == "table" else Record(kind, fields)
    return done[id(data)]


def _children_first(data: Any, left: list[int], record: Known | None) -> list[tuple[Any, str, Any]]:
    order: list[tuple[Any, str, Any]] = []
    work = [data]
    while work:
        item = work.pop()
        scalar = _scalar(item)
        if scalar is not None or item is None:
            order.append((item, "scalar", scalar))
        elif isinstance(item, (list, tuple)):
            take(left, len(item))
            order.append((item, "list", item))
            work.extend(item)
        else:
            table = ("table", item) if isinstance(item, dict) else record and record(item)
            if not table:
                raise Fault("not-data", f"a Python {type(item).__name__} is not a value here")
            take(left, len(table[1]))
            order.append((item, *table))
            work.extend(table[1].values())
    return order[::-1]
