"""The text of values, and values as plain data. Nothing here recurses."""

from collections.abc import Callable
from math import isinf, isnan
from sys import maxsize
from typing import Any

from sexplang.terms.values.boundary import (
    LARGEST,
    check_integer,
    check_texts,
    endless,
    holds_itself,
    too_large,
)
from sexplang.terms.values.fast_values import FREE, USUAL, Unusual, small
from sexplang.terms.values.rope import Rope, whole_text
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.text_size import text_size
from sexplang.terms.values.value import Fault, Procedure, Record, Symbol, Value

LONGEST = 10_000_000
"""Code points of a value's text."""


def text(value: Value) -> str:
    """Return a value as text: strings as they are, the content of a TaskResult, an empty text for
    nil, and source text for any other."""
    if type(value) is str:
        return value
    if type(value) is int and -USUAL < value < USUAL:
        return int.__repr__(value)
    if value is None:
        return ""
    if type(value) is Rope:
        return whole_text(value)
    if isinstance(value, Record) and value.kind == "TaskResult":
        return str(value.fields["content"])
    if isinstance(value, Symbol):
        return value.name
    return to_source(value)


def quote(string: str) -> str:
    """Return a string as a literal of the language (and of JSON): characters that source may not
    hold become escapes."""
    if string.isprintable() and '"' not in string and "\\" not in string:
        return f'"{string}"'
    # Imported here: few programs show such a string, and json takes longer to load than most of
    # them to run.
    import json
    from json.encoder import encode_basestring

    escaped = encode_basestring(string)
    if string.isascii() and "\x7f" not in string:
        return escaped
    return "".join([char if char.isprintable() else json.dumps(char)[1:-1] for char in escaped])


def number(value: int | float) -> str:
    """Return a number as text: JSON's syntax; NaN and infinities, which it lacks, as `+nan.0` …"""
    if isinstance(value, int):
        return int.__repr__(value)
    if isnan(value):
        return "+nan.0"
    if isinf(value):
        return "+inf.0" if value > 0 else "-inf.0"
    return float.__repr__(value)


def to_source(value: Value) -> str:
    """Return a value as source text, which evaluates to it (functions aside): `[1 'x {k: "v"}]`.
    Raises Fault `limit-string` for more than LONGEST code points."""
    check_length(text_size(value, LONGEST))
    made = write_with(value, _atom, _label, " ", LONGEST)
    check_length(len(made))
    return made


def check_length(size: int) -> None:
    """Raise Fault `limit-string` if a text of this size is longer than LONGEST."""
    if size > LONGEST:
        words = f"a text of more than {LONGEST:,} code points"
        raise Fault("limit-string", words, hint="nothing raises it: write a part at a time")


def write_with(
    value: Value,
    atom: Callable[[Value], str],
    label: Callable[[str], str],
    comma: str,
    most: int,
    most_parts: int = maxsize,
    *,
    is_sorted: bool = False,
    contents: bool = False,
) -> str:
    """Return a value in brackets and braces, with `comma` between its parts, which `atom` and
    `label` write. Of a text of more than `most` code points return the beginning, which is longer
    than that.

    `is_sorted`: tables have their keys in order. `contents`: a TaskResult is its content. Raises
    Fault `limit-data` for more than `most_parts` parts.
    """
    out: list[str] = []
    size = 0
    around: list[tuple[Any, str, bool]] = []
    parts: Any = iter((value,))
    closing, lead, is_table = "", "", False
    while True:
        for part in parts:
            words = lead
            if is_table:
                key, part = part
                words += label(key)
            lead = comma
            while contents and type(part) is Record and part.kind == "TaskResult":
                part = part.fields["content"]
            kind = type(part)
            is_open = False
            if kind in _SEQUENCES:
                most_parts -= len(part) + 1
                if most_parts < 0:
                    raise too_large()
                if len(part) > _MANY and set(map(type, part)) == _INTEGERS:
                    words += repr([*part]).replace(", ", comma)
                else:
                    around.append((parts, closing, is_table))
                    words, is_open = words + "[", True
                    parts, closing, lead, is_table = iter(part), "]", "", False
            elif kind is dict or kind is Record:
                fields = part if kind is dict else part.fields
                most_parts -= len(fields) + 1
                if most_parts < 0:
                    raise too_large()
                around.append((parts, closing, is_table))
                words, is_open = words + "{", True
                items = sorted(fields.items()) if is_sorted else fields.items()
                parts, closing, lead, is_table = iter(items), "}", "", True
            else:
                words += atom(part)
            out.append(words)
            size += len(words)
            if size > most:
                return "".join(out)
            if is_open:
                break
        else:
            out.append(closing)
            size += 1
            if not around:
                return "".join(out)
            parts, closing, is_table = around.pop()
            lead = comma


_SEQUENCES = LISTS | {list}
_MANY = 100
"""The length of a list from which on a test for integers alone pays off."""
_INTEGERS = {int}


def _label(key: str) -> str:
    return f"{_key(key)}: "


def _key(key: str) -> str:
    plain = key.replace("_", "a").replace("-", "a")
    fits = plain.isascii() and plain.isalnum() and plain[0].isalpha()
    return key if fits else quote(key)


_CALCULATED = {"+inf.0": "(/ 1.0 0.0)", "-inf.0": "(/ -1.0 0.0)", "+nan.0": "(/ 0.0 0.0)"}
"""The source text of floats without a literal."""


def _atom(value: Value) -> str:
    if type(value) is int:
        return int.__repr__(value)
    if value is None:
        return "nil"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (str, Rope)):
        return quote(str(value))
    if isinstance(value, (int, float)):
        words = number(value)
        return _CALCULATED.get(words, words)
    if isinstance(value, Symbol):
        return f"'{value.name}"
    if isinstance(value, Procedure):
        name = getattr(value, "name", None)
        return f"#<function {name}>" if name else "#<function>"
    return f"#<{type(value).__name__}>"


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
    raise Fault("not-data", f"{_atom(item)} is not data", hint="send its result instead")


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
