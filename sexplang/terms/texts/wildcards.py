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
