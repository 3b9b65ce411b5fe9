"""The index of files for `search-memory`, as a Python host makes and reads it."""

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
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault

Embed = Callable[[list[str]], list[list[float]]]

FUNCTION = "function"
"""The name of a function's vectors in an index."""

_PROGRAM = """(import std/vectors)
(define-input texts type: list)
(embed texts)"""


def make_embedder(embed: str | Embed) -> tuple[Embed, str]:
    """Return the function from texts to a vector of each, and its name: that of the model, or of a
    function. The function raises Failed if there are no vectors, all of one length."""
    if callable(embed):
        given: Any = embed
        name = getattr(embed, "__name__", FUNCTION)
        return _through(lambda payload: given(payload["embed"])), name
    if not isinstance(embed, str) or not embed:
        raise argument_checks.wrong("embed", "a function of texts or the name of a model", embed)
    return _through(embed), embed


def _through(model: Any) -> Embed:
    """Return the function that asks a model by a program, so that its errors are those of a run."""
    from sexplang.api.runner import run

    return lambda texts: run(_PROGRAM, inputs={"texts": texts}, model=model)


class Memory:
    """The index in a file, which is created when something is first added.

    Every method raises Failed if the index cannot be used: `bad-index`, `index-too-new`,
    `index-busy`, `index-failed`. A change is done whole or not at all.
    """

    def __init__(self, index: str | os.PathLike[str]) -> None:
        argument_checks.place("index", index)
        self._system = MemorySystem(index)

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> "Memory":
        """Return the index of the project around a folder, at the place that `sexplang index`
        uses."""
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
        embed: str | Embed | None = None,
    ) -> dict[str, Any]:
        """Index a folder, a git repository or a file, or update its index.

        Return the changes: `{index path files new changed gone skipped seconds}`. Patterns are
        those of a `.gitignore`. Files of more than `max_file_size` bytes are left out.
        `on_progress` is called with the number of files read and of all files. Also raises Failed
        `file-not-found`, `file-failed` and `bad-pattern`.

        `embed` is the name of a model, or a function from a list of texts to a vector of each. It
        makes the vectors of the files in the index that have none of it; `embedded` is their
        number. Also raises what a call of the model raises; the files are indexed then.
        """
        argument_checks.place("path", path)
        for what, patterns in (("include", include), ("exclude", exclude)):
            argument_checks.patterns(what, patterns)
        if type(max_file_size) is not int or max_file_size < 0:
            raise argument_checks.unfit("max_file_size", "a number of bytes", max_file_size)
        embedder = None if embed is None else make_embedder(embed)
        with _convert_refusals():
            report = self._system.add(
                path,
                include=include,
                exclude=exclude,
                max_file_size=max_file_size,
                watch=on_progress,
            )
            if embedder is None:
                return report.plain()
            return report.plain() | {"embedded": self._system.embed(*embedder)}

    def update(self, entries: Mapping[str, str]) -> None:
        """Merge metadata of the host: texts by absolute path. Raises ValueError for a relative
        path."""
        argument_checks.by_name("entries", entries)
        for text in entries.values():
            if not isinstance(text, str):
                raise argument_checks.wrong("metadata", "a text", text)
        with _convert_refusals():
            self._system.update(entries)

    def entries(self) -> dict[str, str]:
        """Return the metadata of every file as text, by absolute path."""
        with _convert_refusals():
            entries: dict[str, str] = redact(self._system.entries())
            return entries

    def search(self, query: str | Mapping[str, Any]) -> dict[str, Any]:
        """Return `{summary matches error}` for a text or a ContextGenerationInput.

        All files are searched, whatever a program may read.
        """
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
        """`search`, under the name of the documents."""
        return self.search(context_input)


@contextmanager
def _convert_refusals() -> Iterator[None]:
    look()
    try:
        yield
    except Refusal as refusal:
        raise Failed(refusal.error) from None
