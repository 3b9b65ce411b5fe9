"""Commands that only list files, for `file_paths` of a task: their words, and the paths that they
read.

The allowed commands are `ls`, `git ls-files` and `find` with tests and `-print` alone. The host
decides whether the paths may be read.
"""

import re
import shlex
from collections.abc import Callable

from sexplang.terms.classes.node import frozen

KNOWN = "`ls`, `git ls-files` and `find` with tests and `-print`"

_LS = re.compile(r"-[1AadRrtS]+")
"""Options with a known output."""

_GIT = frozenset(("-c", "--cached", "-o", "--others", "--exclude-standard", "--"))
_BRACKETS = frozenset(("!", "(", ")"))
_ALONE = frozenset(
    ("-a", "-and", "-o", "-or", "-not", "-print", "-empty", "-prune", "-xdev", "-depth")
)
_WITH_VALUE = frozenset(
    ("-name", "-iname", "-path", "-ipath", "-type", "-size", "-mtime", "-mmin", "-maxdepth")
) | {"-mindepth"}


@frozen
class Listing:
    """A command that lists files: its arguments, and the paths among them. Paths of git may hold
    wildcards."""

    name: str
    arguments: tuple[str, ...]
    places: tuple[str, ...]


_SHELL = re.compile(r"[|;<>&`]|\$\(")
_WILD = re.compile(r"[*?\[]")


def find_shell_word(command: Listing) -> str | None:
    """Return the first word that only a shell understands, or None."""
    expands = command.name != "git ls-files"
    for word in command.places:
        if _SHELL.search(word) or (expands and _WILD.search(word)):
            return word
    return None


def words_of(command: str) -> tuple[str, ...] | None:
    """Return a command's words as a shell splits them; None if a quotation mark is not closed."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return None


def parse_listing(words: tuple[str, ...]) -> Listing | str:
    """Return the command, or the reason why it does more than list files."""
    if not words:
        return "a command that names files is not empty"
    name, given = words[0], words[1:]
    if name == "git" and given[:1] == ("ls-files",):
        name, given = "git ls-files", given[1:]
    of_places = _PLACES.get(name)
    if of_places is None:
        return f"`{name[:60]}` does not only name files"
    found = of_places(given)
    if isinstance(found, str):
        return f"`{name}` does not only name files with `{found[:60]}`"
    return Listing(name, given, tuple(found))


def _of_ls(given: tuple[str, ...]) -> list[str] | str:
    return _plain(given, lambda word: _LS.fullmatch(word) is not None)


def _of_git(given: tuple[str, ...]) -> list[str] | str:
    # A path that begins with a colon is a pathspec with magic in git.
    magic = next((word for word in given if word.startswith(":")), None)
    return magic or _plain(given, lambda word: word in _GIT)


def _plain(given: tuple[str, ...], known: Callable[[str], bool]) -> list[str] | str:
    places = []
    for word in given:
        if not word.startswith("-"):
            places.append(word)
        elif not known(word):
            return word
    return places


def _of_find(given: tuple[str, ...]) -> list[str] | str:
    places = []
    rest = iter(given)
    for word in rest:
        if word in _WITH_VALUE:
            if next(rest, None) is None:
                return word
        elif word.startswith("-") and word not in _ALONE:
            return word
        elif word not in _ALONE and word not in _BRACKETS:
            places.append(word)
    return places


_PLACES = {"ls": _of_ls, "git ls-files": _of_git, "find": _of_find}
