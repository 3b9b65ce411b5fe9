"""Where an index lies, and how it calls the files that it knows.

An index calls a file by its path below the index's home, and any other by its absolute path: a
project that is moved takes its index along.
"""

import os
from collections.abc import Callable

FOLDER = ".sexplang"
NAME = "index.db"
_PROJECT = (FOLDER, "sexplang.toml", ".git")
"""What the top folder of a project has in it."""


def discover_index(start: str) -> str | None:
    """The index that a program in a folder sees: that of the nearest folder upward that has one,
    if it belongs to us or to whoever the program's folder belongs to."""
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
    """Where the index of a file or folder belongs: below the top folder of its project, which is
    the nearest upward with a `.sexplang`, a `sexplang.toml` or a `.git`, else the folder itself."""
    start = os.path.realpath(target)
    if not os.path.isdir(start):
        start = os.path.dirname(start)
    for folder in _upward(start):
        if any(os.path.lexists(os.path.join(folder, name)) for name in _PROJECT):
            return os.path.join(folder, FOLDER, NAME)
    return os.path.join(start, FOLDER, NAME)


def repository_of(folder: str) -> str | None:
    """The top folder of the git repository that a folder lies in."""
    return next(
        (each for each in _upward(folder) if os.path.lexists(os.path.join(each, ".git"))), None
    )


def home_of(index: str) -> str:
    """The folder that the paths in an index start from."""
    folder = os.path.dirname(os.path.realpath(index))
    return os.path.dirname(folder) if os.path.basename(folder) == FOLDER else folder


def key_of(path: str, home: str) -> str:
    """What an index calls an absolute path; its home is the empty text."""
    return "" if path == home else path[len(with_slash(home)) :] if is_below(path, home) else path


def keys_below(path: str, home: str) -> Callable[[str], bool]:
    """Whether a key is that of a path, or of something below it."""
    inside = key_of(path, home)

    def is_part(key: str) -> bool:
        if key.startswith("/"):
            return key == path or is_below(key, path)
        if inside.startswith("/"):
            return is_below(home, path)
        return not inside or key == inside or is_below(key, inside)

    return is_part


def path_of(key: str, home: str) -> str:
    """The absolute path that a key stands for."""
    return key if key.startswith("/") else f"{with_slash(home)}{key}" if key else home


def is_below(path: str, folder: str) -> bool:
    return path.startswith(with_slash(folder))


def with_slash(folder: str) -> str:
    """What the paths below a folder begin with."""
    return folder.rstrip("/") + "/"


def _upward(folder: str) -> list[str]:
    found = [folder]
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        found.append(folder)
    return found
