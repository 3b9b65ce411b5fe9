"""The phases from text to a Program, in order. Pure: files are handed in.

text ─▶ reader ─▶ compiler ─▶ Unit ┐
xml  ─▶ templates ─▶ Task          ┴─▶ Program

The Builder loads modules, finds cycles of imports, and links templates and the prelude.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from sexplang.compiler import compile_unit, operations_in, unknown_effect
from sexplang.machine import HIGHER
from sexplang.machine.scopes.budgets import Meter, Price, rough_estimate
from sexplang.package.package_data import STANDARD, defaults_for, read_shipped
from sexplang.pipeline.macro_expansion import Macros
from sexplang.pipeline.validators import find_validators, functions_named
from sexplang.primitives import OPERATIONS, PRIMITIVES
from sexplang.reader import read
from sexplang.terms.classes.node import define, evolve, field, frozen
from sexplang.terms.core import Const, Local
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label, diagnose
from sexplang.terms.form import Form
from sexplang.terms.model.roles import Models
from sexplang.terms.program import Export, Function, Program, Unit
from sexplang.terms.source import Source, Span
from sexplang.terms.task import TaskSystem
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault, Operation, Primitive, Procedure, Task, Value

if TYPE_CHECKING:
    from sexplang.analysis import Report
    from sexplang.pipeline.template_files import TemplateCalls
    from sexplang.terms.python_file import PythonFile
    from sexplang.terms.template import Template, TemplateNode


Find = Callable[[str, str], tuple[Source, ...]]
"""`find(path, importer)` returns the sources of an import: one, or those of a folder.

`importer` is the name of the source that imports. A source's name identifies it: a file has the
same name wherever it is imported from. Raises Fault if there is no such file.
"""


@define
class Builder:
    """A program that is being built. Compiled units are appended, imports first."""

    find: Find
    given: Mapping[str, Task]
    """Tasks that every module sees; `tasks` are all of the program."""
    tasks: dict[str, Task]
    units: list[Unit] = field(factory=list)
    functions: list[Function] = field(factory=list)
    called: dict[str, Export] = field(factory=dict)
    """Templates that call others, by name. A template file may call them and the tasks."""
    exports: dict[str, dict[str, Export]] = field(factory=dict)
    loading: list[str] = field(factory=list)
    findings: list[Diagnostic] = field(factory=list)
    sources: list[Source] = field(factory=list)
    inputs: tuple[str, ...] = ()
    """Names of a plan's inputs, the first values of its environment."""
    operations: frozenset[str] = frozenset()
    """Operations that a plan is allowed."""
    host: Mapping[str, Primitive | Operation] = field(factory=dict)
    """Functions of the host, in the scope of all modules but the standard ones."""

    plan: Any = None
    """A function of operations to the maker of programs from a model's text, for `eval-plan`."""
    python: "list[PythonFile]" = field(factory=list)
    """The Python files that are imported."""
    imports: bool = True
    """Whether the program may import standard modules: a plan sees the prelude alone."""
    libraries: Collection[str] = ()
    """Names of sources whose tasks alone are wanted: they may be programs with inputs."""
    _calling: "TemplateCalls | None" = field(default=None, init=False)
    """The calls in template files, if there are any."""

    def main(self, source: Source, before: Source | None = None) -> None:
        if source.name.endswith(".xml"):
            self._templates(source, main=True)
            self._link(source.name)
        elif before is not None:
            self.compile_unit(source, (*read(before), *read(source)), main=True)
            self.sources.append(before)
        else:
            self._unit(source, main=True)
        self.check_effects()

    def program(self) -> Program:
        defaults = {}
        tools = [tool for task in self.tasks.values() for tool in task.template.allowed_tools]
        texts = [*tools, *[each.text for each in self.sources]]
        for operation, (module, name) in defaults_for(texts, bool(self.tasks)).items():
            defaults[operation] = self._standard(module)[name]
        return Program(
            units=tuple(sorted(self.units, key=lambda unit: unit.main)),
            functions=tuple(self.functions),
            tasks=tuple(self.tasks.values()),
            defaults=defaults,
            inputs=tuple([given for unit in self.units for given in unit.inputs]),
            warnings=tuple(self.findings),
            sources=tuple(self.sources),
            plan=self.plan and self.plan(frozenset(self._list_operations())),
            prelude=_FUNCTIONS | own if (own := self._procedures_of(Primitive)) else _FUNCTIONS,
            tools=self._functions(),
            python=tuple(self.python),
            validators=find_validators(self.tasks.values(), self.units),
        )

    def _unit(self, source: Source, main: bool = False) -> dict[str, Export]:
        """Compile a module and its imports; return its exports."""
        known = self.exports.get(source.name)
        before = self._input_exports() if main and self.inputs else None
        return (
            self.compile_unit(source, read(source), main, before).exports
            if known is None
            else known
        )

    def compile_unit(
        self,
        source: Source,
        forms: tuple[Form, ...],
        main: bool,
        before: Mapping[str, Export] | None = None,
    ) -> Unit:
        """Compile forms to a unit of the program. For a session, `before` are the names in
        scope."""
        self.loading.append(source.name)
        self.sources.append(source)
        unit = compile_unit(
            forms,
            name=source.name,
            scope=self._scope(source),
            load=lambda path, span: self._load(path, span, source.name),
            layout=self._layout,
            expander=Macros,
            main=main,
            is_library=source.name in self.libraries,
            check_template=_check_template,
            load_schema=self._load_schema,
            before=before,
            tools=self._tools,
        )
        self.loading.pop()
        for task in unit.tasks:
            self._register(task)
        self.units.append(unit)
        self.functions.extend(unit.functions)
        self.findings.extend(unit.warnings)
        self.exports[source.name] = unit.exports
        if not self.loading:
            self._link()
        return unit

    def _tools(self) -> list[str]:
        """Return the tools of templates that no module declares."""
        spans = [(task, task.template.span) for task in self.tasks.values()]
        own = [task for task, at in spans if at is None or at.source.name.endswith(".xml")]
        return [name for task in own for name in functions_named(task)]

    def _functions(self) -> dict[str, Function]:
        """Return the functions that models may have as tools: those that a task names, each
        `define-tool` that a module exports, and all that the program exports with a doc, because a
        call may name them."""
        found: dict[str, Function] = {}
        others: dict[str, Function] = {}
        for unit in self.units if self.tasks else ():
            for name, function in unit.tools.items():
                if function.is_tool and others.get(name, function) is not function:
                    raise diagnose(
                        "duplicate-tool",
                        f"two functions serve as the tool `{name}`",
                        function.span,
                        hint="the name of a tool is unique in a program: rename one",
                    )
                if not unit.main:  # in a session a later definition replaces an earlier one
                    others[name] = function
            for name, export in unit.exports.items():
                own = export.shape
                if isinstance(own, Function) and own.is_tool and (unit.main or own.is_defined_tool):
                    found[name] = own
            found |= {name: each for name, each in unit.tools.items() if each.is_tool}
        return found

    def _link(self, main: str | None = None) -> None:
        """Compile the bodies of templates that call others: all callees are known now."""
        if self._calling is None:
            return
        callable_ = {name: _of_task(task) for name, task in self.tasks.items()} | self.called
        unit = self._calling.unit(callable_, self._layout()[0], main)
        if unit is not None:
            self.units.append(unit)

    def _layout(self) -> tuple[int, int]:
        slots = self.units[-1].slots if self.units else 1 + len(self.inputs)
        return slots, len(self.functions)

    def _scope(self, source: Source) -> dict[str, Export]:
        scope = dict(_prelude())
        words = set(re.findall(_WORD, source.text))
        for name, module in STANDARD.items():
            if name in words and _standard_name(module) not in self.loading:
                scope[name] = self._standard(module)[name]
        if not source.name.startswith("std/"):
            for name, shape in self.host.items():
                scope[name] = Export(name, Const(shape, span=_NOWHERE), shape)
        for name, task in self.given.items():
            scope.setdefault(name, _of_task(task))
        return scope

    def _standard(self, module: str) -> dict[str, Export]:
        source, forms = _standard_forms(module)
        known = self.exports.get(source.name)
        return self.compile_unit(source, forms, False).exports if known is None else known

    def _input_exports(self) -> dict[str, Export]:
        """Return the inputs of a plan, which its modules do not see."""
        places = enumerate(self.inputs, 1)
        return {name: Export(name, Local(0, at, name, span=_NOWHERE)) for at, name in places}

    def _load(self, path: str, span: Span, importer: str) -> dict[str, Export]:
        if path.startswith("std/") and (self.imports or importer.startswith("std/")):
            return self._import_standard(path, span)
        try:
            sources = self.find(path, importer)
        except Fault as fault:
            raise diagnose(fault.code, fault.message, span, hint=fault.hint) from None
        exports: dict[str, Export] = {}
        for source in sources:
            if source.name in self.loading:
                raise self._cycle(source.name, span)
            if source.name.endswith((".xsd", ".json")):
                hint = 'a template names it, schema=…, or a type, (schema "flight.json")'
                raise diagnose("import-not-found", "a schema is no module", span, hint=hint)
            found = self._module(source, span)
            twice = sorted(exports.keys() & found.keys())
            if twice:
                raise diagnose(
                    "imported-twice",
                    f"`{twice[0]}` is defined by two files of this folder",
                    span,
                    hint=f"import `{source.name}` by itself, with `as:`",
                )
            exports.update(found)
        return exports

    def _module(self, source: Source, span: Span) -> dict[str, Export]:
        """Return the exports of a file that is imported at a span."""
        if source.name.endswith(".xml"):
            return self._templates(source)
        if not source.name.endswith(".py"):
            return self._unit(source)
        if source.name not in self.exports:
            from sexplang.pipeline.python_imports import export_functions, read_python

            others = [each for each in self.python if each.source.name != source.name]
            file = read_python(source, span, others)
            self.python = [*others, file]
            self.sources.append(source)
            self.exports[source.name] = export_functions(file)
        return self.exports[source.name]

    def _import_standard(self, path: str, span: Span) -> dict[str, Export]:
        module = path.removeprefix("std/")
        try:
            if re.fullmatch(r"[a-z][a-z-]*", module):
                return self._standard(module)
        except FileNotFoundError:
            pass
        from sexplang.package.habits import list_modules

        modules = ", ".join([f"`std/{each}`" for each in list_modules()])
        raise diagnose(
            "import-not-found", f"there is no `{path}`", span, hint=f"there are {modules}"
        )

    def _templates(self, source: Source, main: bool = False) -> dict[str, Export]:
        known = self.exports.get(source.name)
        if known is None:
            from sexplang.pipeline.template_files import TemplateCalls, library_of

            calling = self._calling = self._calling or TemplateCalls(self.functions)
            known = self.exports[source.name] = {}
            self.sources.append(source)
            self.loading.append(source.name)
            held = library_of(
                source,
                self.findings.append,
                self._load_schema,
                lambda path, span: self._load(path, span, source.name),
                main=main,
            )
            self.loading.pop()
            for task in held.tasks:
                self._register(task)
                known[task.name] = _of_task(task)
            for node in held.functions:
                self._register(node)
                known[node.name] = self.called[node.name] = calling.reserve(node)
            calling.calls = held.calls
        return known

    def _load_schema(self, path: str, span: Span) -> str:
        """Return the text of a schema beside the program. Raises Diagnostics."""
        from sexplang.pipeline.template_files import read_schema

        return read_schema(self.find, self.sources, path, span)

    def _register(self, named: "Task | TemplateNode") -> None:
        private = named.name.startswith("_")  # private to its module: no request finds it
        if not private and (named.name in self.tasks or named.name in self.called):
            raise diagnose(
                "duplicate-task",
                f"a task called `{named.name}` is there already",
                named.template.span if isinstance(named, Task) else named.span,
                hint="a task's name is unique in a program: rename one",
            )
        if isinstance(named, Task):
            self.tasks[f"{named.name} {len(self.tasks)}" if private else named.name] = named

    def _cycle(self, name: str, span: Span) -> Diagnostics:
        around = " → ".join([*self.loading[self.loading.index(name) :], name])
        return diagnose(
            "import-cycle",
            "modules import each other in a circle",
            span,
            notes=(around,),
            hint="move what both need into a third module",
        )

    def _procedures_of(self, kind: type[Procedure]) -> dict[str, Procedure]:
        found = [each.procedure for file in self.python for each in file.functions]
        known = {**self.host, **{each.name: each for each in found}}
        return {name: shape for name, shape in known.items() if isinstance(shape, kind)}

    def _list_operations(self) -> set[str]:
        """Return the operations that the program or the host declares, handles or performs."""
        known = {*OPERATIONS, *self.operations, *self._procedures_of(Operation), "error"}
        for unit in self.units:
            known |= unit.operations.keys() | unit.handled
        return known

    def check_effects(self) -> None:
        """Raise Diagnostics for operations that are neither declared nor handled anywhere."""
        if not any(unit.performed for unit in self.units):
            return
        known = self._list_operations()
        unknown = [
            unknown_effect(name, span, known)
            for unit in self.units
            for name, span in unit.performed
            if name not in known
        ]
        if unknown:
            raise Diagnostics([*unknown, *self.findings])


_FUNCTIONS: dict[str, Procedure] = {**PRIMITIVES, **HIGHER}
_WORD = r'"""[\s\S]*?"""|"(?:[^"\\]|\\.)*"|[^\s()\[\]{}"\'`~,;]+'
"""The words of a program, and its texts as they are written."""


def _check_template(template: "Template", where: Any = None) -> Iterable[Diagnostic]:
    """Return the diagnostics of a `defatom`."""
    from sexplang.templates import check_template

    return check_template(template, where)


_NOWHERE = Span(Source("prelude", ""), 0, 0)
_preludes: list[dict[str, Export]] = []


def _prelude() -> dict[str, Export]:
    """Return the exports that every program sees.

    There is one table, published when complete, so that threads and interrupts cannot see a part.
    """
    if not _preludes:
        shapes: dict[str, Any] = {**PRIMITIVES, **OPERATIONS, **HIGHER}
        _preludes.append(
            {
                name: Export(name, Const(shape, span=_NOWHERE), shape)
                for name, shape in shapes.items()
            }
        )
    return _preludes[0]


def _of_task(task: Task) -> Export:
    return Export(task.name, Const(task, span=task.template.span or _NOWHERE), task)


def _standard_name(module: str) -> str:
    return f"std/{module}"


@cache
def _standard_forms(module: str) -> tuple[Source, tuple[Form, ...]]:
    source = Source(_standard_name(module), read_shipped(f"stdlib/{module}.sexp"))
    return source, read(source)


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


def meter(load_price: Callable[[], Price]) -> Meter:
    """Return the meter of model calls. `load_price` gives the function from a model, input and
    output tokens to US dollars."""
    return Meter(rough_estimate, load_price)


SLIPS = frozenset(
    [
        *("unused-value", "swapped-arguments", "constant-test", "foreign-text", "foreign-call"),
        "unused-param",
    ]
)
"""The codes of slips that give a wrong value, which `run` reports, too."""


def find_slips(program: Program) -> tuple[Diagnostic, ...]:
    """Return the slips of a program that give a wrong value, as far as its text shows them, in the
    order of the text."""
    from sexplang.analysis.own_nodes import own_nodes
    from sexplang.analysis.signs import has_signs

    if not has_signs(program, list(own_nodes(program))):
        return ()
    from sexplang.analysis.wrong_values.all_finders import find_wrong_values

    return tuple(sorted(find_wrong_values(program), key=lambda each: each.labels[0].span.start))


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
    "SLIPS",
    "STANDARD",
    "Builder",
    "Find",
    "Plans",
    "build",
    "find_slips",
    "inspect",
    "meter",
    "tasks",
]
