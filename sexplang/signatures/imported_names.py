"""The names that a Python file imports, and what its own decorators are called there."""

import ast
from collections.abc import Iterable, Mapping

from sexplang.terms.classes.node import frozen

PACKAGE = "sexplang"
MARKS = ("tool", "operation", "primitive", "replay")
"""The decorators of this package."""


@frozen
class Origin:
    """The module of an imported name, and its name there; None if it is the module itself."""

    module: str
    name: str | None = None


def list_imports(tree: ast.Module) -> dict[str, Origin]:
    """Return the imported names of a file with what they stand for."""
    found: dict[str, Origin] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                first = each.name.partition(".")[0]
                found[each.asname or first] = Origin(each.name if each.asname else first)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names = [each.name for each in node.names]
            if names == ["*"]:
                found |= {name: Origin(module, name) for name in _list_by_star(module)}
                continue
            for each in node.names:
                found[each.asname or each.name] = Origin(module, each.name)
    return found


def _list_by_star(module: str) -> Iterable[str]:
    return MARKS if module == PACKAGE else ()


def mark_of(node: ast.expr, imports: Mapping[str, Origin]) -> str | None:
    """Return the decorator of this package that an expression names, called or not; else None."""
    named = node.func if isinstance(node, ast.Call) else node
    if isinstance(named, ast.Name):
        origin = imports.get(named.id)
        is_ours = origin is not None and origin.module == PACKAGE and origin.name in MARKS
        return origin.name if origin is not None and is_ours else None
    if isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name):
        origin = imports.get(named.value.id)
        if origin == Origin(PACKAGE) and named.attr in MARKS:
            return named.attr
    return None
