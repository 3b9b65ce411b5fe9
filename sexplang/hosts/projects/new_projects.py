"""`sexplang init` and `sexplang examples`: new folders from what ships with the package."""

import os
from typing import Any

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE
from sexplang.hosts.cli.output import say_all
from sexplang.hosts.projects.catalogue import (
    README,
    USUAL,
    ShippedFolder,
    list_examples,
    list_starters,
    summarize_readme,
)
from sexplang.hosts.projects.documents import format_document
from sexplang.hosts.projects.folder_copy import list_commands, read_copies, write_copies
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.texts.nearest import nearest


def init(folder: str | None, kind: str | None, *, as_json: bool) -> int:
    """Make a project of a kind in a folder, by default the working folder; return the exit
    status."""
    starters = {each.name: each for each in list_starters()}
    try:
        chosen = _find(kind or USUAL, starters, "kind of project", "sexplang init --from")
        return _copy(chosen, _check(folder, os.curdir), 2, as_json)
    except Diagnostics as found:
        return _refuse(found, as_json)


def examples(name: str | None, folder: str | None, *, as_json: bool) -> int:
    """List the examples, or copy one into a folder, by default a new one with its name; return the
    exit status."""
    known = {each.name: each for each in list_examples()}
    if name is None:
        rows = [(each.name, summarize_readme(each.read_readme())) for each in known.values()]
        _list(rows, as_json)
        return DONE
    try:
        chosen = _find(name, known, "example", "sexplang examples")
        return _copy(chosen, _check(folder, name), 1, as_json)
    except Diagnostics as found:
        return _refuse(found, as_json)


def _list(rows: list[tuple[str, str]], as_json: bool) -> None:
    if as_json:
        document = [{"name": name, "about": about} for name, about in rows]
        print(format_document({"examples": document}))
        return
    width = max((len(name) for name, _ in rows), default=0)
    for name, about in rows:
        print(f"{name:<{width}}  {about}")


def _find(name: str, known: dict[str, ShippedFolder], what: str, command: str) -> ShippedFolder:
    """Return the folder with this name. Raises Diagnostics with the nearest name."""
    if name in known:
        return known[name]
    like = nearest(name.lower(), known, 0.5)
    hint = f"did you mean: {command} {like}" if like else f"there are {', '.join(known)}"
    raise Diagnostics([Diagnostic("bad-input", f"there is no {what} `{name}`", hint=hint)])


def _check(folder: str | None, usual: str) -> str:
    """Return the folder for a copy. Raises Diagnostics for an empty name."""
    if folder == "":  # the value of an unset variable
        raise Diagnostics([Diagnostic("bad-input", "no folder is named", hint="leave it out")])
    return usual if folder is None else folder


def _copy(shipped: ShippedFolder, folder: str, most: int, as_json: bool) -> int:
    copies = read_copies(shipped)
    write_copies(copies, folder)
    commands = list_commands(copies[README].decode(), folder, most)
    if as_json:
        document: dict[str, Any] = {
            "name": shipped.name,
            "folder": os.path.abspath(folder),
            "files": list(copies),
            "next": commands,
        }
        print(format_document(document))
        return DONE
    for path in copies:
        print(draw_hidden(f"wrote {os.path.normpath(os.path.join(folder, path))}"))
    print("\nNow type:")
    for command in commands:
        print(draw_hidden(f"  {command}"))
    return DONE


def _refuse(found: Diagnostics, as_json: bool) -> int:
    is_misuse = any(each.code == "bad-input" for each in found.diagnostics)
    return say_all(found.diagnostics, MISUSE if is_misuse else FAILED, Settings(json=as_json))
