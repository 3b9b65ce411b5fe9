"""A name or a path and a pattern with `*`, `?` and `[a-z]` → whether it fits, in linear time."""

from fnmatch import fnmatchcase
from functools import lru_cache

LONGEST = 4_096
"""Characters of a pattern; no path has more."""


def fits(name: str, pattern: str) -> bool:
    """Whether the whole name fits. A longer pattern fits nothing."""
    return len(pattern) <= LONGEST and fnmatchcase(name, _close_brackets(pattern))


@lru_cache(maxsize=1024)
def _close_brackets(pattern: str) -> str:
    """The same with each `[` that no `]` closes as a set of its own: for every one of them, Python
    would look through the rest of the pattern."""
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
