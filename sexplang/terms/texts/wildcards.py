"""Matching of names and paths against patterns with `*`, `?` and `[a-z]`, in linear time."""

from fnmatch import fnmatchcase
from functools import lru_cache

LONGEST = 4_096
"""The characters of a pattern; no path has more."""


def fits(name: str, pattern: str) -> bool:
    """Return whether the whole name matches. A pattern longer than LONGEST matches nothing."""
    return len(pattern) <= LONGEST and fnmatchcase(name, _close_brackets(pattern))


@lru_cache(maxsize=1024)
def _close_brackets(pattern: str) -> str:
    """Return the pattern with each unclosed `[` as a set of its own. Python would search the rest
    of the pattern for each of them."""
    made: list[str] = []
    at, last = 0, pattern.rfind("]")
    while at < len(pattern):
        end = at
        if pattern[at] == "[":
            begins = at + 1 + pattern.startswith("!", at + 1)
            end = pattern.find("]", begins + pattern.startswith("]", begins)) if at < last else -1
        made.append(pattern[at : end + 1] if end >= 0 else "[[]")
        at = max(at, end) + 1
    return "".join(made)


# -- Paths ----------------------------------------------------------------------------------------


def split_pattern(pattern: str) -> tuple[str, list[str]]:
    """Split a pattern into its fixed folder and its remaining parts; the first has a wildcard."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    fixed = 0
    while fixed < len(parts) - 1 and not any(mark in parts[fixed] for mark in "*?["):
        fixed += 1
    root = "/" if pattern.startswith("/") else ""
    return root + "/".join(parts[:fixed]), parts[fixed:] or ["*"]


def matches(parts: list[str], pattern: list[str]) -> bool:
    """Whether the parts of a path fit the parts of a pattern; `**` stands for any folders.

    For each part of the pattern, the set of positions in the path is computed. So the time is at
    most the product of the lengths.
    """
    places = {0}
    for piece in pattern:
        if piece == "**":
            places = set(range(min(places), len(parts) + 1)) if places else places
        else:
            places = {at + 1 for at in places if at < len(parts) and fits(parts[at], piece)}
    return len(parts) in places
