"""A program to the places in it whose values no caller and no test can make any other.

A function takes what its callers give it, and other callers may give it something else. A name
that is asked for its kind (`list?`, `failed?`, a pattern) is worth one thing before one branch and
another before the other. Neither is certain, so nothing is said of it.
"""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import own_nodes, own_units
from sexplang.terms import core
from sexplang.terms.program import Bind, Program
from sexplang.terms.values.value import Task

EQUALITIES = ("equal?", "eq?", "string=?", "member?")


class Certain:
    """What is known of the names of a program."""

    def __init__(self, program: Program) -> None:
        self._bound = {_key(each) for each in own_nodes(program) if _is_slot(each)}
        self._bound |= set(_bound(program))
        self._bound -= set(_parameters(program))
        self._bound -= {_key(name) for name in _list_asked(program)}

    def is_certain(self, node: Any) -> bool:
        """Whether all that a node is ever worth was seen where it stands."""
        if isinstance(node, core.Path):
            node = node.base
        return not isinstance(node, core.Local) or _key(node) in self._bound


def is_written(node: core.CallPrimitive) -> bool:
    """Whether the program has this call: those of a pattern are made of what stands elsewhere."""
    span = node.span
    return all(span.start < one.span.start and one.span.end < span.end for one in node.arguments)


def _is_slot(node: Any) -> bool:
    """Of the value that a `match` or a `case` looks at, where that has no name."""
    return isinstance(node, core.Local) and node.name == "_"


def _key(name: core.Local) -> Any:
    return (name.span.source, name.span.start) if _is_slot(name) else name.name


def _bound(program: Program) -> Iterator[str]:
    """Names of values, and the parameters of lambdas that nobody else can call."""
    for unit in own_units(program):
        yield from [item.name for item in unit.items if isinstance(item, Bind)]
    for node in own_nodes(program):
        if isinstance(node, core.Let):
            yield from node.names
        elif isinstance(node, (core.Call, core.CallKnown, core.CallPrimitive)):
            for one in node.arguments:
                if isinstance(one, core.Lambda):
                    yield from [each.name for each in program.functions[one.function].params]


def _parameters(program: Program) -> Iterator[str]:
    """Those of functions with a name, which anybody may call."""
    for unit in own_units(program):
        for function in unit.functions:
            if function.name:
                yield from [each.name for each in function.params]


def _list_asked(program: Program) -> Iterator[core.Local]:
    """The names that a test may tell apart by anything but equality."""
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
    """The names in a test that are given to functions of the program."""
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
    """Those that stand there, and those that a field is read from."""
    bases = [one.base if isinstance(one, core.Path) else one for one in nodes]
    return [one for one in bases if isinstance(one, core.Local)]


def _is_task(node: Any) -> bool:
    callee = getattr(node, "callee", None)
    return isinstance(callee, core.Const) and isinstance(callee.value, Task)
