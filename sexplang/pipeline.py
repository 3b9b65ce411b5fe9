"""Text to a Program: the rooms in order, modules and their cycles. Pure: files are handed in.

text ─▶ reader ─▶ compiler ─▶ Unit ┐
xml  ─▶ templates ─▶ Task          ┴─▶ Program
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sexplang.builder import Builder, Find
from sexplang.compiler import operations_in
from sexplang.data import STANDARD
from sexplang.dispatcher import dispatch, library
from sexplang.machine.scopes import Meter, rough_estimate
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.task import TaskSystem
from sexplang.terms.text import written
from sexplang.terms.value import Fault, Operation, Primitive, Task, Value

if TYPE_CHECKING:
    from sexplang.analysis import Report


def build(
    source: Source,
    find: Find,
    tasks: Mapping[str, Task] | None = None,
    functions: Mapping[str, Primitive | Operation] | None = None,
) -> Program:
    """The program that a text makes, with all it imports. Raises Diagnostics.

    `tasks` are in scope beside the prelude, and so are the `functions` of the host.
    """
    builder = Builder(find, dict(tasks or {}), dict(tasks or {}), host=functions or {}, plan=plan)
    builder.main(source)
    return builder.program()


TURNS, REPAIRS = 20, 2
"""How often a conversation with tools may ask the model, and how often a reply is asked for again,
where a template does not say."""

_systems: dict[str, TaskSystem] = {}


def tasks(
    tools: Mapping[str, dict[str, Value]] | None = None,
    *,
    model: str | None = None,
    memory: bool = False,
) -> TaskSystem:
    """The task system with replies read by the templates room and the host's `tools`, described as
    `{description input_schema}`; one for all programs with the same of everything.

    `model` is the one that wins over the templates', and `memory` whether there is an index for
    fresh context to come from.
    """
    from sexplang.tasks import task_system
    from sexplang.templates import json_schema, read_reply, xml_words

    tools = dict(tools or {})
    key = f"{written(tools)} {model} {memory}"
    if key not in _systems:
        _systems[key] = task_system(
            read_reply,
            json_schema,
            xml_words,
            max_turns=TURNS,
            max_repairs=REPAIRS,
            tools=tools,
            model=model,
            memory=memory,
        )
    return _systems[key]


def meter(price: Callable[[str, int, int], float | None]) -> Meter:
    """What model calls may cost, by a price of model, input and output tokens in US dollars."""
    return Meter(rough_estimate, price)


def inspect(program: Program) -> "Report":
    """What is known of a program before it runs. A run needs none of it, and does not load it."""
    from sexplang.analysis import Costs, analyse

    return analyse(program, Costs(TURNS, REPAIRS))


def plan(
    text: str, names: tuple[str, ...], allowed: frozenset[str]
) -> Program | tuple[Diagnostic, ...]:
    """A Program from a model's text, for `eval-plan`, or the diagnostics of why it is none.

    It sees the prelude and its inputs, imports nothing, and performs what it handles itself or
    is allowed.
    """
    builder = Builder(_nothing_to_import, {}, {}, inputs=names, operations=allowed, plan=plan)
    try:
        builder.main(Source("plan", text))
    except Diagnostics as refused:
        return refused.diagnostics
    handled = allowed.union({"error"}, *[unit.handled for unit in builder.units])
    denied = [
        Diagnostic(
            "plan-denied",
            f"this plan may not perform `{name}`",
            (Label(span, "performed here"),),
            hint="handle it in the plan, or have it allowed",
        )
        for name, span in operations_in(builder.units[-1])
        if name not in handled
    ]
    return tuple(denied) or builder.program()


def _nothing_to_import(path: str, importer: str) -> tuple[Source, ...]:
    raise Fault("import-denied", "a plan imports nothing", hint="it is given its inputs")


__all__ = [
    "STANDARD",
    "Builder",
    "Find",
    "build",
    "dispatch",
    "inspect",
    "library",
    "meter",
    "plan",
    "tasks",
]
