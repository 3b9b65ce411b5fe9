"""The phases from text to a Program, in order. Pure: files are handed in.

text ─▶ reader ─▶ compiler ─▶ Unit ┐
xml  ─▶ templates ─▶ Task          ┴─▶ Program
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sexplang.compiler import operations_in
from sexplang.machine.scopes.budgets import Meter, Price, rough_estimate
from sexplang.package.package_data import STANDARD
from sexplang.pipeline.builder import Builder, Find
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.model.roles import Models
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.task import TaskSystem
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault, Operation, Primitive, Task, Value

if TYPE_CHECKING:
    from sexplang.analysis import Report


def build(
    source: Source,
    find: Find,
    tasks: Mapping[str, Task] | None = None,
    functions: Mapping[str, Primitive | Operation] | None = None,
    before: Source | None = None,
) -> Program:
    """Return the program of a text, with its imports. Raises Diagnostics.

    `tasks` and the host's `functions` are in scope beside the prelude. `before` is a source that
    precedes it in the same program.
    """
    given = dict(tasks or {})
    builder = Builder(find, given, dict(given), host=functions or {}, plan=Plans)
    builder.main(source, before)
    return builder.program()


TURNS, REPAIRS = 20, 2
"""The turns of a conversation with tools, and the repairs of a reply, if a template sets none."""

_systems: dict[str, TaskSystem] = {}


def tasks(
    tools: Mapping[str, dict[str, Value]] | None = None,
    *,
    models: Models | None = None,
    memory: bool = False,
    has_own_memory: bool = False,
    folder: str = "",
    all_tools: bool = False,
    max_task_depth: int = 5,
) -> TaskSystem:
    """Return the task system with the templates' reader of replies; equal arguments share one.

    `tools` are the host's, described as `{description input_schema}`. `models` resolves names of
    models. Fresh context comes from an index or an effect with `memory`, and from a handler of the
    program with `has_own_memory`. Relative paths start at `folder`. With `all_tools` a task that
    allows an unknown tool of a server cannot begin. Tasks nest at most `max_task_depth` deep.
    """
    from sexplang.tasks import task_system
    from sexplang.templates import json_schema, read_reply, xml_words

    tools = dict(tools or {})
    flags = f"{memory} {has_own_memory} {folder} {all_tools} {max_task_depth}"
    key = f"{to_source(tools)} {models} {flags}"
    if key not in _systems:
        _systems[key] = task_system(
            read_reply,
            json_schema,
            xml_words,
            max_task_depth=max_task_depth,
            max_turns=TURNS,
            max_repairs=REPAIRS,
            tools=tools,
            models=models,
            memory=memory,
            has_own_memory=has_own_memory,
            folder=folder,
            all_tools=all_tools,
        )
    return _systems[key]


def meter(price: Price) -> Meter:
    """Return the meter of model calls for a price by model, input and output tokens in US
    dollars."""
    return Meter(rough_estimate, price)


def inspect(program: Program, given: int = 0) -> "Report":
    """Return the analysis of a program, with `given` values of its inputs. A run does not load
    it."""
    from sexplang.analysis import Costs, analyse

    return analyse(program, Costs(TURNS, REPAIRS), given)


@frozen
class Plans:
    """Programs from texts of a model, for `eval-plan`, in a program with known operations."""

    known: frozenset[str]

    def __call__(
        self, text: str, names: tuple[str, ...], allowed: frozenset[str]
    ) -> Program | tuple[Diagnostic, ...]:
        """Return a Program, or the diagnostics of the text. Raises Fault for an unknown operation.

        The plan sees the prelude and its inputs and imports nothing. It performs operations that it
        handles itself or is allowed. A right is an operation, maybe for one model or tool alone, or
        a task. An operation that only the caller knows is denied, not unknown.
        """
        operations = frozenset(
            [right.partition(" ")[0] for right in allowed if not right.startswith("task ")]
        )
        for name in sorted(operations - self.known):
            raise _unknown(name, self.known)
        builder = Builder(
            _nothing_to_import,
            {},
            {},
            inputs=names,
            operations=self.known,
            plan=Plans,
            imports=False,
        )
        try:
            builder.main(Source("plan", text))
        except Diagnostics as refused:
            return tuple([self._explain(each, operations) for each in refused.diagnostics])
        handled = operations.union({"error"}, *[unit.handled for unit in builder.units])
        denied = [
            Diagnostic(
                "plan-denied",
                f"this plan may not perform `{name}`",
                (Label(span, "performed here"),),
                hint=f"allow it: (eval-plan text allow: ['{name}]), or handle it in the plan",
            )
            for name, span in operations_in(builder.units[-1])
            if name not in handled
        ]
        return tuple(denied) or builder.program()

    def _explain(self, found: Diagnostic, allowed: frozenset[str]) -> Diagnostic:
        """Return the diagnostic of an unknown name, which may be an operation of the program
        around."""
        name = found.span.text if found.span is not None else ""
        if found.code != "unbound-name" or name not in self.known:
            return found
        hint = f"it is an operation of the program around the plan: write (perform {name} …)"
        if name not in allowed:
            hint += f", and allow it: (eval-plan text allow: ['{name}])"
        return evolve(found, hint=hint)

    def too_many(self, program: Program, given: int, calls: int) -> Diagnostic | None:
        """Return the error for a plan whose bound of calls is above its right, or None."""
        from sexplang.analysis import too_many

        report = inspect(program, given)
        return too_many(report, calls) if report.calls.constant is not None else None


def _unknown(name: str, known: frozenset[str]) -> Fault:
    as_task = f"a task of the program is allowed so: '(task {to_source(name)})"
    return Fault(
        "unknown-effect",
        f"`allow:` names `{name}`, and there is no such operation",
        hint=did_you_mean(name, sorted(known), as_task),
    )


def _nothing_to_import(path: str, importer: str) -> tuple[Source, ...]:
    raise Fault("import-denied", "a plan imports nothing", hint="it is given its inputs")


__all__ = [
    "STANDARD",
    "Builder",
    "Find",
    "Plans",
    "build",
    "inspect",
    "meter",
    "tasks",
]
