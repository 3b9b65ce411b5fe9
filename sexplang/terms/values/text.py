"""The text of values: source text, its length before it is made, and the text of types. Nothing
here recurses but the last."""

from collections.abc import Callable
from functools import cache
from math import isinf, isnan
from sys import maxsize
from typing import TYPE_CHECKING, Any

from sexplang.terms.values.boundary import USUAL, opaque_text, too_large
from sexplang.terms.values.rope import TEXTS, Rope, whole_text
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Fault, Record, Symbol, Value

if TYPE_CHECKING:
    from re import Pattern

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
    is_seen = string.isprintable() or pattern_of_unseen().search(string) is None
    if is_seen and '"' not in string and "\\" not in string:
        return f'"{string}"'
    # Imported here: few programs show such a string, and json takes longer to load than most of
    # them to run.
    import json
    from json.encoder import encode_basestring

    escaped = encode_basestring(string)
    if string.isascii() and "\x7f" not in string:
        return escaped
    return pattern_of_unseen().sub(lambda found: json.dumps(found[0])[1:-1], escaped)


@cache
def pattern_of_unseen() -> "Pattern[str]":
    """Return a pattern for a character without ink, but for the space. The characters are listed:
    each version of Python knows others, and a model that is told a text is told the same by all."""
    import re

    return re.compile(
        "[\x00-\x1f\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e"
        "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\uf8ff\ufeff\ufff9-\ufffb"
        "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
        "\U000e0000-\U000e007f\U000f0000-\U0010ffff]"
    )


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
        raise Fault(
            "limit-string", words, hint="no option raises this limit: write a part at a time"
        )


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
    return opaque_text(value)


# -- The length of a text, before it is made ------------------------------------------------------

# Law: nothing here recurses, and the work is bounded by the size in memory: a value of sixty lists
# with shared parts can stand for more nodes than there are atoms.

_NEAR = 10_000
"""The number of parts from which on it pays to cache shared ones, and to test a list for integers
alone."""
_COMPOUND = frozenset((dict, Record)) | LISTS


def text_size(value: Value, most: int) -> int:
    """Return a lower bound of the length of `value`'s text, or some number above `most` if it is
    longer than that."""
    size = seen = 0
    work: list[Any] = [(value,)]
    while work:
        parts = _parts(work.pop())
        if len(parts) > _NEAR and set(map(type, parts)) == _INTEGERS:
            size += sum([item.bit_length() // 4 for item in parts]) + len(parts)
            parts = ()
        for item in parts:
            if type(item) not in _COMPOUND:
                size += _atom_size(item)
                continue
            seen += 1
            if seen > _NEAR:
                return _size_of_shared(value, most)
            size += _frame(item)
            work.append(item)
        if size > most:
            return size
    return size


def _atom_size(item: Value) -> int:
    if type(item) is int:
        return item.bit_length() // 4 + 1
    if type(item) in TEXTS:
        return len(item) + 2
    return len(item.name) if isinstance(item, Symbol) else 3


def _size_of_shared(value: Value, most: int) -> int:
    """Return the same, with every list and table measured once."""
    sizes: dict[int, int] = {}
    work = [value]
    while work:
        item = work[-1]
        if id(item) in sizes:
            work.pop()
            continue
        size, missing = _frame(item), []
        for part in _parts(item):
            if type(part) in _COMPOUND:
                known = sizes.get(id(part))
                if known is None:
                    missing.append(part)
                else:
                    size += known
            else:
                size += _atom_size(part)
        if size > most:
            return size
        if missing:
            work.extend(missing)
        else:
            sizes[id(item)] = size
            work.pop()
    return sizes[id(value)]


def _parts(item: Any) -> Any:
    if type(item) is Record:
        item = item.fields
    return item.values() if type(item) is dict else item


def _frame(item: Any) -> int:
    """Return the length of brackets, spaces and keys."""
    if type(item) is Record:
        item = item.fields
    spaces = max(len(item) - 1, 0)
    keys = sum(map(len, item)) + 2 * len(item) if type(item) is dict else 0
    return 2 + spaces + keys


# -- The text of a type ---------------------------------------------------------------------------

_TYPE_WORDS = {"null": "nil", "array": "list", "object": "table"}


def type_words(schema: dict[str, Any]) -> str:
    """Return the type of a schema of `returns`, as written. A type that refers to itself has its
    name."""
    kind = schema.get("type")
    keys = schema.keys() - {"$defs", "title"}
    if not keys:
        return "any"
    if keys == {"$ref"}:
        return str(schema["$ref"]).rpartition("/")[2]
    if keys == {"enum"}:
        return f"(one-of {' '.join(map(to_source, schema['enum']))})"
    if keys == {"anyOf"}:
        return f"(or {' '.join(map(type_words, schema['anyOf']))})"
    if kind == "array" and keys == {"type", "items"}:
        return f"[{type_words(schema['items'])}]"
    if kind == "object" and "properties" in keys and keys <= _TABLE:
        required = schema.get("required", ())
        fields = [
            f"{name}: {type_words(of)}" if name in required else _optional_words(name, of)
            for name, of in schema["properties"].items()
        ]
        return f"{{{' '.join(fields)}}}"
    word = str(kind)
    return _TYPE_WORDS.get(word, word) if keys == {"type"} else "(schema …)"


_TABLE = {"type", "properties", "required", "additionalProperties"}


def _optional_words(name: str, schema: dict[str, Any]) -> str:
    joined = schema.get("anyOf", [schema])
    only = joined[0] if len(joined) == 2 and joined[1] == {"type": "null"} else schema
    return f"{name}?: {type_words(only)}"
