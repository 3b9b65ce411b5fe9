"""Operators between their operands: here each is a value of its own."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.signs import OPERATORS, SHOWING, is_function, operator_between
from sexplang.terms.core import And, Call, CallPrimitive, Const, Or
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made
from sexplang.terms.values.value import Higher, Operation


def find_operators(nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each operator that stands between two operands in a list, an `and`,
    an `or`, or what is shown, and for each function that is shown as a text."""
    for node in nodes:
        if isinstance(getattr(node, "span", None), Made):
            continue
        if isinstance(node, (And, Or)):
            yield from _find_between(node, node.items)
        elif isinstance(node, CallPrimitive) and node.primitive.name == "list":
            yield from _find_between(node, node.arguments)
        elif isinstance(node, Const) and isinstance(node.value, tuple):
            if node.span is not None and node.span.text.startswith("["):
                yield from _find_in_constant(node)
        elif _shows(node):
            yield from _find_shown(node)


def _shows(node: Any) -> bool:
    if isinstance(node, CallPrimitive):
        return node.primitive.name in (*SHOWING, "format")
    callee = node.callee if isinstance(node, Call) else None
    value = callee.value if isinstance(callee, Const) else None
    return isinstance(value, (Operation, Higher)) and value.name in SHOWING


def _find_between(node: Any, items: Any) -> Iterator[Diagnostic]:
    for before, each, after in zip(items, items[1:], items[2:], strict=False):
        if operator_between(before, each, after):
            left, right = before.span.text, after.span.text
            yield _warn(each, _call(each.value.name, left, right))


def _find_in_constant(node: Const) -> Iterator[Diagnostic]:
    items = node.value
    assert isinstance(items, tuple)
    for before, each, after in zip(items, items[1:], items[2:], strict=False):
        names = [getattr(one, "name", "") for one in (before, each, after)]
        if is_function(each) and names[1] in OPERATORS and names[0] == names[2] == "":
            yield _warn(node, f"`({names[1]} a b)`", names[1])


def _find_shown(node: Any) -> Iterator[Diagnostic]:
    arguments = node.arguments
    for at, each in enumerate(arguments):
        if isinstance(each, Const) and is_function(each.value):
            name = each.value.name
            sides = arguments[max(at - 1, 0) : at + 2]
            if name == "+" and len(sides) == 3:
                parts = " ".join([one.span.text for one in arguments if one is not each])
                yield _warn(each, f"`({node.span.text[1:].split()[0]} {parts})`: it joins them")
            elif name in OPERATORS and len(sides) == 3:
                yield _warn(each, _call(name, sides[0].span.text, sides[2].span.text))
            else:
                yield _warn(each, f"`({name} …)` for a value of it")


def _call(name: str, left: str, right: str) -> str:
    call = f"({name} {left} {right})"
    return f"`{call}`" if len(call) < 80 else f"`({name} a b)`"


def _warn(node: Any, instead: str, name: str = "") -> Diagnostic:
    name = name or node.value.name
    return Diagnostic(
        "foreign-call",
        f"`{name}` is a value here: a function stands first in its call",
        (Label(node.span),),
        hint=f"write {instead}",
        severity="warning",
    )
