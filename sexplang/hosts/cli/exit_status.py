"""The end of a command that runs a program: its output and its exit status.

The value goes to standard output, an error to standard error and, with --json, as the one document
to standard output.
"""

import sys
from contextlib import suppress
from typing import Any

from sexplang.hosts.cli.guard import FAILED, MISUSE, say
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.task import error_of
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault, Record, Value, has_failed


def write_value(settings: Settings, value: Value) -> None:
    from sexplang.hosts.terminal.output import as_json, format_value

    sys.stdout.write(as_json(value) if settings.json else format_value(value))


def say_all(
    diagnostics: tuple[Diagnostic, ...], status: int, settings: Settings | None = None
) -> int:
    """Print diagnostics and return the status; with settings they are the end of the command."""
    from sexplang.hosts.terminal.show import diagnostics_text

    print(diagnostics_text(diagnostics, sys.stderr), file=sys.stderr)
    if settings is not None:
        _write_findings(diagnostics, settings)
    return status


def say_misuse(words: str, settings: Settings) -> int:
    """Print the reason why the arguments cannot be run and return the status."""
    say(words)
    _write_findings((Diagnostic("bad-input", words),), settings)
    return MISUSE


def say_fault(fault: Fault, status: int, settings: Settings) -> int:
    """Print the fault that prevents a run and return the status."""
    error = error_of(fault)
    hint = error.fields["hint"]
    say(f"{error.fields['message']}" + (f"\n  = hint: {hint}" if hint else ""))
    _write_error(error, settings)
    return status


def say_error(
    error: Record, program: Program, source: Source, settings: Settings, trail: Any = None
) -> int:
    """Print the error that ended a run, with its Trail, and return the status."""
    say_failure(error, program, source, trail)
    _write_error(error, settings, trail)
    return FAILED


def say_kept(settings: Settings, took: dict[str, int]) -> None:
    """Print what remains of an interrupted run: the model calls done, and the recording."""
    from shlex import quote

    calls = took["calls"]
    many = "1 model call" if calls == 1 else f"{calls:,} model calls"
    said = f"{many}, {took['input_tokens']:,} tokens in, {took['output_tokens']:,} out"
    if settings.record:
        look = f"sexplang runs report {quote(settings.record)}"
        said = f"kept in {settings.record}: {said}; look at it: {look}"
    elif settings.json:
        said = f"done by then: {said}; --record FILE keeps all that models say"
    else:
        said = f"not kept: {said}; --record FILE keeps it, --json tells what was done"
    with suppress(OSError):  # the terminal may be gone
        if calls and not settings.quiet:
            say(said)


def say_interrupted(settings: Settings, failed: BaseException | None, took: dict[str, int]) -> None:
    """Do the same and, with --json, write the error with the usage so far."""
    from sexplang.hosts.terminal.output import budget_usage
    from sexplang.machine import Failed

    say_kept(settings, took)
    if isinstance(failed, Failed):
        with suppress(OSError):
            _write_error(
                _with_run(failed.error, {**took, "budget": budget_usage(failed)}), settings
            )
            sys.stdout.flush()


def is_bound(error: Record) -> bool:
    """Return whether an error is an exhausted limit or budget, not a mistake."""
    fields = error.fields
    return fields.get("type") == "RESOURCE_EXHAUSTION" or fields.get("reason") == "execution_halted"


def _with_run(error: Record, took: dict[str, Any]) -> Record:
    """Return the error with the usage of the run in its details."""
    details = error.fields["details"]
    known = {name: each for name, each in took.items() if each}
    if not known or not isinstance(details, dict):
        return error
    return Record(error.kind, {**error.fields, "details": {**details, "run": known}})


def failure_of(value: Value) -> Record | None:
    """Return the error of a FAILED TaskResult; None for any other value."""
    if not has_failed(value):
        return None
    from sexplang.machine.errors import error_from

    said = value.fields["notes"].get("error")
    return error_from("the result has failed and does not say why" if said is None else said, None)


def say_failure(error: Record, program: Program, source: Source, trail: Any = None) -> int:
    """Print an error that ended a run or is its result; return the status."""
    from sexplang.hosts.terminal.show import error_text

    # Only the program's own texts are shown: an error may name any file.
    sources = {source.name: source}
    for unit in program.units:
        for part in (*unit.items, *unit.functions):
            sources.setdefault(part.span.source.name, part.span.source)
    print(error_text(error, sys.stderr, sources.get, trail), file=sys.stderr)
    return FAILED


def _write_findings(diagnostics: tuple[Diagnostic, ...], settings: Settings) -> None:
    if not settings.json:
        return
    if settings.way is not None:
        from sexplang.pipeline.dispatcher import unreadable

        _write(unreadable(Diagnostics(diagnostics), settings.way or None))
        return
    findings = value_of([each.plain() for each in diagnostics])
    _write({"status": "FAILED", "findings": findings})


def _write_error(error: Record, settings: Settings, trail: Any = None) -> None:
    if not settings.json:
        return
    if settings.way is not None:
        from sexplang.pipeline.dispatcher import make_failure

        _write(make_failure(error, settings.way or None, trail))
        return
    known = {} if trail is None else {"calls": trail.calls, "variables": trail.variables}
    more = {name: value for name, value in known.items() if value}
    _write({"status": "FAILED", "error": error, **more})


def _write(document: Value) -> None:
    from sexplang.hosts.terminal.output import as_json

    try:
        line = as_json(document)
    except Fault:
        line = as_json(_writable(document))
    sys.stdout.write(line)


def _writable(value: Any) -> Value:
    """Return the data with text in the place of values that JSON cannot hold, such as functions."""
    from sexplang.hosts.terminal.output import as_json

    fields = value.fields if isinstance(value, Record) else value
    if isinstance(fields, dict):
        return {key: _writable(item) for key, item in fields.items()}
    try:
        as_json(value)
    except Fault:
        return _text(value)
    return value


def _text(value: Value) -> str:
    try:
        return to_source(value)
    except Fault as fault:
        return fault.message
