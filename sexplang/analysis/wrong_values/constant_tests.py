"""Tests that other languages take for false, and that are always true here."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.signs import OPERATORS, is_empty, is_function
from sexplang.analysis.wrong_values.constants import value_of, values_by_name
from sexplang.analysis.wrong_values.true_values import kind_of
from sexplang.terms.core import And, Call, CallKnown, CallPrimitive, Const, If, Local, Or
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Made
from sexplang.terms.values.text import to_source


def find_constant_tests(
    program: Program, nodes: list[Any], with_literals: bool
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each test of a value that is never false: a number, a text, a list. A
    literal in an `if`, `and` or `or` makes a part of the program unreachable, too."""
    values = values_by_name(program, nodes)
    for node in nodes:
        for test in _tests(node):
            if isinstance(test, Const) and not with_literals and not is_function(test.value):
                continue
            finding = _finding(program, test, values)
            if finding is not None and not isinstance(test.span, Made):
                yield finding


def _tests(node: Any) -> tuple[Any, ...]:
    """Return the nodes whose truth decides."""
    if isinstance(node, If):
        return (node.test,)
    if isinstance(node, (And, Or)):
        return node.items[:-1]
    if isinstance(node, CallPrimitive) and node.primitive.name == "not":
        return node.arguments
    return ()


def _finding(program: Program, test: Any, values: dict[str, Any]) -> Diagnostic | None:
    written = test.span.text
    if isinstance(test, Const) and is_function(test.value):
        name = getattr(test.value, "name", "")
        return None if name in OPERATORS else _warn(test, f"the function `{name}`", f"`({name} x)`")
    if isinstance(test, Const) and is_empty(test.value):
        return _warn(test, written, "the part that is meant alone")
    bound = value_of(test, values)
    if isinstance(bound, Const):
        if bound is test or not is_empty(bound.value):
            return None
        value = bound.value
        return _warn(test, f"{to_source(value)}, the value of `{test.name}`,", _ask(value, written))
    if not isinstance(test, (Local, CallPrimitive, Call, CallKnown)):
        return None
    kind = kind_of(program, bound, values)
    if kind is None:
        return None
    whose = f", the value of `{test.name}`," if isinstance(test, Local) else ""
    if kind == "number":
        return _warn(test, f"a number{whose}", f"`(> {written} 0)`, or `(not (= {written} 0))`")
    return _warn(test, f"a {kind}{whose}", f"`(not (empty? {written}))`")


def _ask(value: Any, written: str) -> str:
    if isinstance(value, (int, float)):
        return f"`(not (= {written} 0))`"
    return f"`(not (empty? {written}))`"


def _warn(test: Any, what: str, instead: str) -> Diagnostic:
    return Diagnostic(
        "constant-test",
        f"{what} is always true: only false and nil are false",
        (Label(test.span, "tested here"),),
        hint=f"write {instead}" if len(test.span.text) < 60 else "write `(not (empty? x))`",
        severity="warning",
    )
