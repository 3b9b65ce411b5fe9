"""Hints to import a file that defines an unbound name of a program."""

import os
import re
from collections.abc import Callable
from contextlib import suppress

from sexplang.runtime.files.source_finder import list_sources
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault

_LOOKED_AT = 100
"""Maximum number of files searched for definitions."""

_DEFINED = re.compile(
    r"""<(?:task|template)\b[^>]*?\bname\s*=\s*["']([^"']*)["'] |
        ^\((?:define|defatom|define-syntax)\s+\(?([^\s()\[\]{}"'`,;]+)""",
    re.VERBOSE | re.MULTILINE,
)

_UNBOUND = re.compile(r"nothing here is called `([^`]+)`")


def with_imports(
    found: Diagnostics, folder: str, find: Callable[[str, str], tuple[Source, ...]]
) -> Diagnostics:
    """Return the diagnostics; an unbound name that a file in the program's folder defines gets a
    hint to import that file."""
    names = [_unbound(each, folder) for each in found.diagnostics]
    wanted = {name for name in names if name and not name.startswith("_")}
    if not wanted:
        return found
    own = {os.path.abspath(each.span.source.name) for each in found.diagnostics if each.span}
    files: dict[str, str] = {}
    for path in _list_neighbours(folder):
        if os.path.abspath(path) not in own:
            for name in wanted.intersection(_find_definitions(path, find)):
                files.setdefault(name, os.path.basename(path))
    told = zip(found.diagnostics, names, strict=True)
    return Diagnostics(
        [evolve(each, hint=_hint(files[name])) if name in files else each for each, name in told]
    )


def find_definition(
    name: str, folder: str, find: Callable[[str, str], tuple[Source, ...]]
) -> str | None:
    """Return the file of a folder that defines a name, or None."""
    return next(
        (path for path in _list_neighbours(folder) if name in _find_definitions(path, find)), None
    )


def _unbound(found: Diagnostic, folder: str) -> str:
    """Return the name of an `unbound-name` in a file of the folder, else ""."""
    if found.code != "unbound-name" or found.span is None:
        return ""
    here = os.path.dirname(os.path.abspath(found.span.source.name))
    match = _UNBOUND.fullmatch(found.title) if here == os.path.abspath(folder) else None
    return match[1] if match else ""


def _list_neighbours(folder: str) -> list[str]:
    with suppress(Diagnostics):  # the folder cannot be listed
        return list_sources(folder)[:_LOOKED_AT]
    return []


def _find_definitions(path: str, find: Callable[[str, str], tuple[Source, ...]]) -> frozenset[str]:
    """Return the names that a file appears to export; empty if it cannot be read."""
    try:
        sources = find(path, "")  # none for an empty folder
    except Fault:
        return frozenset()
    return frozenset([xml or name for each in sources for xml, name in _DEFINED.findall(each.text)])


def _hint(file: str) -> str:
    return f"`{file}` defines it: write (import {to_source(file)})"
