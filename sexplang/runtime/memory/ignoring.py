"""Patterns as in a `.gitignore` → whether a path is left out. The only module that knows pathspec.

The deepest file with a word about a path decides, in it the last pattern that fits; what lies in a
folder that is left out is never looked at.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from pathspec import GitIgnoreSpec

from sexplang.runtime.memory.places import repository_of
from sexplang.runtime.refusal import refused
from sexplang.terms.node import frozen

NAME = ".gitignore"
LARGEST = 1 << 20
"""Bytes of a `.gitignore` that are read."""


@frozen
class Rules:
    """The patterns of one file. A path loses `strip` characters and gets `add` in front, and is
    then relative to the folder of that file."""

    spec: GitIgnoreSpec
    strip: int = 0
    add: str = ""


def rules(text: str, strip: int = 0, add: str = "") -> tuple[Rules, ...]:
    """The patterns of a text, if it has any; a line that is none is passed over, as git does."""
    patterns: list[Any] = []
    for line in text.split("\n"):
        with suppress(ValueError):
            patterns += GitIgnoreSpec.from_lines([line.removesuffix("\r")]).patterns
    kept = [each for each in patterns if each.include is not None]
    return (Rules(GitIgnoreSpec(kept), strip, add),) if kept else ()


def pattern(lines: Iterable[str]) -> GitIgnoreSpec | None:
    """The patterns that a person gave; None for none. Raises a Refusal `bad-pattern`."""
    given = tuple(lines)
    for line in given:
        if not _is_pattern(line):
            raise refused(
                "bad-pattern",
                f"`{line}` is no pattern for paths",
                hint="write it as in a .gitignore: '*.py', 'docs/', 'src/**/*.ts'",
            )
    return GitIgnoreSpec.from_lines(given) if given else None


def _is_pattern(line: str) -> bool:
    """Whether a line says anything: an empty one, a comment and a broken one do not."""
    try:
        found = GitIgnoreSpec.from_lines([line]).patterns
    except ValueError:
        return False
    return any(each.include is not None for each in found)


def is_ignored(path: str, stack: tuple[Rules, ...]) -> bool:
    """Whether the rules, outermost first, leave a path out; a folder's ends with a slash."""
    for each in reversed(stack):
        decided = each.spec.check_file(each.add + path[each.strip :]).include
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
    folder = top
    inside = [part for part in os.path.relpath(root, top).split(os.sep) if part != "."]
    for part in inside:
        stack += rules(_text(os.path.join(folder, NAME)), add=_below(root, folder))
        folder = os.path.join(folder, part)
    return () if inside and is_ignored("", stack) else stack


def _below(root: str, folder: str) -> str:
    return "" if root == folder else os.path.relpath(root, folder).replace(os.sep, "/") + "/"


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
