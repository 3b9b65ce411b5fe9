"""Runs with the replies of an earlier one: `runs resume --accept-changes`, and `run --cache`."""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from sexplang.hosts.cli.guard import say
from sexplang.hosts.kept_runs.stored_runs import make_diagnostic, open_runs
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.machine import Outcome
from sexplang.runs.reused_run import (
    Announcement,
    ReplyPool,
    describe_request,
    read_replies,
    reuse,
    serve,
)
from sexplang.runtime.driver.requests import Performer
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.journal.run_store import StoredRun
from sexplang.runtime.journal.stored_journal import StoredJournal, StoredRows, read_rows
from sexplang.runtime.refusal import Refusal
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.effect import Request
from sexplang.terms.program import Program


def reuse_replies(
    settings: Settings,
    outcome: Outcome,
    performers: Mapping[str, Performer],
    program: Program,
    storage: StoredJournal | None,
    is_new: bool,
    clear: Callable[[], None],
) -> dict[str, Performer]:
    """Return performers that serve the replies of an earlier run first. `storage` is that of the
    run itself, which is new, or resumed. `clear` takes the progress off the terminal.

    A person is asked before anything is paid or acts, unless the settings agree. Then the new run
    is kept, and replaces the earlier one. Raises Diagnostics if they do not.
    """
    kept = None if is_new or storage is None else storage.opened
    try:
        found = _read_earlier(settings, os.path.basename(program.sources[0].name).strip("<>"))
        begun = [] if kept is None else read_rows(*kept, whole=True).rows
    except Refusal as refusal:
        if kept is None or refusal.error.fields["reason"] != "unknown-run":
            raise Diagnostics([make_diagnostic(refusal)]) from None
        found = None  # the earlier run was removed meanwhile
    if found is None:
        return dict(performers)
    if settings.cache:
        found.rows = [row for row in found.rows if row.operation == "model" and not row.failed]
    if settings.cache or kept is not None:  # it was agreed to when the run began
        pool = ReplyPool(found.rows)
        pool.skip(begun)
        return serve(performers, pool, {})
    replay: dict[str, Decision] = {
        **dict.fromkeys(settings.again, "safe"),
        **dict.fromkeys(settings.never, "never"),
    }

    def agree(announced: Announcement) -> bool:
        if not settings.quiet:
            print(f"run {settings.run_id}: {announced.describe()}", file=sys.stderr)
            for each in announced.acts[:_SHOWN]:
                print(draw_hidden(f"  {describe_request(each)}"), file=sys.stderr)
        is_free = not (announced.calls or announced.acts)
        return settings.yes or is_free or _confirm("go on?")

    def admit(request: Request) -> None:
        clear()
        words = f"this was not announced: {draw_hidden(describe_request(request))}; perform it?"
        if not (settings.yes or _confirm(words)):
            raise KeyboardInterrupt  # the run can be resumed

    try:
        served = reuse(outcome, performers, found, replay, agree, admit)
    except Refusal as refusal:
        raise Diagnostics([make_diagnostic(refusal)]) from None
    if storage is not None:
        keep_new(storage)
    return served


def keep_new(storage: StoredJournal) -> None:
    """Keep a run, which replaces an earlier one, from now on. Raises Diagnostics."""
    try:
        storage.open_new()
    except Refusal as refusal:
        raise Diagnostics([make_diagnostic(refusal)]) from None


_SHOWN = 10
"""Requests that act, of those that are announced."""


def _read_earlier(settings: Settings, name: str) -> StoredRows | None:
    """Return the rows of the run that is named, or of the last one of this program."""
    try:
        store = open_runs(settings.store)
    except Refusal:
        if settings.cache:  # nothing was kept yet
            return None
        raise
    try:
        run = _find_last(store.runs(os.getcwd()), name, settings.run_id)
        if settings.reuse is not None:
            run = store.find(settings.reuse)
        if run is None:
            return None
        return read_replies(store, run)
    finally:
        store.close()


def _find_last(runs: list[StoredRun], name: str, id: str | None) -> StoredRun | None:
    """Return the newest run of a program that has replies, but not this one."""
    return next((run for run in runs if run.name == name and run.id != id and run.replies), None)


def _confirm(words: str) -> bool:
    """Return whether the person at the terminal agrees; False where there is none. Raises
    KeyboardInterrupt."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    say(f"{words} [y/N] ")
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with suppress(EOFError):
            return input().strip().lower() in ("y", "yes")
        return False
    finally:
        signal.signal(signal.SIGINT, handler)
