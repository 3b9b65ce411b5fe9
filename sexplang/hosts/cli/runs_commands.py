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
  sexplang runs resume 3f2a --never '*'      let all that fail"""

_RUNS_ANSWER_EXAMPLES = """\b
Examples:
  sexplang runs answer 3f2a yes
  sexplang runs answer 3f2a 2 --request 3.1 --resume   the second choice, then go on"""


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
    from sexplang.hosts.cli.stored_runs import list_runs

    return list_runs(store, all=every, as_json=as_json)


@runs.command("show", epilog=_RUNS_SHOW_EXAMPLES, short_help="Show what a run has done.")
@click.argument("run_id", metavar="ID")
@_STORE_OPTION
@_JSON_OPTION
def _show_run(run_id: str, store: str | None, as_json: bool) -> int:
    """Show a run: its command, its last replies, what was in doubt, and how to go on with it."""
    from sexplang.hosts.cli.stored_runs import show_run

    return show_run(run_id, store, as_json=as_json)


@runs.command("resume", epilog=_RUNS_RESUME_EXAMPLES, short_help="Go on with a run.")
@click.argument("run_id", metavar="[ID]", required=False)
@click.option("--due", is_flag=True, help="All runs whose time has come, or that have an answer.")
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
    as_recorded: bool,
    store: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Go on with a run that was killed, interrupted or has failed. The replies that are kept are
    not asked for again. Permissions, models, limits and inputs are those of its command.
    """
    from sexplang.hosts.cli.stored_runs import resume

    if (run_id is None) != due:
        raise click.UsageError("Name a run, or type --due")
    if run_id is None:
        from sexplang.hosts.cli.waiting_runs import resume_due

        return resume_due(store, as_json=as_json, quiet=quiet)
    flags = {"as_recorded": as_recorded, "as_json": as_json, "quiet": quiet}
    return resume(run_id, store, again, never, **flags)


@runs.command("answer", epilog=_RUNS_ANSWER_EXAMPLES, short_help="Answer a question of a run.")
@click.argument("run_id", metavar="ID")
@click.argument("value", metavar="VALUE")
@click.option("--request", metavar="REQUEST", help="The question, where the run has several.")
@click.option("--resume", "goes_on", is_flag=True, help="Go on with the run at once.")
@_STORE_OPTION
@_JSON_OPTION
def _answer(
    run_id: str, value: str, request: str | None, goes_on: bool, store: str | None, as_json: bool
) -> int:
    """Answer a question of a run that waits. The answer is kept, and the run takes it when it goes
    on. Text and choices are typed as they are; another operation is answered with JSON too.
    """
    from sexplang.hosts.cli.waiting_runs import answer_run

    return answer_run(run_id, value, request, store, as_json=as_json, goes_on=goes_on)


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

    if os.path.exists(recording) or not re.fullmatch(r"[\w.-]{4,64}", recording):
        return report(recording, to, as_json=as_json)
    from sexplang.hosts.cli.stored_runs import export

    with TemporaryDirectory() as folder:
        made = os.path.join(folder, f"{recording}.jsonl")
        status = export(recording, made)
        return status or report(made, to, as_json=as_json)
