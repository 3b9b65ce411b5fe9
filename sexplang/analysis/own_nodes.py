"""The nodes of a program's own files, in the order of the text."""

from collections.abc import Iterator
from typing import Any, get_args

from sexplang.terms import core
from sexplang.terms.classes.node import attributes
from sexplang.terms.program import Bind, Program, Unit
from sexplang.terms.source import Span

_NODES = frozenset((*get_args(core.Core), core.Clause))


def own_units(program: Program) -> tuple[Unit, ...]:
    """Return the modules of the program without those of the library."""
    return tuple([unit for unit in program.units if not unit.name.startswith("std/")])


def is_own(span: Span | None) -> bool:
    """Return whether the program's author wrote the text at a span."""
    return span is not None and not span.source.name.startswith("std/")


def own_nodes(program: Program) -> Iterator[Any]:
    """Yield all nodes of the program's own modules."""
    roots: list[Any] = []
    for unit in own_units(program):
        roots += [item.value if isinstance(item, Bind) else item for item in unit.items]
        for function in unit.functions:
            roots += [each.default for each in function.params if each.default is not None]
            roots.append(function.body)
    return nodes_in(roots)


def nodes_in(roots: list[Any]) -> Iterator[Any]:
    """Yield the nodes and their descendants. Bodies of functions are not among them."""
    work = roots[::-1]
    while work:
        node = work.pop()
        yield node
        if not isinstance(node, core.Const):
            for held in reversed(attributes(node).values()):
                parts = held if type(held) is tuple else (held,)
                work.extend([part for part in reversed(parts) if type(part) in _NODES])
