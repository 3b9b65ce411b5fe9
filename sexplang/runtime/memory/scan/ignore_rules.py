"""Ignore rules: whether git would ignore a path.

The deepest `.gitignore` with a matching line decides, by its last matching line. Files below an
ignored folder are ignored.
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
"""Maximum bytes that are read of a `.gitignore`."""

_MARK = b"\xef\xbb\xbf"
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW


@frozen
class _Run:
    """Consecutive lines with the same effect; any match decides."""

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
    """The lines of one file, last first. A path is made relative to the folder of that file:
    `strip` characters are removed, and `add` is prepended."""

    runs: tuple[_Run, ...]
    strip: int = 0
    add: str = ""

    def says(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path is ignored; None if no line matches. Ignored parent folders are not
        considered."""
        data = os.fsencode(path) + (FOLDER if is_folder else b"")
        name = data.rpartition(b"/")[2]
        for run in self.runs:
            if run.fits(data, name):
                return not run.is_kept
        return None


def rules(text: bytes, strip: int = 0, add: str = "") -> tuple[Rules, ...]:
    """Return the rules of a text; none if no line is valid. Invalid lines are skipped, as in
    git."""
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
    """Return the rules of a person's patterns, or None if there are none. Raises a Refusal
    `bad-pattern`."""
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
    """Whether patterns match a file or a folder above it."""
    at = path.find("/")
    while at >= 0:
        if given.says(path[:at], is_folder=True):
            return True
        at = path.find("/", at + 1)
    return given.says(path, is_folder=False) is True


def is_ignored(path: str, is_folder: bool, stack: tuple[Rules, ...]) -> bool:
    """Whether the rules, outermost first, ignore a path."""
    for each in reversed(stack):
        decided = each.says(each.add + path[each.strip :], is_folder)
        if decided is not None:
            return decided
    return False


def rules_above(root: str) -> tuple[Rules, ...]:
    """Return the rules of the git repository around a folder, outermost first. If the folder itself
    is ignored, it was named explicitly, and no rules above it apply."""
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
    """Yield the folders from one down to another, each with the next."""
    folder = top
    for part in os.path.relpath(root, top).split(os.sep) if root != top else ():
        yield folder, (folder := os.path.join(folder, part))


def _below(root: str, folder: str) -> str:
    return "" if root == folder else os.path.relpath(root, folder).replace(os.sep, "/") + "/"


def _text(path: str, folder: int | None = None) -> bytes:
    """Return the text of a file of patterns; "" for a link, a pipe or a missing file."""
    try:
        file = os.open(path, _FLAGS, dir_fd=folder)
    except OSError:
        return b""
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return b""
        return stream.read(LARGEST)


def rules_in(folder: int, strip: int) -> tuple[Rules, ...]:
    """Return the rules of the `.gitignore` in an open folder whose path has `strip` characters."""
    return rules(_text(NAME, folder), strip)
