"""The options of `sexplang run` and its settings, without a command line library.

The table below is the only list of options. click's options are made from it, and so is the quick
parser for a plain `run`. Arguments that the quick parser does not understand go to click, which
explains them.
"""

import re
from typing import Any, Literal

from sexplang.hosts.settings.model_options import misfit
from sexplang.terms.classes.node import frozen
from sexplang.terms.model.roles import Models

Kind = Literal["flag", "text", "texts", "count"]


@frozen
class Option:
    """One option: its spellings, its value, its metavar and help."""

    flags: tuple[str, ...]
    kind: Kind
    help: str
    takes: str = ""

    @property
    def name(self) -> str:
        return max(self.flags, key=len).lstrip("-").replace("-", "_")


RUN_OPTIONS = (
    Option(("-e", "--expression"), "text", "Run this text instead of a file.", "EXPR"),
    Option(
        ("--model",),
        "texts",
        "Who answers where no model is named: local, anthropic:ID, http://…; with NAME= where the "
        "program names NAME, with '*=' wherever it names one. scripted:FILE and replay:FILE answer "
        "everybody.",
        "[NAME=]MODEL",
    ),
    Option(("--json",), "flag", "Write the result as one JSON document."),
    Option(("--allow-read",), "texts", "Let the program read below PATH.", "PATH"),
    Option(("--allow-write",), "texts", "Let the program write below PATH.", "PATH"),
    Option(("--allow-run",), "texts", "Let the program run the executable NAME.", "NAME"),
    Option(("--allow-net",), "texts", "Let the program reach HOST, or HOST:PORT.", "HOST"),
    Option(
        ("--mcp",),
        "texts",
        "An MCP server: its command, which needs --allow-run too, or its address, which needs "
        "--allow-net. Its tools are called NAME:TOOL.",
        "NAME=SERVER",
    ),
    Option(
        ("--budget",),
        "text",
        "What the run may spend, such as calls=20,tokens=50000,usd=0.5,seconds=60.",
        "BOUNDS",
    ),
    Option(
        ("--limit",),
        "text",
        "What a program may take from the machine: steps=100000000 (turns of its loop), "
        "frames=2000000 (calls in one another), allocation=2000000000 (parts of large values "
        "between two waits), memory=2000000000 (bytes), branches=100000, model_calls=10000, "
        "subtasks=100, max_task_depth=5 (10 at most), places=3 "
        "(subagents and subtasks of plans at work), subagent_seconds=60, subagent_calls=10, "
        "subplan_subtasks=10, subplan_depth=3, subplan_nodes=100, subplan_decompositions=3, "
        "subplan_seconds=300, subplan_factor=2 (a plan has so many times its parent's seconds), "
        "plan_steps=10000000, plan_frames=100000 (of a program from a model).",
        "LIMITS",
    ),
    Option(("--index",), "text", "What `search-memory` looks into; see `sexplang index`.", "FILE"),
    Option(("--record",), "text", "Write every request and reply to FILE, as JSON lines.", "FILE"),
    Option(
        ("--trace",),
        "text",
        "Send spans to a collector, or add them to a file; else as OTEL_EXPORTER_OTLP_* say.",
        "URL|FILE",
    ),
    Option(("--parallel",), "count", "At most N model calls at once (16).", "N"),
    Option(("--single-flight",), "flag", "Send equal model calls that overlap only once."),
    Option(("--strict",), "flag", "Warnings stop the program."),
    Option(("-q", "--quiet"), "flag", "Nothing on stderr but errors."),
)

REPL_OPTIONS = frozenset(
    {
        *("model", "allow_read", "allow_write", "allow_run", "allow_net", "mcp"),
        *("index", "limit", "parallel", "quiet"),
    }
)
"""The names of options that `repl` has too."""

INPUT = r"[^\W\d][\w.:-]*="
"""The pattern of an argument that gives an input."""


@frozen
class Settings:
    """The arguments of `run`."""

    file: str | None = None
    """A path, `-` for standard input, None with `expression`."""
    expression: str | None = None
    folder: str | None = None
    """The program's own folder, if it is not that of the file."""
    inputs: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    """The values of `--model` as typed."""
    models: Models = Models()
    """The models, completed by configurations."""
    json: bool = False
    allow_read: tuple[str, ...] = ()
    allow_write: tuple[str, ...] = ()
    allow_run: tuple[str, ...] = ()
    allow_net: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    budget: str | None = None
    limit: str | None = None
    index: str | None = None
    record: str | None = None
    trace: str | None = None
    parallel: int | None = None
    single_flight: bool = False
    strict: bool = False
    quiet: bool = False
    way: Literal["", "s_expression", "subtask_template", "direct_tool"] | None = None
    """The execution path for a TaskResult; empty while it is not known."""


def quick(arguments: list[str]) -> Settings | None:
    """Return the settings if the quick parser understands every argument, else None."""
    found: dict[str, Any] = {}
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        option = _OPTIONS.get(flag)
        if option is None or (option.kind == "flag" and equals):
            return None
        if option.kind == "flag":
            found[option.name] = True
            continue
        given = value if equals else next(words, None)
        if given is None or (option.kind == "count" and not re.fullmatch("[1-9][0-9]{0,6}", given)):
            return None
        if option.kind == "texts":
            if not given or (option.name == "allow_net" and "/" in given):
                return None
            if option.name == "model" and misfit((*found.get("model", ()), given)) is not None:
                return None
            found[option.name] = (*found.get(option.name, ()), given)
        elif option.name in found:
            return None
        else:
            found[option.name] = int(given) if option.kind == "count" else given
    return complete_settings(rest, found)


_OPTIONS = {flag: option for option in RUN_OPTIONS for flag in option.flags}


def complete_settings(rest: list[str], found: dict[str, Any]) -> Settings | None:
    """Return the settings if there is exactly one program and the rest are inputs, else None."""
    if "expression" in found:
        file, inputs = None, rest
    elif rest:
        file, inputs = rest[0], rest[1:]
    else:
        return None
    if not all(re.match(INPUT, word) for word in inputs):
        return None
    return Settings(file=file, inputs=tuple(inputs), **found)


def check_files(settings: Settings) -> None:
    """Raise Diagnostics if the recording or the trace has an empty name, or both have the same."""
    import os

    from sexplang.terms.diagnostic import Diagnostic, Diagnostics

    record, trace = settings.record, settings.trace
    hint = "for example --record run.jsonl --trace spans.jsonl"
    if "" in (record, trace):
        title = f"{'--record' if record == '' else '--trace'} names no file"
    elif record and trace and os.path.realpath(record) == os.path.realpath(trace):
        title = f"--record and --trace name the same file, `{record}`"
    else:
        return
    raise Diagnostics([Diagnostic("bad-input", title, hint=hint)])


def make_option(option: Option) -> Any:
    """Return the option for click."""
    import click

    settings: dict[str, Any] = {"help": option.help, "metavar": option.takes or None}
    if option.kind == "flag":
        settings |= {"is_flag": True, "metavar": None}
    else:
        settings["multiple"] = True
        if option.name.startswith("allow_"):
            settings["callback"] = _check_permission
        if option.name == "model":
            settings["callback"] = check_models
    if option.kind in ("text", "count"):
        settings["callback"] = _once
    if option.kind == "count":
        settings["type"] = click.IntRange(1)
    return click.Option(list(option.flags), **settings)


def _check_permission(context: Any, option: Any, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a permission. An empty one, as an unset variable gives it, is an
    error."""
    import click

    from sexplang.runtime import Permissions

    try:
        given: dict[str, Any] = {option.name.removeprefix("allow_"): values}
        Permissions(**given)
    except TypeError as unfit:
        raise click.BadParameter(str(unfit), context, option) from None
    return values


def check_models(context: Any, option: Any, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the models; each name may have one."""
    import click

    wrong = misfit(values)
    if wrong is not None:
        raise click.BadParameter(wrong, context, option)
    return values


def _once(context: Any, option: Any, values: tuple[Any, ...]) -> Any:
    """Return the one value of an option; a second one is an error."""
    import click

    if len(values) > 1:
        raise click.BadParameter("it is given twice; give it once", context, option)
    return values[0] if values else None
