"""`sexplang index`: folders and files to an index for `search-memory`."""

import json
import os
import sys
from time import monotonic
from typing import Any

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.terms.classes.node import define, frozen
from sexplang.terms.diagnostic import Diagnostic

TICK = 0.1
"""Seconds between two updates of the progress line."""

_MISUSES = ("file-not-found", "not-text", "bad-pattern")


@frozen
class Settings:
    """The arguments of `index`."""

    paths: tuple[str, ...]
    index: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    listing: bool = False
    json: bool = False
    quiet: bool = False
    embed: str | None = None
    """The model that makes vectors of the files."""


def index(settings: Settings) -> int:
    """Update an index or list its content.

    Return 2 if a path leads nowhere, 1 if the index cannot be used. An index that cannot be used is
    not changed.
    """
    from sexplang.runtime.memory import MemorySystem, index_path_for
    from sexplang.runtime.refusal import Refusal

    if settings.index == "":  # the value of an unset variable
        hint = "name a file: --index memory.db; or leave it out"
        return _report_refusal(
            {"reason": "file-not-found", "message": "no index is named", "hint": hint}
        )
    start = settings.paths[0] if settings.paths else os.curdir
    memory = MemorySystem(settings.index or index_path_for(start))
    try:
        if settings.listing:
            _list(memory.status(), settings)
        else:
            _add(memory, settings)
    except Refusal as refusal:
        return _report_refusal(refusal.error.fields)
    return DONE


def _add(memory: Any, settings: Settings) -> None:
    reports = []
    for path in settings.paths:
        progress = _Progress(sys.stderr.isatty() and not settings.quiet)
        try:
            report = memory.add(
                path, include=settings.include, exclude=settings.exclude, watch=progress
            )
        finally:
            progress.close()
        reports.append(report.plain())
        if not settings.json:
            print(_line(path, reports[-1]))
    embedded = {} if settings.embed is None else {"embedded": _embed(memory, settings.embed)}
    if settings.json:
        document = {"index": memory.index, "paths": reports, **embedded}
        print(json.dumps(document, ensure_ascii=False))
    elif embedded:
        print(draw_hidden(f"{_files(embedded['embedded'])} embedded by {settings.embed}"))


def _embed(memory: Any, model: str) -> int:
    """Make the vectors that the index lacks. Return their number."""
    from sexplang.api.memory_index import make_embedder
    from sexplang.machine import Failed
    from sexplang.runtime.refusal import Refusal

    try:
        count: int = memory.embed(*make_embedder(model))
    except Failed as failed:
        raise Refusal(failed.error) from None
    return count


def _line(path: str, report: dict[str, Any]) -> str:
    changes = f"{report['new']} new, {report['changed']} changed, {report['gone']} gone"
    skipped = ", ".join(f"{count} {reason}" for reason, count in report["skipped"].items())
    left_out = f"; left out: {skipped}" if skipped else ""
    return draw_hidden(f"{path}: {_files(report['files'])} ({changes}{left_out})")


def _list(status: dict[str, Any], settings: Settings) -> None:
    if settings.json:
        print(json.dumps(status, ensure_ascii=False))
        return
    for file in status["files"]:
        print(draw_hidden(f"{_near(file['path'])}  {file['summary']}".rstrip()))
    print(draw_hidden(f"{_files(len(status['files']))} in {_near(status['index'])}"))


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def _near(path: str) -> str:
    """Return a path relative to the working folder, if it lies in it."""
    here = os.getcwd().rstrip("/") + "/"
    return path.removeprefix(here)


def _report_refusal(error: dict[str, Any]) -> int:
    from sexplang.hosts.terminal.show import diagnostics_text

    code = str(error["reason"])
    found = Diagnostic(code, str(error["message"]), hint=error["hint"])
    print(diagnostics_text((found,), sys.stderr), file=sys.stderr)
    return MISUSE if code in _MISUSES else FAILED


@define
class _Progress:
    """A progress line on a terminal."""

    live: bool
    _last: float = 0.0
    _drawn: bool = False

    def __call__(self, done: int, total: int) -> None:
        if self.live and monotonic() - self._last > TICK:
            self._last, self._drawn = monotonic(), True
            print(f"\r\x1b[Kreading {done} of {total} files", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
