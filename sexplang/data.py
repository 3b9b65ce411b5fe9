"""The files that ship with the package: `grammar/`, `stdlib/`, `spec/errors/`."""

from functools import cache
from importlib.resources import files


@cache
def shipped(path: str) -> str:
    """The text of a shipped file, such as `grammar/sexplang.lark`, `stdlib/subtask.sexp`,
    `errors/unbound-name.md`. Raises FileNotFoundError."""
    return _root(path).read_text("utf-8")


def _root(path: str):  # type: ignore[no-untyped-def]
    package = files("sexplang")
    inside = package / "_data" / path
    if inside.is_file():
        return inside
    here = path.replace("errors/", "spec/errors/", 1) if path.startswith("errors/") else path
    return package / ".." / here


def names(folder: str) -> list[str]:
    """The names of the shipped files in `grammar`, `stdlib` or `errors`, sorted."""
    package = files("sexplang")
    inside = package / "_data" / folder
    here = "spec/errors" if folder == "errors" else folder
    place = inside if inside.is_dir() else package / ".." / here
    return sorted(item.name for item in place.iterdir() if item.is_file())
