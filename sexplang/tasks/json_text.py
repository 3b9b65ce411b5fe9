"""A value to JSON text, at any depth: what a model reads, and what signatures are taken of."""

import json
from collections import Counter
from json.encoder import encode_basestring as quoted
from math import isfinite, isnan
from typing import Any

from sexplang.terms.border import LARGEST, too_large
from sexplang.terms.extent import text_size
from sexplang.terms.text import LONGEST, check_length, number, value_of
from sexplang.terms.value import Fault, Record, Symbol, Value


class _Mark(str):
    """Punctuation that waits on the stack among values."""

    __slots__ = ()


_CONSTANTS: dict[Any, str] = {None: "null", True: "true", False: "false"}
_CLOSE, _END, _COMMA = _Mark("}"), _Mark("]"), _Mark(", ")


def json_text(value: Value, *, canonical: bool = False) -> str:
    """JSON text of a value; symbols are strings, records objects; a TaskResult is its content, as
    in every text. Raises Fault `not-data` for functions, `not-json` for NaN and infinities, and
    `limit-data` for more than LARGEST parts, `limit-string` for more than LONGEST code points.

    Canonical: keys sorted and runs of white space in strings as one space, so that values which
    differ in these alone have one text; nobody reads it, so it has NaN and infinities.
    """
    if type(value) is str:
        return quoted(" ".join(value.split()) if canonical else value)
    check_length(text_size(value, LONGEST))
    out: list[str] = []
    work: list[Any] = [value]
    left = LARGEST
    while work:
        item = work.pop()
        if type(item) is _Mark:
            out.append(item)
        elif isinstance(item, str):
            out.append(quoted(" ".join(item.split()) if canonical else item))
        elif isinstance(item, (tuple, list)):
            left -= len(item) + 1
            if left < 0:
                raise too_large()
            out.append("[")
            work.append(_END)
            for at in range(len(item) - 1, -1, -1):
                work.append(item[at])
                if at:
                    work.append(_COMMA)
        elif isinstance(item, (dict, Record)):
            if isinstance(item, Record) and item.kind == "TaskResult":
                work.append(item.fields["content"])
                continue
            fields = item if isinstance(item, dict) else item.fields
            left -= len(fields) + 1
            if left < 0:
                raise too_large()
            out.append("{")
            work.append(_CLOSE)
            keys = sorted(fields) if canonical else list(fields)
            for at in range(len(keys) - 1, -1, -1):
                work.append(fields[keys[at]])
                work.append(_Mark(f"{', ' if at else ''}{quoted(keys[at])}: "))
        else:
            out.append(_atom(item, canonical))
    return "".join(out)


def _atom(item: Value, canonical: bool) -> str:
    if item is None or item is True or item is False:
        return _CONSTANTS[item]
    if isinstance(item, (int, float)):
        if isinstance(item, float) and not isfinite(item) and not canonical:
            raise Fault(
                "not-json",
                f"a model cannot be given {number(item)}: JSON has no such number",
                hint="put nil or a text in its place",
            )
        return number(item)
    if isinstance(item, Symbol):
        return quoted(item.name)
    raise Fault(
        "not-data",
        "a function cannot be sent to a model",
        hint="call it first and pass what it gives",
    )


DEEPEST = 190
"""How deep what a model wrote may nest. The conversation that it is a part of nests about it, and
the whole may nest 200 deep."""


def unfit(value: Value) -> str | None:
    """Why a value that a model wrote can be no part of a conversation; None if it can."""
    if text_size(value, LONGEST) > LONGEST:
        return f"it has more than {LONGEST:,} characters"
    work = [(value, 0)]
    while work:
        item, depth = work.pop()
        if isinstance(item, float) and not isfinite(item):
            return "it holds NaN" if isnan(item) else "a number in it is larger than any float"
        if isinstance(item, (tuple, list, dict, Record)):
            if depth == DEEPEST:
                return f"it nests more than {DEEPEST} levels deep"
            fields = item.fields if isinstance(item, Record) else item
            parts = fields.values() if isinstance(fields, dict) else fields
            work += [(part, depth + 1) for part in parts]
    return None


MOST_PARTS = 100_000
"""How many brackets and commas a text in JSON may hold that a model wrote."""


def is_large(text: str) -> bool:
    """Whether a text in JSON is more than a model can have meant to be read."""
    return sum(map(text.count, "[{,")) > MOST_PARTS


def read_json(text: str, twice: list[str]) -> Value:
    """The value of a text in JSON that a model wrote; `twice` is given the keys that stand twice in
    one of its objects. Half of a surrogate pair, which it may have escaped, becomes `?`, as in all
    that a model says. Raises ValueError, RecursionError and Fault."""

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            often = Counter([name for name, _ in pairs])
            again = next(name for name in made if often[name] > 1)
            twice.append(again[:40].encode("utf-8", "replace").decode())
        return made

    if is_large(text):
        raise ValueError(f"it has more than {MOST_PARTS:,} brackets and commas")
    read = json.loads(text, object_pairs_hook=table)
    return value_of(json.loads(json.dumps(read, ensure_ascii=False).encode("utf-8", "replace")))
