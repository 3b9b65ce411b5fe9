"""Table primitives. A record reads like a table.

A key is a string or a symbol; in a list it is an index. An absent value is nil or the default; nil
reads like an empty table.
"""

from typing import Any

from sexplang.primitives.sizes import wrong_type
from sexplang.primitives.strings import content
from sexplang.terms.quota import SMALL, charge
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.rope import TEXTS, whole_text
from sexplang.terms.values.sequences import LISTS, whole_list
from sexplang.terms.values.value import Procedure, Record, Symbol, Value

_ABSENT: Any = object()


_TABLE_FIRST = {
    "put": "(put t key value)",
    "remove": "(remove t key)",
    "has-key?": "(has-key? t key)",
}


_OF_LISTS = {
    "put": "(put-in xs [i] x)",
    "remove": "(delete x xs)",
    "has-key?": "(member? x xs)",
    "keys": "(range (length xs))",
    "entries": "(enumerate xs)",
    "merge": "(append xs ys)",
}
"""What to write for a list where a primitive takes a table."""


def fields(name: str, value: Value) -> dict[str, Value]:
    """Return the table that `value` is, or reads like. Raises Fault."""
    if isinstance(value, dict):
        return value
    if isinstance(value, Record):
        return value.fields
    hint = "`(put {} key value)` makes a table" if value is None else None
    if name in _TABLE_FIRST and isinstance(value, (*TEXTS, Symbol)):
        hint = f"the table comes first: `{_TABLE_FIRST[name]}`"
    if name in _OF_LISTS and type(value) in LISTS:
        hint = f"write `{_OF_LISTS[name]}` for a list"
    raise wrong_type(name, "a table", value, hint)


def key_text(name: str, key: Value) -> str:
    if type(key) in TEXTS:
        return whole_text(key)
    if isinstance(key, Symbol):
        return key.name
    hint = "`(str x)` makes a key of it"
    if name in _BY_PATH and type(key) in LISTS:
        hint = f"write `{_BY_PATH[name]}` for a path of keys"
    raise wrong_type(name, "a string or a symbol as a key", key, hint)


_BY_PATH = {"put": "(put-in t keys value)", "get": "(get-in t keys)"}
"""The calls that take a path where others take a key."""


def get(table: Value, key: Value, default: Value = None) -> Value:
    if type(table) is dict and type(key) is str:
        return table.get(key, default)
    found = _look("get", table, key)
    return default if found is _ABSENT else found


def get_in(table: Value, path: Value, default: Value = None) -> Value:
    if type(path) not in LISTS:
        raise wrong_type("get-in", "a list of keys", path, '`(get-in t ["a" 0 "b"])`')
    return _walk("get-in", table, whole_list(path), default)


def get_field(table: Value, key: Value) -> Value:
    found = _look("get-field", table, key)
    return None if found is _ABSENT else found


def get_property(table: Value, path: Value) -> Value:
    names = key_text("get-property", path).split(".")
    return _walk("get-property", table, tuple(names), None)


def _walk(name: str, value: Value, path: tuple[Value, ...], default: Value) -> Value:
    for key in path:
        value = _look(name, value, key)
        if value is _ABSENT:
            return default
    return value


def _look(name: str, value: Value, key: Value) -> Value:
    if isinstance(value, Record):
        value = value.fields
    if isinstance(value, dict):
        return value.get(key_text(name, key), _ABSENT)
    if value is None:
        return _ABSENT
    if type(value) not in LISTS:
        is_key = isinstance(value, (*TEXTS, Symbol)) and isinstance(key, (dict, Record, *LISTS))
        hint = f"the table comes first: `({name} t {abbreviate(value)})`" if is_key else None
        if type(value) in TEXTS and type(key) is int:
            hint = "write `(string-ref s i)` for a text"
        raise wrong_type(name, f"a table or a list to find {abbreviate(key)} in", value, hint)
    if type(key) is not int:
        raise wrong_type(name, "an index to find in a list", key, _hint_of_pairs(value))
    return value[key] if 0 <= key < len(value) else _ABSENT


def _hint_of_pairs(items: Any) -> str | None:
    """Return what to write for a key of a list of pairs, None for another list."""
    first: Any = items[0] if len(items) else None
    if type(first) not in LISTS or len(first) != 2:
        return None
    return (
        "this is a list of pairs: write `(second (assoc key pairs))`, or make a table of it, "
        "`(get (from-entries pairs) key)`"
    )


def put(table: Value, key: Value, value: Value) -> Value:
    if type(table) is not dict:
        table = fields("put", table)
    if type(key) is not str:
        key = key_text("put", key)
    if len(table) >= SMALL:
        charge(len(table) + 1)
    made: dict[str, Value] = table.copy()  # faster than a new dict with `**`
    made[key] = value
    return made


def remove(table: Value, key: Value) -> Value:
    if isinstance(table, Procedure):
        raise wrong_type(
            "remove", "a table", table, "`(filter (lambda (x) (not (p x))) xs)` leaves items out"
        )
    if type(key) in LISTS and not isinstance(table, (dict, Record)):
        raise wrong_type("remove", "a table", table, "`(delete x xs)` leaves an item out")
    made = fields("remove", table).copy()
    made.pop(key_text("remove", key), None)
    return made


def keys(table: Value) -> Value:
    return tuple(fields("keys", table))


def values(table: Value) -> Value:
    return tuple(fields("values", table).values())


def merge(*tables: Value) -> Value:
    made: dict[str, Value] = {}
    for table in tables:
        made |= fields("merge", table)
    return made


def has_key(table: Value, key: Value) -> Value:
    found = fields("has-key?", table)
    return key_text("has-key?", key) in found


def is_empty(value: Value) -> Value:
    if value is None:
        return True
    if isinstance(value, dict) or type(value) in LISTS:
        return not value
    if isinstance(value, Record) and value.kind != "TaskResult":
        return not value.fields
    if type(value) in TEXTS or isinstance(value, Record):
        return not content("empty?", value)
    raise wrong_type("empty?", "a list, a table or text", value)
