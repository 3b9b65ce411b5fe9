"""What a call of `run` says → a run up to its first wait, and who answers it."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from attrs import evolve

from sexplang import machine, pipeline
from sexplang.api.answering import Model, answering
from sexplang.api.building import build
from sexplang.api.functions import Function, Functions, bad_function
from sexplang.api.inputs import values_of
from sexplang.api.serving import Described, Serving
from sexplang.api.tools import Tool, tools_of
from sexplang.api.values import value
from sexplang.machine import Failed, Limits, Outcome, Suspended
from sexplang.process import growth
from sexplang.runtime import Journal, Permissions, Refusal
from sexplang.runtime.events import Event
from sexplang.runtime.memory.places import discovered
from sexplang.runtime.prices import prices
from sexplang.terms.node import frozen
from sexplang.terms.program import Program
from sexplang.terms.task import error_of
from sexplang.terms.value import Fault

Runnable: TypeAlias = str | os.PathLike[str] | Program | Suspended
Tools: TypeAlias = Iterable[Function] | Functions
Watch: TypeAlias = Callable[[Event], None]


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
    memory: str | os.PathLike[str] | None
    mcp: Mapping[str, Any] | None
    record: str | os.PathLike[str] | None
    run_id: str | None


@frozen(eq=False)
class Begun:
    """A run up to its first wait, and who answers it; the recording is closed behind it."""

    outcome: Outcome
    performers: Mapping[str, Any]
    journal: Journal

    def __enter__(self) -> "Begun":
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()


def program_of(source: Runnable, given: Settings) -> Program | Suspended:
    """The program, built if it is not yet; or the run to go on with."""
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


def begun(
    program: Program | Suspended,
    allowed: Permissions,
    given: Settings,
    serving: Serving,
    described: Described,
    on_event: Watch | None,
) -> Begun:
    """The run up to its first wait."""
    tools = tools_of(given.tools)
    serving.check(tools)
    outcome: Outcome = (
        program
        if isinstance(program, Suspended)
        else started(
            program,
            given.inputs,
            {**definitions(tools), **described},
            given.limits,
            given.budget,
            model=given.model,
            memory=given.memory is not None or discovered(allowed.base) is not None,
        )
    )
    journal = _journal(given)
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
            memory=None if given.memory is None else os.path.abspath(given.memory),
            servers=serving.servers,
        )
    # Whatever it is goes on; the recording's file does not stay open behind it.
    except BaseException:
        journal.close()
        raise
    return Begun(outcome, performers, journal)


def started(
    program: Program,
    inputs: Mapping[str, Any] | None,
    tools: Described,
    limits: Limits | None,
    budget: Mapping[str, float] | None,
    *,
    model: Model | None = None,
    memory: bool = False,
) -> Outcome:
    values = values_of(program.inputs, inputs or {})
    try:
        bounds = value(dict(budget)) if budget else None
    except Fault as fault:
        raise Failed(error_of(fault)) from None
    name = model if isinstance(model, str) or model is None or callable(model) else "scripted:list"
    flag = name if isinstance(name, str) else None
    system = pipeline.tasks(tools, model=flag, memory=memory)
    costs = pipeline.meter(prices(flag))
    return machine.start(program, values, system, watched(limits or Limits()), bounds, costs)


def watched(limits: Limits) -> Limits:
    """Limits that know how much memory the process holds."""
    return limits if limits.held is not None else evolve(limits, held=growth())


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


def definitions(tools: Mapping[str, Tool]) -> Described:
    """Functions of Python as they are described to a model."""
    return {name: tool.definition for name, tool in tools.items()}
