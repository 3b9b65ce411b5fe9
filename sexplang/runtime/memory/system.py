"""The MemorySystem of the documents: an index of files in one SQLite file.

The index contains name, size, time, digest, summary, definitions and last commit of a file, but not
its contents. `entries` and `update` are the documents' global index; `search` is their
getRelevantContextFor. Imports are delayed until they are needed.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from sexplang.runtime.memory.indexer import Report
    from sexplang.runtime.memory.search import Reply
    from sexplang.runtime.memory.vectors import Embed


def _whole(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.fspath(path))


@frozen
class MemorySystem:
    """The index in a file, which need not exist yet. Each method raises a Refusal (`bad-index`,
    `index-too-new`, `index-busy`, `index-failed`) if the index is unusable."""

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
        """Update the entries of a folder, a git repository or a file, all or none.

        Patterns are those of a `.gitignore`; `max_file_size` is in bytes. Also raises
        `file-not-found`, `file-failed`, `not-text` and `bad-pattern`.
        """
        from sexplang.runtime.memory.indexer import update_index

        return update_index(self.index, os.fspath(target), include, exclude, max_file_size, watch)

    def embed(self, embed: "Embed", model: str) -> int:
        """Store a vector for each file that has none of this model. Return their number."""
        from sexplang.runtime.memory.vectors import embed_files

        return embed_files(self.index, embed, model)

    def update(self, entries: Mapping[str, str]) -> None:
        """Merge a host's metadata of files, by absolute path, all or none.

        Raises ValueError for a relative path, TypeError for metadata that is not text.
        """
        from sexplang.runtime.memory.contents import merge

        merge(self.index, entries)

    def entries(self) -> dict[str, str]:
        """Return the metadata of every file as text, by absolute path."""
        from sexplang.runtime.memory.contents import list_contents

        return {path: entry.text(path) for path, entry in list_contents(self.index).files.items()}

    def status(self) -> dict[str, Any]:
        """Return `{index roots files}` as data: each root with its `path include exclude indexed`,
        each file with its path and metadata."""
        from sexplang.runtime.memory.contents import list_contents

        return list_contents(self.index).plain()

    def search(self, query: Value) -> "Reply":
        """Return `{summary matches error}` for a text or a table of ContextGenerationInput, over
        all files. Failures are in `error`."""
        from sexplang.runtime.memory.search import show_absolute
        from sexplang.runtime.memory.search_performer import answer

        return answer(self.index, query, show_absolute)
