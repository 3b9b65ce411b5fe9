"""Keys and defaults of tables as other languages have them: a path in one text, a default that is
a function."""

import re
from collections.abc import Iterator
from typing import Any

from sexplang.analysis.signs import PAIRED, library_name
from sexplang.analysis.wrong_values.constants import (
    names_called,
    text_of,
    value_of,
    values_by_name,
)
from sexplang.analysis.wrong_values.true_values import kind_of_results
from sexplang.terms.core import Call, CallPrimitive, Const, Lambda, Let, MakeTable
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Made
from sexplang.terms.values.text import to_source

KEYED = frozenset(("get", "has-key?", "put"))
"""Primitives with a table and a key."""

_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\.\d+)+")


def find_table_slips(program: Program, nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each key that is a path through a table which the text shows, and for
    each default of `get` that is a function without parameters."""
    reads = [
        node
        for node in nodes
        if isinstance(node, CallPrimitive)
        and node.primitive.name in KEYED
        and len(node.arguments) > 1
        and not isinstance(node.span, Made)
    ]
    if not reads:
        return
    values = values_by_name(program, nodes)
    for node in reads:
        yield from _find_pairs_read(program, node, values)
        table = _table(node.arguments[0], values)
        key = text_of(node.arguments[1])
        if table is not None and _PATH.fullmatch(key) and key not in table:
            if key.partition(".")[0] in table:
                yield _path(node, key.split("."))
        elif (
            len(node.arguments) == 3
            and _makes_value(program, node.arguments[2])
            and not _is_called(node, nodes)
            and not _holds_functions(table)
        ):
            yield _default(program, node)


def _find_pairs_read(
    program: Program, node: CallPrimitive, values: dict[str, Any]
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for a key of a list of pairs, which other languages have as a table."""
    pairs, key = value_of(node.arguments[0], values), node.arguments[1]
    name = library_name(program, pairs)
    if name not in PAIRED or node.primitive.name == "put" or not isinstance(key, Const):
        return
    if type(key.value) is int and (
        key.value == 0 or not _has_numbers(program, name, pairs, values)
    ):
        return
    if isinstance(key.value, (int, float, str)):
        given, written = node.arguments[0].span.text, key.span.text
        table = f"(get (from-entries {given}) {written})"
        instead = table if isinstance(key.value, str) else f"(second (assoc {written} {given}))"
        yield Diagnostic(
            "foreign-call",
            f"`{name}` gives a list of pairs, and {written} is a place in it",
            (Label(key.span, "this is no key"),),
            hint=f"write `{instead}`",
            severity="warning",
        )


def _has_numbers(program: Program, name: str, pairs: Any, values: dict[str, Any]) -> bool:
    """Return whether the first of each pair is a number."""
    if name == "frequencies" or not pairs.arguments:
        return False
    return kind_of_results(program, pairs.arguments[0], values) == "number"


def _table(node: Any, values: dict[str, Any]) -> dict[str, Any] | None:
    """Return the keys of a table that is written in the text, with their values; None for any
    other node."""
    found = value_of(node, values)
    if isinstance(found, MakeTable) and "" not in found.keys:
        return dict(zip(found.keys, found.values, strict=True))
    if isinstance(found, Const) and isinstance(found.value, dict):
        return found.value
    return None


def _path(node: CallPrimitive, keys: list[str]) -> Diagnostic:
    name = node.primitive.name
    table = node.arguments[0].span.text
    written = " ".join([key if key.isdigit() else to_source(key) for key in keys])
    last = to_source(keys[-1])
    instead = {
        "get": f"(get-in {table} [{written}])",
        "has-key?": f"(has-key? (get-in {table} [{written[: -len(last)].strip()}]) {last})",
        "put": f"(put-in {table} [{written}] {node.arguments[-1].span.text})",
    }[name]
    return Diagnostic(
        "foreign-call",
        f"`{name}` takes one key, and this table has no key `{'.'.join(keys)}`",
        (Label(node.arguments[1].span, "this is no path"),),
        hint=f"write `{instead}`" if len(instead) < 100 else "write `(get-in t [key key])`",
        severity="warning",
    )


def _makes_value(program: Program, node: Any) -> bool:
    """Return whether a node is a function without parameters that gives a constant."""
    if not isinstance(node, Lambda):
        return False
    function = program.functions[node.function]
    return not function.params and isinstance(function.body, Const)


def _is_called(read: CallPrimitive, nodes: list[Any]) -> bool:
    """Return whether what is read is called, at once or by a name."""
    called = names_called(nodes)
    for node in nodes:
        if isinstance(node, Call) and node.callee is read:
            return True
        if isinstance(node, Let):
            pairs = zip(node.names, node.values, strict=False)
            if any(value is read and name in called for name, value in pairs):
                return True
    return False


def _holds_functions(table: dict[str, Any] | None) -> bool:
    """Return whether a table that the text shows has a value that is not plain; true for a table
    that it does not show."""
    if table is None:
        return True
    return any(
        not isinstance(each, (Const, int, float, str, tuple, dict)) for each in table.values()
    )


def _default(program: Program, node: CallPrimitive) -> Diagnostic:
    default = node.arguments[2]
    assert isinstance(default, Lambda)
    body = program.functions[default.function].body
    read = " ".join([each.span.text for each in node.arguments[:2]])
    return Diagnostic(
        "foreign-call",
        "the default is this function itself, which is not called",
        (Label(default.span),),
        hint=f"write `({node.primitive.name} {read} {body.span.text})`",
        severity="warning",
    )
