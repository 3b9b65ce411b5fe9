"""A pattern for file names and a path → whether it fits."""

from sexplang.terms.texts.wildcards import fits


def split_pattern(pattern: str) -> tuple[str, list[str]]:
    """The folder that a pattern starts in, and its remaining parts, the first with a wildcard."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    fixed = 0
    while fixed < len(parts) - 1 and not any(mark in parts[fixed] for mark in "*?["):
        fixed += 1
    root = "/" if pattern.startswith("/") else ""
    return root + "/".join(parts[:fixed]), parts[fixed:] or ["*"]


def matches(parts: list[str], pattern: list[str]) -> bool:
    """Whether the parts of a path fit the parts of a pattern; `**` stands for any folders.

    One row per part of the pattern: at which parts of the path it may stand. So the time is the
    product of the lengths, whatever the pattern.
    """
    places = {0}
    for piece in pattern:
        if piece == "**":
            places = set(range(min(places), len(parts) + 1)) if places else places
        else:
            places = {at + 1 for at in places if at < len(parts) and fits(parts[at], piece)}
    return len(parts) in places
