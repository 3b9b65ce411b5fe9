"""The arguments of `sexplang run` and its settings, read without a command line library.

The table of options is the only one. click's options are made from it, and so is the quick parser
for a plain `run`. Arguments that the quick parser does not understand go to click, which explains
them. The values of `--model` and `--budget` are read here too.
"""

import os
import re
from collections.abc import Mapping
from typing import Any, Literal

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.model.roles import ALL, Models, read_models, without_credentials
from sexplang.terms.program import Program
from sexplang.terms.values.value import Fault, Value

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
        "The model of calls that name none: local, anthropic:ID, openai:ID, http://… or "
        "openai:http://…; NAME=MODEL is the model of calls that name NAME, and '*=MODEL' that of "
        "calls that name any. scripted:FILE and replay:FILE answer every call.",
        "[NAME=]MODEL",
    ),
    Option(("--json",), "flag", "Write the result as one JSON document."),
    Option(("--allow-read",), "texts", "Let the program read below PATH.", "PATH"),
    Option(("--allow-write",), "texts", "Let the program write below PATH.", "PATH"),
    Option(("--allow-run",), "texts", "Let the program run the executable NAME.", "NAME"),
    Option(("--allow-net",), "texts", "Let the program reach HOST, or HOST:PORT.", "HOST"),
    Option(
        ("--allow-python",),
        "texts",
        "Run the Python FILE that the program imports. It runs with all your rights.",
        "FILE",
    ),
    Option(
        ("--mcp",),
        "texts",
        "An MCP server: its command, which needs --allow-run too, or its address, which needs "
        "--allow-net; or both as a table in braces. Its tools are called NAME:TOOL.",
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
    Option(
        ("--cache",),
        "flag",
        "Take the replies of models from the last run of this program where it asks the same.",
    ),
    Option(("--record",), "text", "Write every request and reply to FILE, as JSON lines.", "FILE"),
    Option(("--no-record",), "flag", "Keep nothing of this run, so it cannot be resumed."),
    Option(
        ("--store",),
        "text",
        "Keep this run in a file, or at postgresql://…, not in your own store.",
        "STORE",
    ),
    Option(("--run-id",), "text", "The name of this run, which must be kept.", "ID"),
    Option(
        ("--pause",),
        "texts",
        "Wait for a person where the program performs this operation; the run is kept.",
        "NAME",
    ),
    Option(
        ("--answers",),
        "text",
        "A JSON file of answers, by the words of questions or the ids of requests.",
        "FILE",
    ),
    Option(
        ("--trace",),
        "text",
        "Send spans to a collector, or add them to a file; else as OTEL_EXPORTER_OTLP_* say.",
        "URL|FILE",
    ),
    Option(("--parallel",), "count", "At most N model calls at once (16).", "N"),
    Option(("--single-flight",), "flag", "Send equal model calls that overlap only once."),
    Option(("--stream",), "flag", "Write the text of the last task as it arrives."),
    Option(("-v", "--verbose"), "flag", "With --stream: the text of other tasks on stderr."),
    Option(("--strict",), "flag", "Warnings stop the program."),
    Option(("-q", "--quiet"), "flag", "Nothing on stderr but errors."),
)

REPL_OPTIONS = frozenset(
    {
        *("model", "allow_read", "allow_write", "allow_run", "allow_net", "allow_python", "mcp"),
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
    allow_python: tuple[str, ...] = ()
    headers: Mapping[str, Mapping[str, str]] = field(factory=dict, repr=False)
    """Headers for pages by host, with credentials; from the person's own configuration."""
    mcp: tuple[str, ...] = ()
    budget: str | None = None
    limit: str | None = None
    index: str | None = None
    cache: bool = False
    reuse: str | None = None
    """The run whose replies are taken where the same is asked."""
    again: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    """Requests, beside that run, that are performed and that fail."""
    yes: bool = False
    """Whether the person agrees to what is to be paid."""
    record: str | None = None
    no_record: bool = False
    store: str | None = None
    run_id: str | None = None
    pause: tuple[str, ...] = ()
    answers: str | None = None
    trace: str | None = None
    parallel: int | None = None
    single_flight: bool = False
    stream: bool = False
    verbose: bool = False
    strict: bool = False
    quiet: bool = False
    task: tuple[str, ...] = ()
    """The name and the arguments that `task` is given, instead of a file or an expression."""
    places: tuple[str, ...] = ()
    """Where `task` looks for tasks."""
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


def make_words(settings: Settings, name: str = "run") -> list[str]:
    """Return the words of the command line that give these settings."""
    words = ["sexplang", "task" if settings.task else name, *settings.task]
    words += [] if settings.file is None else [settings.file]
    words += settings.inputs
    words += [word for each in settings.places for word in ("--from", each)]
    for option in RUN_OPTIONS:
        value = getattr(settings, option.name)
        flag = max(option.flags, key=len)
        if option.kind == "flag":
            words += [flag] if value else []
        elif option.kind == "texts":
            words += [word for each in value for word in (flag, each)]
        elif value is not None:
            words += [flag, str(value)]
    return words


def check_files(settings: Settings) -> None:
    """Raise Diagnostics if the recording or the trace has an empty name, or both have the same."""
    record, trace = settings.record, settings.trace
    if settings.run_id is not None:
        from sexplang.runtime.journal.run_store import RUN_ID, RUN_ID_WORDS

        if not RUN_ID.fullmatch(settings.run_id):
            title, hint = f"--run-id takes {RUN_ID_WORDS}", "for example --run-id night-12"
            raise Diagnostics([Diagnostic("bad-input", title, hint=hint)])
    if settings.no_record and (settings.store or settings.run_id or settings.answers):
        title = "--no-record keeps no run, and --store, --run-id and --answers are for one"
        raise Diagnostics([Diagnostic("bad-input", title, hint="leave out one of them")])
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


_WHOLE = r"(?i:(scripted|replay|local):|([a-z]+:)?https?://)"
"""The beginnings of models whose names may contain `=`."""


def pair(word: str) -> tuple[str | None, str]:
    """Return name and model of `NAME=M`; `M` alone is `default=M` with no name."""
    name, equals, model = word.partition("=")
    if not equals or re.match(_WHOLE, word):
        return None, word
    return None if name == "default" else name, model


def misfit(words: tuple[str, ...]) -> str | None:
    """Return the error in the values of `--model`; None if there is none."""
    seen: dict[str | None, str] = {}
    for word in words:
        name, model = pair(without_credentials(word, {}))
        if name == "":
            return f"`={model}` has no name before `=`; write NAME={model or 'MODEL'}"
        if not model:
            return f"`{word}` names no model; write {name or 'NAME'}=local or another model"
        if name in seen and name is None:
            return "it is given twice; give it once, and others with a name: NAME=MODEL"
        if name in seen:
            other = without_credentials(word, {})
            return f"`{name}` is given twice, `{seen[name]}` and `{other}`; give it once"
        seen[name] = without_credentials(word, {})
    return None


def parse_models(words: tuple[str, ...]) -> Models:
    """Return the Models of values without error."""
    pairs = [pair(word) for word in words]
    default = next((model for name, model in pairs if name is None), None)
    return read_models(default, {name: model for name, model in pairs if name is not None})


def find_unused(
    words: tuple[str, ...], program: Program, inputs: tuple[str, ...]
) -> tuple[Diagnostic, ...]:
    """Return a warning for each name that neither the texts of a program nor its inputs contain."""
    names = [name for name, _ in map(pair, words) if name is not None and name != ALL]
    if not names:
        return ()
    from sexplang.analysis.model_names import find_unnamed

    leading = [model for _, model in map(pair, words)]  # a role may stand for another
    return tuple(
        [
            Diagnostic(
                "unused-model",
                message,
                severity="warning",
                hint=f"{has}; --model M answers where it names none",
            )
            for message, has in find_unnamed(program, names, (*leading, *inputs))
        ]
    )


def check_pauses(names: tuple[str, ...], program: Program) -> None:
    """Raise Diagnostics for an operation to pause at that the program cannot perform."""
    if not names:
        return
    from sexplang.primitives.operations import OPERATIONS
    from sexplang.terms.texts.nearest import did_you_mean

    known = {name for unit in program.units for name in unit.operations} | {*OPERATIONS}
    for name in names:
        if name not in known:
            near = did_you_mean(name, known, "an effect is declared with define-effect")
            title = f"--pause {name}: the program has no such operation"
            raise Diagnostics([Diagnostic("bad-input", title, hint=near)])


_MEASURE = "([0-9]{1,18}([.][0-9]*)?|[.][0-9]+)(e[-+]?[0-9]{1,2})?"


_BUDGET = "for example --budget calls=20,tokens=50000,usd=0.5,seconds=60"


def budget_of(text: str) -> dict[str, Value]:
    """Return the table of a budget for `calls=20,usd=0.5`. Raises Diagnostics."""
    from sexplang.machine.scopes.budgets import check_budget, no_bound

    budget: dict[str, Value] = {}
    try:
        for part in text.split(","):
            name, _, amount = part.partition("=")
            if not re.fullmatch(_MEASURE, amount):
                raise no_bound(part, _BUDGET)
            if name in budget:
                raise Fault("wrong-type", f"the bound `{name}` of the budget is given twice")
            budget[name] = int(amount) if amount.isdigit() else float(amount)
        return check_budget(budget, _BUDGET)
    except Fault as fault:
        hint = fault.hint or _BUDGET
        raise Diagnostics([Diagnostic("bad-input", fault.message, hint=hint)]) from None
