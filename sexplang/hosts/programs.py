"""Sources and the folders around them to programs, and programs to their first outcome."""

import os
from collections.abc import Callable
from typing import Any

from sexplang.hosts.files import text_at
from sexplang.terms.core import Program
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.value import Fault, Value

KINDS = (".sexp", ".xml")


def built(source: Source, folder: str | None, allowed: tuple[str, ...] = ()) -> Program:
    """The program. Raises Diagnostics.

    Imports are paths from the file that has them. Text that is no file of its own (`folder` is
    None) imports only what lies below `allowed`, from the working folder.
    """
    from sexplang.pipeline import build

    return build(source, _finder(folder, allowed))


def outcome_of(program: Program, inputs: dict[str, Value]) -> Any:
    """Done, Failed or Suspended: the program has run until it ended or waits."""
    from sexplang.machine import start

    if not program.tasks:
        return start(program, inputs)
    from sexplang.pipeline import tasks

    return start(program, inputs, tasks())


def _finder(
    folder: str | None, allowed: tuple[str, ...]
) -> Callable[[str, str], tuple[Source, ...]]:
    def find(path: str, importer: str) -> tuple[Source, ...]:
        if folder is None and not os.path.isfile(importer):
            whole = os.path.abspath(path)
            roots = [os.path.realpath(root) for root in allowed]
            if not any(_is_below(os.path.realpath(whole), root) for root in roots):
                raise Fault(
                    "path-denied",
                    f"`{path}` may not be imported: this program is no file, so it has no folder",
                    hint="save it as a file, or allow the folder with --allow-read",
                )
        else:
            whole = os.path.join(os.path.dirname(importer), path)
        return tuple([_source(each, path) for each in _files(whole, path)])

    return find


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _files(whole: str, path: str) -> list[str]:
    """The files that a path names: itself, or every module and template of a folder."""
    name = os.path.normpath(whole)
    if os.path.isdir(name):
        inside = sorted(os.listdir(name))
        return [os.path.join(name, each) for each in inside if _is_module(each)]
    if not _is_module(name):
        raise Fault(
            "import-not-found",
            f"`{path}` is neither a folder nor a .sexp or .xml file",
            hint='an import is written (import "folder/name.sexp")',
        )
    return [name]


def _is_module(name: str) -> bool:
    return name.endswith(KINDS) and not os.path.basename(name).startswith(".")


def _source(file: str, path: str) -> Source:
    if not os.path.isfile(file):
        raise Fault(
            "import-not-found",
            f"there is no file `{path}`",
            hint="paths are relative to the file that imports",
        )
    try:
        return Source(file, text_at(file))
    except Diagnostics as found:
        first = found.diagnostics[0]
        raise Fault(first.code, first.title, hint=first.hint) from None
