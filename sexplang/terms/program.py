"""Programs: functions, units and exports."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from sexplang.terms.classes.node import field, frozen, node
from sexplang.terms.core import Core
from sexplang.terms.source import Source, Span, relative_name
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Operation, Procedure, Task, Value

if TYPE_CHECKING:
    from sexplang.terms.python_file import PythonFile
    from sexplang.terms.schemas import Schema


@node(eq=False)
class Parameter:
    """A parameter of a function. A default sees the parameters before it."""

    name: str
    """As calls name it; of a pattern its text and a mark, which no call can give."""
    default: Core | None = None
    schema: "Schema | None" = None
    """The type of a tool's parameter."""
    doc: str = ""

    @property
    def is_pattern(self) -> bool:
        """Return whether it is a pattern, which is given by position alone."""
        return not is_label(self.name)


def is_label(name: str) -> bool:
    """Return whether calls can give the parameter of this name by label: it is not a pattern."""
    return name[:1] not in ("[", "{", "(")


@node(eq=False)
class Function:
    """The code of a function; `Known` and `Lambda` refer to it by its index in the table.

    Slots: 0 the enclosing environment, then the parameters, then `rest` (a list), if any.
    """

    index: int
    name: str
    params: tuple[Parameter, ...]
    rest: str | None
    body: Core
    span: Span
    doc: str = ""
    outer: int = 1
    """The size of the environment that it closes over, at its definition (slot 0 counted)."""
    is_defined_tool: bool = False
    """Whether it is a `define-tool`: what a model sends is held to the types."""

    @property
    def is_tool(self) -> bool:
        """Return whether a model can have it as a tool: it is documented, and each parameter has a
        name."""
        return bool(self.doc) and all(is_label(param.name) for param in self.params)


InputType = Literal["string", "number", "integer", "boolean", "json", "file"]

INPUT_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a text", (str,)),
    "number": ("a number such as 3 or 1.5", (int, float)),
    "integer": ("a whole number such as 3", (int,)),
    "boolean": ("true or false", (bool,)),
    "json": ('JSON such as {"a": [1, 2]}', (object,)),
    "file": ("the path of a file", (str,)),
}
"""The values of each type in words, and their classes; only a boolean may be a `bool`."""


def is_of_type(value: Value, type_: InputType) -> bool:
    """Return whether a value is of an input type."""
    if type_ == "json":
        return True
    return isinstance(value, INPUT_TYPES[type_][1]) and (type_ == "boolean") is (
        isinstance(value, bool)
    )


class InputCheck(Protocol):
    """The check of an input of a type that is no input type: the expected value in words, and None
    for one that fits."""

    @property
    def written(self) -> str:
        """The type as it is written, in one line."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the type."""

    def __call__(self, value: Value, /) -> str | None:
        """Return the expected value in words, or None if the value fits."""


@frozen(eq=False)
class Input:
    """A `define-input`: an input that the main program asks its caller for."""

    name: str
    type: InputType
    choices: tuple[Value, ...]
    doc: str
    required: bool
    default: Value
    """The default if it is a literal, for `--help`; else None."""
    span: Span
    misfit: InputCheck | None = None
    """The check of an input of another type than those words."""

    def wants(self, value: Value) -> str | None:
        """Return the expected kind of value if the input does not take this one: `a whole number
        such as 3`."""
        if self.misfit is not None:
            return self.misfit(value)
        if not is_of_type(value, self.type):
            return INPUT_TYPES[self.type][0]
        if self.choices and value not in self.choices:
            return f"one of {', '.join([text(choice) for choice in self.choices])}"
        return None


@node(eq=False)
class Export:
    """An export of a module or the prelude: a public name and its value.

    `core` is resolved against the program's environment (depth 0 = the program's own). `shape` is
    the knowledge for checks: a Function, Primitive, Higher, Operation, Task, or None for a plain
    value.
    """

    name: str
    core: Core
    shape: Any = None


@frozen(eq=False)
class Unit:
    """One compiled module: its part of the program.

    `body` items run in order in the program's environment; an item that is a `Bind` appends.
    """

    name: str
    items: "tuple[Item, ...]"
    functions: tuple[Function, ...]
    exports: dict[str, Export]
    slots: int
    """The size of the program's environment after this unit (slot 0 counted)."""
    operations: dict[str, Operation] = field(factory=dict)
    """Operations that this module declares with `define-effect`."""
    tasks: tuple[Task, ...] = ()
    """Atomic tasks that this module declares with `defatom`."""
    handled: frozenset[str] = frozenset()
    """Operations that some handler in this module takes."""
    performed: tuple[tuple[str, Span], ...] = ()
    """Operations performed by name and not yet known: checked when all modules are there."""
    inputs: tuple[Input, ...] = ()
    warnings: tuple[Any, ...] = ()
    main: bool = False
    tools: Mapping[str, Function] = field(factory=dict)
    """The functions with the names of tasks' tools, as this module resolves them."""
    validators: Mapping[Task, Function] = field(factory=dict)
    """The functions that judge the answers of this module's tasks."""


@node(eq=False)
class Bind:
    """A top-level `define` or `bind` of a value: appends it to the program's environment."""

    name: str
    value: Core
    span: Span = field(kw_only=True, repr=False)


Item: TypeAlias = Core | Bind


@frozen(eq=False)
class Program:
    """All units in the order of their evaluation, the main one last.

    `functions` is the table of all units' functions, by index. `defaults` names the function that
    is called for an operation without a handler in the program (`subtask`).
    """

    units: tuple[Unit, ...]
    functions: tuple[Function, ...]
    tasks: tuple[Task, ...]
    defaults: dict[str, Export]
    inputs: tuple[Input, ...] = ()
    warnings: tuple[Any, ...] = ()
    sources: tuple[Source, ...] = ()
    """All texts of the program, in the order in which they were read."""
    folder: str | None = None
    """The folder of the file that it was built from; None for a text."""
    plan: Any = None
    """The build of a model's text: `plan(text, names of its inputs, operations allowed)` returns a
    Program, or diagnostics if the text is refused. `plan.too_many(program, number of inputs,
    calls)` is the diagnostic for a program that may make more model calls than that."""
    prelude: Mapping[str, Procedure] = field(factory=dict)
    """The primitives and prelude functions, by name."""
    tools: Mapping[str, Function] = field(factory=dict)
    """The documented functions that models may have as tools, by tool name."""
    python: "tuple[PythonFile, ...]" = ()
    """The Python files that it imports."""
    validators: Mapping[Task, Function] = field(factory=dict)
    """The functions that judge the answers of tasks."""

    def __repr__(self) -> str:
        return f"Program({self.units[-1].name!r})"

    def relative_name(self, source: Source) -> str:
        """Return the name of a source from the folder of the main file: it is the same wherever the
        files are, and however they were named."""
        name = source.original or source.name
        return relative_name(name, self.sources[0].name) if self.sources else name

    def has_tool(self, name: str) -> bool:
        """Return whether a model may have a task or a function of the program, or of a Python file
        that it imports, as the tool of this name."""
        tasks = [task.name for task in self.tasks if task.template.is_public]
        marked = [each for file in self.python for each in file.functions if each.kind == "tool"]
        return name in self.tools or name in tasks or any(each.name == name for each in marked)

    def handles(self, operation: str) -> bool:
        """Return whether some handler in the program, or in a module that it imports, takes an
        operation."""
        return any(operation in unit.handled for unit in self.units)
