"""Files that ship, copied to a new folder. Nothing that is there is overwritten."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from shlex import quote

from sexplang.hosts.projects.catalogue import EXAMPLES, ShippedFolder
from sexplang.terms.diagnostic import Diagnostic, Diagnostics

_REWRITTEN = (".md", ".sexp", ".sh")
"""The ends of the files that may name the folder of their example."""


def read_copies(shipped: ShippedFolder) -> dict[str, bytes]:
    """Return the contents of a folder's files for a copy of it elsewhere."""
    found = {}
    for path, source in shipped.files.items():
        with open(source, "rb") as file:
            raw = file.read()
        is_text = path.endswith(_REWRITTEN)
        found[path] = move_paths(raw.decode(), shipped.name).encode() if is_text else raw
    return found


def move_paths(text: str, name: str) -> str:
    """Return a text of an example whose paths begin in its own folder. The chapters are not in a
    copy, so the links to them become words."""
    own = re.escape(f"{EXAMPLES}/{name}")
    text = re.sub(rf"^\$ cd {own}\n", "", text, flags=re.MULTILINE)
    text = re.sub(rf"\b{own}/", "", text)
    text = re.sub(rf"\b{own}\b", ".", text)
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)[^)]*\)", r"\1", text)


def write_copies(copies: Mapping[str, bytes], folder: str) -> None:
    """Write files below a folder, all of them or none. Raises Diagnostics for a file that is in the
    way, or that cannot be written."""
    folder = os.path.normpath(folder)
    targets = {os.path.normpath(os.path.join(folder, path)): raw for path, raw in copies.items()}
    in_the_way = sorted(path for path in targets if os.path.lexists(path))
    in_the_way += [at for at in _list_folders(folder, targets) if not os.path.isdir(at)]
    if in_the_way:
        raise _refuse(in_the_way)
    written: list[str] = []
    try:
        for path, raw in targets.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "xb") as file:
                written.append(path)
                file.write(raw)
    except OSError as error:
        for path in written:
            with suppress(OSError):
                os.unlink(path)
        if isinstance(error, FileExistsError) and error.filename in targets:
            raise _refuse([str(error.filename)]) from None
        title = f"cannot write `{error.filename or folder}`: {error.strerror}"
        hint = "name a folder that you may write, with room on its disk"
        raise Diagnostics([Diagnostic("file-failed", title, hint=hint)]) from None


def _list_folders(folder: str, targets: Mapping[str, bytes]) -> list[str]:
    """Return what there is already of the folders that the files need."""
    needed = {folder, *map(os.path.dirname, targets)}
    parent = os.path.dirname(folder)
    while parent and parent not in needed:
        needed.add(parent)
        parent = os.path.dirname(parent)
    return sorted(each for each in needed if each and os.path.lexists(each))


def _refuse(paths: list[str]) -> Diagnostics:
    shown = ", ".join(f"`{path}`" for path in paths[:3])
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    verb = "is" if len(paths) == 1 else "are"
    title = f"{shown}{more} {verb} in the way; nothing was written"
    hint = "name a new folder, or move what is there"
    return Diagnostics([Diagnostic("file-exists", title, hint=hint)])


def list_commands(readme: str, folder: str, most: int) -> list[str]:
    """Return what to type next: into the folder, its tests, and the first commands of its README
    that run a program."""
    found = re.findall(r"^(?:\$ )?(sexplang (?:run|task) .*)$", readme, flags=re.MULTILINE)
    runs = [line for line in dict.fromkeys(found) if not line.endswith("--help")]
    into = [] if os.path.abspath(folder) == os.getcwd() else [f"cd {quote(folder)}"]
    return [*into, "sexplang test .", *runs[:most]]
