"""Values that are computed and then discarded."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import nodes_in, own_nodes, own_units
from sexplang.terms.core import (
    Attempt,
    Call,
    CallPrimitive,
    Const,
    Handle,
    Known,
    Lambda,
    Local,
    MakeTable,
    Path,
    Seq,
)
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Bind, Program
from sexplang.terms.source import Made
from sexplang.terms.values.value import Task

_PLAIN = (Const, Local, Known, Lambda, MakeTable, Path)
"""The nodes without an effect."""

_VALUED = frozenset(
    [
        *("put", "remove", "merge", "cons", "append", "list", "reverse", "distinct", "flatten"),
        *("str", "string-upcase", "string-downcase", "string-trim", "string-replace"),
        *("string-split", "string-join", "not", "put-in", "delete", "re-replace", "string-repeat"),
    ]
)
"""Primitives that are called only for their value. Other primitives may be called to see whether
they fail: for an absent item, or a text that is no JSON."""


def find_discarded(program: Program) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each value before the last of a body or a file, and for each discarded
    answer of a task."""
    for unit in own_units(program):
        last = len(unit.items) - 1 if unit.main else len(unit.items)
        for item in unit.items[:last]:
            if not isinstance(item, Bind):
                yield from _findings(item)
    nodes = list(own_nodes(program))
    tried = _list_tried(nodes)
    for node in nodes:
        if isinstance(node, Seq):
            for item in node.items[:-1]:
                if isinstance(item, _PLAIN) or item not in tried:
                    yield from _findings(item)


def _list_tried(nodes: list[Any]) -> set[Any]:
    """Return the nodes in a `try` or an `attempt`, which may be there for their failure."""
    bodies = [
        node.body
        for node in nodes
        if isinstance(node, Attempt)
        or (isinstance(node, Handle) and any(each.operation == "error" for each in node.clauses))
    ]
    return set(nodes_in(bodies))


def _findings(node: Any) -> Iterator[Diagnostic]:
    if isinstance(node.span, Made) or (isinstance(node, Const) and node.value is None):
        return
    if isinstance(node, _PLAIN) or _is_for_its_value(node):
        yield _finding(node, "nobody uses this value", "leave it out, or give it a name to use")
    elif isinstance(node, Call) and isinstance(node.callee, Const):
        task = node.callee.value
        # A task with tools may be called for its effects.
        if isinstance(task, Task) and not task.template.allowed_tools:
            yield _finding(
                node,
                f"nobody uses the answer of `{task.name}`",
                f"give it a name: `(bind answer ({task.name} …))`, or leave the call out",
            )


def _is_for_its_value(node: Any) -> bool:
    if not isinstance(node, CallPrimitive):
        return False
    name = node.primitive.name
    if name in _VALUED or name.endswith("?"):
        return True
    # Arithmetic on literals cannot fail.
    numbers = [one for one in node.arguments if isinstance(one, Const)]
    return name in ("+", "-", "*", "max", "min") and len(numbers) == len(node.arguments)


def _finding(node: Any, title: str, hint: str) -> Diagnostic:
    return Diagnostic(
        "unused-value",
        title,
        (Label(node.span, "its value is thrown away"),),
        hint=hint,
        severity="warning",
    )
