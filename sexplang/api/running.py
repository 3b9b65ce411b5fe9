"""A program, its inputs and whoever answers it to its value; or, step by step, to outcomes."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from attrs import evolve, frozen

from sexplang import machine, pipeline
from sexplang.api.answering import Model, answering
from sexplang.api.building import build, permissions_for
from sexplang.api.functions import Function, Functions, bad_function
from sexplang.api.inputs import values_of
from sexplang.api.tools import Tool, tools_of
from sexplang.api.values import result, value
from sexplang.machine import Failed, Limits, Outcome, Suspended
from sexplang.process import growth
from sexplang.runtime import Journal, Permissions, Refusal, adrive, drive
from sexplang.runtime.events import Event
from sexplang.terms.program import Program
from sexplang.terms.task import TaskSystem, error_of
from sexplang.terms.value import Fault

Runnable: TypeAlias = str | os.PathLike[str] | Program | Suspended
Tools: TypeAlias = Iterable[Function] | Functions
Watch: TypeAlias = Callable[[Event], None]


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
    record: str | os.PathLike[str] | None = None,
    on_event: Watch | None = None,
    parallel: int = 16,
    run_id: str | None = None,
) -> Any:
    """Runs a program and gives its value as plain Python data, a TaskResult as such.

    `source` is program text (str), a file (path), a Program, or a Suspended run to go on with.
    Works inside a running event loop too; there `arun` does not block it.

    - `inputs`: by name, for the program's `define-input`s; numbers are int or float, a `file` is
      a path, which the program may then read.
    - `model`: its name as on the command line (`"local"`, `"anthropic:ID"`, `"scripted:FILE"`),
      a list of scripted replies, or a function from a payload to a reply.
    - `tools`: functions that a model may call where a template allows it, described by their
      docstrings and type hints.
    - `effects`: operations and the functions, sync or async, that answer them; one of the host's
      own (`"ask-user"`, `"print"`) is replaced.
    - `primitives`: pure functions that the program may call.
    - `permissions`: refused unless given; a file may read below its own folder.
    - `limits`: on steps and frames. `budget`: at most so many `calls`, `tokens`, `usd`, `seconds`.
    - `record`: a new file for every request and reply, one JSON document to a line.
    - `on_event`: called with each Event as it happens. `parallel`: model calls in flight.
    - `run_id`: what `(random)` follows from; by default another one for each run.

    Raises Diagnostics if it is no program or the inputs do not fit it, and Failed with the error
    that ended it.
    """
    begun = _begun(
        source,
        Settings(
            inputs, model, tools, effects, primitives, permissions, limits, budget, record, run_id
        ),
        on_event,
    )
    outcome = begun.outcome
    try:
        if isinstance(outcome, Suspended):
            outcome = drive(
                outcome,
                begun.performers,
                journal=begun.journal,
                parallel=parallel,
                on_event=on_event,
            )
    finally:
        begun.journal.close()
    return result(outcome)


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
    record: str | os.PathLike[str] | None = None,
    on_event: Watch | None = None,
    parallel: int = 16,
    run_id: str | None = None,
) -> Any:
    """`run` for a caller that has an event loop, asyncio's or trio's: async functions that answer
    run in it, and cancelling the call cancels the program, whose `finally` bodies still run."""
    begun = _begun(
        source,
        Settings(
            inputs, model, tools, effects, primitives, permissions, limits, budget, record, run_id
        ),
        on_event,
    )
    outcome = begun.outcome
    try:
        if isinstance(outcome, Suspended):
            outcome = await adrive(
                outcome,
                begun.performers,
                journal=begun.journal,
                parallel=parallel,
                on_event=on_event,
            )
    finally:
        begun.journal.close()
    return result(outcome)


def start(
    program: Program,
    *,
    inputs: Mapping[str, Any] | None = None,
    tools: Tools = (),
    limits: Limits | None = None,
    budget: Mapping[str, float] | None = None,
) -> Outcome:
    """Runs a program until it is Done, Failed or Suspended: nothing is asked, nobody is waited
    for. A Suspended holds `requests`, all that are open; `resume(request.id, reply)` and
    `fail(request.id, error)` give the next outcome. Raises Diagnostics if the inputs do not fit.

    `tools` are only described to models here; a request `tool` asks for their values.
    """
    return _started(program, inputs, tools_of(tools), limits, budget)


def freeze(outcome: Suspended) -> dict[str, Any]:
    """A run that waits as plain JSON data, for `thaw` in another process.

    Raises Failed, reason `not-data`, if it holds something that cannot be written down.
    """
    from sexplang.machine import freezing

    try:
        return freezing.freeze(outcome)
    except Fault as fault:
        raise Failed(error_of(fault)) from None


def thaw(program: Program, data: Any, *, tools: Tools = ()) -> Suspended:
    """The frozen run again. It goes on with the same sources, the same tools and the same version
    of this package; for anything else raises Failed, reason `frozen-mismatch`."""
    from sexplang.machine import freezing

    try:
        thawed = freezing.thaw(program, data, _tasks(program, tools_of(tools)))
    except Fault as fault:
        raise Failed(error_of(fault)) from None
    setting = evolve(thawed.setting, limits=_watched(thawed.setting.limits))
    return evolve(thawed, setting=setting)


@frozen
class Settings:
    """What a call of `run` says beside the program."""

    inputs: Mapping[str, Any] | None
    model: Model | None
    tools: Tools
    effects: Functions | None
    primitives: Functions | None
    permissions: Permissions | None
    limits: Limits | None
    budget: Mapping[str, float] | None
    record: str | os.PathLike[str] | None
    run_id: str | None


@frozen(eq=False)
class Begun:
    """A run up to its first wait, and who answers it."""

    outcome: Outcome
    performers: Mapping[str, Any]
    journal: Journal


def _begun(source: Runnable, given: Settings, on_event: Watch | None) -> Begun:
    tools = tools_of(given.tools)
    outcome = _outcome(source, given, tools)
    journal = _journal(given)
    allowed = permissions_for(source, given.permissions)
    files = _named_files(outcome, given.inputs)
    if files:
        allowed = evolve(allowed, read=(*allowed.read, *files))
    try:
        performers = answering(
            allowed,
            journal.run_id,
            model=given.model,
            tools=tools,
            effects=given.effects or {},
            on_event=on_event,
        )
    # Whatever it is goes on; the recording's file does not stay open behind it.
    except BaseException:
        journal.close()
        raise
    return Begun(outcome, performers, journal)


def _outcome(source: Runnable, given: Settings, tools: Mapping[str, Tool]) -> Outcome:
    if isinstance(source, Suspended):
        if given.inputs or given.limits or given.budget or given.primitives:
            raise TypeError("a run that goes on has its inputs, limits, budget and primitives")
        return source
    if isinstance(source, Program):
        if given.primitives:
            name = next(iter(given.primitives))
            raise bad_function(name, "this program is built already", "give primitives to build")
        program = source
    else:
        program = build(
            source,
            effects=given.effects,
            primitives=given.primitives,
            permissions=given.permissions,
        )
    return _started(program, given.inputs, tools, given.limits, given.budget)


def _started(
    program: Program,
    inputs: Mapping[str, Any] | None,
    tools: Mapping[str, Tool],
    limits: Limits | None,
    budget: Mapping[str, float] | None,
) -> Outcome:
    values = values_of(program.inputs, inputs or {})
    try:
        bounds = value(dict(budget)) if budget else None
    except Fault as fault:
        raise Failed(error_of(fault)) from None
    system = _tasks(program, tools)
    return machine.start(program, values, system, _watched(limits or Limits()), bounds)


def _watched(limits: Limits) -> Limits:
    """Limits that know how much memory the process holds."""
    return limits if limits.held is not None else evolve(limits, held=growth())


def _tasks(program: Program, tools: Mapping[str, Tool]) -> TaskSystem:
    return pipeline.tasks({name: tool.definition for name, tool in tools.items()})


def _journal(given: Settings) -> Journal:
    named = {} if given.run_id is None else {"run_id": given.run_id}
    try:
        return Journal(record=given.record, **named)
    except Refusal as refusal:
        raise Failed(refusal.error) from None


def _named_files(outcome: Outcome, inputs: Mapping[str, Any] | None) -> tuple[Path, ...]:
    """Files that the caller itself gives to inputs of type file may be read."""
    if not isinstance(outcome, Suspended):
        return ()
    files = [each.name for each in outcome.setting.program.inputs if each.type == "file"]
    return tuple([Path(inputs[name]) for name in files if inputs and name in inputs])
