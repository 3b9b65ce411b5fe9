"""The library of tasks in files and folders.

A file that is only found in a folder and cannot be read is left out with a warning. A request for a
task that it may hold fails with its diagnostics (`spec/decisions/broken-files-in-a-folder.md`).
"""

import re
from collections.abc import Collection, Mapping, Sequence

from sexplang.pipeline.pipeline import Builder, Find
from sexplang.terms.classes.node import evolve, field, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.values.value import Fault, Task


@frozen
class LeftOut:
    """A file that cannot be read, its diagnostics, and the names that its text gives to tasks."""

    path: str
    found: tuple[Diagnostic, ...]
    names: frozenset[str]

    def warning(self) -> Diagnostic:
        """Return the first diagnostic as a warning."""
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
        """Raise Diagnostics if the request may be for a task in a file that is left out.

        That is a name which the file gives to a task, a program text with such a name in it, or a
        lookup by type, which takes the only task of the type.
        """
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
    """Return the tasks of the files and folders `named`, and of the files `lying` in a folder.

    A named file may be a program with inputs: nothing of it is evaluated, so none is needed.

    Raises Diagnostics for a named file that cannot be read, and for files that contradict each
    other.
    """
    paths = list(dict.fromkeys([*named, *lying]))
    spared = set(lying).difference(named)
    left_out: list[LeftOut] = []
    while True:
        text = "\n".join(f"(import {_string(path)})" for path in paths)
        try:
            builder = Builder(find, {}, {}, libraries=named)
            builder.main(Source(_NAME, text))
            program = builder.program()
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
    """Return the file that the diagnostics are about; None if they are about several."""
    first = wrong.diagnostics[0]
    if first.span is None or first.code in _CONTRADICTIONS:
        return None
    if first.span.source.name == _NAME:  # its text cannot be read
        return paths[first.span.source.text.count("\n", 0, first.span.start)]
    return first.span.source.name


def _names(path: str, find: Find) -> frozenset[str]:
    """Return the names that a text seems to give to tasks; empty if it cannot be read."""
    try:
        (source,) = find(path, _NAME)
    except Fault:
        return frozenset()
    return frozenset([xml or atom for xml, atom in _NAMED.findall(source.text)])


def _string(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
