"""The contents of an index, and the merge of a host's metadata into it."""

import os
from collections.abc import Mapping
from typing import Any

from sexplang.guards.secrets import redact_text
from sexplang.runtime.memory.entries import LONGEST, SELECT, Entry, check_rows, entry_of, put
from sexplang.runtime.memory.index_paths import home_of, key_of, path_of
from sexplang.runtime.memory.store import open_to_change, open_to_read
from sexplang.terms.classes.node import frozen


@frozen
class Listing:
    """Roots and files by absolute path, in order."""

    index: str
    roots: dict[str, dict[str, Any]]
    files: dict[str, Entry]

    def plain(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "roots": [{"path": path, **root} for path, root in self.roots.items()],
            "files": [{"path": path, **entry.table()} for path, entry in self.files.items()],
        }


def list_contents(index: str) -> Listing:
    """Return the contents of an index; empty if there is none."""
    roots: dict[str, dict[str, Any]] = {}
    files: dict[str, Entry] = {}
    with open_to_read(index) as connection:
        if connection is not None:
            home = home_of(index)
            rows = connection.execute("select * from roots")
            for key, include, exclude, head, indexed in check_rows(
                rows, (str, str, str, str, float)
            ):
                roots[path_of(key, home)] = {
                    "include": include.splitlines(),
                    "exclude": exclude.splitlines(),
                    "commit": head,
                    "indexed": indexed,
                }
            for entry in map(entry_of, connection.execute(f"{SELECT} where skipped is null")):
                files[path_of(entry.key, home)] = entry
    return Listing(index, dict(sorted(roots.items())), dict(sorted(files.items())))


def merge(index: str, entries: Mapping[str, str]) -> None:
    """Replace the metadata of files, all or none."""
    for path, metadata in entries.items():
        if not isinstance(path, str) or not isinstance(metadata, str):
            raise TypeError(f"an index takes texts by path, not {path!r}: {metadata!r}")
        if not os.path.isabs(path):
            raise ValueError(f"an index is updated by absolute paths, and `{path}` is relative")
        if len(metadata) > LONGEST:
            raise ValueError(f"an index takes texts of at most {LONGEST:,} characters")
    home = home_of(index)
    with open_to_change(index) as connection:
        for path, metadata in entries.items():
            key = key_of(os.path.realpath(path), home)
            put(connection, Entry(key=key, given=redact_text(metadata)))
