"""Runs with the replies of an earlier one: `runs resume --accept-changes`, and `run --cache`."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from sexplang.hosts.cli.guard import say
from sexplang.hosts.kept_runs.stored_runs import make_diagnostic, open_runs
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.machine import Outcome
from sexplang.runs.reused_run import Announcement, ReplyPool, announce, serve
from sexplang.runtime.driver.requests import Performer
from sexplang.runtime.journal.doubts import Decision, decide
from sexplang.runtime.journal.run_store import FAILED, RunStore, StoredRun
from sexplang.runtime.journal.stored_journal import StoredRows, read_rows
from sexplang.runtime.refusal import Refusal
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.values.abbreviation import abbreviate


def reuse_replies(
    settings: Settings,
    outcome: Outcome,
    performers: Mapping[str, Performer],
    program: Program,
    kept: tuple[RunStore, StoredRun] | None,
) -> dict[str, Performer]:
    """Return performers that serve the replies of an earlier run first. `kept` is the run itself if
    it is resumed.

    A person is asked before anything is paid or acts, unless the settings agree. Raises Diagnostics
    if they do not.
    """
    try:
        found = _read_earlier(settings, os.path.basename(program.sources[0].name).strip("<>"))
        begun = [] if kept is None else read_rows(*kept, whole=True).rows
    except Refusal as refusal:
        raise Diagnostics([make_diagnostic(refusal)]) from None
    if found is None:
        return dict(performers)
    if settings.cache:
        found.rows = [row for row in found.rows if row.operation == "model" and not row.failed]
    pool = ReplyPool(found.rows)
    pool.skip(begun)
    if settings.cache:
        return serve(performers, pool, {"*": "safe"})
    replay: dict[str, Decision] = {
        **dict.fromkeys(settings.again, "safe"),
        **dict.fromkeys(settings.never, "never"),
    }
    if begun:  # it was agreed to when the run began
        return serve(performers, pool, {"*": "safe"})
    announced = announce(outcome, found.rows, performers, found.rates)
    if not settings.quiet:
        print(announced.describe(), file=sys.stderr)
    _ask(settings, announced, replay)
    known = {each.id for each in (*announced.calls, *announced.acts)}

    def may_perform(request: Request) -> bool:
        if request.id in known or settings.yes:
            return True
        return _confirm(f"one more than was announced: {_describe(request)}")

    return serve(performers, pool, replay, may_perform)


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
        found = read_rows(store, run, whole=True)
    finally:
        store.close()
    if run.state == FAILED and found.rows and found.rows[-1].failed:
        del found.rows[-1]  # it ended the run, and is made again
    return found


def _find_last(runs: list[StoredRun], name: str, id: str | None) -> StoredRun | None:
    """Return the newest run of a program that has replies, but not this one."""
    return next((run for run in runs if run.name == name and run.id != id and run.replies), None)


def _ask(settings: Settings, announced: Announcement, replay: Mapping[str, Decision]) -> None:
    """Raise Diagnostics if nobody agrees to what is to be performed."""
    undecided = [each for each in announced.acts if decide(each, replay, {}) == "ask"]
    if undecided:
        names = ", ".join([_describe(each) for each in undecided[:5]])
        first = undecided[0].id
        hint = (
            f"perform it: --again {first}; let it fail: --never {first}; "
            "for all of them write '*'; nothing was performed"
        )
        title = f"the changed program does this, which may have been done before: {names}"
        raise Diagnostics([Diagnostic("in-doubt", title, hint=hint)])
    if settings.yes or not announced.calls:
        return
    if not _confirm("go on?"):
        hint = "type --yes too; nothing was performed"
        title = "nobody has agreed to what is to be performed and paid"
        raise Diagnostics([Diagnostic("not-agreed", title, hint=hint)])


def _describe(request: Request) -> str:
    given = " ".join([abbreviate(each) for each in request.arguments])
    return f"({request.operation} {given})".replace(" )", ")") + f" as {request.id}"


def _confirm(words: str) -> bool:
    """Return whether the person at the terminal agrees; False where there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    say(f"{words} [y/N] ")
    with suppress(EOFError):
        return input().strip().lower() in ("y", "yes")
    return False
