"""The command line by click: every command, its options, its help."""

import os
import re
from typing import Any

import click

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE
from sexplang.hosts.fleet.fleet_commands import submit, worker
from sexplang.hosts.kept_runs.runs_commands import runs
from sexplang.hosts.settings.run_arguments import (
    INPUT,
    REPL_OPTIONS,
    RUN_OPTIONS,
    Settings,
    check_models,
    complete_settings,
    make_option,
)

_RUN_EXAMPLES = """\b
Examples:
  sexplang run -e '(+ 1 2)'
  sexplang run summary.sexp text=@note.txt --model local
  sexplang run review.sexp --model local --model judge=anthropic:claude-opus-5-5
  sexplang run summary.sexp --help      the inputs of that program"""

_CHECK_EXAMPLES = """\b
Examples:
  sexplang check summary.sexp
  sexplang check --max-calls 10 plan.sexp
  sexplang check --effects --strict --json *.sexp"""

_TASK_EXAMPLES = """\b
Examples:
  sexplang task --help                               the tasks of this folder
  sexplang task summarize text=@note.txt --model local
  sexplang task review text=@note.txt --model fast=local --model judge=anthropic:claude-opus-5-5
  sexplang task summarize text=tea --preview         what the model would get, and no call
  sexplang task review plan:='{"steps": 3}' file_context='["a.md"]' --from tasks/
  sexplang task '(map summarize texts)' texts:='["tea", "milk"]'"""

_INDEX_EXAMPLES = """\b
Examples:
  sexplang index .                      the project around this folder
  sexplang index src docs --include '*.py' --include '*.md'
  sexplang index . --embed local        for search by meaning, too
  sexplang index --list                 what is known"""

_FMT_EXAMPLES = """\b
Examples:
  sexplang fmt program.sexp
  sexplang fmt --check *.sexp           list what would change, change nothing
  sexplang fmt - <program.sexp          to standard output"""

_EXPLAIN_EXAMPLES = """\b
Examples:
  sexplang explain unbound-name
  sexplang explain                      every code"""

_DOC_EXAMPLES = """\b
Examples:
  sexplang doc string-split             one name
  sexplang doc split text               the names that fit these words
  sexplang doc foldl                    what to write for a name of another language
  sexplang doc std/state --json         a module, as data"""

_GUIDE_EXAMPLES = """\b
Examples:
  sexplang guide                        all of it, for the prompt of a large model
  sexplang guide --short                a page, for a small one
  sexplang guide --json                 every name, as data
  sexplang guide --grammar >sexplang.gbnf"""

_REPL_EXAMPLES = """\b
Examples:
  sexplang repl
  sexplang repl --model local program.sexp topic=tea
  sexplang repl --model fast=local --model judge=anthropic:claude-opus-5-5
  echo '(+ 1 2)' | sexplang repl"""

_TEST_EXAMPLES = """\b
Examples:
  sexplang test examples                every *.test.sexp below that folder
  sexplang test -k greets greet.test.sexp
  sexplang test judged.test.sexp --model judge=local
  sexplang test examples --model claude-haiku-4-5 --samples 10 --at-least 0.8 --budget usd=1"""

_INIT_EXAMPLES = """\b
Examples:
  sexplang init notes                   a task, a type and a test, in the new folder notes
  sexplang init                         the same in this folder
  sexplang init desk --from chat-agent
  sexplang init --from approval --json"""

_EXAMPLES_EXAMPLES = """\b
Examples:
  sexplang examples                     the list
  sexplang examples tickets             into the new folder tickets
  sexplang examples tickets ~/try       into another one"""

_DOCTOR_EXAMPLES = """\b
Examples:
  sexplang doctor
  sexplang doctor --ask                 ask the models whether they answer
  sexplang doctor --json"""

_LSP_INSTALL = "pip install 'sexplang[lsp]'"

_LSP_EXAMPLES = f"""\b
An editor starts this command itself; it needs
  {_LSP_INSTALL}"""

_EXAMPLES = """\b
Examples:
  sexplang run -e '(map (lambda (x) (* x x)) [1 2 3])'
  sexplang run program.sexp topic=tea --model local
  sexplang check program.sexp
  sexplang explain unbound-name"""


def command(arguments: list[str]) -> int:
    """Run the command that the arguments name and return its exit status."""
    try:
        status = _group.main(arguments, prog_name="sexplang", standalone_mode=False)
    except click.exceptions.Exit as left:
        return int(left.exit_code)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as misuse:
        misuse.show()
        return MISUSE
    return int(status or DONE)


class _Group(click.Group):
    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        if arguments[:1] == ["-e"]:
            raise click.UsageError(_suggest_run(arguments[1:]), context)
        return super().parse_args(context, arguments)

    def resolve_command(self, context: click.Context, arguments: list[str]) -> Any:
        name = arguments[0]
        if name == "eval":
            raise click.UsageError(_suggest_run(arguments[1:]), context)
        if name not in self.commands and (name.endswith(".sexp") or os.path.exists(name)):
            from shlex import quote

            typed = f"To run a program, type: sexplang run {quote(name)}"
            raise click.UsageError(typed, context)
        return super().resolve_command(context, arguments)


def _suggest_run(words: list[str]) -> str:
    from shlex import quote

    return f"To run a text, type: sexplang run -e {quote(' '.join(words) or '(+ 1 2)')}"


@click.group(cls=_Group, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    help="Show the version and exit.",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda c, p, v: _version(v),
)
def _group() -> None:
    """A language for work done by language models."""


_UNINSTALLED = "from a checkout that is not installed"


def _version(wanted: bool) -> None:
    """Show the version and exit."""
    if wanted:
        from sexplang.terms.run_terms import find_version

        version = find_version()
        click.echo(f"sexplang {version}" if version else f"sexplang, {_UNINSTALLED}")
        raise click.exceptions.Exit(DONE)


def _run(words: tuple[str, ...], help: bool, **found: Any) -> int:
    from sexplang.hosts.cli.run import inputs_of, run

    context = click.get_current_context()
    given = {name: value for name, value in found.items() if value not in (None, (), False)}
    if help:
        settings = complete_settings(
            list(words[:1]), {k: v for k, v in given.items() if k == "expression"}
        )
        status = inputs_of(settings) if settings else DONE
        click.echo(("\n" if settings else "") + context.get_help())
        return status
    settings = complete_settings(list(words), given)
    if settings is not None:
        return run(settings)
    if not words and "expression" not in given:
        raise click.UsageError("Name a program: sexplang run FILE, or sexplang run -e EXPR")
    raise click.UsageError(
        f"Inputs are written name=value; `{_no_input(list(words), given)}` is not one"
    )


def _no_input(words: list[str], given: dict[str, Any]) -> str:
    from sexplang.hosts.settings.run_arguments import INPUT

    inputs = words if "expression" in given else words[1:]
    return next(word for word in inputs if not re.match(INPUT, word))


_group.add_command(
    click.Command(
        "run",
        callback=_run,
        params=[
            click.Argument(["words"], nargs=-1, metavar="FILE [name=value]..."),
            *map(make_option, RUN_OPTIONS),
            click.Option(["-h", "--help"], is_flag=True, help="This text and FILE's inputs."),
        ],
        add_help_option=False,
        epilog=_RUN_EXAMPLES,
        short_help="Run a program.",
        help="""Run a program: FILE, or standard input for `-`, or the text of -e.

        An input of the program is given as name=value; name=@path is the text of a file and
        name=- that of standard input. The value of the last form is written to standard output.
        """,
    )
)


@_group.command("check", epilog=_CHECK_EXAMPLES, short_help="Find what is wrong, run nothing.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Write the findings as a JSON document.")
@click.option("--strict", is_flag=True, help="Count warnings as errors.")
@click.option("--effects", is_flag=True, help="List what each function may perform.")
@click.option(
    "--max-calls",
    type=click.IntRange(0),
    metavar="N",
    help="Refuse a program that may call a model more than N times.",
)
def _check(
    files: tuple[str, ...], as_json: bool, strict: bool, effects: bool, max_calls: int | None
) -> int:
    """Find what is wrong with programs and templates, without running anything.

    Says how often each program may call a model at most, as far as its text tells.
    """
    from sexplang.hosts.cli.check import check

    return check(files, as_json=as_json, strict=strict, effects=effects, max_calls=max_calls)


@_group.command("fmt", epilog=_FMT_EXAMPLES, short_help="Lay programs out as they should look.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", "only_check", is_flag=True, help="List the files that would change.")
@click.option("--diff", is_flag=True, help="Show what would change.")
def _fmt(files: tuple[str, ...], only_check: bool, diff: bool) -> int:
    """Lay programs out as they should look; comments and meaning stay.

    With --check or --diff no file is changed, and the status is 1 if one would be.
    """
    from sexplang.hosts.cli.fmt import fmt

    for file in files:
        if file != "-" and not file.endswith(".sexp"):
            raise click.UsageError(f"fmt lays out programs (.sexp); `{file}` is none")
    return fmt(files, check=only_check, diff=diff)


@_group.command("explain", epilog=_EXPLAIN_EXAMPLES, short_help="Explain an error code.")
@click.argument("code", required=False)
def _explain(code: str | None) -> int:
    """Explain an error CODE; without one, list them all."""
    from sexplang.hosts.cli.shipped_pages import codes, nearest_code, page

    if code is None:
        click.echo("\n".join(codes()))
        return DONE
    found = page(code)
    if found is not None:
        click.echo(found, nl=False)
        return DONE
    like = nearest_code(code)
    did = f"did you mean: sexplang explain {like}" if like else "sexplang explain lists them all"
    click.echo(f"there is no code `{code}`; {did}", err=True)
    return FAILED


@_group.command("doc", epilog=_DOC_EXAMPLES, short_help="Say what a name of the language does.")
@click.argument("words", nargs=-1, required=True, metavar="NAME|WORDS...")
@click.option("--json", "as_json", is_flag=True, help="Write what was found as a JSON document.")
def _doc(words: tuple[str, ...], as_json: bool) -> int:
    """Say how a NAME of the language is called, what it does and where it is, with examples.
    Of FILE.py, say which functions it gives to programs.

    Of WORDS, list the names that fit them, the best first. A name of another language gives what
    to write here. What is not found is status 1.
    """
    from sexplang.hosts.cli.doc import doc

    return doc(words, as_json=as_json)


def _repl(words: tuple[str, ...], **found: Any) -> int:
    from sexplang.hosts.repl import repl

    given = {name: value for name, value in found.items() if value not in (None, (), False)}
    settings = complete_settings(list(words), given) if words else Settings(**given)
    if settings is None:
        raise click.UsageError(
            f"Inputs are written name=value; `{_no_input(list(words), given)}` is not one"
        )
    return repl(settings)


_group.add_command(
    click.Command(
        "repl",
        callback=_repl,
        params=[
            click.Argument(["words"], nargs=-1, metavar="[FILE [name=value]...]"),
            *[make_option(each) for each in RUN_OPTIONS if each.name in REPL_OPTIONS],
        ],
        epilog=_REPL_EXAMPLES,
        short_help="Try the language, line by line.",
        help="""Try the language: what you type is run, and its value shown.

        FILE is run first, and what it defines is there. Without a terminal, what is to be run is
        read from standard input.
        """,
    )
)


@_group.command("test", epilog=_TEST_EXAMPLES, short_help="Run tests written in the language.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-k", "named", metavar="NAME", help="Only tests whose names hold NAME.")
@click.option(
    "--limit",
    metavar="LIMITS",
    help="What a test may take from the machine, as for `run`; steps=20000000.",
)
@click.option(
    "--model",
    multiple=True,
    metavar="[NAME=]MODEL",
    callback=check_models,
    help="The model of calls that the test does not answer itself, as for `run`.",
)
@click.option(
    "--allow-python",
    "python",
    multiple=True,
    metavar="FILE",
    help="Run the Python FILE for its primitives; a script answers its other functions.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run each test N times against the models, and report how often it passes.",
)
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    default=1.0,
    metavar="SHARE",
    help="The share of its samples that a test has to pass, such as 0.8; all by default.",
)
@click.option("--budget", metavar="BOUNDS", help="What all samples may spend, as for `run`.")
@click.option("--json", "as_json", is_flag=True, help="Write the results as a JSON document.")
def _test(
    files: tuple[str, ...],
    named: str | None,
    limit: str | None,
    model: tuple[str, ...],
    python: tuple[str, ...],
    as_json: bool,
    samples: int | None,
    at_least: float,
    budget: str | None,
) -> int:
    """Run the tests in files, and in the *.test.sexp files of folders.

    A test sees no model, file, clock or person but those of its own script, and the models that
    --model names.
    """
    from sexplang.hosts.testing.command import test

    return test(
        files,
        named=named,
        limit=limit,
        model=model,
        python=python,
        as_json=as_json,
        samples=samples,
        at_least=at_least,
        budget=budget,
    )


_RUN_ONLY = ("expression", "strict")
"""Options of `run` that `task` does not take."""


def _task(words: tuple[str, ...], help: bool, preview: bool, places: Any, **found: Any) -> int:
    from sexplang.hosts.cli.task import describe_task, task

    given = {name: value for name, value in found.items() if value not in (None, (), False)}
    if help:
        status = describe_task(Settings(**given), tuple(places), words[0] if words else None)
        click.echo("\n" + click.get_current_context().get_help())
        return status
    if not words:
        raise click.UsageError("Name a task: sexplang task NAME; --help lists those of this folder")
    name, *arguments = words
    wrong = next((word for word in arguments if not re.match(INPUT, word)), None)
    if wrong is not None:
        raise click.UsageError(f"Inputs are written name=value; `{wrong}` is not one")
    for option in ("record", "store", "run_id") if preview else ():
        if found.get(option):
            flag = option.replace("_", "-")
            raise click.UsageError(f"A preview performs nothing to record: leave out --{flag}")
    return task(Settings(**given), name, tuple(arguments), tuple(places), preview)


_group.add_command(
    click.Command(
        "task",
        callback=_task,
        params=[
            click.Argument(["words"], nargs=-1, metavar="NAME [name=value]..."),
            click.Option(
                ["--from", "places"],
                multiple=True,
                metavar="PATH",
                help="A file, or a folder of templates, to find tasks in (the working folder).",
            ),
            click.Option(
                ["--preview"],
                is_flag=True,
                help="Show what the model would get, and call no model.",
            ),
            *[make_option(option) for option in RUN_OPTIONS if option.name not in _RUN_ONLY],
            click.Option(
                ["-h", "--help"], is_flag=True, help="This text, and the tasks there are."
            ),
        ],
        add_help_option=False,
        epilog=_TASK_EXAMPLES,
        short_help="Run one task by its name.",
        help="""Run one task: a template by NAME, or a program text that begins with `(`.

        An input is given as name=value, as JSON where the parameter is no text; name:=value is
        always JSON, name=@path the text of a file and name=- that of standard input.
        file_context='["a.md"]' names files that the task is to see.
        """,
    )
)


@_group.command(
    "index", epilog=_INDEX_EXAMPLES, short_help="Index files, for programs that search."
)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--index",
    "place",
    metavar="FILE",
    help="Where the index is (.sexplang/index.db in the project's top folder).",
)
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files that fit PATTERN.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No files that fit PATTERN.")
@click.option("--embed", metavar="MODEL", help="Give each file a vector, by MODEL.")
@click.option("--list", "listing", is_flag=True, help="List what is known, change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Write the outcome as a JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def _index(
    paths: tuple[str, ...],
    place: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    embed: str | None,
    listing: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Index folders, git repositories and files, so that programs find them by `search-memory`.

    Kept are names, sizes, a summary of each text, what it defines and its last commit; never its
    contents. What has not changed is not read again. Patterns are those of a .gitignore.
    """
    from sexplang.hosts.cli.index import Settings, index

    if not paths and not listing:
        raise click.UsageError("Name a folder: sexplang index PATH")
    return index(Settings(paths, place, include, exclude, listing, as_json, quiet, embed))


_KINDS = "`chat-agent`, `documents`, `judge-loop`, `approval`"


@_group.command("init", epilog=_INIT_EXAMPLES, short_help="Begin a project.")
@click.argument("folder", required=False, metavar="[NAME]")
@click.option("--from", "kind", metavar="KIND", help=f"Another kind of project: {_KINDS}.")
@click.option("--json", "as_json", is_flag=True, help="Write what was made as a JSON document.")
def _init(folder: str | None, kind: str | None, as_json: bool) -> int:
    """Make a project in the folder NAME, or in this one: a program, a template, a test, written
    replies, a configuration and an editor's settings. Nothing is overwritten.
    """
    from sexplang.hosts.projects.new_projects import init

    return init(folder, kind, as_json=as_json)


@_group.command("examples", epilog=_EXAMPLES_EXAMPLES, short_help="List and copy the examples.")
@click.argument("name", required=False, metavar="[NAME")
@click.argument("folder", required=False, metavar="[FOLDER]]")
@click.option("--json", "as_json", is_flag=True, help="Write the outcome as a JSON document.")
def _examples(name: str | None, folder: str | None, as_json: bool) -> int:
    """List the examples with what each shows, or copy the example NAME into a FOLDER. Nothing is
    overwritten.
    """
    from sexplang.hosts.projects.new_projects import examples

    return examples(name, folder, as_json=as_json)


@_group.command("doctor", epilog=_DOCTOR_EXAMPLES, short_help="Say what is ready here.")
@click.option("--ask", "asks", is_flag=True, help="Ask the models whether they answer.")
@click.option("--json", "as_json", is_flag=True, help="Write what was found as a JSON document.")
def _doctor(asks: bool, as_json: bool) -> int:
    """Say what is installed, which models are ready, what applies in this folder, where runs are
    kept, and what to type next. Without a model that is ready the status is 1.

    Nothing is written. Without --ask no server or model is called. --ask asks servers for their
    models, with no key, and has the local model write one token.
    """
    from sexplang.hosts.projects.doctor import doctor

    return doctor(asks=asks, as_json=as_json)


_group.add_command(runs)
_group.add_command(submit)
_group.add_command(worker)


@_group.command("guide", epilog=_GUIDE_EXAMPLES, short_help="Print the language, for a model.")
@click.option("--short", "form", flag_value="short", help="A page, for a small model.")
@click.option("--json", "form", flag_value="json", help="Every name, as a JSON document.")
@click.option("--grammar", "form", flag_value="grammar", help="The notation as a GBNF grammar.")
def _guide(form: str | None) -> int:
    """Print the language so that a model which reads it can write programs."""
    from sexplang.hosts.cli.shipped_pages import write_guide

    click.echo(write_guide(form or "whole"), nl=False)
    return DONE


@_group.command("lsp", epilog=_LSP_EXAMPLES, short_help="Serve an editor, for what it shows.")
@click.option("--stdio", is_flag=True, help="As it is anyway; some editors say so.")
def _lsp(stdio: bool) -> int:
    """Serve an editor by the Language Server Protocol, on standard input and output."""
    from sexplang.hosts.language_server import serve

    try:
        return serve()
    except ModuleNotFoundError as missing:
        if missing.name not in ("pygls", "lsprotocol"):
            raise
        click.echo(f"`{missing.name}` is not installed; type: {_LSP_INSTALL}", err=True)
        return MISUSE
