"""The output of a command that runs a program: its value or its error, its budget, the exit status.

The value goes to standard output, an error to standard error and, with --json, as the one document
to standard output. The budget goes to standard error.
"""

import sys
from contextlib import suppress
from typing import Any

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.task import error_of
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.text import text, to_source
from sexplang.terms.values.value import Fault, Record, Value, has_failed

ROOT = "0"
"""The id of the budget around a whole program."""

_WHOLE = "what ends in … is whole with --json"
"""The note for details of an error that are cut."""


def write_value(settings: Settings, value: Value) -> None:
    sys.stdout.write(as_json(value) if settings.json else format_value(value))


def format_value(value: Value) -> str:
    """Return a value as text with a line break at the end.

    Text and TaskResults are their text; nil is empty; other data is source that reads and evaluates
    to the same value.
    """
    if value is None:
        return ""
    is_text = isinstance(value, str) or (isinstance(value, Record) and value.kind == "TaskResult")
    line = text(value) if is_text else to_source(value)
    return line if line.endswith("\n") else line + "\n"


def as_json(value: Value) -> str:
    """Return a value as one line of JSON; symbols become strings, records become objects.

    Raises Fault `not-json` for a value that JSON cannot hold.
    """
    from sexplang.primitives import PRIMITIVES

    return f"{PRIMITIVES['json-string'].function(value)}\n"


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


def say_cancelled(settings: Settings, run: str) -> int:
    """Print that a run was cancelled, and return the status."""
    if not settings.quiet:
        print(f"run {run} is cancelled", file=sys.stderr)
    if settings.json:
        _write({"status": "cancelled", "run": run})
    return DONE


def say_kept(settings: Settings, took: dict[str, int], is_stored: bool) -> None:
    """Print what remains of an interrupted run: the model calls done, and the recording. Another
    line tells how to go on with a run in the store."""
    from shlex import quote

    calls = took["calls"]
    many = "1 model call" if calls == 1 else f"{calls:,} model calls"
    said = f"{many}, {took['input_tokens']:,} tokens in, {took['output_tokens']:,} out"
    if settings.record:
        look = f"sexplang runs report {quote(settings.record)}"
        said = f"kept in {settings.record}: {said}; look at it: {look}"
    elif is_stored:
        said = f"done by then: {said}"
    elif settings.json:
        said = f"done by then: {said}; --record FILE keeps all that models say"
    else:
        said = f"not kept: {said}; --record FILE keeps it, --json tells what was done"
    with suppress(OSError):  # the terminal may be gone
        if calls and not settings.quiet:
            say(said)


def say_spending(outcome: Any, is_asked: bool) -> None:
    """Print the budget of a run, if it has one and made a call."""
    said = spending(outcome, is_asked)
    if said:
        print(said, file=sys.stderr)


def spending(outcome: Any, is_asked: bool = False) -> str:
    """Return `budget: 3 of 20 calls, 1,204 of 50,000 tokens, $0.0123 of $0.5`.

    Return an empty text if there is no budget, or if the account has no call and `is_asked` is
    false. Calls that were withdrawn count with what they may have cost.
    """
    account = _account_of(outcome)
    if account is None or not (account.spent_calls or is_asked):
        return ""
    parts = []
    for name, limit, spent in account.spending():
        if name == "usd":
            parts.append(f"${spent:.6g} of ${limit:g}")
        else:
            parts.append(f"{spent:,} of {limit:,} {name}")
    return f"budget: {', '.join(parts)}" if parts else ""


def _budget_usage(outcome: Any) -> dict[str, Any]:
    """Return the budget as data: `{calls: {limit: 20 used: 3} …}`; empty if there is no budget."""
    account = _account_of(outcome)
    each = [] if account is None else account.spending()
    return {name: {"limit": limit, "used": used} for name, limit, used in each}


def _account_of(outcome: Any) -> Any:
    return getattr(outcome, "accounts", {}).get(ROOT)


def say_interrupted(
    settings: Settings, failed: BaseException | None, took: dict[str, int], is_stored: bool
) -> None:
    """Print what remains of an interrupted run and, with --json, write the error with the usage so
    far."""
    from sexplang.machine import Failed

    say_kept(settings, took, is_stored)
    if isinstance(failed, Failed):
        with suppress(OSError):
            _write_error(
                _with_run(failed.error, {**took, "budget": _budget_usage(failed)}), settings
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
    print(error_text(error, sys.stderr, sources.get, trail, _WHOLE), file=sys.stderr)
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
    try:
        line = as_json(document)
    except Fault:
        line = as_json(_writable(document))
    sys.stdout.write(line)


def _writable(value: Any) -> Value:
    """Return the data with text in the place of values that JSON cannot hold, such as functions."""
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
