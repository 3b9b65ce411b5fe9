"""The examples and the starters that ship with the package, as found in their folders."""

import os
import re
from collections.abc import Iterator

from sexplang.package.package_data import place
from sexplang.terms.classes.node import frozen

EXAMPLES = "examples"
STARTERS = "examples/starters"
SHARED = "shared"
"""The folder of the files that every starter has."""

README = "README.md"
USUAL = "task"
"""The kind of a project where none is named."""


@frozen
class ShippedFolder:
    """An example or a starter: its files, by their path in it, and where each lies."""

    name: str
    files: dict[str, str]

    def read_readme(self) -> str:
        return read_text(self.files[README])


def list_examples() -> list[ShippedFolder]:
    """Return the examples, by name. One is a folder with a README."""
    return _list_folders(EXAMPLES)


def list_starters() -> list[ShippedFolder]:
    """Return the starters, by name, each with the files that all of them have."""
    shared = _find_files(os.path.join(place(STARTERS), SHARED))
    return [
        ShippedFolder(each.name, dict(sorted({**each.files, **shared}.items())))
        for each in _list_folders(STARTERS)
    ]


def summarize_readme(text: str) -> str:
    """Return the first sentence of a README, which stands below its heading."""
    _, _, body = text.partition("\n\n")
    paragraph = " ".join(body.strip().partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.?])\s", paragraph, maxsplit=1)[0]
    return f"{sentence[:-1]}." if sentence.endswith(":") else sentence


def read_text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _list_folders(path: str) -> list[ShippedFolder]:
    top = place(path)
    return [
        ShippedFolder(name, _find_files(os.path.join(top, name)))
        for name in sorted(os.listdir(top))
        if os.path.isfile(os.path.join(top, name, README))
    ]


def _find_files(folder: str) -> dict[str, str]:
    """Return the files below a folder, without what runs have left behind."""
    ignored = _read_ignored()
    top = place("")
    found = {}
    for path in _walk(folder):
        parts = os.path.relpath(path, top)
        if parts not in ignored and ignored.isdisjoint(parts.split(os.sep)):
            found[os.path.relpath(path, folder)] = path
    return dict(sorted(found.items()))


def _walk(folder: str) -> Iterator[str]:
    for at, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(at, name)


def _read_ignored() -> frozenset[str]:
    """Return the paths and names that a checkout ignores, and what Python leaves in a wheel."""
    path = place(".gitignore")
    lines = read_text(path).splitlines() if os.path.isfile(path) else []
    return frozenset([line.strip("/") for line in lines if line.strip("/")]) | {"__pycache__"}
