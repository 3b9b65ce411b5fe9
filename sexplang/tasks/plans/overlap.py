"""The overlap of two subtasks: equal work, or common paths."""

import re
from unicodedata import normalize

from sexplang.terms.json.json_writer import json_text
from sexplang.terms.values.value import Value

ALIKE = 0.8
"""The least share of the longer description's words that the shorter one has."""

_WORD = re.compile(r"\w+|[^\w\s.,;:!?'\"()\[\]-]+")
"""A word, or signs with a meaning: `C++` is not `C#`, and `x < 3` is not `x > 3`."""

_EXPECTED = ("expected_output_types", "expected_files", "file_paths")


def alike(one: dict[str, Value], other: dict[str, Value]) -> bool:
    """Return whether two subtasks do the same: equal capabilities and inputs, and one description
    has the other's words in the same order and at most one more. Descriptions that each have a word
    of their own (`Rome`, `Oslo`) differ."""
    if _capabilities(one) != _capabilities(other) or _inputs(one) != _inputs(other):
        return False
    if one.get("name") and other.get("name") and one["name"] != other["name"]:
        return False
    short, long = sorted([_words_of(one), _words_of(other)], key=len)
    if not short or len(long) - len(short) > 1 or len(short) < ALIKE * len(long):
        return False
    rest = iter(long)
    return all(word in rest for word in short)


def same(one: dict[str, Value], other: dict[str, Value]) -> bool:
    """Return whether two subtasks of a plan are one: they do the same, and the same is expected."""
    return alike(one, other) and all(
        (one.get(field) or ()) == (other.get(field) or ()) for field in _EXPECTED
    )


def _words_of(subtask: dict[str, Value]) -> list[str]:
    text = subtask.get("description")
    return _WORD.findall(text.casefold()) if isinstance(text, str) else []


def _capabilities(subtask: dict[str, Value]) -> frozenset[str]:
    listed = subtask.get("required_capabilities") or ()
    return frozenset([word.casefold() for word in listed])


def _inputs(subtask: dict[str, Value]) -> str:
    return json_text(subtask.get("inputs") or {}, canonical=True)


def same_paths(one: Value, other: Value) -> bool:
    """Return whether one list of paths names something that the other holds, in any case and any
    encoding of accents."""
    return any(
        _holds(left, right) or _holds(right, left)
        for left in map(_parts, one or ())
        for right in map(_parts, other or ())
    )


def _parts(path: str) -> tuple[str, ...]:
    spelled = normalize("NFC", normalize("NFC", path).casefold())
    return tuple([part for part in spelled.split("/") if part not in ("", ".")])


def _holds(above: tuple[str, ...], below: tuple[str, ...]) -> bool:
    return below[: len(above)] == above
