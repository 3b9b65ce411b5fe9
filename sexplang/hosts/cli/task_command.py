"""`sexplang task` as people explore it."""

import re
from typing import Any

import click

from sexplang.hosts.settings.options import INPUT, RUN_OPTIONS, Settings, make_option

_EXAMPLES = """\b
Examples:
  sexplang task --help                               the tasks of this folder
  sexplang task summarize text=@note.txt --model local
  sexplang task review text=@note.txt --model fast=local --model judge=anthropic:claude-opus-5-5
  sexplang task summarize text=tea --preview         what the model would get, and no call
  sexplang task review plan:='{"steps": 3}' file_context='["a.md"]' --from tasks/
  sexplang task '(map summarize texts)' texts:='["tea", "milk"]'"""

_NOT_HERE = ("expression", "strict")


def _task(words: tuple[str, ...], help: bool, preview: bool, places: Any, **found: Any) -> int:
    from sexplang.hosts.cli.task import describe_task, task

    given = {name: value for name, value in found.items() if value not in (None, (), False)}
    if help:
        click.echo(click.get_current_context().get_help())
        return describe_task(Settings(**given), tuple(places), words[0] if words else None)
    if not words:
        raise click.UsageError("Name a task: sexplang task NAME; --help lists those of this folder")
    name, *arguments = words
    wrong = next((word for word in arguments if not re.match(INPUT, word)), None)
    if wrong is not None:
        raise click.UsageError(f"Inputs are written name=value; `{wrong}` is not one")
    if preview and found.get("record"):
        raise click.UsageError("A preview performs nothing to record: leave out --record")
    return task(Settings(**given), name, tuple(arguments), tuple(places), preview)


TASK = click.Command(
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
            ["--preview"], is_flag=True, help="Show what the model would get; ask nobody."
        ),
        *[make_option(option) for option in RUN_OPTIONS if option.name not in _NOT_HERE],
        click.Option(["-h", "--help"], is_flag=True, help="This text, and the tasks there are."),
    ],
    add_help_option=False,
    epilog=_EXAMPLES,
    short_help="Run one task by its name.",
    help="""Run one task: a template by NAME, or a program text that begins with `(`.

    An input is given as name=value, as JSON where the parameter is no text; name:=value is always
    JSON, name=@path the text of a file and name=- that of standard input. file_context='["a.md"]'
    names files that the task is to see.
    """,
)
