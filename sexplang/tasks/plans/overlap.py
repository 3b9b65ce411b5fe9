"""Two subtasks to whether they do the same, or work on the same paths."""

from sexplang.tasks.json_text import json_text
from sexplang.tasks.matching import words
from sexplang.terms.value import Value

ALIKE = 0.8
"""The least Jaccard index of the words of two descriptions that say the same."""


def _said(description: Value) -> frozenset[str]:
    return words(description if isinstance(description, str) else "")


def alike(one: dict[str, Value], other: dict[str, Value]) -> bool:
    """Whether two subtasks do the same: the same capabilities and inputs, and one description has
    the words of the other and at most one more. Where each has a word of its own (`Rome`, `Oslo`),
    they are about different things."""
    if _capabilities(one) != _capabilities(other) or _inputs(one) != _inputs(other):
        return False
    if one.get("name") and other.get("name") and one["name"] != other["name"]:
        return False
    left, right = _said(one.get("description")), _said(other.get("description"))
    either, both = left | right, left & right
    if both not in (left, right) or len(either) - len(both) > 1:
        return False
    return bool(both) and len(both) >= ALIKE * len(either)


def _capabilities(subtask: dict[str, Value]) -> frozenset[str]:
    listed = subtask.get("required_capabilities") or ()
    return frozenset([word.casefold() for word in listed])


def _inputs(subtask: dict[str, Value]) -> str:
    return json_text(subtask.get("inputs") or {}, canonical=True)


def same_paths(one: Value, other: Value) -> bool:
    """Whether of two lists of paths one names what another holds, in any case of letters."""
    return any(
        _holds(left, right) or _holds(right, left)
        for left in map(_parts, one or ())
        for right in map(_parts, other or ())
    )


def _parts(path: str) -> tuple[str, ...]:
    return tuple([part for part in path.casefold().split("/") if part not in ("", ".")])


def _holds(above: tuple[str, ...], below: tuple[str, ...]) -> bool:
    return below[: len(above)] == above
