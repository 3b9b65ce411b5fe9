"""Matching of paths with patterns for file names."""

from sexplang.terms.texts.wildcards import fits


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
