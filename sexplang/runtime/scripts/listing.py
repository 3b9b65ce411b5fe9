"""Commands that only name files and so need no permission to run: a small part of `ls` and `find`.

Whoever finds files for a task by a command (`file_paths source="command"`) relies on these. What
such a command can do follows from the words that it may be given. What it says is looked at again,
line by line, because a link may have been put where there was a folder.
"""

import os

from sexplang.runtime.files import is_file, located, shown
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.tasks.printed import LISTS, LS_OPTIONS, paths_printed

SECONDS = 5.0
MOST_BYTES = 10_000

_BRACKETS = ("!", "(", ")")
_ALONE = frozenset(
    ("-a", "-and", "-o", "-or", "-not", "-print", "-empty", "-prune", "-xdev", "-depth")
)
_WITH_VALUE = frozenset(
    ("-name", "-iname", "-path", "-ipath", "-type", "-size", "-mtime", "-maxdepth", "-mindepth")
)


def is_listing(words: tuple[str, ...], permissions: Permissions) -> bool:
    """Whether a command with its arguments only names files, in places that may be read."""
    name, *arguments = words
    if name == "find":
        places = _places_of_find(arguments)
    elif name in LISTS:
        places = _places_of_ls(arguments)
    else:
        return False
    return places is not None and all(_is_open(place, permissions) for place in places or ["."])


def listed(words: tuple[str, ...], output: str, cut: bool, permissions: Permissions) -> str:
    """Of what a command names those that are files which may be read, as `list-files` says
    them."""
    if cut:
        output = output.rpartition("\n")[0]  # maybe another file's name, cut short
    paths = paths_printed(words[0], words[1:], output) or ()
    found = [_shown(path, permissions) for path in paths]
    return "".join(f"{name}\n" for name in dict.fromkeys(found) if name is not None)


def _places_of_find(arguments: list[str]) -> list[str] | None:
    """The folders that it looks through; None if it is told more than what to look for."""
    places = []
    rest = iter(arguments)
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif word.startswith("-") and word not in _ALONE:
            return None
        elif word not in _ALONE and word not in _BRACKETS:
            places.append(word)
    return places


def _places_of_ls(arguments: list[str]) -> list[str] | None:
    options = [word for word in arguments if word.startswith("-")]
    if not all(LS_OPTIONS.fullmatch(word) for word in options):
        return None
    return [word for word in arguments if not word.startswith("-")]


def _is_open(place: str, permissions: Permissions) -> bool:
    try:
        located(place, permissions, "read")
        located(os.path.realpath(os.path.join(permissions.base, place)), permissions, "read")
    except Refusal:
        return False
    return True


def _shown(path: str, permissions: Permissions) -> str | None:
    try:
        root, relative = located(path, permissions, "read")
    except Refusal:
        return None
    whole = os.path.join(root, relative)
    return shown(whole, permissions) if is_file(path, permissions) else None
