"""A program to the values in it that are computed and then thrown away."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own import own_nodes, own_units
from sexplang.terms.core import (
    Call,
    CallPrimitive,
    Const,
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
from sexplang.terms.value import Task

_PLAIN = (Const, Local, Known, Lambda, MakeTable, Path, CallPrimitive)
"""What does nothing but give a value."""


def discarded(program: Program) -> Iterator[Diagnostic]:
    """Values before the last of a body or a file, and answers of tasks that only answer."""
    for unit in own_units(program):
        last = len(unit.items) - 1 if unit.main else len(unit.items)
        for item in unit.items[:last]:
            if not isinstance(item, Bind):
                yield from _findings(item)
    for node in own_nodes(program):
        if isinstance(node, Seq):
            for item in node.items[:-1]:
                yield from _findings(item)


def _findings(node: Any) -> Iterator[Diagnostic]:
    if isinstance(node.span, Made) or (isinstance(node, Const) and node.value is None):
        return
    if isinstance(node, _PLAIN):
        yield _finding(node, "nobody uses this value", "leave it out, or give it a name to use")
    elif isinstance(node, Call) and isinstance(node.callee, Const):
        task = node.callee.value
        # One with tools may be called for what it does with them.
        if isinstance(task, Task) and not task.template.allowed_tools:
            yield _finding(
                node,
                f"nobody uses the answer of `{task.name}`",
                f"give it a name: `(bind answer ({task.name} …))`, or leave the call out",
            )


def _finding(node: Any, title: str, hint: str) -> Diagnostic:
    return Diagnostic(
        "unused-value",
        title,
        (Label(node.span, "its value is thrown away"),),
        hint=hint,
        severity="warning",
    )
