"""An index of files for programs that search, as a host of Python makes and reads it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sexplang.api import argument_checks
from sexplang.api.python_values import value
from sexplang.guards.secrets import look, redact
from sexplang.machine import Failed
from sexplang.runtime import Refusal
from sexplang.runtime.memory import MemorySystem, index_path_for
from sexplang.terms.task import error_of
from sexplang.terms.values.text import plain
from sexplang.terms.values.value import Fault


class Memory:
    """The index in a file, which is made when something is first added to it.

    Every method raises Failed if the index cannot be used: `bad-index`, `index-too-new`,
    `index-busy`, `index-failed`. What changes it changes all that it says or nothing.
    """

    def __init__(self, index: str | os.PathLike[str]) -> None:
        argument_checks.place("index", index)
        self._system = MemorySystem(index)

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> "Memory":
        """The index of the project that a folder lies in, where `sexplang index` puts it."""
        argument_checks.place("folder", folder)
        return cls(index_path_for(os.fspath(folder)))

    def __fspath__(self) -> str:
        return self._system.index

    def __repr__(self) -> str:
        return f"Memory({self._system.index!r})"

    def add(
        self,
        path: str | os.PathLike[str],
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_file_size: int = 1 << 20,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Brings what is known of a folder, a git repository or a file up to date, and says what
        has changed: `{index path files new changed gone skipped seconds}`.

        Patterns are those of a `.gitignore`; files of more than `max_file_size` bytes are left
        out; `on_progress` is called with how many of how many files have been read. Also raises
        Failed `file-not-found`, `file-failed` and `bad-pattern`.
        """
        argument_checks.place("path", path)
        for what, patterns in (("include", include), ("exclude", exclude)):
            argument_checks.patterns(what, patterns)
        if type(max_file_size) is not int or max_file_size < 0:
            raise argument_checks.unfit("max_file_size", "a number of bytes", max_file_size)
        with _failing():
            report = self._system.add(
                path,
                include=include,
                exclude=exclude,
                max_file_size=max_file_size,
                watch=on_progress,
            )
        return report.plain()

    def update(self, entries: Mapping[str, str]) -> None:
        """Merges what the host knows of files: metadata as text, by absolute path. A relative path
        is a ValueError."""
        argument_checks.by_name("entries", entries)
        for text in entries.values():
            if not isinstance(text, str):
                raise argument_checks.wrong("metadata", "a text", text)
        with _failing():
            self._system.update(entries)

    def entries(self) -> dict[str, str]:
        """The metadata of every file as text, by absolute path."""
        with _failing():
            entries: dict[str, str] = redact(self._system.entries())
            return entries

    def search(self, query: str | Mapping[str, Any]) -> dict[str, Any]:
        """`{summary matches error}` for a text or a ContextGenerationInput, of all files whatever
        a program may read."""
        if not isinstance(query, (str, Mapping)):
            raise argument_checks.wrong(
                "query", "a text or a table of a ContextGenerationInput", query
            )
        try:
            asked = value(query if isinstance(query, str) else dict(query))
        except Fault as fault:
            raise Failed(error_of(fault)) from None
        look()
        reply: dict[str, Any] = plain(redact(value(self._system.search(asked))))
        return reply

    def get_relevant_context_for(self, context_input: str | Mapping[str, Any]) -> dict[str, Any]:
        """`search`, by the name that the documents have for it."""
        return self.search(context_input)


@contextmanager
def _failing() -> Iterator[None]:
    look()
    try:
        yield
    except Refusal as refusal:
        raise Failed(refusal.error) from None
