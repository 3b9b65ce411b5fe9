"""The start of a run from the arguments of `run`: up to its first wait."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang import machine
from sexplang.api import argument_checks
from sexplang.api.inputs import values_of
from sexplang.api.mcp_servers import Described, RunServers
from sexplang.api.performer_table import Model, make_performers, models_of
from sexplang.api.program_source import build
from sexplang.api.python_tools import Tool, name_functions, tools_of
from sexplang.api.python_values import Function, Functions, bad_function, list_decisions, value
from sexplang.guards.secrets import (
    Concealment,
    credentials_of,
    doubts,
    learn,
    look,
    redact,
    silence,
)
from sexplang.machine import Failed, Limits, Outcome, Suspended, state_of
from sexplang.package.zone_use import ZoneUse
from sexplang.runs import assembly
from sexplang.runtime import Permissions, Refusal
from sexplang.runtime.driver.current_request import AttemptHistory, make_history
from sexplang.runtime.driver.events import Event
from sexplang.runtime.driver.requests import Performer
from sexplang.runtime.driver.waits import continue_waits
from sexplang.runtime.journal.journal import Journal, make_run_id
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.memory.index_paths import discover_index
from sexplang.runtime.models import check_models, warm_up, with_default
from sexplang.runtime.models.prices import choose_windows
from sexplang.runtime.traces import Target, TraceSettings, is_wanted, start_trace
from sexplang.runtime.traces.recording_sink import RecordingSink
from sexplang.terms.classes.node import evolve, field, frozen
from sexplang.terms.model.roles import ALL, Models
from sexplang.terms.program import Program
from sexplang.terms.python_file import list_decisions as decisions_of_files
from sexplang.terms.run_terms import RateBook, Terms
from sexplang.terms.task import error_of
from sexplang.terms.values.value import Fault

if TYPE_CHECKING:
    from sexplang.api.python_files.file_functions import FileFunctions
    from sexplang.runs.durable_run import ResumedRun
    from sexplang.runtime.journal.doubts import Decision
    from sexplang.runtime.journal.stored_journal import StoredJournal
    from sexplang.runtime.traces.tree import Trace

Runnable: TypeAlias = str | os.PathLike[str] | Program | Suspended
Tools: TypeAlias = Iterable[Function] | Functions
Watch: TypeAlias = Callable[[Event], None]


def _repeatable(tools: Tools) -> Tools:
    return list(tools) if isinstance(tools, Iterator) else tools


@frozen
class Settings:
    """The arguments of `run` beside the program."""

    inputs: Mapping[str, Any] | None
    model: Model | None
    tools: Tools = field(converter=_repeatable)
    effects: Functions | None
    primitives: Functions | None
    permissions: Permissions | None
    limits: Limits | None
    budget: Mapping[str, float] | None
    memory: str | os.PathLike[str] | None
    mcp: Mapping[str, Any] | None
    record: str | os.PathLike[str] | None
    run_id: str | None
    trace: "Target | None"
    traceparent: str | None
    store: str | os.PathLike[str] | None = None
    pause: Sequence[str] = ()
    reuse: "Callable[[Outcome, Mapping[str, Performer]], Mapping[str, Performer]] | None" = None
    """Return performers that serve the replies of an earlier run first. It raises Refusal."""
    replaces: str | None = None
    """The id of that run, which the new one replaces."""
    files: "FileFunctions | None" = None
    """The functions of the program's Python files, if it has any."""


@frozen(eq=False)
class StartedRun:
    """A run up to its first wait, and its performers.

    At the end of its context the recording is closed and the spans are exported.
    """

    outcome: Outcome
    performers: Mapping[str, Any]
    journal: Journal
    trace: "Trace | None"
    storage: "StoredJournal | None" = None

    @property
    def history(self) -> AttemptHistory:
        """What other processes have attempted."""
        return make_history(self.journal, self.storage)

    def __enter__(self) -> "StartedRun":
        return self

    def __exit__(self, kind: Any, raised: BaseException | None, where: Any) -> None:
        try:
            if self.trace is not None:
                self.trace.__exit__(kind, raised, where)
        finally:
            self.journal.close()

    async def __aenter__(self) -> "StartedRun":
        return self

    async def __aexit__(self, kind: Any, raised: BaseException | None, where: Any) -> None:
        try:
            if self.trace is not None:
                await self.trace.__aexit__(kind, raised, where)
        finally:
            self.journal.close()

    def finish(self, outcome: Outcome) -> None:
        """End the trace with the outcome of the run, and say in the store how it ended."""
        if self.storage is not None:
            from sexplang.runs.durable_run import end_run

            end_run(self.storage, outcome)
        if self.trace is not None:
            self.trace.finish(outcome.error if isinstance(outcome, Failed) else None)


def look_around() -> None:
    """Find the credentials in the environment; log a warning for doubtful ones."""
    look()
    for words in doubts():
        logging.getLogger("sexplang").warning(words)


def program_of(source: Runnable, given: Settings) -> Program | Suspended:
    """Return the program, built if it is not yet, or the suspended run.

    Raises TypeError for an argument of the wrong type.
    """
    argument_checks.check(given)
    look_around()
    if isinstance(source, Suspended):
        if given.inputs or given.limits or given.budget or given.primitives:
            raise TypeError("a run that goes on has its inputs, limits, budget and primitives")
        return source
    if isinstance(source, Program):
        if given.primitives:
            name = next(iter(given.primitives))
            raise bad_function(name, "this program is built already", "give primitives to build")
        return source
    return build(
        source,
        effects=given.effects,
        primitives=given.primitives,
        permissions=given.permissions,
    )


def with_files(program: Program | Suspended, allowed: Permissions, given: Settings) -> Settings:
    """Return the settings with the functions of the program's Python files, which are run now.

    Raises Diagnostics.
    """
    built = program if isinstance(program, Program) else state_of(program).setting.program
    if not built.python:
        return given
    from sexplang.api.python_files.file_functions import load_functions

    return evolve(given, files=load_functions(built, allowed))


@contextmanager
def open_resumed(
    program: Program | Suspended,
    run_id: str,
    store: str | os.PathLike[str],
    replay: "Mapping[str, Decision] | None",
    given: Settings,
    servers: RunServers,
    *,
    carries: bool = False,
) -> "Iterator[ResumedRun]":
    """Give a run of a store as its process left it; close the store in the end. Raises Failed."""
    from sexplang.runs.durable_run import resume_run
    from sexplang.runtime.journal.databases import resolve_address
    from sexplang.runtime.journal.run_store import open_store

    argument_checks.place("store", store)
    argument_checks.decisions("replay", replay)
    if isinstance(program, Suspended):
        raise argument_checks.wrong("source", "a program; its run is in the store", program)
    declared = {
        **decisions_of_files(program.python),
        **list_decisions(given.effects or {}),
        **list_decisions(dict(name_functions(given.tools)), "tool:"),
        **({} if servers.servers is None else servers.servers.list_decisions()),
    }
    try:
        kept = open_store(resolve_address(store), must_exist=True)
        try:
            run = kept.find(run_id)
            yield resume_run(kept, run, program, replay=replay, declared=declared, carries=carries)
        finally:
            kept.close()
    except Refusal as refusal:
        raise Failed(refusal.error) from None


def begin(
    program: Program | Suspended,
    allowed: Permissions,
    given: Settings,
    serving: RunServers,
    described: Described,
    on_event: Watch | None,
    zones: ZoneUse,
    resumed: "ResumedRun | None" = None,
) -> StartedRun:
    """Run the program up to its first wait, or take a run that goes on. `zones` are those that it
    uses."""
    argument_checks.check(given)
    since, is_traced = time(), is_wanted(given.trace) or given.record is not None
    own = given.files
    tools = {**({} if own is None else own.tools), **tools_of(given.tools)}
    serving.check(tools)
    models = models_of(given.model)
    learn(found for each in models.credentials.values() for found in credentials_of(each))
    _check_models(models)
    if isinstance(program, Program) and isinstance(given.model, Mapping):
        _tell_unnamed(program, given)
    if isinstance(program, Program) and not callable(given.model):
        warm_up(models, [task.template.model_name for task in program.tasks])
    terms = None
    if isinstance(program, Program) and resumed is None:
        terms = make_terms(
            program,
            given.inputs,
            {**definitions(tools), **described},
            given.limits,
            given.budget,
            model=given.model,
            memory=given.memory is not None
            or "search-memory" in (given.effects or {})
            or discover_index(allowed.base) is not None,
            folder=allowed.base,
            has_default=True,
            all_tools="tool" not in (given.effects or {}),
        )
    storage = None if resumed is None else resumed.storage
    if resumed is None and given.store is not None and terms is not None:
        storage, given = _keep(given, program, terms.folder)
    journal = _journal(given, zones, storage, 0.0 if resumed is None else resumed.clock)
    if terms is not None:
        journal.begin(terms)
    outcome: Outcome
    if resumed is not None:
        outcome = resumed.outcome
    elif isinstance(program, Suspended):
        outcome = program
    else:
        assert terms is not None
        try:
            outcome = assembly.begin(
                program,
                terms,
                held=None if given.limits is None else given.limits.held,
                traced=is_traced,
                conceal=silence,
                slice=machine.Slice(),
                book=RateBook(note=journal.note),
            )
        except BaseException:
            journal.close()
            raise
    files = _list_input_files(outcome, given.inputs)
    if files:
        allowed = evolve(allowed, read=(*allowed.read, *files))
    trace = None
    try:
        if is_traced:
            trace = _trace(given, program, journal, since)
        if trace is not None:
            trace.advance(outcome)
        performers = make_performers(
            allowed,
            journal.run_id,
            model=given.model,
            on_named=_log_model,
            tools=tools,
            effects=given.effects or {},
            files={} if own is None else own.performers,
            on_event=on_event,
            trace=trace,
            memory=None if given.memory is None else os.path.abspath(given.memory),
            servers=serving.servers,
            pause=given.pause,
            parks=storage is not None,
        )
        if resumed is not None:
            if "model" not in (given.effects or {}):
                resumed.advance_scripts(performers["model"], models)
            performers = resumed.perform_with(performers)
        elif isinstance(program, Suspended) and program.passed:
            continue_waits(performers, program.passed, program.passed)
        if given.reuse is not None:
            performers = dict(given.reuse(outcome, performers))
            if storage is not None:
                storage.open_new()  # now it replaces the other run
    except Refusal as refusal:
        StartedRun(outcome, {}, journal, trace, storage).__exit__(None, refusal, None)
        raise Failed(refusal.error) from None
    # The recording is closed whatever is raised.
    except BaseException as raised:
        StartedRun(outcome, {}, journal, trace, storage).__exit__(None, raised, None)
        raise
    return StartedRun(outcome, performers, journal, trace, storage)


def make_terms(
    program: Program,
    inputs: Mapping[str, Any] | None,
    tools: Described,
    limits: Limits | None,
    budget: Mapping[str, float] | None,
    *,
    model: Model | None = None,
    memory: bool = False,
    folder: str = "",
    has_default: bool = False,
    all_tools: bool = False,
) -> Terms:
    """Return the terms of a run. Raises Failed for a budget that is no data."""
    with Concealment():
        values = redact(values_of(program.inputs, inputs or {}))
    try:
        bounds = value(dict(budget)) if budget else None
    except Fault as fault:
        raise Failed(error_of(fault)) from None
    models, is_function = models_of(model), callable(model)
    return assembly.terms_of(
        program,
        values,
        limits=limits,
        budget=bounds,
        tools=dict(tools),
        models=models,
        windows=choose_windows(models) if has_default and not is_function else None,
        prices="function" if is_function else "table",
        folder=folder,
        memory=memory,
        all_tools=all_tools,
    )


def _keep(given: Settings, program: Any, folder: str) -> "tuple[StoredJournal, Settings]":
    """Return the storage of a new run, and the settings with its id."""
    from sexplang.runs.durable_run import Keeping, keep_run
    from sexplang.runtime.journal.databases import resolve_address

    id = given.run_id or make_run_id()
    assert given.store is not None
    name = os.path.basename(program.sources[0].name) if program.sources else "program"
    where = resolve_address(given.store), id, folder or os.getcwd(), name
    keeping = Keeping(*where, replaces=given.replaces)
    return keep_run(keeping), evolve(given, run_id=id)


def _trace(
    given: Settings, program: Program | Suspended, journal: Journal, since: float
) -> "Trace | None":
    built = program if isinstance(program, Program) else state_of(program).setting.program
    is_named = given.model is None or isinstance(given.model, (str, Mapping))
    tracing = TraceSettings(
        given.trace,
        os.path.basename(built.sources[0].name).strip("<>") if built.sources else "program",
        journal.run_id,
        models=with_default(models_of(given.model)) if is_named else Models(),
        parent=given.traceparent,
        since=since,
        warn=logging.getLogger("sexplang.traces").warning,
    )
    notes = RecordingSink(journal, tracing.name, tracing.models)
    try:
        return start_trace(tracing, *([] if given.record is None else [notes]))
    except Refusal as refusal:
        raise Failed(refusal.error) from None


def _check_models(models: Models) -> None:
    """Raise Failed for an unknown model, and for a recording that cannot be replayed."""
    try:
        check_models(models)
    except Refusal as refusal:
        raise Failed(refusal.error) from None


def _log_model(name: str, model: str, is_default: bool) -> None:
    """Log that another model answers to a name."""
    level, why = logging.INFO, ""
    if is_default:
        level, why = logging.WARNING, ", the default: no model is set for that name"
    logging.getLogger("sexplang").log(level, "the model %s is %s%s", clean(name), clean(model), why)


def _tell_unnamed(program: Program, given: Settings) -> None:
    """Log the names in the table of models that the program does not use."""
    assert isinstance(given.model, Mapping)
    names = [name for name in given.model if name not in ("default", ALL)]
    if names:
        from sexplang.analysis.model_names import find_unnamed

        inputs = [str(each) for each in (given.inputs or {}).values()]
        for message, has in find_unnamed(
            program, names, (*map(str, given.model.values()), *inputs)
        ):
            logging.getLogger("sexplang").warning("%s; %s", clean(message), clean(has))


def _journal(
    given: Settings, zones: ZoneUse, storage: "StoredJournal | None", clock: float
) -> Journal:
    try:
        journal = record_to(given.record, given.run_id)
    except Refusal as refusal:
        raise Failed(refusal.error) from None
    journal.zones, journal.clock = zones, clock
    journal.storages += () if storage is None else (storage,)
    return journal


def _list_input_files(outcome: Outcome, inputs: Mapping[str, Any] | None) -> tuple[Path, ...]:
    """Return the files given to inputs of type `file`: the program may read them."""
    if not isinstance(outcome, Suspended):
        return ()
    files = [each.name for each in state_of(outcome).setting.program.inputs if each.type == "file"]
    return tuple([Path(inputs[name]) for name in files if inputs and name in inputs])


def definitions(tools: Mapping[str, Tool]) -> Described:
    """Return descriptions of Python functions for a model."""
    return {name: tool.definition for name, tool in tools.items()}
