"""Paths that name one file to the first of them."""

from collections.abc import Iterable


def unique(paths: Iterable[str], folder: str) -> tuple[str, ...]:
    """The paths without those that name a file once more, in other words; what is relative is
    so to `folder`, which may be empty where nobody knows it."""
    first: dict[str, str] = {}
    for path in paths:
        first.setdefault(place(path, folder), path)
    return tuple(first.values())


def place(path: str, folder: str) -> str:
    """A path without detours. Links are not looked at: they may be files of their own."""
    whole = f"{folder}/{path}" if folder and not path.startswith("/") else path
    is_absolute = whole.startswith("/")
    parts: list[str] = []
    for part in whole.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and is_absolute):
            parts.append(part)
    return "/" * is_absolute + "/".join(parts)


def relative_to(path: str, folder: str) -> str:
    """A path without detours, and relative where it leads into the folder."""
    return place(path, folder).removeprefix(f"{folder.rstrip('/')}/") if folder else place(path, "")
