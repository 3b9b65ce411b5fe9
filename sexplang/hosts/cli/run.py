"""`sexplang run`: a program is built, driven to its end and its value printed."""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from time import time
from typing import TYPE_CHECKING, Any

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE, say
from sexplang.hosts.cli.output import (
    failure_of,
    format_value,
    is_bound,
    say_all,
    say_cancelled,
    say_error,
    say_failure,
    say_interrupted,
    say_kept,
    say_misuse,
    say_spending,
    write_value,
)
from sexplang.hosts.cli.programs import (
    build_program,
    check_index,
    outcome_of,
    permissions_of,
    terms_of,
)
from sexplang.hosts.settings.configuration import apply_configuration
from sexplang.hosts.settings.limit_options import limits_of
from sexplang.hosts.settings.mcp_options import describe_tools, say_unprovided, servers_of
from sexplang.hosts.settings.path_arguments import folder_of, source_at, status_of, text_at
from sexplang.hosts.settings.python_options import load_files
from sexplang.hosts.settings.run_arguments import (
    Settings,
    budget_of,
    check_files,
    check_pauses,
    find_unused,
)
from sexplang.package.process import hide
from sexplang.pipeline.pipeline import SLIPS, find_slips
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.run_terms import RateBook
from sexplang.terms.source import Source
from sexplang.terms.task import error_of
from sexplang.terms.values.value import Fault, Record, Value

if TYPE_CHECKING:
    from sexplang.api.python_files.file_functions import FileFunctions
    from sexplang.hosts.terminal.progress import Progress
    from sexplang.hosts.terminal.text_output import TextOutput
    from sexplang.machine import Done, Failed, Limits, Outcome, Suspended
    from sexplang.runs.durable_run import ResumedRun
    from sexplang.runtime import Journal
    from sexplang.runtime.journal.stored_journal import StoredJournal
    from sexplang.runtime.mcp import Servers
    from sexplang.runtime.traces.tree import Trace


def run(settings: Settings) -> int:
    """Run a program, print its value and return the exit status."""
    try:
        source = _source(settings)
        program = _build(settings, source)
    except Diagnostics as found:
        return say_all(found.diagnostics, status_of(found.diagnostics), settings)
    if _only_defines(settings, program):
        return MISUSE
    findings, needs = _run_check(settings, program)
    warnings = (*program.warnings, *find_unused(settings.model, program, settings.inputs))
    if settings.strict and (warnings or findings):
        say_all((*warnings, *findings), FAILED, settings)
        say("--strict stops the program at a warning; nothing was run")
        return FAILED
    shown = (*warnings, *[each for each in findings if each.code in SLIPS])
    if shown and not settings.quiet:
        say_all(shown, FAILED)
    errors = tuple([each for each in findings if each.severity == "error"])
    if errors:
        return say_all(errors, FAILED, settings)
    try:
        inputs = _inputs(settings, program)
        budget = budget_of(settings.budget) if settings.budget is not None else None
        if settings.index is not None:
            check_index(settings.index)
    except Diagnostics as found:
        return say_all(found.diagnostics, MISUSE, settings)
    if needs and not settings.quiet:
        _say_missing(needs, settings)
    return perform(settings, program, inputs, source, budget, is_kept=True)


def _run_check(settings: Settings, program: Program) -> tuple[tuple[Diagnostic, ...], Any]:
    """Return the diagnostics and needs of `check` with --strict and before a model is paid; else
    the slips that give a wrong value."""
    if not settings.strict and not program.tasks:
        return find_slips(program), ()
    from sexplang.pipeline.pipeline import inspect

    report = inspect(program)
    return report.findings, report.needs


def _say_missing(needs: Any, settings: Settings) -> None:
    """Print the permissions that the program may need and does not have, before models are paid."""
    from sexplang.hosts.cli.needs import describe_missing
    from sexplang.hosts.terminal.show import draw_hidden

    missing = describe_missing(needs, settings)
    if missing is not None:
        with suppress(OSError):  # the terminal may be gone
            print(draw_hidden(missing), file=sys.stderr)


def inputs_of(settings: Settings) -> int:
    """Print the inputs of a program, at the top of its `--help`."""
    from sexplang.hosts.settings.input_arguments import describe_inputs

    try:
        program = _build(settings, _source(settings))
    except Diagnostics as found:
        return say_all(found.diagnostics, status_of(found.diagnostics))
    if _only_defines(settings, program):
        return MISUSE
    rows = describe_inputs(program.inputs)
    width = max((len(name) for name, _ in rows), default=0)
    print(f"Inputs of {settings.file or 'the program'}:")
    for name, facts in rows:
        print(f"  {name:<{width}}  {facts}".rstrip())
    if not rows:
        print("  none")
    return DONE


def _only_defines(settings: Settings, program: Program) -> bool:
    """Return whether the file holds templates and no call; print what to do with them."""
    file = settings.file or ""
    if not file.endswith(".xml") or program.units[-1].items:
        return False
    from shlex import quote

    say_misuse(
        f"`{file}` is a template: import it from a program and call it there, "
        f"or type: sexplang check {quote(file)}",
        settings,
    )
    return True


def _build(settings: Settings, source: Source) -> Program:
    """Return the program of a source. Raises Diagnostics."""
    return build_program(source, _folder(settings), settings.allow_read, settings.allow_python)


def _source(settings: Settings) -> Source:
    if settings.expression is not None:
        return Source("<expression>", settings.expression)
    assert settings.file is not None
    return source_at(settings.file)


def _folder(settings: Settings) -> str | None:
    """Return the program's own folder; None for text from a pipe or the command line."""
    if settings.folder is not None:
        return settings.folder
    return folder_of(settings.file) if settings.file not in (None, "-") else None


def _inputs(settings: Settings, program: Program) -> dict[str, Value]:
    if not settings.inputs and not program.inputs:
        return {}
    from sexplang.hosts.settings.input_arguments import values_of

    return values_of(settings.inputs, program.inputs, text_at)


def perform(
    settings: Settings,
    program: Program,
    inputs: dict[str, Value],
    source: Source,
    budget: dict[str, Value] | None,
    shaped: Callable[[Value], Value] = lambda value: value,
    servers: "Servers | None" = None,
    is_kept: bool = False,
    resume: "Callable[[Program, Limits | None, Servers | None], ResumedRun] | None" = None,
) -> int:
    """Run a built program to its end and write its value, `shaped`, or its error.

    `servers` are those that were started already. `is_kept`: the run is kept in the store unless
    the settings say otherwise. `resume` returns a run that goes on. Return the exit status.
    """
    from sexplang.guards.interrupt import interruptible
    from sexplang.machine import Failed, Suspended

    if settings.json and settings.stream:
        words = "--json writes one document and --stream text as it arrives: leave one out"
        say_misuse(words, settings)
        return MISUSE
    try:
        settings = apply_configuration(settings, _folder(settings))
        check_files(settings)
        if resume is None and settings.reuse is None:
            check_pauses(settings.pause, program)
        if settings.answers is not None:
            from sexplang.hosts.kept_runs.waiting_runs import read_answers

            read_answers(settings.answers)
        limits = limits_of(settings, _folder(settings))
        servers = servers or servers_of(settings, _folder(settings))
    except Diagnostics as found:
        return say_all(found.diagnostics, MISUSE, settings)
    try:
        files = load_files(settings, program, _folder(settings))
    except Diagnostics as found:
        return say_all(found.diagnostics, FAILED, settings)
    unusable = _prepare_models(settings, program)
    if unusable is not None:
        return say_error(unusable, program, source, settings)
    journal = progress = trace = streamed = resumption = None
    if settings.stream:
        from sexplang.hosts.terminal.text_output import TextOutput, last_tasks

        streamed = TextOutput(last_tasks(program), settings.verbose)
    unwritten: list[str] = []
    if _is_followed(settings, program):  # before anything happens, even if nothing will
        from sexplang.hosts.settings.trace_options import follow_run
        from sexplang.runtime import Refusal

        try:
            journal, progress, trace = follow_run(settings, source, unwritten.append)
        except Refusal as refusal:
            return say_error(refusal.error, program, source, settings)
    storage: StoredJournal | None = None
    since = time()
    gc.freeze()
    # Values have no cycles: the collector would mostly look in vain.
    gc.set_threshold(100_000, 20, 20)
    gc.enable()
    if settings.allow_run:
        hide()
    with trace or nullcontext():  # a summary and the traces come after the value
        try:
            with interruptible():
                tools = describe_tools(servers, program)
                if files is not None:
                    tools |= files.definitions
                say_unprovided(settings, program, tools)
                notes: list[dict[str, Any]] = []
                resumed = None
                if resume is not None:
                    resumed = resume(program, limits, servers)
                    outcome, storage = resumed.outcome, resumed.storage
                else:
                    terms = terms_of(program, inputs, settings, limits, budget, tools)
                    if journal is not None:
                        journal.begin(terms)
                    book = RateBook(note=notes.append)
                    is_traced = trace is not None
                    outcome = outcome_of(program, terms, limits, traced=is_traced, book=book)
                    is_wanted = isinstance(outcome, Suspended) or settings.reuse is not None
                    if is_kept and is_wanted and not settings.no_record:
                        from sexplang.hosts.settings.store_options import make_storage

                        new = os.urandom(8).hex() if journal is None else journal.run_id
                        id = settings.run_id or new
                        storage = make_storage(settings, source, id)
                        settings = evolve(settings, run_id=id)
                    is_parking = settings.pause or settings.answers is not None
                    if storage is None and is_parking and isinstance(outcome, Suspended):
                        option = "--pause" if settings.pause else "--answers"
                        words = f"{option} needs a run that is kept: name --store FILE"
                        return say_misuse(words, settings)
                    if storage is not None:
                        storage.begin(terms)
                        book.note = storage.note
                        for note in notes:
                            storage.note(note)
                        if settings.reuse is not None and not isinstance(outcome, Suspended):
                            from sexplang.hosts.kept_runs.reuse import keep_new

                            keep_new(storage)
                if trace is not None:
                    trace.advance(outcome)
                if isinstance(outcome, Suspended):
                    from sexplang.hosts.terminal.progress import make_progress

                    progress = progress or make_progress(settings)
                    outcome = drive_to_end(
                        settings,
                        program,
                        outcome,
                        journal,
                        servers,
                        progress,
                        trace,
                        streamed,
                        storage,
                        resumed,
                        files,
                    )
                if storage is not None:
                    from sexplang.runs.durable_run import end_run

                    end_run(storage, outcome)
                    resumption = _find_resumption(settings, storage, outcome)
                    if isinstance(outcome, Suspended):
                        from sexplang.hosts.kept_runs.waiting_runs import say_waiting

                        return say_waiting(settings, storage, since)
        except Diagnostics as found:  # the configuration of the store
            return say_all(found.diagnostics, MISUSE, settings)
        except Fault as fault:  # a server that the program needs
            return say_error(error_of(fault), program, source, settings)
        finally:
            if servers is not None:
                servers.close()
            if storage is not None:
                close_storage(settings, storage)
        if budget and not settings.quiet:
            say_spending(outcome, progress is not None and progress.usage.is_asked)
        if trace is not None:
            trace.finish(outcome.error if isinstance(outcome, Failed) else None)
        is_traced = trace is not None
        assert not isinstance(outcome, Suspended)
        if resumed is not None and resumed.is_cancelled and _is_cancelled(outcome):
            return say_cancelled(settings, resumed.run.id)
        stopped = _say_end(settings, program, source, outcome, shaped, is_traced, streamed)
        is_stored = storage is not None and storage.replies > 0
        if stopped is not None and progress is not None and is_bound(stopped):
            say_kept(settings, progress.usage.plain(), is_stored)
        if resumption is not None and not settings.quiet:
            with suppress(OSError):  # the terminal may be gone
                say(resumption)
    status = DONE if stopped is None else FAILED
    if unwritten:  # the value is out already
        hint = "make room, or name another file: --trace FILE"
        return say_all((Diagnostic("trace-failed", unwritten[0], hint=hint),), status or FAILED)
    return status


def _prepare_models(settings: Settings, program: Program) -> Record | None:
    """Begin to load what a model needs. Return the error of a model that cannot be used."""
    if program.tasks:
        from sexplang.runtime.models import warm_up

        warm_up(settings.models, [task.template.model_name for task in program.tasks])
    if program.tasks or settings.model:
        from sexplang.runtime import Refusal
        from sexplang.runtime.models import check_models, check_scripts

        try:
            check_models(settings.models)
            check_scripts(settings.models)
        except Refusal as refusal:
            return refusal.error
    return None


def _say_end(
    settings: Settings,
    program: Program,
    source: Source,
    outcome: "Done | Failed",
    shaped: Callable[[Value], Value],
    is_traced: bool,
    streamed: "TextOutput | None",
) -> Record | None:
    """Write the value, or print the error. Return the error of a run, or of its FAILED value.

    The value of a traced run is out before its traces are exported. A value that was streamed is
    out already.
    """
    from sexplang.machine import Failed

    if isinstance(outcome, Failed):
        is_own = settings.way in (None, "s_expression")  # else the program is the Dispatcher's
        say_error(outcome.error, program, source, settings, outcome.trail if is_own else None)
        return outcome.error
    try:
        value = shaped(outcome.value)
        if streamed is None or not streamed.has_written(format_value(value)):
            write_value(settings, value)
        if is_traced:
            sys.stdout.flush()
    except Fault as fault:
        error = error_of(fault)
        say_error(error, program, source, settings)
        return error
    failure = failure_of(value)
    if failure is not None:
        say_failure(failure, program, source)
    return failure


def _is_followed(settings: Settings, program: Program) -> bool:
    """Return whether the run may be recorded, traced or watched; others start without the
    runtime."""
    if settings.record or settings.trace:
        return True
    if program.tasks and not settings.quiet and sys.stderr.isatty():
        return True
    return any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ)


def drive_to_end(
    settings: Settings,
    program: Program,
    outcome: "Suspended",
    journal: "Journal | None",
    servers: "Servers | None" = None,
    progress: "Progress | None" = None,
    trace: "Trace | None" = None,
    streamed: "TextOutput | None" = None,
    storage: "StoredJournal | None" = None,
    resumed: "ResumedRun | None" = None,
    files: "FileFunctions | None" = None,
) -> "Outcome":
    """Return the outcome at the end, or where the run waits for a person: perform requests, show
    progress, keep the record."""
    from sexplang.hosts.terminal.progress import make_progress
    from sexplang.hosts.terminal.streams import person_at
    from sexplang.machine import Suspended
    from sexplang.runtime import Journal, drive, performers
    from sexplang.runtime import Settings as RunSettings
    from sexplang.runtime.driver.current_request import make_history
    from sexplang.runtime.driver.listeners import join_listeners

    if journal is None:
        journal = Journal() if settings.run_id is None else Journal(settings.run_id)
    journal.storages += () if storage is None else (storage,)
    journal.clock = 0.0 if resumed is None else resumed.clock
    progress, person = progress or make_progress(settings), person_at(sys.stdin, sys.stderr)
    watch = progress if streamed is None else join_listeners([progress, streamed], True)
    permissions = permissions_of(settings, _folder(settings), _list_input_files(settings, program))
    prepared = performers(
        RunSettings(
            run_id=journal.run_id,
            permissions=permissions,
            write=_make_print(settings),
            log=_make_log(settings, trace),
            person=person,
            pause=_find_pauses(settings, person is not None, storage is not None),
            parks=storage is not None,
            on_event=watch if trace is None else trace.wrap_watch(watch),
            models=settings.models,
            on_named=progress.note_model,
            memory=settings.index,
            servers=servers,
            tools={} if files is None else files.answers,
        ),
        {} if files is None else files.performers,
    )
    if resumed is not None:
        resumed.advance_scripts(prepared["model"], settings.models)
        prepared = resumed.perform_with(prepared)
    if settings.cache or settings.reuse is not None:
        from sexplang.hosts.kept_runs.reuse import reuse_replies

        is_new = resumed is None
        reused = settings, outcome, prepared, program, storage, is_new, progress.erase
        prepared = reuse_replies(*reused)
    more: dict[str, Any] = {
        "single_flight": settings.single_flight,
        "history": make_history(journal, storage),
    }
    more |= {} if settings.parallel is None else {"parallel": settings.parallel}
    try:
        try:
            while True:
                given = {"journal": journal, "on_event": watch, "trace": trace, **more}
                ended = drive(outcome, prepared, **given)
                if storage is None or not isinstance(ended, Suspended):
                    return ended
                from sexplang.hosts.kept_runs.waiting_runs import take_answers

                if not take_answers(settings, storage, prepared):
                    return ended
                outcome = ended
        finally:
            if streamed is not None:
                streamed.close()
            progress.close()
    except (KeyboardInterrupt, OSError) as ended:
        failed = ended.__cause__
        if settings.budget is not None and not settings.quiet:
            with suppress(OSError):  # the terminal may be gone
                say_spending(failed, progress.usage.is_asked)
        if isinstance(ended, KeyboardInterrupt):
            say_interrupted(settings, failed, progress.usage.plain(), storage is not None)
        raise


_DENIALS = frozenset({"path-denied", "run-denied", "net-denied", "python-denied"})


def _find_pauses(settings: Settings, has_person: bool, is_kept: bool) -> frozenset[str]:
    """Return the operations at which the run waits for an answer from elsewhere."""
    if not is_kept:
        return frozenset()
    return frozenset(settings.pause if has_person else (*settings.pause, "ask-user"))


def close_storage(settings: Settings, storage: "StoredJournal") -> None:
    """Close the store. Print how to go on with a run that was interrupted."""
    kept = None if storage.run is None else storage.opened
    storage.close()
    if kept is None or storage.has_ended or storage.is_off or settings.quiet:
        return
    from sexplang.hosts.settings.store_options import describe_cost, describe_interruption

    with suppress(OSError):  # the terminal may be gone
        say(describe_interruption(*kept, storage.replies, describe_cost(storage)))


def _is_cancelled(outcome: "Outcome") -> bool:
    from sexplang.machine import Failed

    return isinstance(outcome, Failed) and outcome.error.fields["reason"] == "cancelled"


def _find_resumption(
    settings: Settings, storage: "StoredJournal", outcome: "Outcome"
) -> str | None:
    """Return the line that says how to go on with a run that has failed; None for another one."""
    from sexplang.hosts.terminal.show import draw_hidden
    from sexplang.machine import Failed

    if not isinstance(outcome, Failed) or _is_cancelled(outcome):
        return None
    if storage.is_off or storage.run is None or not storage.replies:
        return None
    store, run = storage.opened
    reason = outcome.error.fields["reason"]
    if reason in _DENIALS or f"{reason}=" in (settings.budget or ""):
        return (
            f"run {run.id} is kept, and a resumption has the same permissions and budget; "
            "to give more, run the command again, with --cache for the replies of models"
        )
    how = draw_hidden(store.explain_command(run))
    words = f"run {run.id} is kept; when the cause is mended, go on with: {how}"
    return f"{words} (edited the program? add --accept-changes)"


def _list_input_files(settings: Settings, program: Program) -> tuple[str, ...]:
    """Return the files given to inputs of type `file`: the program may read them."""
    files = {each.name for each in program.inputs if each.type == "file"}
    pairs = (given.partition("=") for given in settings.inputs)
    return tuple(os.path.abspath(path) for name, _, path in pairs if name in files)


def _make_print(settings: Settings) -> Any:
    # With --json standard output holds one document and nothing else.
    stream = sys.stderr if settings.json else sys.stdout

    def write(text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            # The output's own failure: the run ends as if its reader had gone.
            raise BrokenPipeError(error.errno, error.strerror) from None

    return write


def _make_log(settings: Settings, trace: "Trace | None" = None) -> Any:
    from sexplang.hosts.settings.trace_options import mark_line
    from sexplang.hosts.terminal.show import draw_hidden

    def log(level: str, text: str) -> None:
        if level == "error" or not (settings.quiet or level == "debug"):
            line = mark_line(draw_hidden(text, keep=chr(10)), trace)
            print(f"{draw_hidden(level)}: {line}", file=sys.stderr)

    return log
