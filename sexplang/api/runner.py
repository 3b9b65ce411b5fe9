"""Runs of programs in Python: in one call, or step by step by outcomes."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from sexplang.api import argument_checks
from sexplang.api.mcp_servers import RunServers, make_servers
from sexplang.api.performer_table import Model
from sexplang.api.program_source import permissions_for
from sexplang.api.python_tools import tools_of
from sexplang.api.python_values import Functions, result
from sexplang.api.run_start import (
    Runnable,
    Settings,
    StartedRun,
    Tools,
    begin,
    definitions,
    look_around,
    make_terms,
    open_resumed,
    program_of,
    with_files,
)
from sexplang.guards.interrupt import interruptible
from sexplang.guards.secrets import KNOWN, look, redact_text, silence
from sexplang.machine import Failed, Limits, Outcome, Suspended
from sexplang.package.zone_use import observe_zones
from sexplang.runs import assembly
from sexplang.runtime import Permissions, adrive, drive
from sexplang.runtime.driver.listeners import Listeners, listen
from sexplang.runtime.traces import Target
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.program import Program
from sexplang.terms.task import error_of, error_record
from sexplang.terms.values.value import Fault

if TYPE_CHECKING:
    from sexplang.runs.durable_run import ResumedRun
    from sexplang.runs.reused_run import Announcement
    from sexplang.runtime.journal.doubts import Decision

    Changes = bool | Callable[[Announcement], bool] | None


def run(
    source: Runnable,
    *,
    inputs: Mapping[str, Any] | None = None,
    model: Model | None = None,
    tools: Tools = (),
    effects: Functions | None = None,
    primitives: Functions | None = None,
    permissions: Permissions | None = None,
    limits: Limits | None = None,
    budget: Mapping[str, float] | None = None,
    memory: str | os.PathLike[str] | None = None,
    mcp: Mapping[str, Any] | None = None,
    record: str | os.PathLike[str] | None = None,
    on_event: Listeners | None = None,
    event_content: bool = False,
    parallel: int = 16,
    single_flight: bool = False,
    run_id: str | None = None,
    trace: "Target | None" = None,
    traceparent: str | None = None,
    store: str | os.PathLike[str] | None = None,
    pause: Sequence[str] = (),
    returns: Any = None,
) -> Any:
    """Run a program and return its value as plain Python data; a TaskResult stays one.

    `source` is program text (str), a file (path), a Program, or a Suspended run to go on with.
    Works inside a running event loop too; there `arun` does not block it.

    - `inputs`: by name, for the program's `define-input`s; numbers are int or float, a `file` is
      a path, which the program may then read.
    - `model`: its name as on the command line (`"local"`, `"openai:ID"`, `"scripted:FILE"`),
      a list of scripted replies, or a function from a payload to a reply.
    - `tools`: functions that a model may call where a template allows it, described by their
      docstrings and type hints.
    - `effects`: operations and the functions, sync or async, that answer them; one of the host's
      own (`"ask-user"`, `"print"`) is replaced.
    - `primitives`: pure functions that the program may call.
    - `permissions`: refused unless given; a file may read below its own folder.
    - `limits`: on steps and frames. `budget`: at most so many `calls`, `tokens`, `usd`, `seconds`.
    - `memory`: the index that `search-memory` looks into, a Memory or its file; by default the one
      of the project that the program lies in.
    - `mcp`: servers by name, whose tools are then called `NAME:TOOL`: a command line, an address,
      or a table `{"command" "args" "env"}` or `{"url"}`, maybe with `"timeout"`, in seconds, and
      `"replay"`, a decision for each tool, as the decorator `replay` takes it.
    - `record`: a new file for every request and reply, one JSON document to a line.
    - `on_event`: called with each Event as it happens, or a list of such functions, of which an
      EventQueue is one. `event_content`: they see what is sent and said.
    - `parallel`: model calls in flight.
    - `single_flight`: equal calls of a model that are open at the same time are sent once.
    - `run_id`: what `(random)` follows from; by default another one for each run.
    - `trace`: where spans go, the address of an OpenTelemetry collector, a file or a
      TracerProvider; by default what OTEL_EXPORTER_OTLP_ENDPOINT says, if it is set.
    - `traceparent`: the W3C header of the span that the run is a part of.
    - `store`: the file of a store that keeps the run; after a crash `resume` goes on with it.
    - `pause`: operations that a person answers. Where the run waits for nothing else, the
      Suspended is returned; `answer` and `resume` go on with one that a store keeps.
    - `returns`: a dataclass, a TypedDict, a pydantic model or a hint of them, `list[Flight]`: the
      value is held to it, and is an instance of it.

    Raises Diagnostics if it is no program or the inputs do not fit it, and Failed with the error
    that ended it.
    """
    given = Settings(
        *(inputs, model, tools, effects, primitives, permissions, limits, budget),
        *(memory, mcp, record, run_id, trace, traceparent, store, pause),
    )
    driving = Driving(on_event, event_content, parallel, single_flight, instance_maker(returns))
    return _run(source, given, driving)


@frozen
class Driving:
    """How a run is driven, and what is made of its value."""

    on_event: Listeners | None
    event_content: bool
    parallel: int
    single_flight: bool
    made: Callable[[Any], Any]

    def check(self, given: Settings) -> None:
        """Raise TypeError for an argument of the wrong type."""
        argument_checks.drive_options(
            self.parallel, self.single_flight, self.on_event, self.event_content, given.pause
        )

    def options(self, ready: StartedRun) -> dict[str, Any]:
        """Return the arguments that `drive` and `adrive` take."""
        return {
            "journal": ready.journal,
            "parallel": self.parallel,
            "single_flight": self.single_flight,
            "trace": ready.trace,
            "history": ready.history,
        }


OpenKept = Callable[[Program | Suspended, RunServers], "AbstractContextManager[ResumedRun | None]"]


def _open_none(program: Program | Suspended, servers: RunServers) -> "AbstractContextManager[None]":
    return nullcontext()


def _run(
    source: Runnable, given: Settings, driving: Driving, open_kept: OpenKept = _open_none
) -> Any:
    """Run a program, or go on with the run that is opened."""
    driving.check(given)
    program, allowed = program_of(source, given), permissions_for(source, given.permissions)
    given = with_files(program, allowed, given)
    servers = make_servers(given.mcp, allowed)
    try:
        with open_kept(program, servers) as resumed:
            if resumed is not None:
                given = evolve(given, run_id=resumed.run.id)
            described = servers.describe(program)
            with (
                interruptible(),
                observe_zones() as zones,
                listen(driving.on_event, driving.event_content) as watch,
                begin(program, allowed, given, servers, described, watch, zones, resumed) as ready,
            ):
                outcome = ready.outcome
                if isinstance(outcome, Suspended):
                    outcome = drive(
                        outcome, ready.performers, on_event=watch, **driving.options(ready)
                    )
                ready.finish(outcome)
    finally:
        servers.close()
    return outcome if isinstance(outcome, Suspended) else driving.made(result(outcome))


async def _arun(
    source: Runnable, given: Settings, driving: Driving, open_kept: OpenKept = _open_none
) -> Any:
    """`_run` in an event loop."""
    driving.check(given)
    program, allowed = program_of(source, given), permissions_for(source, given.permissions)
    given = with_files(program, allowed, given)
    servers = make_servers(given.mcp, allowed)
    try:
        with open_kept(program, servers) as resumed:
            if resumed is not None:
                given = evolve(given, run_id=resumed.run.id)
            described = await servers.adescribe(program)
            with (
                observe_zones() as zones,
                listen(driving.on_event, driving.event_content) as watch,
            ):
                async with begin(
                    program, allowed, given, servers, described, watch, zones, resumed
                ) as ready:
                    outcome = ready.outcome
                    if isinstance(outcome, Suspended):
                        outcome = await adrive(
                            outcome, ready.performers, on_event=watch, **driving.options(ready)
                        )
                    ready.finish(outcome)
    finally:
        await servers.aclose()
    return outcome if isinstance(outcome, Suspended) else driving.made(result(outcome))


async def arun(
    source: Runnable,
    *,
    inputs: Mapping[str, Any] | None = None,
    model: Model | None = None,
    tools: Tools = (),
    effects: Functions | None = None,
    primitives: Functions | None = None,
    permissions: Permissions | None = None,
    limits: Limits | None = None,
    budget: Mapping[str, float] | None = None,
    memory: str | os.PathLike[str] | None = None,
    mcp: Mapping[str, Any] | None = None,
    record: str | os.PathLike[str] | None = None,
    on_event: Listeners | None = None,
    event_content: bool = False,
    parallel: int = 16,
    single_flight: bool = False,
    run_id: str | None = None,
    trace: "Target | None" = None,
    traceparent: str | None = None,
    store: str | os.PathLike[str] | None = None,
    pause: Sequence[str] = (),
    returns: Any = None,
) -> Any:
    """`run` for a caller with an event loop of asyncio or trio.

    Async functions run in that loop. If the call is cancelled, so is the program; its `finally`
    bodies still run.
    """
    given = Settings(
        *(inputs, model, tools, effects, primitives, permissions, limits, budget),
        *(memory, mcp, record, run_id, trace, traceparent, store, pause),
    )
    driving = Driving(on_event, event_content, parallel, single_flight, instance_maker(returns))
    return await _arun(source, given, driving)


def resume(
    source: Runnable,
    run_id: str,
    *,
    store: str | os.PathLike[str],
    replay: "Mapping[str, Decision] | None" = None,
    changes: "Changes" = None,
    model: Model | None = None,
    tools: Tools = (),
    effects: Functions | None = None,
    primitives: Functions | None = None,
    permissions: Permissions | None = None,
    memory: str | os.PathLike[str] | None = None,
    mcp: Mapping[str, Any] | None = None,
    on_event: Listeners | None = None,
    event_content: bool = False,
    parallel: int = 16,
    single_flight: bool = False,
    trace: "Target | None" = None,
    traceparent: str | None = None,
    pause: Sequence[str] = (),
    returns: Any = None,
) -> Any:
    """Go on with a run that `run(…, store=…, run_id=…)` began and that has not ended; return its
    value.

    The replies in the store are not asked for again. Inputs, limits and budget are those of the
    run; the program must ask the same so far, and what performs its operations is given again.

    - `replay`: what becomes of a request that was under way when the process ended and may have
      been performed, by request id, `tool:NAME`, operation or `*`: `"safe"` performs it again,
      `"never"` fails it with the reason `in-doubt`, `"ask"` raises. By default it is what the
      function says with the decorator `replay`; else calls of models, questions and output are
      safe, and scripts, writes, tools and effects ask.

    - `changes`: a changed program asks otherwise: run it as a new run of the store, with the
      replies that still fit. A function is told an Announcement before anything is performed,
      and once more for a request that was not in it; it returns whether to go on. True agrees to
      all.

    Raises Diagnostics if it is no program, and Failed: `not-agreed`, `unknown-run`, `run-ended`,
    `run-busy`, `journal-mismatch`, `in-doubt`, or the error that ended the run.
    """
    given = Settings(
        *(None, model, tools, effects, primitives, permissions, None, None),
        *(memory, mcp, None, run_id, trace, traceparent, None, pause),
    )
    driving = Driving(on_event, event_content, parallel, single_flight, instance_maker(returns))
    return _run(*_resumption(source, given, driving, run_id, store, replay, changes))


async def aresume(
    source: Runnable,
    run_id: str,
    *,
    store: str | os.PathLike[str],
    replay: "Mapping[str, Decision] | None" = None,
    changes: "Changes" = None,
    model: Model | None = None,
    tools: Tools = (),
    effects: Functions | None = None,
    primitives: Functions | None = None,
    permissions: Permissions | None = None,
    memory: str | os.PathLike[str] | None = None,
    mcp: Mapping[str, Any] | None = None,
    on_event: Listeners | None = None,
    event_content: bool = False,
    parallel: int = 16,
    single_flight: bool = False,
    trace: "Target | None" = None,
    traceparent: str | None = None,
    pause: Sequence[str] = (),
    returns: Any = None,
) -> Any:
    """`resume` for a caller with an event loop of asyncio or trio.

    Async functions run in that loop. If the call is cancelled, so is the program; its `finally`
    bodies still run, and the run can be resumed again.
    """
    given = Settings(
        *(None, model, tools, effects, primitives, permissions, None, None),
        *(memory, mcp, None, run_id, trace, traceparent, None, pause),
    )
    driving = Driving(on_event, event_content, parallel, single_flight, instance_maker(returns))
    return await _arun(*_resumption(source, given, driving, run_id, store, replay, changes))


def _resumption(
    source: Runnable,
    given: Settings,
    driving: Driving,
    run_id: str,
    store: str | os.PathLike[str],
    replay: "Mapping[str, Decision] | None",
    changes: "Changes",
) -> tuple[Runnable, Settings, Driving, OpenKept]:
    """Return the arguments by which a run goes on: from where it stood, or as a new run of a
    changed program."""
    argument_checks.changes(changes)
    if changes is not None and changes is not False:
        from sexplang.api.kept_runs import hold_replaced, reuse_run

        program = program_of(source, given)
        changed = reuse_run(program, run_id, store, replay, changes, given)
        return program, changed, driving, lambda *_: hold_replaced(run_id, store)

    def open_kept(
        program: Program | Suspended, servers: RunServers
    ) -> "AbstractContextManager[ResumedRun]":
        return open_resumed(program, run_id, store, replay, given, servers)

    return source, given, driving, open_kept


def instance_maker(returns: Any) -> Callable[[Any], Any]:
    """Return the function from plain data to an instance of a type. Raises TypeError for what is
    no type."""
    if returns is None:
        return lambda data: data
    from sexplang.api.python_types import NoSchema, PythonType, WrongData

    try:
        type_ = PythonType(returns)
    except NoSchema as why:
        words = "a dataclass, a TypedDict, a pydantic model or a type hint of them"
        raise TypeError(f"returns is {words}; there is no schema for {why}") from None

    def make(data: Any) -> Any:
        try:
            return type_.instance(data)
        except WrongData as why:
            message = f"the result is not of type {type_.name}: {why}"
            hint = "let the program give it: `(as T value)`, or `(returns T)` in a task"
            record = error_record("PROGRAM_ERROR", "type-misfit", message, hint=hint)
            raise Failed(record) from why

    return make


def start(
    program: Program,
    *,
    inputs: Mapping[str, Any] | None = None,
    tools: Tools = (),
    limits: Limits | None = None,
    budget: Mapping[str, float] | None = None,
) -> Outcome:
    """Run a program until it is Done, Failed or Suspended; no request is performed.

    A Suspended has `requests`, all that are open. `resume(request.id, reply)` and `fail(request.id,
    error)` return the next outcome. `tools` are only described to models: the caller answers the
    request `tool`. Raises Diagnostics if the inputs do not fit.
    """
    argument_checks.check_program(program)
    argument_checks.by_name("inputs", inputs)
    argument_checks.bounds(limits, budget)
    argument_checks.tools(tools)
    look_around()
    described = definitions(tools_of(tools))
    terms = make_terms(program, inputs, described, limits, budget, folder=program.folder or "")
    return assembly.begin(
        program, terms, held=None if limits is None else limits.held, conceal=silence
    )


def freeze(
    outcome: Suspended, *, key: bytes | None = None, passed: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return a suspended run as plain JSON data, for `thaw` in another process.

    `passed` are the seconds for which open requests have waited, by their ids: a deadline or a
    sleep of the thawed run has what is left. A Suspended has them as `passed`.

    The data contain no credential that the host knows. With a `key` they are sealed: `thaw` takes
    only data written with it. Raises Failed, reason `not-data`, for a run with a value that cannot
    be written.
    """
    from sexplang.machine import frozen_runs

    if not isinstance(outcome, Suspended):
        raise argument_checks.wrong("what is frozen", "a run that waits, a Suspended", outcome)
    argument_checks.key(key)
    try:
        look()
        return frozen_runs.freeze(outcome, redact_text if KNOWN.secrets else str, key, passed)
    except Fault as fault:
        raise Failed(error_of(fault)) from None


def thaw(program: Program, data: Any, *, tools: Tools = (), key: bytes | None = None) -> Suspended:
    """Return the frozen run.

    It needs the same sources, tools, `key` and version of this package. Raises Failed, reason
    `frozen-mismatch`, for anything else.
    """
    argument_checks.check_program(program)
    if not isinstance(data, dict):
        raise argument_checks.wrong("data", "what freeze gives, a dict", data)
    argument_checks.tools(tools)
    argument_checks.key(key)
    try:
        terms = assembly.terms_of(
            program,
            {},
            limits=Limits(max_task_depth=_depth_of(data)),
            tools=dict(definitions(tools_of(tools))),
            folder=program.folder or "",
        )
        return assembly.thaw(program, terms, data, key=key, conceal=silence)
    except Fault as fault:
        raise Failed(error_of(fault)) from None


def _depth_of(data: dict[str, Any]) -> int:
    """Return the maximal depth of tasks of a frozen run."""
    limits = data.get("limits")
    most = limits.get("max_task_depth") if isinstance(limits, dict) else None
    return most if type(most) is int else Limits().max_task_depth
