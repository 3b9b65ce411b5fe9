"""Tagged JSON: an exact text form of values of any depth."""

import json
from collections.abc import Iterable
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
    """Return the value of JSON data of any depth. Raises ValueError, TypeError or KeyError for
    invalid data."""
    try:
        return _unpack(data)
    except RecursionError:
        return _unpack_deep(data)


def _unpack(data: Any) -> Any:
    if isinstance(data, list):
        return tuple([_unpack(part) for part in data])
    if not isinstance(data, dict):
        return data
    if data.get(TAG) is None:
        return {name: _unpack(part) for name, part in data.items()}
    return _assemble(data, [_unpack(part) for part in _parts(data)])


def _unpack_deep(data: Any) -> Any:
    """Return the value of JSON data without recursion."""
    made, starts = [data], []
    for each in made:  # it grows: the parts of each list and table follow those before
        starts.append(len(made))
        made.extend(_parts(each))
    end = len(made)
    for at in range(end - 1, -1, -1):
        start = starts[at]
        if isinstance(made[at], (list, dict)):
            made[at] = _assemble(made[at], made[start:end])
        end = start
    return made[0]


def _parts(data: Any) -> Iterable[Any]:
    """Return what has to be unpacked before these data."""
    if isinstance(data, list):
        return data
    if not isinstance(data, dict):
        return ()
    kind = data.get(TAG)
    if kind is None:
        return data.values()
    if kind == "record":
        return [data[name] for name in ("fields", "answer") if name != "answer" or name in data]
    if kind == "table":
        return [part for _, part in data["pairs"]]
    return ()


def _assemble(data: Any, parts: list[Any]) -> Any:
    """Return the value of data whose parts are unpacked."""
    if isinstance(data, list):
        return tuple(parts)
    kind = data.get(TAG)
    if kind is None:
        return dict(zip(data, parts, strict=True))
    if kind == "float":
        return float(data["text"])
    if kind == "symbol":
        return symbol(_text(data["name"]))
    if kind == "record":
        if not isinstance(parts[0], dict):
            raise TypeError(parts[0])
        return Record(_text(data["kind"]), parts[0], parts[1] if len(parts) > 1 else None)
    if kind == "table":
        names = [_text(name) for name, _ in data["pairs"]]
        return dict(zip(names, parts, strict=True))
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


def load(text: str) -> Any:
    """Return the data of text that `dump` wrote. Raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        pass
    try:
        return _load_deep(text)
    except (IndexError, StopIteration, KeyError, TypeError) as wrong:
        raise ValueError("it is no JSON text") from wrong


def _load_deep(text: str) -> Any:
    """Return the data of valid JSON text without recursion."""
    decoder: Any = json.JSONDecoder()  # typeshed leaves its scanner out
    scan = decoder.scan_once
    place: Any = []
    root, outer, key, at = place, list[tuple[Any, Any]](), None, 0
    while at < len(text):
        mark = text[at]
        if mark in ", :":
            at += 1
            continue
        if mark in "]}":
            (place, key), at = outer.pop(), at + 1
            continue
        made: Any
        if mark in "[{":
            made, at = [] if mark == "[" else {}, at + 1
        else:
            made, at = scan(text, at)
        if isinstance(place, list):
            place.append(made)
        elif key is None:
            key = made
            continue
        else:
            place[key], key = made, None
        if mark in "[{":
            outer.append((place, key))
            place, key = made, None
    if outer or len(root) != 1:
        raise ValueError("a JSON text has one end for each beginning")
    return root[0]
