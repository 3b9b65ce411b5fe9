"""Literals that a call gives to a parameter whose truth is tested, and that are always true."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import nodes_in
from sexplang.analysis.signs import is_empty
from sexplang.terms.core import (
    And,
    Call,
    CallKnown,
    CallPrimitive,
    Const,
    If,
    Known,
    Local,
    Or,
    Path,
)
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Function, Program
from sexplang.terms.source import Made
from sexplang.terms.values.text import to_source


def find_empty_arguments(program: Program, nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each literal 0, `""`, `[]` or `{}` in a call of a function that tests
    its parameter, or the field of it where the literal stands."""
    for node in nodes:
        function = _callee(program, node)
        if function is None or isinstance(node.span, Made):
            continue
        tests: list[Any] | None = None
        for place, given in _places(function, node):
            if isinstance(given, Const) and _may_be_empty(given.value):
                tests = _tests(function) if tests is None else tests
                yield from _findings(given, [each for each in tests if _slot(each) == place])


def _callee(program: Program, node: Any) -> Function | None:
    if isinstance(node, CallKnown):
        return program.functions[node.function]
    if isinstance(node, Call) and isinstance(node.callee, Known):
        return program.functions[node.callee.function]
    return None


def _places(function: Function, node: Any) -> Iterator[tuple[int, Any]]:
    """Yield the slots of the parameters that are given, each with its argument."""
    labels = getattr(node, "labels", ())
    positional = len(node.arguments) - len(labels)
    names = [each.name for each in function.params]
    for at, given in enumerate(node.arguments[:positional]):
        if at < len(names):
            yield at + 1, given
    for label, given in zip(labels, node.arguments[positional:], strict=True):
        if label in names:
            yield names.index(label) + 1, given


def _may_be_empty(value: Any) -> bool:
    return is_empty(value) or (isinstance(value, dict) and any(map(is_empty, value.values())))


def _tests(function: Function) -> list[Any]:
    """Return the parameters and their fields whose truth decides in a function."""
    found: list[Any] = []
    for node in nodes_in([function.body]):
        if isinstance(node, If):
            found.append(node.test)
        elif isinstance(node, (And, Or)):
            found += node.items[:-1]
        elif isinstance(node, CallPrimitive) and node.primitive.name == "not":
            found += node.arguments
    return found


def _slot(test: Any) -> int:
    base = test.base if isinstance(test, Path) else test
    return base.index if isinstance(base, Local) and base.depth == 0 else 0


def _findings(given: Const, tests: list[Any]) -> Iterator[Diagnostic]:
    for test in tests:
        value: Any = given.value
        for field in test.fields if isinstance(test, Path) else ():
            value = value.get(field) if isinstance(value, dict) else None
        if is_empty(value):
            shown = to_source(value)
            yield Diagnostic(
                "constant-test",
                f"`{test.span.text}` is tested, and {shown} is true: only false and nil are false",
                (Label(given.span, "given here"), Label(test.span, "tested here")),
                hint="leave it out or give nil, or ask "
                + (f"`(= {test.span.text} 0)`" if value == 0 else f"`(empty? {test.span.text})`"),
                severity="warning",
            )
            return
