"""Tagged JSON: an exact text form of values of any depth."""

import json
from typing import Any

from sexplang.terms.json.json_writer import plain_label, plain_quote, write
from sexplang.terms.values.value import Record, Symbol, Value, symbol

TAG = "$"
"""The key that marks a value without JSON; a table with that key is packed as pairs."""


def pack(value: Value) -> Any:
    """Return a value as JSON data: records and symbols are tables with the key `$`."""
    root: list[Any] = [None]
    work: list[tuple[Any, Any, Value]] = [(root, 0, value)]
    while work:
        place, key, item = work.pop()
        if item is None or isinstance(item, (str, int)):
            place[key] = item
        elif isinstance(item, float):
            place[key] = item if abs(item) < float("inf") else {TAG: "float", "text": repr(item)}
        elif isinstance(item, (tuple, list)):
            place[key] = made = [None] * len(item)
            work.extend((made, at, part) for at, part in enumerate(item))
        elif isinstance(item, Symbol):
            place[key] = {TAG: "symbol", "name": item.name}
        elif isinstance(item, Record):
            place[key] = {TAG: "record", "kind": item.kind, "fields": None}
            work.append((place[key], "fields", dict(item.fields)))
            if item.answer is not None:
                work.append((place[key], "answer", item.answer))
        elif isinstance(item, dict) and TAG in item:
            place[key] = {TAG: "table", "pairs": None}
            work.append((place[key], "pairs", tuple(item.items())))
        elif isinstance(item, dict):
            place[key] = table = dict.fromkeys(item)
            work.extend((table, name, part) for name, part in item.items())
        else:
            place[key] = {TAG: "opaque", "text": type(item).__name__}
    return root[0]


def unpack(data: Any) -> Any:
    """Return the value of JSON data. Raises ValueError, TypeError or KeyError for invalid data."""
    if isinstance(data, list):
        return tuple([unpack(part) for part in data])
    if not isinstance(data, dict):
        return data
    kind = data.get(TAG)
    if kind is None:
        return {name: unpack(part) for name, part in data.items()}
    if kind == "float":
        return float(data["text"])
    if kind == "symbol":
        return symbol(_text(data["name"]))
    if kind == "record":
        fields = unpack(data["fields"])
        if not isinstance(fields, dict):
            raise TypeError(fields)
        answer = unpack(data["answer"]) if "answer" in data else None
        return Record(_text(data["kind"]), fields, answer)
    if kind == "table":
        return {_text(name): unpack(part) for name, part in data["pairs"]}
    raise ValueError(kind)


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError(data)
    return data


def dump(data: Any, *, canonical: bool = False) -> str:
    """Return JSON data as text on one line. Canonical text has its keys sorted and no white
    space."""
    try:
        return _CANONICAL(data) if canonical else _WRITTEN(data)
    except RecursionError:  # json recurses; a value may be deeper than Python's stack
        return _deep(data, canonical)


_WRITTEN = json.JSONEncoder(ensure_ascii=False).encode
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""One encoder for all lines; `json.dumps` would make one for each."""


def _deep(data: Any, canonical: bool) -> str:
    comma, label = (",", _label) if canonical else (", ", plain_label)
    return write(
        data,
        TypeError,
        quote=plain_quote(),
        label=label,
        comma=comma,
        is_sorted=canonical,
        any_number=True,
    )


def _label(key: str) -> str:
    return plain_quote()(key) + ":"
