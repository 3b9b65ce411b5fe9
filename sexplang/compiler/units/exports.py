"""The exports of a module."""

from collections.abc import Iterable, Mapping

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.names.bindings import (
    Binding,
    Keyword,
    NamedFunction,
    Namespace,
    Place,
    Signature,
)
from sexplang.compiler.units.macros import Syntax
from sexplang.compiler.units.statements import Definition, Statement
from sexplang.terms.core import Const, Known, Local
from sexplang.terms.form import MARK
from sexplang.terms.program import Export, Function
from sexplang.terms.source import Source, Span
from sexplang.terms.values.value import Operation, Task

_NOWHERE = Span(Source("a declaration", ""), 0, 0)


def exports(c: Lowering, statements: Iterable[Statement]) -> dict[str, Export]:
    """Return the public names of the module: its own names without a leading `_`."""
    declared: dict[str, Operation | Task] = {**c.operations, **c.tasks}
    found = {
        name: Export(name, Const(value, span=_NOWHERE), value)
        for name, value in declared.items()
        if is_public(name)
    }
    for item in statements:
        if isinstance(item, Syntax):
            _close(c, item)
        if isinstance(item, (Definition, Syntax)) and is_public(item.name.text):
            name = item.name.text
            export = _export(c, name, c.names.table.get(name), item.name.span)
            if export is not None:
                found[name] = export
    return found


def session_exports(c: Lowering, statements: Iterable[Statement]) -> dict[str, Export]:
    """Return all names after an input of a session, private and imported ones included."""
    found = exports(c, statements)
    for name, binding in c.names.table.items():
        if type(binding) is Namespace:
            found[name] = Export(name, Const(None, span=_NOWHERE), binding)
        elif MARK not in name:
            export = _export(c, name, binding, _NOWHERE)
            if export is not None:
                found[name] = export
    return found


def recall(c: Lowering, before: Mapping[str, Export]) -> None:
    """Bind the names of earlier inputs of a session. The current input may shadow them."""
    for name, export in before.items():
        space = type(export.shape) is Namespace
        c.names.bind(name, export.shape if space else export)


def functions_called(c: Lowering, names: Iterable[str]) -> dict[str, Function]:
    """Return the functions of the program that names stand for at the top of the module."""
    found: dict[str, Function] = {}
    for name in dict.fromkeys(names):
        binding = c.names.find(name)
        export = (
            c.names.find_in_module(name) if binding is None else _export(c, name, binding, _NOWHERE)
        )
        shape = None if export is None else export.shape
        if isinstance(shape, Function) and not shape.span.source.is_library:
            found[name] = shape
    return found


def is_public(name: str) -> bool:
    return not name.startswith("_") and MARK not in name


def _export(c: Lowering, name: str, binding: Binding | None, span: Span) -> Export | None:
    if isinstance(binding, NamedFunction):
        function = c.functions[binding.function - c.first_function]
        assert function is not None
        return Export(name, Known(0, binding.function, span=function.span), function)
    if isinstance(binding, Place):
        shape = None if isinstance(binding.shape, Signature) else binding.shape
        return Export(name, Local(0, binding.index, name, span=span), shape)
    if isinstance(binding, Keyword):
        return Export(name, Const(None, span=span), binding.macro)
    return binding if isinstance(binding, Export) else None


def _close(c: Lowering, item: Syntax) -> None:
    """Complete a macro with the bindings of its template's names, for modules that import it."""
    macro = item.keyword.macro
    for name in macro.rules.names if macro.rules is not None else ():
        binding = c.names.resolve(name, item.keyword)
        named = binding if type(binding) is Namespace else _export(c, name, binding, macro.span)
        if named is not None:
            macro.names[name] = named
