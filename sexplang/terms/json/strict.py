"""The strict reader of JSON text from models and people. It refuses extensions of JSON and
excessive sizes with a sentence."""

import json
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from math import isfinite, isinf, isnan
from typing import Any, NoReturn

from sexplang.terms.json.json_reader import NotJson, normalize_error
from sexplang.terms.values.boundary import INTEGER_BITS, value_of
from sexplang.terms.values.text import LONGEST, text_size
from sexplang.terms.values.value import Record, Value

MAX_DEPTH = 128
READABLE_DEPTH = 300
"""The depth to which Python reads JSON in every version and from any place in its own stack."""
MOST_PARTS = 100_000
"""The greatest number of brackets and commas in a text; each value of a list or table has one."""

_ALWAYS_EXACT = 15
_TINY = Decimal("1e-324")
"""The stand-in for a number that is nearly 0 and has any exponent."""
_TOO_LONG = "a number has too many digits"

# An unclosed string extends to the end, so that no text is read twice.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_large(text: str) -> bool:
    """Return whether a JSON text is too large to be intended."""
    return sum(map(text.count, "[{,")) > MOST_PARTS


def strict(text: str, decoder: json.JSONDecoder | None = None) -> Any:
    """Return the data of `text`. Raises NotJson."""
    if is_large(text):
        raise NotJson(f"it has more than {MOST_PARTS:,} brackets and commas", final=True)
    if is_deep(text):
        raise NotJson(f"it is nested more than {MAX_DEPTH} levels deep", final=True)
    try:
        return (decoder or _DECODER).decode(text)
    except json.JSONDecodeError as raised:
        error = normalize_error(raised)
        place = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"{error.msg.removesuffix(' at')} at {place}") from None
    except ValueError as error:
        raise NotJson(_sentence(error)) from None


def begins(text: str, at: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """Return the data in `text` from `at` on, and its end. Raises NotJson."""
    try:
        return decoder.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        # The depth is counted from here: quotes before this place may have hidden brackets.
        raise NotJson(_sentence(error)) from None


def is_deep(text: str, most: int = MAX_DEPTH) -> bool:
    """Return whether `text` nests more than `most` levels."""
    if text.count("[") + text.count("{") <= most:
        return False
    now = 0
    for bracket in _NO_BRACKETS.sub("", _STRING.sub("", text)):
        now = now + 1 if bracket in "[{" else max(now - 1, 0)
        if now > most:
            return True
    return False


def whole_characters(data: Any) -> tuple[Any, bool]:
    """Return `data` with lone surrogates replaced, and whether there were any. No output can hold
    them."""
    if not _SURROGATE.search(json.dumps(data, ensure_ascii=False, default=str)):
        return data, False
    return _change(data, lambda leaf: _whole(leaf) if isinstance(leaf, str) else leaf), True


def with_floats(data: Any, note: Callable[[str], None]) -> Any:
    """Return `data` with floats for the numbers that were kept as texts."""

    def to_float(leaf: Any) -> Any:
        if not isinstance(leaf, Decimal):
            return leaf
        if is_whole(leaf):
            note(_describe_rounding(str(leaf), float(leaf)))
        return float(leaf)

    return _change(data, to_float)


def is_whole(number: Decimal) -> bool:
    """Return whether a number has no fraction."""
    return number == number.to_integral_value()


def _change(data: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(data, list):
        return [_change(item, change) for item in data]
    if isinstance(data, dict):
        return {_whole(key): _change(item, change) for key, item in data.items()}
    return change(data)


def _whole(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _sentence(error: Exception) -> str:
    message = str(normalize_error(error) if isinstance(error, json.JSONDecodeError) else error)
    # CPython refuses to convert integers of more than 4,300 digits.
    return _TOO_LONG if "integer string conversion" in message else message


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


def _int(text: str) -> int:
    number = int(text)
    if number.bit_length() > INTEGER_BITS:
        raise ValueError(_TOO_LONG)
    return number


def _float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def _exactly(number: float, text: str) -> Decimal | None:
    """Return the exact number of `text` if its float loses a digit; a float keeps the first fifteen
    of any."""
    if len(text) <= _ALWAYS_EXACT and number:
        return None
    try:
        written = Decimal(text)
    except InvalidOperation:
        written = _TINY
    if Decimal(repr(number)) == written:
        return None
    return written if number else _TINY.copy_sign(Decimal(repr(number)))


def _describe_rounding(text: str, number: float) -> str:
    return f"rounded {text[:40]} to {number!r}"


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_float, parse_int=_int)


def each_key_once(note: Callable[[str], None]) -> json.JSONDecoder:
    """Return a decoder that refuses two values under one key, and notes a repeated key. It also
    notes rounded numbers; one that would look like an integer becomes a Decimal."""

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: dict[str, Any] = {}
            for key, value in pairs:
                if key not in seen:
                    seen[key] = value
                elif same(seen[key], value):
                    note(f"took the key {key[:40]} once that occurs twice")
                else:
                    raise ValueError(twice(key))
        return made

    def note_number(text: str) -> float | Decimal:
        number = _float(text)
        written = _exactly(number, text)
        if written is None:
            return number
        if not is_whole(written):
            note(_describe_rounding(text, number))
        return written if number.is_integer() else number

    return json.JSONDecoder(
        object_pairs_hook=table,
        parse_constant=_no_constant,
        parse_float=note_number,
        parse_int=_int,
    )


def certain(text: str) -> Any:
    """Return the data of `text`, with one value under each key. Raises NotJson."""
    data = strict(text, each_key_once(_ignore))
    if whole_characters(data)[1]:
        raise NotJson("a text holds half of a surrogate pair")
    return with_floats(data, _ignore)


def _ignore(_: str) -> None:
    """Ignore a repair."""


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def twice(key: str) -> str:
    """Return the message for a key with two values."""
    return f"the key `{key[:40]}` occurs twice, with two values"


def read_json(text: str, twice: list[str]) -> Value:
    """Return the value of a JSON text from a model. Keys that are repeated in an object are
    appended to `twice`. A lone surrogate becomes `?`. Raises ValueError, RecursionError and
    Fault."""

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            often = Counter([name for name, _ in pairs])
            again = next(name for name in made if often[name] > 1)
            twice.append(again[:40].encode("utf-8", "replace").decode())
        return made

    if is_large(text):
        raise ValueError(f"it has more than {MOST_PARTS:,} brackets and commas")
    if is_deep(text, READABLE_DEPTH):
        raise ValueError(f"it is nested more than {READABLE_DEPTH} levels deep")
    read = json.loads(text, object_pairs_hook=table)
    return value_of(json.loads(json.dumps(read, ensure_ascii=False).encode("utf-8", "replace")))


DEEPEST = 190
"""The depth of a model's value. The messages around it nest as well, and the whole may nest 200
deep."""


def unfit(value: Value) -> str | None:
    """Return the reason why a model's value can be no part of a conversation, or None."""
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
