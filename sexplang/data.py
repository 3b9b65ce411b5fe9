"""The files that ship with the package: `grammar/`, `stdlib/`, `spec/errors/`."""

import os
from functools import cache

_HERE = os.path.dirname(os.path.abspath(__file__))


@cache
def shipped(path: str) -> str:
    """The text of a shipped file, such as `grammar/sexplang.lark`, `stdlib/subtask.sexp`,
    `errors/unbound-name.md`. Raises FileNotFoundError."""
    with open(place(path), encoding="utf-8") as file:
        return file.read()


def place(path: str) -> str:
    """Where a shipped file lies on this machine."""
    folder, _, name = path.rpartition("/")
    return os.path.join(_folder(folder), name)


def names(folder: str) -> list[str]:
    """The names of the shipped files in `grammar`, `stdlib` or `errors`, sorted."""
    return sorted(os.listdir(_folder(folder)))


def _folder(name: str) -> str:
    # In a wheel they lie inside the package; in a checkout beside it.
    inside = os.path.join(_HERE, "_data", name)
    if os.path.isdir(inside):
        return inside
    return os.path.join(os.path.dirname(_HERE), "spec/errors" if name == "errors" else name)
