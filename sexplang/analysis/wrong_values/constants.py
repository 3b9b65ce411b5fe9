"""The constants that names stand for."""

from collections import Counter
from typing import Any

from sexplang.analysis.own_nodes import own_units
from sexplang.terms.core import Call, Clause, Const, Let, Local
from sexplang.terms.program import Bind, Program


def values_by_name(program: Program, nodes: list[Any]) -> dict[str, Any]:
    """Return the nodes of the values that are bound to a name, of the names that are bound once."""
    bound: list[tuple[str, Any]] = []
    for unit in own_units(program):
        bound += [(item.name, item.value) for item in unit.items if isinstance(item, Bind)]
        for function in unit.functions:
            bound += [(each.name, None) for each in function.params]
    for node in nodes:
        if isinstance(node, Let):
            bound += zip(node.names, node.values, strict=False)
        elif isinstance(node, Clause):
            bound += [(name, None) for name in node.params]
    times = Counter([name for name, _ in bound if name != "_"])  # `_` is any value without a name
    return {name: value for name, value in bound if times[name] == 1 and value is not None}


def value_of(node: Any, values: dict[str, Any]) -> Any:
    """Return the node of a name's value, or the node itself if it is no name that is known."""
    return values.get(node.name, node) if isinstance(node, Local) else node


def names_called(nodes: list[Any]) -> set[str]:
    """Return the names of the local functions that are called."""
    callees = [node.callee for node in nodes if isinstance(node, Call)]
    return {each.name for each in callees if isinstance(each, Local)}


def text_of(node: Any) -> str:
    """Return the text that a node is, an empty one for any other node."""
    is_text = isinstance(node, Const) and isinstance(node.value, str)
    return node.value if is_text else ""
