"""The walk through a folder for files to index.

Left out are names that begin with a dot, ignored files, links, files with another hard link, names
that are not UTF-8 or hold a credential, large files, binary files by name, and files excluded by
patterns.

Law: nothing outside the folder is opened, even if links are swapped in meanwhile.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sexplang.guards.secrets import redact_text
from sexplang.runtime.files.confined_open import open_confined
from sexplang.runtime.files.surrogates import is_text
from sexplang.runtime.memory.scan.file_kinds import is_named_binary
from sexplang.runtime.memory.scan.ignore_rules import (
    NAME,
    Rules,
    is_ignored,
    is_within,
    pattern,
    rules_above,
    rules_in,
)
from sexplang.terms.classes.node import define, field, frozen

LARGEST_FILE = 1 << 20
"""Default maximum bytes of a file."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW


@frozen
class FoundFile:
    """A file: its path relative to the folder, and the data that shows a change."""

    path: str
    size: int
    mtime_ns: int


@define(eq=False)
class Walk:
    """One walk through a folder. `skipped` counts the files left out, by reason. Raises a Refusal
    `bad-pattern`."""

    root: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    largest: int = LARGEST_FILE
    skipped: Counter[str] = field(factory=Counter)
    _included: Rules | None = None
    _excluded: Rules | None = None

    def __attrs_post_init__(self) -> None:
        self._included, self._excluded = pattern(self.include), pattern(self.exclude)

    def files(self) -> Iterator[FoundFile]:
        """Yield the files in no particular order. Raises OSError if the folder cannot be opened."""
        work: list[tuple[str, tuple[Rules, ...]]] = [("", rules_above(self.root))]
        while work:
            prefix, stack = work.pop()
            try:
                entries, own = self._list_folder(prefix)
            except OSError:
                if not prefix:
                    raise
                self.skipped["unreadable"] += 1
                continue
            stack += own
            for entry, status in entries:
                path = prefix + entry
                is_folder = stat.S_ISDIR(status.st_mode)
                if is_ignored(path, is_folder, stack) or not self._is_wanted(path, is_folder):
                    continue
                if not is_text(entry) or redact_text(entry) != entry:
                    self.skipped["misnamed"] += 1
                    continue
                if is_folder:
                    work.append((path + "/", stack))
                elif self._suits(path, status):
                    yield FoundFile(path, status.st_size, status.st_mtime_ns)

    def file(self, path: str) -> FoundFile | None:
        """Return one explicitly named file, even if it is ignored; None if it cannot be indexed.
        Raises OSError."""
        if redact_text(path) != path:
            self.skipped["misnamed"] += 1
            return None
        file = self.open(path)
        try:
            status = os.fstat(file)
        finally:
            os.close(file)
        if not (
            stat.S_ISREG(status.st_mode) and self._is_wanted(path) and self._suits(path, status)
        ):
            return None
        return FoundFile(path, status.st_size, status.st_mtime_ns)

    def open(self, path: str) -> int:
        """Open a file below the folder for reading. Raises OSError."""
        return open_confined(self.root, path, _FLAGS)

    def read(self, found: FoundFile) -> bytes:
        """Return the content of a file, one byte over the maximum at most. Raises OSError."""
        with os.fdopen(self.open(found.path), "rb") as file:
            return file.read(self.largest + 1)

    def _list_folder(
        self, prefix: str
    ) -> tuple[list[tuple[str, os.stat_result]], tuple[Rules, ...]]:
        """Return the folders and regular files of a folder, and its ignore rules."""
        folder = open_confined(self.root, prefix.rstrip("/"), _FLAGS | os.O_DIRECTORY)
        try:
            with os.scandir(folder) as entries:
                listed = [(entry.name, self._status(entry)) for entry in entries]
            names = {name for name, _ in listed}
            own = rules_in(folder, len(prefix)) if NAME in names else ()
        finally:
            os.close(folder)
        kept = [
            (name, status)
            for name, status in listed
            if status is not None and not name.startswith(".")
        ]
        return kept, own

    def _status(self, entry: Any) -> os.stat_result | None:
        try:
            if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
                status: os.stat_result = entry.stat(follow_symlinks=False)
                return status
        except OSError:  # removed since it was listed
            self.skipped["unreadable"] += 1
        return None

    def _is_wanted(self, path: str, is_folder: bool = False) -> bool:
        """Whether the patterns select a path. A folder is selected if they may select a file in
        it."""
        if self._excluded is not None and self._excluded.says(path, is_folder):
            return False
        return is_folder or self._included is None or is_within(path, self._included)

    def _suits(self, path: str, status: os.stat_result) -> bool:
        if status.st_nlink > 1:
            self.skipped["linked"] += 1
        elif status.st_size > self.largest:
            self.skipped["large"] += 1
        elif is_named_binary(path.rpartition("/")[2]):
            self.skipped["binary"] += 1
        else:
            return True
        return False
