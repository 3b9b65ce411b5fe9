"""Python files as modules: the functions that a text marks, without any of its values."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Literal, TypeAlias

from sexplang.terms.classes.node import define, frozen
from sexplang.terms.source import Source, Span
from sexplang.terms.values.value import Fault, Operation, Primitive, Value

PythonKind: TypeAlias = Literal["tool", "operation", "primitive"]


@frozen
class PythonParameter:
    """A parameter: its type and its default as they are written, empty if there are none."""

    name: str
    type: str
    default: str
    is_required: bool
    is_text: bool
    """Whether it is annotated as `str`."""
    span: Span


@define(eq=False)
class LateFunction:
    """The function of a primitive that is found when the host has run its file."""

    name: str
    file: str
    function: Callable[..., Value] | None = None

    def __call__(self, *arguments: Value) -> Value:
        """Return the value of the function. Raises Fault `python-denied` before it is found."""
        if self.function is None:
            raise Fault(
                "python-denied",
                f"`{self.name}` is a function of {self.file}, and this host has not run that file",
                hint=f"permit it: --allow-python {self.file}",
            )
        return self.function(*arguments)


@frozen(eq=False)
class PythonFunction:
    """A marked function: `attribute` is its name in Python, `name` its name in programs.

    Required parameters come first. A tool is an operation too, of the same name.
    """

    name: str
    attribute: str
    kind: PythonKind
    params: tuple[PythonParameter, ...]
    returns: str
    doc: str
    replay: str | None
    """Whether a call in doubt may be repeated: `safe`, `ask` or `never`."""
    is_async: bool
    name_span: Span
    span: Span
    file: str

    @cached_property
    def procedure(self) -> Operation | Primitive:
        """The function as programs call it."""
        least = sum(each.is_required for each in self.params)
        names = tuple([each.name for each in self.params])
        if self.kind == "primitive":
            shown = [each.name if each.is_required else f"[{each.name}]" for each in self.params]
            late = LateFunction(self.name, self.file)
            return Primitive(self.name, late, least, len(names), self.doc, " ".join(shown))
        texts = frozenset([at for at, each in enumerate(self.params) if each.is_text])
        return Operation(self.name, names, least, False, texts, self.doc)


@frozen(eq=False)
class PythonFile:
    """A Python file that a program imports. `imported` is the first import of it."""

    source: Source
    functions: tuple[PythonFunction, ...]
    imported: Span | None = None


def list_decisions(files: Iterable[PythonFile]) -> dict[str, Any]:
    """Return what a resumed run does with calls in doubt, by the operation or `tool:` and the tool
    that a function of the files says it for."""
    return {
        name: each.replay
        for file in files
        for each in file.functions
        if each.replay is not None
        for name in (each.name, *([f"tool:{each.name}"] if each.kind == "tool" else []))
    }
