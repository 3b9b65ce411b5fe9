"""Nodes whose value is a number, a text, a list or a table, and so never false."""

from typing import Any

from sexplang.analysis.signs import RESULT_KINDS, library_name
from sexplang.analysis.wrong_values.constants import value_of
from sexplang.terms.core import Const, If, Known, Lambda, Let, MakeTable, Seq
from sexplang.terms.program import Program
from sexplang.terms.values.value import Higher, Primitive

_LITERALS = {int: "number", float: "number", str: "text", tuple: "list", dict: "table"}

_DEEPEST = 40
"""The greatest number of nodes that are looked into for one kind."""


def kind_of(program: Program, node: Any, values: dict[str, Any]) -> str | None:
    """Return the kind of what a node gives, if it is always true; None if it may be false, or is
    not known. `values` are the nodes of names that are bound once."""
    kinds: set[str] = set()
    work = [node]
    for _ in range(_DEEPEST):
        if not work:
            break
        each = value_of(work.pop(), values)
        if isinstance(each, If):
            work += [each.then, each.otherwise]
        elif isinstance(each, Let):
            work.append(each.body)
        elif isinstance(each, Seq):
            work.append(each.items[-1])
        else:
            kind = _kind_of_one(program, each)
            if kind is None:
                return None
            kinds.add(kind)
    return None if work else kinds.pop() if len(kinds) == 1 else "value"


def _kind_of_one(program: Program, node: Any) -> str | None:
    if isinstance(node, Const):
        return _LITERALS.get(type(node.value))
    if isinstance(node, MakeTable):
        return "table"
    return RESULT_KINDS.get(library_name(program, node))


def kind_of_results(program: Program, node: Any, values: dict[str, Any]) -> str | None:
    """Return the kind of what a function gives, if it is always true; None if it may be false, or
    is not known."""
    node = value_of(node, values)
    if isinstance(node, Const) and isinstance(node.value, (Primitive, Higher)):
        return RESULT_KINDS.get(node.value.name)
    if isinstance(node, Known) and library_name_of(program, node) is not None:
        return RESULT_KINDS.get(library_name_of(program, node) or "")
    body = body_of(program, node)
    return kind_of(program, body, values) if body is not None else None


def library_name_of(program: Program, node: Known) -> str | None:
    """Return the name of a function of the library, None for the program's own."""
    function = program.functions[node.function]
    is_library = function.span is not None and function.span.source.name.startswith("std/")
    return function.name if is_library else None


def body_of(program: Program, node: Any) -> Any:
    """Return the body of a lambda or of a function of the program, None for any other node."""
    if isinstance(node, (Lambda, Known)):
        return program.functions[node.function].body
    return None
