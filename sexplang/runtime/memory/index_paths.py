"""The location of an index, and the keys of files in it.

The key of a file below the index's home is its relative path, of any other file its absolute path.
So a moved project keeps its index.
"""

import os
from collections.abc import Callable

FOLDER = ".sexplang"
NAME = "index.db"
_PROJECT = (FOLDER, "sexplang.toml", ".git")
"""Names that mark the top folder of a project."""


def discover_index(start: str) -> str | None:
    """Return the index for a program in a folder: of the nearest folder upward that has one, if its
    owner is this user or the owner of the program's folder."""
    start = os.path.realpath(start)
    for folder in _upward(start):
        path = os.path.join(folder, FOLDER, NAME)
        try:
            owner = os.stat(path).st_uid
            if owner in (os.geteuid(), os.stat(start).st_uid):
                return path
        except OSError:
            continue
    return None


def index_path_for(target: str) -> str:
    """Return the path of the index for a file or folder. It lies below the top folder of the
    project: the nearest folder upward with a `.sexplang`, a `sexplang.toml` or a `.git`, else the
    folder itself."""
    start = os.path.realpath(target)
    if not os.path.isdir(start):
        start = os.path.dirname(start)
    for folder in _upward(start):
        if any(os.path.lexists(os.path.join(folder, name)) for name in _PROJECT):
            return os.path.join(folder, FOLDER, NAME)
    return os.path.join(start, FOLDER, NAME)


def repository_of(folder: str) -> str | None:
    """Return the top folder of the git repository that contains a folder."""
    return next(
        (each for each in _upward(folder) if os.path.lexists(os.path.join(each, ".git"))), None
    )


def home_of(index: str) -> str:
    """Return the folder where the relative paths of an index start."""
    folder = os.path.dirname(os.path.realpath(index))
    return os.path.dirname(folder) if os.path.basename(folder) == FOLDER else folder


def key_of(path: str, home: str) -> str:
    """Return the key of an absolute path; that of the home is empty."""
    return "" if path == home else path[len(with_slash(home)) :] if is_below(path, home) else path


def keys_below(path: str, home: str) -> Callable[[str], bool]:
    """Return a test whether a key belongs to a path or to something below it."""
    inside = key_of(path, home)

    def is_part(key: str) -> bool:
        if key.startswith("/"):
            return key == path or is_below(key, path)
        if inside.startswith("/"):
            return is_below(home, path)
        return not inside or key == inside or is_below(key, inside)

    return is_part


def path_of(key: str, home: str) -> str:
    """Return the absolute path of a key."""
    return key if key.startswith("/") else f"{with_slash(home)}{key}" if key else home


def is_below(path: str, folder: str) -> bool:
    return path.startswith(with_slash(folder))


def with_slash(folder: str) -> str:
    """Return the common beginning of all paths below a folder."""
    return folder.rstrip("/") + "/"


def _upward(folder: str) -> list[str]:
    found = [folder]
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        found.append(folder)
    return found
