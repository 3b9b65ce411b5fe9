"""Files of tasks to the tasks that may be asked for by name; and files beside a program to the
imports that it lacks.

A file that only lies in a folder and cannot be read is left out, and told of; whoever asks for
what it may hold is told why there is nothing (`spec/decisions/broken-files-in-a-folder.md`).
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from sexplang.builder import Find
from sexplang.pipeline import build
from sexplang.runtime.sources import lying_in
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.node import evolve, field, frozen
from sexplang.terms.source import Source
from sexplang.terms.value import Fault, Task


@frozen
class LeftOut:
    """A file that cannot be read, why, and the names that its text gives to tasks."""

    path: str
    found: tuple[Diagnostic, ...]
    names: frozenset[str]

    def warning(self) -> Diagnostic:
        """The first of what was found, as a warning."""
        first = self.found[0]
        more = len(self.found) - 1
        notes = (f"and {more:,} more: sexplang check {self.path}",) if more else ()
        return evolve(
            first,
            title=f"`{self.path}` is left out: {first.title}",
            notes=(*first.notes, *notes),
            severity="warning",
        )


@frozen
class Library:
    """Tasks by name, and the files that are left out."""

    tasks: Mapping[str, Task] = field(factory=dict)
    left_out: tuple[LeftOut, ...] = ()

    def check(self, identifier: str) -> None:
        """Raises Diagnostics where what is asked for may stand in a file that is left out: a name
        that it gives to a task, a program text that has such a name in it, or a lookup by type,
        which takes the only one there is."""
        is_program = identifier.lstrip().startswith("(")
        words = set(_WORD.findall(identifier)) if is_program else {identifier}
        is_lookup = identifier not in self.tasks and identifier.startswith("atomic:")
        found = [
            each
            for file in self.left_out
            if is_lookup or not words.isdisjoint(file.names)
            for each in file.found
        ]
        if found:
            raise Diagnostics(found)


_WORD = re.compile(r"""[^\s()\[\]{}"'`,;~]+""")
_NAMED = re.compile(
    r"""<(?:task|template)\b[^>]*?\bname\s*=\s*["']([^"']*)["'] | \(defatom\s+(\S+)""", re.VERBOSE
)


def library(named: Sequence[str], find: Find, lying: Collection[str] = ()) -> Library:
    """The tasks of the files and folders that are `named`, and of the files that are `lying` in a
    folder. Raises Diagnostics for what cannot be read, unless it only lies there, and for what
    contradicts another file."""
    paths = list(dict.fromkeys([*named, *lying]))
    spared = set(lying).difference(named)
    left_out: list[LeftOut] = []
    while True:
        text = "\n".join(f"(import {_string(path)})" for path in paths)
        try:
            program = build(Source(_NAME, text), find)
        except Diagnostics as wrong:
            path = _to_blame(wrong, paths)
            if path not in spared:
                raise
            paths.remove(path)
            left_out.append(LeftOut(path, wrong.diagnostics, _names(path, find)))
        else:
            return Library({task.name: task for task in program.tasks}, tuple(left_out))


_NAME = "<library>"

_CONTRADICTIONS = ("duplicate-task", "imported-twice")


def _to_blame(wrong: Diagnostics, paths: Sequence[str]) -> str | None:
    """The file to which what was found belongs; None where it is about several."""
    first = wrong.diagnostics[0]
    if first.span is None or first.code in _CONTRADICTIONS:
        return None
    if first.span.source.name == _NAME:  # its text cannot be had
        return paths[first.span.source.text.count("\n", 0, first.span.start)]
    return first.span.source.name


def _names(path: str, find: Find) -> frozenset[str]:
    """The names that a text seems to give to tasks, as far as it can be had."""
    try:
        (source,) = find(path, _NAME)
    except Fault:
        return frozenset()
    return _names_in(source.text)


def _names_in(text: str) -> frozenset[str]:
    return frozenset([xml or atom for xml, atom in _NAMED.findall(text)])


def _string(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


_LOOKED_AT = 100
"""So many files beside a program are looked at for a name that it does not bind."""

_DEFINED = re.compile(
    r"""^\((?:define|defatom|define-syntax)\s+\(?([^\s()\[\]{}"'`,;]+)""", re.MULTILINE
)


def with_imports(found: Diagnostics, folder: str, find: Find) -> Diagnostics:
    """The same; the hint of a name that a file in the program's folder defines is to import it."""
    told = [_unbound(each, folder) for each in found.diagnostics]
    wanted = {name for name in told if name and not name.startswith("_")}
    if not wanted:
        return found
    known: dict[str, str] = {}
    own = {os.path.abspath(each.span.source.name) for each in found.diagnostics if each.span}
    for path in _beside(folder):
        if os.path.abspath(path) not in own:
            for name in wanted.intersection(_defined(path, find)):
                known.setdefault(name, os.path.basename(path))
    hints = [_importing(known.get(name)) for name in told]
    return Diagnostics(
        [
            evolve(each, hint=hint or each.hint)
            for each, hint in zip(found.diagnostics, hints, strict=True)
        ]
    )


def _beside(folder: str) -> list[str]:
    with suppress(Diagnostics):  # it cannot be listed
        return lying_in(folder)[:_LOOKED_AT]
    return []


def _unbound(found: Diagnostic, folder: str) -> str:
    """The name of an `unbound-name` in a file of the folder, else nothing."""
    if found.code != "unbound-name" or found.span is None:
        return ""
    here = os.path.dirname(os.path.abspath(found.span.source.name))
    match = _CALLED.fullmatch(found.title) if here == os.path.abspath(folder) else None
    return match[1] if match else ""


_CALLED = re.compile(r"nothing here is called `([^`]+)`")


def _importing(file: str | None) -> str | None:
    return None if file is None else f"`{file}` defines it: write (import {_string(file)})"


def _defined(path: str, find: Find) -> frozenset[str]:
    """The names that a text seems to define for others, as far as it can be had."""
    try:
        (source,) = find(path, _NAME)
    except Fault:
        return frozenset()
    return _names_in(source.text) | frozenset(_DEFINED.findall(source.text))
