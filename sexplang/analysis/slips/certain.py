"""The places of a program whose observed values are the only possible ones.

Other callers may pass other arguments to a function. A name whose kind is tested (`list?`,
`failed?`, a pattern) has one value before one branch and another before the other. Neither is
certain, so neither is reported.
"""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import own_nodes, own_units
from sexplang.terms import core
from sexplang.terms.program import Bind, Program
from sexplang.terms.values.value import Task

EQUALITIES = ("equal?", "eq?", "string=?", "member?")


class Certain:
    """The names of a program whose values are certain."""

    def __init__(self, program: Program) -> None:
        self._bound = {_key(each) for each in own_nodes(program) if _is_slot(each)}
        self._bound |= set(_bound(program))
        self._bound -= set(_parameters(program))
        self._bound -= {_key(name) for name in _list_asked(program)}

    def is_certain(self, node: Any) -> bool:
        """Return whether all values of a node were observed at its place."""
        if isinstance(node, core.Path):
            node = node.base
        return not isinstance(node, core.Local) or _key(node) in self._bound


def is_written(node: core.CallPrimitive) -> bool:
    """Return whether a call is written in the program. Calls of a pattern are generated."""
    span = node.span
    return all(span.start < one.span.start and one.span.end < span.end for one in node.arguments)


def _is_slot(node: Any) -> bool:
    """Return whether a node is the unnamed slot of a `match` or a `case`."""
    return isinstance(node, core.Local) and node.name == "_"


def _key(name: core.Local) -> Any:
    return (name.span.source, name.span.start) if _is_slot(name) else name.name


def _bound(program: Program) -> Iterator[str]:
    """Yield the names of values, the typed parameters of tools, and the parameters of lambdas that
    are called in one place."""
    for unit in own_units(program):
        yield from [item.name for item in unit.items if isinstance(item, Bind)]
        typed = [each for function in unit.functions for each in function.params if each.schema]
        yield from [each.name for each in typed]
    for node in own_nodes(program):
        if isinstance(node, core.Let):
            yield from node.names
        elif isinstance(node, (core.Call, core.CallKnown, core.CallPrimitive)):
            for one in node.arguments:
                if isinstance(one, core.Lambda):
                    yield from [each.name for each in program.functions[one.function].params]


def _parameters(program: Program) -> Iterator[str]:
    """Yield the parameters of named functions, which have any callers."""
    for unit in own_units(program):
        for function in unit.functions:
            if function.name != "lambda":
                yield from [each.name for each in function.params if not each.schema]


def _list_asked(program: Program) -> Iterator[core.Local]:
    """Yield the names that a test may distinguish by more than equality."""
    for node in own_nodes(program):
        if isinstance(node, core.CallPrimitive) and _asks_a_kind(node.primitive.name):
            yield from _names(node.arguments)
        elif isinstance(node, core.If):
            yield from _list_given(node.test)
        elif isinstance(node, (core.And, core.Or)):
            for item in node.items[:-1]:
                yield from _list_given(item)


def _asks_a_kind(name: str) -> bool:
    is_of_texts = name.startswith("string") and name != "string?"
    return name.endswith("?") and name not in EQUALITIES and not is_of_texts


def _list_given(test: Any) -> Iterator[core.Local]:
    """Yield the names in a test that are arguments of the program's functions."""
    work = [test]
    while work:
        node = work.pop()
        if isinstance(node, (core.And, core.Or)):
            work += node.items
        elif isinstance(node, core.CallPrimitive):
            work += node.arguments
        elif isinstance(node, (core.Call, core.CallKnown)) and not _is_task(node):
            yield from _names(node.arguments)


def _names(nodes: tuple[Any, ...]) -> list[core.Local]:
    """Return the names among nodes, and the names whose fields are read."""
    bases = [one.base if isinstance(one, core.Path) else one for one in nodes]
    return [one for one in bases if isinstance(one, core.Local)]


def _is_task(node: Any) -> bool:
    callee = getattr(node, "callee", None)
    return isinstance(callee, core.Const) and isinstance(callee.value, Task)
