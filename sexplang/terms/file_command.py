"""A command that only names files, as a task may find its files by: its words, and where it looks.

What such a command can do follows from the words that it may be given: `ls`, `git ls-files` and
`find` with tests and `-print` alone. Whether the places may be read is for the host to say.
"""

import re
import shlex
from collections.abc import Callable

from sexplang.terms.classes.node import frozen

KNOWN = "`ls`, `git ls-files` and `find` with tests and `-print`"

_LS = re.compile(r"-[1AadRrtS]+")
"""Options of which it is known what the command prints."""

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
    """A command that names files: what it is given beside its name, and the places among that.
    Those of git may hold wildcards."""

    name: str
    arguments: tuple[str, ...]
    places: tuple[str, ...]


_SHELL = re.compile(r"[|;<>&`]|\$\(")
_WILD = re.compile(r"[*?\[]")


def find_shell_word(command: Listing) -> str | None:
    """The first word that only a shell understands, and none runs the command."""
    expands = command.name != "git ls-files"
    for word in command.places:
        if _SHELL.search(word) or (expands and _WILD.search(word)):
            return word
    return None


def words_of(command: str) -> tuple[str, ...] | None:
    """A command's words, as a shell splits them; None where a quotation mark is never closed."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return None


def listing(words: tuple[str, ...]) -> Listing | str:
    """The command, or why it is none that only names files."""
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
    # A path that begins with a colon has a meaning of its own to git.
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
