"""The commands below `sexplang runs`: every one, its options, its help."""

import os
import re

import click

_RUNS_EXAMPLES = """\b
Examples:
  sexplang run plan.sexp --model local --model judge=anthropic:ID --record run.jsonl
  sexplang run plan.sexp --model replay:run.jsonl
  sexplang runs report run.jsonl -o run.html
  sexplang runs report run.jsonl --json"""

_RUNS_LIST_EXAMPLES = """\b
Examples:
  sexplang runs list
  sexplang runs list --all --json"""

_RUNS_SHOW_EXAMPLES = """\b
Examples:
  sexplang runs show 3f2a             the beginning of an id will do
  sexplang runs show night-12 --json"""

_RUNS_RESUME_EXAMPLES = """\b
Examples:
  sexplang runs resume 3f2a
  sexplang runs resume 3f2a --again 4.1      do once more what may have been done
  sexplang runs resume 3f2a --never '*'      let all that fail
  sexplang runs resume 3f2a --accept-changes
  sexplang runs resume --due"""

_RUNS_ANSWER_EXAMPLES = """\b
Examples:
  sexplang runs questions             what waits for an answer
  sexplang runs answer 3f2a yes
  sexplang runs answer 3f2a 2 --request 3.1 --resume   the second choice, then go on"""

_RUNS_QUESTIONS_EXAMPLES = """\b
Examples:
  sexplang runs questions
  sexplang runs questions 3f2a --json"""

_RUNS_CANCEL_EXAMPLES = """\b
Examples:
  sexplang runs cancel 3f2a
  sexplang runs cancel 3f2a --force     its program is gone"""

_RUNS_FORK_EXAMPLES = """\b
Examples:
  sexplang runs fork 3f2a --at 12
  sexplang runs fork 3f2a --at 0 --run-id again"""

_RUNS_DIFF_EXAMPLES = """\b
Examples:
  sexplang runs diff 3f2a again
  sexplang runs diff 3f2a again --json"""

_RUNS_EXPORT_EXAMPLES = """\b
Examples:
  sexplang runs export 3f2a night.db"""

_RUNS_IMPORT_EXAMPLES = """\b
Examples:
  sexplang runs import night.db"""

_RUNS_GC_EXAMPLES = """\b
Examples:
  sexplang runs gc
  sexplang runs gc --days 7 --bytes 100000000"""


@click.group("runs", short_help="Look at runs, and go on with one that was killed.")
def runs() -> None:
    """List the runs that are kept, go on with one that was interrupted, and make a report of one
    that `run --record FILE` recorded.
    """


_STORE_OPTION = click.option(
    "--store", metavar="FILE", help="Another store than the person's own, for all `runs` of it."
)
_JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Write one JSON document.")


@runs.command("list", epilog=_RUNS_LIST_EXAMPLES, short_help="List the runs of this folder.")
@click.option("--all", "every", is_flag=True, help="Those of all folders.")
@_STORE_OPTION
@_JSON_OPTION
def _list_runs(every: bool, store: str | None, as_json: bool) -> int:
    """List the runs that were begun in this folder, the newest first."""
    from sexplang.hosts.kept_runs.stored_runs import list_runs

    return list_runs(store, all=every, as_json=as_json)


@runs.command("show", epilog=_RUNS_SHOW_EXAMPLES, short_help="Show what a run has done.")
@click.argument("run_id", metavar="ID")
@click.option("--at", type=click.IntRange(0), metavar="N", help="What it asked after N replies.")
@_STORE_OPTION
@_JSON_OPTION
def _show_run(run_id: str, at: int | None, store: str | None, as_json: bool) -> int:
    """Show a run: its command, its last replies, what was in doubt, and how to go on with it."""
    from sexplang.hosts.kept_runs.stored_runs import show_run

    if at is not None:
        from sexplang.hosts.kept_runs.run_copies import show_at

        return show_at(run_id, at, store, as_json=as_json)
    return show_run(run_id, store, as_json=as_json)


@runs.command("resume", epilog=_RUNS_RESUME_EXAMPLES, short_help="Go on with a run.")
@click.argument("run_id", metavar="[ID]", required=False)
@click.option(
    "--due",
    is_flag=True,
    help="All runs whose time has come, or that have an answer; with --json a document each.",
)
@click.option(
    "--again",
    multiple=True,
    metavar="REQUEST",
    help="Perform a request in doubt again; '*' is every one.",
)
@click.option(
    "--never",
    multiple=True,
    metavar="REQUEST",
    help="Let a request in doubt fail; '*' is every one.",
)
@click.option(
    "--accept-changes",
    is_flag=True,
    help="Run the changed program with the replies that still fit.",
)
@click.option("--yes", is_flag=True, help="With --accept-changes: perform what is announced.")
@click.option(
    "--as-recorded", is_flag=True, help="With --store: with the permissions that it was begun with."
)
@_STORE_OPTION
@_JSON_OPTION
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def _resume(
    run_id: str | None,
    due: bool,
    again: tuple[str, ...],
    never: tuple[str, ...],
    accept_changes: bool,
    yes: bool,
    as_recorded: bool,
    store: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Go on with a run that waits, was killed, interrupted or has failed. The replies that are
    kept are not asked for again. Permissions, models, limits and inputs are those of its command.

    With --accept-changes the changed program runs as another run, which replaces this one. --again
    and --never decide there on what acts and was not done by the old run.
    """
    from sexplang.hosts.kept_runs.stored_runs import resume

    if (run_id is None) != due:
        raise click.UsageError("Name a run, or type --due")
    if run_id is None:
        from sexplang.hosts.kept_runs.waiting_runs import resume_due

        return resume_due(store, as_json=as_json, quiet=quiet)
    flags = {"as_recorded": as_recorded, "as_json": as_json, "quiet": quiet}
    flags |= {"accepts_changes": accept_changes, "yes": yes}
    return resume(run_id, store, again, never, **flags)


@runs.command("questions", epilog=_RUNS_QUESTIONS_EXAMPLES, short_help="List open questions.")
@click.argument("run_id", metavar="[ID]", required=False)
@_STORE_OPTION
@_JSON_OPTION
def _questions(run_id: str | None, store: str | None, as_json: bool) -> int:
    """List the open questions of a run, or of all runs that wait, the oldest run first."""
    from sexplang.hosts.kept_runs.waiting_runs import list_open_questions

    return list_open_questions(run_id, store, as_json=as_json)


@runs.command(
    "answer",
    epilog=_RUNS_ANSWER_EXAMPLES,
    short_help="Answer a question of a run.",
    context_settings={"ignore_unknown_options": True},  # -5 is an answer
)
@click.argument("run_id", metavar="ID")
@click.argument("value", metavar="VALUE")
@click.option("--request", metavar="REQUEST", help="The question, where the run has several.")
@click.option("--resume", "goes_on", is_flag=True, help="Go on with the run at once.")
@click.option(
    "--as-recorded", is_flag=True, help="With --resume: with the permissions of its command."
)
@_STORE_OPTION
@_JSON_OPTION
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def _answer(
    run_id: str,
    value: str,
    request: str | None,
    goes_on: bool,
    as_recorded: bool,
    store: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Answer a question of a run that waits. The answer is kept, and the run takes it when it goes
    on. Text and choices are typed as they are; another operation is answered with JSON too.
    """
    from sexplang.hosts.kept_runs.waiting_runs import answer_run

    flags = {"as_json": as_json, "goes_on": goes_on, "as_recorded": as_recorded, "quiet": quiet}
    return answer_run(run_id, value, request, store, **flags)


@runs.command("report", epilog=_RUNS_EXAMPLES, short_help="Make a page of a recorded run.")
@click.argument("recording", metavar="RECORDING|ID")
@click.option("-o", "--output", "to", metavar="FILE.html", help="The page; - is standard output.")
@click.option("--json", "as_json", is_flag=True, help="Write the rows as one JSON document.")
def _report(recording: str, to: str | None, as_json: bool) -> int:
    """Make one page of HTML of a recorded run: what it did and when, what was said to models and
    what they replied, what it cost and what went wrong. The page needs no network and no other
    file.
    """
    from tempfile import TemporaryDirectory

    from sexplang.hosts.report import report

    is_file = os.path.exists(recording) or recording.endswith(".jsonl")
    if is_file or not re.fullmatch(r"[\w.-]{1,64}", recording):
        return report(recording, to, as_json=as_json)
    from sexplang.hosts.kept_runs.stored_runs import export

    with TemporaryDirectory() as folder:
        made = os.path.join(folder, f"{recording}.jsonl")
        status = export(recording, made)
        return status or report(made, to, as_json=as_json)


@runs.command("cancel", epilog=_RUNS_CANCEL_EXAMPLES, short_help="Cancel a run.")
@click.argument("run_id", metavar="ID")
@click.option("--force", is_flag=True, help="Without its program: no `finally` body runs.")
@click.option(
    "--as-recorded", is_flag=True, help="With --store: with the permissions that it was begun with."
)
@_STORE_OPTION
@_JSON_OPTION
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def _cancel(
    run_id: str, force: bool, as_recorded: bool, store: str | None, as_json: bool, quiet: bool
) -> int:
    """End a run that waits or was interrupted: its `finally` bodies run, and it cannot be resumed
    any more. A worker does so with a run that was submitted to a server, also while it goes on."""
    from sexplang.hosts.kept_runs.stored_runs import end, leave_to_worker, resume

    if force:
        return end(run_id, store, as_json=as_json)
    status = leave_to_worker(run_id, store, as_json=as_json)
    if status is not None:
        return status
    flags = {"as_recorded": as_recorded, "as_json": as_json, "quiet": quiet, "is_cancelled": True}
    return resume(run_id, store, (), (), **flags)


@runs.command(
    "fork", epilog=_RUNS_FORK_EXAMPLES, short_help="Begin another run from a reply of one."
)
@click.argument("run_id", metavar="ID")
@click.option(
    "--at", type=click.IntRange(0), required=True, metavar="N", help="Its first N replies."
)
@click.option("--run-id", "new_id", metavar="ID", help="The name of the new run.")
@_STORE_OPTION
@_JSON_OPTION
def _fork(run_id: str, at: int, new_id: str | None, store: str | None, as_json: bool) -> int:
    """Make a run that has the first N replies of another one, and goes on from there on its own.
    What followed in the other run is performed again by this one. Its id is printed.
    """
    from sexplang.hosts.kept_runs.run_copies import fork

    return fork(run_id, at, new_id, store, as_json=as_json)


@runs.command("diff", epilog=_RUNS_DIFF_EXAMPLES, short_help="Say where two runs part.")
@click.argument("one", metavar="ID")
@click.argument("other", metavar="ID")
@_STORE_OPTION
@_JSON_OPTION
def _diff(one: str, other: str, store: str | None, as_json: bool) -> int:
    """Print where two runs part, and what each asked and was told there. The exit status is 1 if
    they do."""
    from sexplang.hosts.kept_runs.run_copies import diff

    return diff(one, other, store, as_json=as_json)


@runs.command("export", epilog=_RUNS_EXPORT_EXAMPLES, short_help="Write a run to a file.")
@click.argument("run_id", metavar="ID")
@click.argument("to", metavar="FILE")
@_STORE_OPTION
@_JSON_OPTION
def _export(run_id: str, to: str, store: str | None, as_json: bool) -> int:
    """Write a run to a store of its own, to keep it or to go on elsewhere."""
    from sexplang.hosts.kept_runs.run_copies import export

    return export(run_id, to, store, as_json=as_json)


@runs.command("import", epilog=_RUNS_IMPORT_EXAMPLES, short_help="Add the runs of a file.")
@click.argument("source", metavar="FILE")
@_STORE_OPTION
@_JSON_OPTION
def _import(source: str, store: str | None, as_json: bool) -> int:
    """Add the runs of a file that `runs export` wrote. Their ids are printed. They get the
    permissions of their commands only by `runs resume --as-recorded`."""
    from sexplang.hosts.kept_runs.run_copies import take_in

    return take_in(source, store, as_json=as_json)


@runs.command("gc", epilog=_RUNS_GC_EXAMPLES, short_help="Remove old runs.")
@click.option("--days", type=click.FloatRange(0), metavar="N", help="Those that ended before (30).")
@click.option("--bytes", "most", type=click.IntRange(0), metavar="N", help="Down to this size.")
@_STORE_OPTION
@_JSON_OPTION
def _collect(days: float | None, most: int | None, store: str | None, as_json: bool) -> int:
    """Remove old runs from the store, and give their room back to the disk."""
    from sexplang.hosts.kept_runs.run_copies import collect

    return collect(days, most, store, as_json=as_json)
