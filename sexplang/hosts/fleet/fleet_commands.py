"""The commands `sexplang submit` and `sexplang worker`: their options, their help."""

import re
from typing import Any

import click

from sexplang.hosts.cli.guard import MISUSE
from sexplang.hosts.settings.run_arguments import (
    INPUT,
    RUN_OPTIONS,
    Settings,
    complete_settings,
    make_option,
)

_SUBMIT_EXAMPLES = """\b
Examples:
  sexplang submit invoice.sexp invoice=7 --store postgresql://db.example/runs
  sexplang submit night.sexp --priority 5 --run-id night-12 --budget usd=2
  sexplang submit deploy.sexp --allow-run deploy    a worker must grant it too
  sexplang submit -e '(ask-user "Pay?")' --json"""

_WORKER_EXAMPLES = """\b
Examples:
  sexplang worker
  sexplang worker --once --places 8
  sexplang worker --store postgresql://db.example/runs --model local --allow-run deploy
  sexplang worker --store postgresql://db.example/runs --metrics 9464
  sexplang worker --store postgresql://db.example/runs --offers model:local
  sexplang worker … --fleet-limit claude-sonnet-5-5=in_flight:10,calls:60/1m"""

_SUBMITTED = frozenset(
    {
        *("expression", "json", "allow_read", "allow_write", "allow_run", "allow_net"),
        *("budget", "limit", "store", "run_id", "pause", "parallel", "single_flight"),
        *("strict", "quiet"),
    }
)
"""The options of `run` that `submit` has."""

_GRANTED = frozenset(
    {
        *("model", "allow_read", "allow_write", "allow_run", "allow_net", "allow_python", "mcp"),
        *("index", "parallel", "single_flight"),
    }
)
"""The options of `run` by which a worker says what it grants."""


def _submit(words: tuple[str, ...], priority: int, **found: Any) -> int:
    from sexplang.hosts.fleet.submission import submit

    given = {name: value for name, value in found.items() if value not in (None, (), False)}
    settings = complete_settings(list(words), given)
    if settings is not None:
        return submit(settings, priority)
    if not words and "expression" not in given:
        raise click.UsageError("Name a program: sexplang submit FILE, or sexplang submit -e EXPR")
    inputs = words if "expression" in given else words[1:]
    wrong = next(word for word in inputs if not re.match(INPUT, word))
    raise click.UsageError(f"Inputs are written name=value; `{wrong}` is not one")


submit = click.Command(
    "submit",
    callback=_submit,
    params=[
        click.Argument(["words"], nargs=-1, metavar="FILE [name=value]..."),
        click.Option(
            ["--priority"],
            type=click.IntRange(-1000, 1000),
            default=0,
            metavar="N",
            help="A run with a greater one is begun first (0).",
        ),
        *[make_option(each) for each in RUN_OPTIONS if each.name in _SUBMITTED],
    ],
    epilog=_SUBMIT_EXAMPLES,
    short_help="Leave a run to the workers.",
    help="""Check a program and keep a run of it with its texts, imports and templates, which a
    worker begins on any machine. The id of the run is printed.

    A run asks and a worker grants: with --allow-… the run says what it needs, and a worker that was
    started without it leaves the run to others. Models, servers of tools and Python files are the
    worker's. A Python file that the program imports is not kept with the run.
    """,
)


def _work(
    places: int,
    offers: tuple[str, ...],
    leaves: tuple[str, ...],
    fleet_limit: tuple[str, ...],
    once: bool,
    as_recorded: bool,
    store: str | None,
    lease: float | None,
    grace: float | None,
    metrics: int | None,
    quiet: bool,
    **found: Any,
) -> int:
    from sexplang.hosts.kept_runs.stored_runs import name_address, say_problem
    from sexplang.runtime.journal.databases import check_address, is_server
    from sexplang.runtime.refusal import Refusal
    from sexplang.terms.diagnostic import Diagnostics

    try:
        address = name_address(store)
        check_address(address)
    except (Diagnostics, Refusal) as problem:
        return say_problem(problem)
    given = {name: value for name, value in found.items() if value not in (None, (), False)}
    if once and (offers or leaves or fleet_limit):
        words = "with --once a worker performs itself what its runs ask; leave out either"
        click.echo(f"--offers, --leaves, --fleet-limit: {words}", err=True)
        return MISUSE
    if is_server(address):
        from sexplang.hosts.fleet.fleet_worker import GRACE, LEASE, Options, work_on

        options = Options(
            places,
            offers,
            leaves,
            fleet_limit,
            LEASE if lease is None else lease,
            GRACE if grace is None else grace,
            once,
            metrics,
            quiet,
        )
        return work_on(address, Settings(file="-", **given), options)
    more: dict[str, Any] = {"offers": offers, "leaves": leaves, "fleet_limit": fleet_limit}
    more |= {"lease": lease, "grace": grace, "metrics": metrics}
    names = [*given, *[name for name, value in more.items() if value not in (None, ())]]
    if names:
        named = ", ".join([f"--{name.replace('_', '-')}" for name in names])
        click.echo(f"{named}: only for a store on a server: --store postgresql://…", err=True)
        return MISUSE
    from sexplang.hosts.kept_runs.worker import work

    return work(store, as_recorded=as_recorded, places=places, once=once, quiet=quiet)


class _Seconds(click.FloatRange):
    """A number of seconds. (`nan` is in every range.)"""

    def convert(self, value: Any, *where: Any) -> float:
        seconds: float = super().convert(value, *where)
        if seconds != seconds:
            self.fail(f"{value!r} is no number of seconds", *where)
        return seconds


worker = click.Command(
    "worker",
    callback=_work,
    params=[
        click.Option(
            ["--places"],
            type=click.IntRange(1, 64),
            default=4,
            metavar="N",
            help="Runs at a time (4).",
        ),
        click.Option(
            ["--offers"],
            multiple=True,
            metavar="NAME",
            help="On a server: requests of others that it performs: model:NAME, "
            "tool:SERVER:NAME, script.",
        ),
        click.Option(
            ["--leaves"],
            multiple=True,
            metavar="NAME",
            help="On a server: requests of its runs that it always leaves to those who offer them.",
        ),
        click.Option(
            ["--fleet-limit"],
            multiple=True,
            metavar="MODEL=LIMIT",
            help="On a server: a model's limit over all workers: in_flight:10,calls:60/1m,"
            "tokens:90000/1m.",
        ),
        click.Option(["--once"], is_flag=True, help="End when no run is ready."),
        click.Option(
            ["--as-recorded"],
            is_flag=True,
            help="With --store FILE: with the permissions that runs began with.",
        ),
        click.Option(
            ["--store"],
            metavar="STORE",
            help="Another store than the person's own, for all its runs.",
        ),
        *[make_option(each) for each in RUN_OPTIONS if each.name in _GRANTED],
        click.Option(
            ["--lease"],
            type=_Seconds(0.5, 3600),
            metavar="SECONDS",
            help="On a server: how long a silent worker keeps its runs (30).",
        ),
        click.Option(
            ["--grace"],
            type=_Seconds(0, 3600),
            metavar="SECONDS",
            help="On a server: time for requests that are under way at the end (30).",
        ),
        click.Option(
            ["--metrics"],
            type=click.IntRange(0, 65535),
            metavar="PORT",
            help="On a server: /metrics and /health on this port of 127.0.0.1.",
        ),
        click.Option(["-q", "--quiet"], is_flag=True, help="Nothing on stderr but errors."),
    ],
    epilog=_WORKER_EXAMPLES,
    short_help="Go on with runs that are due.",
    help="""Go on with runs that were submitted, whose time has come or that have an answer, until
    Ctrl-C. What a run prints is lost; its value is in `runs show`.

    On a store at postgresql://… any number of workers share the runs that `submit` has kept. Each
    grants its runs what it was started with. SIGTERM and Ctrl-C drain it: it begins nothing, ends
    what is under way and hands its runs to other workers. A second signal ends it at once.
    """,
)
