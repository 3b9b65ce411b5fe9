"""The store of runs, from `--store`, `--no-record`, `--run-id`, `[runs]` and the environment."""

import json
import os
import sys
from contextlib import suppress
from typing import Any

from sexplang.hosts.settings.configuration import OWN_HINT, Files, sections, wrong
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runs.durable_run import BYTES, DAYS, Keeping, keep_run
from sexplang.runtime.journal.databases import resolve_address
from sexplang.runtime.journal.run_store import (
    INTERRUPTED,
    RUNNING,
    RunStore,
    StoredRun,
    default_store,
)
from sexplang.runtime.journal.stored_journal import StoredJournal, StoredRows, read_rows
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import attributes
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source

_UNKEPT = frozenset(
    (
        *("headers", "models", "store", "no_record", "run_id", "record", "trace", "way"),
        *("again", "never", "yes"),
    )
)
"""Settings that are not a part of the command that a resumption repeats."""

_TABLE: dict[str, Any] = {"keep": bool, "days": (int, float), "bytes": int, "on-question": list}


def make_storage(settings: Settings, source: Source, run_id: str) -> StoredJournal | None:
    """Return the storage of a new run of the command, or None if it is not kept. Raises
    Diagnostics."""
    path = settings.store or default_store()
    said = read_table(settings)
    if settings.no_record:
        return None
    if path is None or not (said.get("keep", True) or settings.store):
        if settings.run_id:
            title = "--run-id names a run that is kept, and runs are not kept here"
            hint = "name a store: --store FILE, or leave out --run-id"
            raise Diagnostics([Diagnostic("bad-input", title, hint=hint)])
        return None
    days = said.get("days", DAYS)
    keeping = Keeping(
        resolve_address(path),
        run_id,
        os.getcwd(),
        _name_of(settings, source),
        describe_command(settings, source),
        settings.reuse,
        settings.file == "-" and not settings.task,
        None if settings.quiet else lambda store, run: _tell_opened(store, run, days),
        None if settings.run_id or settings.reuse else _tell_failure,
        days,
        said.get("bytes", BYTES),
    )
    return keep_run(keeping)


def _name_of(settings: Settings, source: Source) -> str:
    """Return the name of a run in lists: that of its file or task."""
    if settings.task and settings.way != "s_expression":
        return settings.task[0]
    return os.path.basename(source.name).strip("<>")


def read_table(settings: Settings, files: Files = None) -> dict[str, Any]:
    """Return what the person's configuration says of runs. Raises Diagnostics."""
    found: dict[str, Any] = {}
    for table, is_own in sections("runs", settings.folder or os.getcwd(), files):
        for name, value in table.items():
            if not is_own:
                raise wrong("sexplang.toml", "only a person says which runs are kept", OWN_HINT)
            kind = _TABLE.get(name)
            if kind is None or not isinstance(value, kind):
                words = "`runs` holds keep, days, bytes and on-question"
                raise wrong("sexplang.toml", words, OWN_HINT)
            found.setdefault(name, value)
    return found


def describe_command(settings: Settings, source: Source) -> dict[str, Any]:
    """Return the command as data, from which `read_command` makes the same settings."""
    given = {
        name: value for name, value in attributes(settings).items() if name not in _UNKEPT and value
    }
    text = {"text": source.text} if settings.file == "-" else {}
    return {"settings": given, **text}


def read_command(run: StoredRun) -> tuple[Settings, str | None]:
    """Return the settings of a stored run, and the text of a program from standard input. Raises
    ValueError, TypeError or KeyError."""
    data = json.loads(run.command)
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data["settings"].items()
    }
    return Settings(**given), data.get("text")


def _tell_opened(store: RunStore, run: StoredRun, days: float) -> None:
    """Say where a new store is, and whether the same command was interrupted before."""
    if store.is_new:
        print(
            f"note: runs are kept in {draw_hidden(store.path)} for {days:g} days, so that they can "
            "go on after a crash; --no-record keeps none, and so does `keep = false` under [runs] "
            "in ~/.config/sexplang/sexplang.toml",
            file=sys.stderr,
        )
    before = store.find_before(run)
    if before is None or before.state not in (RUNNING, INTERRUPTED) or store.is_alive(before):
        return
    replies, cost = before.replies, f"{before.tokens:,} tokens" if before.tokens else ""
    with suppress(Refusal):  # a process that was killed had no time to count
        found = read_rows(store, before)
        replies, cost = found.replies, describe_cost(found)
    print(f"note: {describe_interruption(store, before, replies, cost)}", file=sys.stderr)


def describe_interruption(store: RunStore, run: StoredRun, replies: int, cost: str) -> str:
    """Return the line about an interrupted run."""
    told = f" after {replies:,} {'reply' if replies == 1 else 'replies'}" if replies else ""
    paid = f" ({cost})" if cost else ""
    how = draw_hidden(store.describe_resumption(run))
    return f"run {run.id} was interrupted{told}{paid}; {how}"


def describe_cost(kept: StoredJournal | StoredRows) -> str:
    """Return the tokens of a run and, if all prices are known, its dollars; empty for none."""
    if not kept.tokens:
        return ""
    from sexplang.runtime.models.prices import price_usage  # loads the table

    usd = price_usage(kept.usage)
    return f"{kept.tokens:,} tokens" + ("" if usd is None else f", ${usd:.4f}")


def _tell_failure(refusal: Refusal) -> None:
    words = draw_hidden(str(refusal.error.fields["message"]))
    print(f"warning: this run is not kept: {words}", file=sys.stderr)
