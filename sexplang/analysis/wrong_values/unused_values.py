"""Values that are computed and then discarded."""

from collections.abc import Collection, Iterator
from typing import Any

from sexplang.analysis.own_nodes import nodes_in, own_units
from sexplang.analysis.signs import IDLE, PLAIN
from sexplang.terms.core import (
    Attempt,
    Call,
    CallPrimitive,
    Const,
    Handle,
    If,
    Lambda,
    Let,
    Local,
    Seq,
)
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Bind, Program
from sexplang.terms.source import Made
from sexplang.terms.values.value import Higher, Task

_VALUED = frozenset(
    [
        *("put", "remove", "merge", "cons", "append", "list", "reverse", "distinct", "flatten"),
        *("str", "string-upcase", "string-downcase", "string-trim", "string-replace"),
        *("string-split", "string-join", "not", "put-in", "delete", "re-replace", "string-repeat"),
    ]
)
"""Primitives that are called only for their value. Other primitives may be called to see whether
they fail: for an absent item, or a text that is no JSON."""


def find_discarded(program: Program, nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each value before the last of a body or a file, each value of a
    function of `for-each`, and each discarded answer of a task."""
    for unit in own_units(program):
        last = len(unit.items) - 1 if unit.main else len(unit.items)
        for item in unit.items[:last]:
            if not isinstance(item, Bind):
                yield from _findings(item)
    tried = _list_tried(nodes)
    for node in nodes:
        if isinstance(node, Seq):
            for item in node.items[:-1]:
                if isinstance(item, PLAIN) or item not in tried:
                    yield from _findings(item)
        elif isinstance(node, Call) and _is_higher(node, ("for-each",)):
            function = node.arguments[0]
            if isinstance(function, Lambda):
                yield from _each_value(program.functions[function.function].body)


def _list_tried(nodes: list[Any]) -> set[Any]:
    """Return the nodes in a `try` or an `attempt`, which may be there for their failure."""
    bodies = [
        node.body
        for node in nodes
        if isinstance(node, Attempt)
        or (isinstance(node, Handle) and any(each.operation == "error" for each in node.clauses))
    ]
    return set(nodes_in(bodies))


def _is_higher(node: Call, names: Collection[str]) -> bool:
    callee = node.callee.value if isinstance(node.callee, Const) else None
    return isinstance(callee, Higher) and callee.name in names


def _each_value(body: Any) -> Iterator[Diagnostic]:
    """Yield a diagnostic for what a function of `for-each` gives, if it is called for its value."""
    while isinstance(body, (Let, Seq)):
        if isinstance(body, Let) and isinstance(body.body, Local) and body.names:
            if body.body.name in body.names and _is_bound_again(body):
                yield _finding(
                    body,
                    f"`{body.names[0]}` has this value only to the end of the function",
                    "write `(fold (lambda (acc x) …) init xs)`, or `(import std/state)`",
                )
            return
        body = body.body if isinstance(body, Let) else body.items[-1]
    if isinstance(body, CallPrimitive) and body.primitive.name in _VALUED:
        yield _finding(
            body,
            "`for-each` uses no value of its function",
            "write `(map f xs)` for the values, `(fold f init xs)` to collect into one",
        )


def _is_bound_again(node: Let) -> bool:
    """Return whether a name is bound to a value made of the name's value before."""
    return any(
        isinstance(each, Local) and each.name in node.names for each in nodes_in([*node.values])
    )


def _findings(node: Any) -> Iterator[Diagnostic]:
    if isinstance(node.span, Made) or (isinstance(node, Const) and node.value is None):
        return
    if isinstance(node, If):
        for branch in (node.then, node.otherwise):
            if not isinstance(branch, Local):
                yield from _early(branch)
    elif isinstance(node, PLAIN) or _is_for_its_value(node):
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


def _early(branch: Any) -> Iterator[Diagnostic]:
    """Yield a diagnostic for a value that is meant to be returned early."""
    is_nil = isinstance(branch, Const) and branch.value in (None, ())
    if not is_nil and (isinstance(branch, PLAIN) or _is_for_its_value(branch)):
        yield _finding(
            branch,
            "nobody uses this value: the last form of a body gives its value",
            "write `(if test e rest)`, or `(cond (test e) … (else e))` as the last form",
        )


def _is_for_its_value(node: Any) -> bool:
    if isinstance(node, Call):
        return _is_higher(node, IDLE)
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
