"""Patterns as in a `.gitignore` → whether a path is left out, as git says it.

The deepest file with a word about a path decides, in it the last line that fits; what lies in a
folder that is left out is never looked at.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from itertools import groupby

from sexplang.runtime.memory.index_paths import repository_of
from sexplang.runtime.memory.scan.globs import FOLDER, Glob, glob
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import frozen

NAME = ".gitignore"
LARGEST = 1 << 20
"""Bytes of a `.gitignore` that are read."""

_MARK = b"\xef\xbb\xbf"
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW


@frozen
class _Run:
    """Lines one after another that say the same: any that fits decides."""

    is_kept: bool
    names: re.Pattern[bytes] | None
    paths: re.Pattern[bytes] | None

    def fits(self, path: bytes, name: bytes) -> bool:
        return bool(
            (self.names is not None and self.names.fullmatch(name))
            or (self.paths is not None and self.paths.fullmatch(path))
        )


@frozen
class Rules:
    """The lines of one file, the last first. A path loses `strip` characters and gets `add` in
    front, and is then relative to the folder of that file."""

    runs: tuple[_Run, ...]
    strip: int = 0
    add: str = ""

    def says(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path is left out, which is relative to the folder of the file; None if no line
        fits. Whether it lies in a folder that is left out is not looked at."""
        data = os.fsencode(path) + (FOLDER if is_folder else b"")
        name = data.rpartition(b"/")[2]
        for run in self.runs:
            if run.fits(data, name):
                return not run.is_kept
        return None


def rules(text: bytes, strip: int = 0, add: str = "") -> tuple[Rules, ...]:
    """The lines of a text, if any says something; one that does not is passed over, as in git."""
    lines = [line.removesuffix(b"\r") for line in text.removeprefix(_MARK).split(b"\n")]
    runs = _runs([each for each in map(glob, lines) if each is not None])
    return (Rules(runs, strip, add),) if runs else ()


def _runs(globs: list[Glob]) -> tuple[_Run, ...]:
    found = []
    for is_kept, run in groupby(globs, lambda each: each.is_kept):
        each = list(run)
        names, paths = (_any(each, is_name=is_name) for is_name in (True, False))
        found.append(_Run(is_kept, names, paths))
    return tuple(reversed(found))


def _any(globs: list[Glob], is_name: bool) -> re.Pattern[bytes] | None:
    found = dict.fromkeys(each.regex for each in globs if each.is_name == is_name)
    return re.compile(b"|".join(found)) if found else None


def pattern(lines: Iterable[str]) -> Rules | None:
    """The patterns that a person gave; None for none. Raises a Refusal `bad-pattern`."""
    globs = [_parse_pattern(line) for line in lines]
    return Rules(_runs(globs)) if globs else None


def _parse_pattern(line: str) -> Glob:
    try:
        found = glob(os.fsencode(line))
    except UnicodeEncodeError:
        found = None
    if found is None:
        raise refuse(
            "bad-pattern",
            f"`{line}` is no pattern for paths",
            hint="write it as in a .gitignore: '*.py', 'docs/', 'src/**/*.ts'",
        )
    return found


def is_within(path: str, given: Rules) -> bool:
    """Whether patterns fit a file, or a folder that it lies in."""
    at = path.find("/")
    while at >= 0:
        if given.says(path[:at], is_folder=True):
            return True
        at = path.find("/", at + 1)
    return given.says(path, is_folder=False) is True


def is_ignored(path: str, is_folder: bool, stack: tuple[Rules, ...]) -> bool:
    """Whether the rules, outermost first, leave a path out."""
    for each in reversed(stack):
        decided = each.says(each.add + path[each.strip :], is_folder)
        if decided is not None:
            return decided
    return False


def rules_above(root: str) -> tuple[Rules, ...]:
    """What the git repository around a folder says about it, outermost first. A folder that is
    itself left out was asked for by name: then nothing above it counts."""
    top = repository_of(root)
    if top is None:
        return ()
    stack = rules(_text(os.path.join(top, ".git", "info", "exclude")), add=_below(root, top))
    for folder, inner in _inside(root, top):
        stack += rules(_text(os.path.join(folder, NAME)), add=_below(root, folder))
        rest = len(root) - len(inner) + 1
        for each in reversed(stack):
            decided = each.says(each.add[:-rest], is_folder=True)
            if decided:
                return ()
            if decided is not None:
                break
    return stack


def _inside(root: str, top: str) -> Iterator[tuple[str, str]]:
    """The folders from one down to another below it, each with the next."""
    folder = top
    for part in os.path.relpath(root, top).split(os.sep) if root != top else ():
        yield folder, (folder := os.path.join(folder, part))


def _below(root: str, folder: str) -> str:
    return "" if root == folder else os.path.relpath(root, folder).replace(os.sep, "/") + "/"


def _text(path: str, folder: int | None = None) -> bytes:
    """What a file of patterns says; nothing if it is a link, a pipe or not there."""
    try:
        file = os.open(path, _FLAGS, dir_fd=folder)
    except OSError:
        return b""
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return b""
        return stream.read(LARGEST)


def rules_in(folder: int, strip: int) -> tuple[Rules, ...]:
    """What the `.gitignore` of an open folder says, whose path has so many characters."""
    return rules(_text(NAME, folder), strip)
