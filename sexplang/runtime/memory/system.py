"""The MemorySystem of the documents: an index of files, kept in one file of SQLite.

What is kept of a file is its name, size, time, digest, a summary, what it defines, and its last
commit; never its contents. `entries` and `update` are the documents' global index, `search` is
their getRelevantContextFor. Nothing else is imported before it is needed.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from sexplang.runtime.memory.indexer import Report
    from sexplang.runtime.memory.search import Reply


def _whole(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.fspath(path))


@frozen
class MemorySystem:
    """The index in a file, which need not be there yet. Every method raises a Refusal
    (`bad-index`, `index-too-new`, `index-busy`, `index-failed`) if that cannot be used."""

    index: str = field(converter=_whole)

    def add(
        self,
        target: str | os.PathLike[str],
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_file_size: int = 1 << 20,
        watch: Callable[[int, int], None] | None = None,
    ) -> "Report":
        """Brings the entries of a folder, a git repository or a file up to date; all of them or,
        if anything is raised, none.

        Patterns are those of a `.gitignore`; `max_file_size` is in bytes. Also raises
        `file-not-found`, `file-failed`, `not-text` and `bad-pattern`.
        """
        from sexplang.runtime.memory.indexer import update_index

        return update_index(self.index, os.fspath(target), include, exclude, max_file_size, watch)

    def update(self, entries: Mapping[str, str]) -> None:
        """Merges metadata that a host has of files, by absolute path; all of it or none.

        Raises ValueError for a path that is relative, TypeError for what is no text.
        """
        from sexplang.runtime.memory.contents import merge

        merge(self.index, entries)

    def entries(self) -> dict[str, str]:
        """The metadata of every file as text, by absolute path."""
        from sexplang.runtime.memory.contents import list_contents

        return {path: entry.text(path) for path, entry in list_contents(self.index).files.items()}

    def status(self) -> dict[str, Any]:
        """`{index roots files}` as data: each root with its `path include exclude indexed`, each
        file with its path and metadata."""
        from sexplang.runtime.memory.contents import list_contents

        return list_contents(self.index).plain()

    def search(self, query: Value) -> "Reply":
        """`{summary matches error}` for a text or a table of ContextGenerationInput, of all files;
        what goes wrong is told in `error`."""
        from sexplang.runtime.memory.search import as_it_is
        from sexplang.runtime.memory.search_performer import answer

        return answer(self.index, query, as_it_is)
