"""Tests that other languages take for false, and that are always true here."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.signs import OPERATORS, is_empty, is_function
from sexplang.analysis.wrong_values.constants import values_by_name
from sexplang.terms.core import And, CallPrimitive, Const, If, Local, Or
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Made
from sexplang.terms.values.text import to_source

_COUNTS = frozenset(
    [
        *("length", "string-length", "string-count", "sum", "product"),
        *("+", "-", "*", "modulo", "remainder", "quotient", "abs"),
    ]
)
"""Primitives whose value is a number, which is true."""

_COLLECTIONS = frozenset(
    [
        *("append", "keys", "values", "entries", "take", "drop", "distinct"),
        *("string-split", "string-lines", "re-seq", "re-split"),
    ]
)
"""Primitives whose value is a list."""

_TEXTS = frozenset(
    [
        *("str", "string-append", "string-trim", "string-join", "substring", "string-upcase"),
        *("string-downcase", "string-replace", "format"),
    ]
)


def find_constant_tests(
    program: Program, nodes: list[Any], with_literals: bool
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each test of a value that is never false: a number, a text, a list. A
    literal in an `if`, `and` or `or` makes a part of the program unreachable, too."""
    found = values_by_name(program, nodes).items()
    names = {
        name: value.value
        for name, value in found
        if isinstance(value, Const) and is_empty(value.value)
    }
    for node in nodes:
        for test in _tests(node):
            if isinstance(test, Const) and not with_literals and not is_function(test.value):
                continue
            finding = _finding(test, names)
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


def _finding(test: Any, names: dict[str, Any]) -> Diagnostic | None:
    written = test.span.text
    if isinstance(test, Const) and is_function(test.value):
        name = getattr(test.value, "name", "")
        return None if name in OPERATORS else _warn(test, f"the function `{name}`", f"`({name} x)`")
    if isinstance(test, Const) and is_empty(test.value):
        return _warn(test, written, "the part that is meant alone")
    if isinstance(test, Local) and test.name in names:
        value = names[test.name]
        return _warn(test, f"{to_source(value)}, the value of `{test.name}`,", _ask(value, written))
    if not isinstance(test, CallPrimitive):
        return None
    name = test.primitive.name
    if name in _COUNTS:
        return _warn(test, "a number", f"`(> {written} 0)`, or `(not (= {written} 0))`")
    if name in _COLLECTIONS:
        return _warn(test, "a list", f"`(not (empty? {written}))`")
    if name in _TEXTS:
        return _warn(test, "a text", f"`(not (empty? {written}))`")
    return None


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
