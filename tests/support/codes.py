"""Source files to the error codes that they can raise, read from their syntax trees.

A code is a literal given to something whose parameter is called `code` (a function or class of
ours, `Diagnostic` and `Fault` among them) or under the key "code" of a literal table.
"""

import ast
from collections.abc import Iterable, Iterator

from attrs import frozen

KNOWN = {"Diagnostic": 0, "Fault": 0}
_KEBAB = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


@frozen
class Found:
    """A code and where it stands."""

    code: str
    place: str


def codes_in(files: Iterable[tuple[str, str]]) -> Iterator[Found]:
    """Every code in the files, given as pairs of name and text."""
    trees = [(name, [*filter(_may_have_one, ast.walk(ast.parse(text)))]) for name, text in files]
    takers = dict(KNOWN)
    for _, nodes in trees:
        takers |= _takers(nodes)
    for name, nodes in trees:
        for node in nodes:
            for value in _given(node, takers):
                for code in _literals(value):
                    if code and set(code) <= _KEBAB:
                        yield Found(code, f"{name}:{value.lineno}")


def _may_have_one(node: ast.AST) -> bool:
    return isinstance(node, (ast.Call, ast.Dict, ast.FunctionDef, ast.AsyncFunctionDef))


def _takers(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """Functions with a parameter `code`, and its position in a call of them."""
    found = {}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [arg.arg for arg in node.args.args if arg.arg not in ("self", "cls")]
            if "code" in names:
                found[node.name] = names.index("code")
    found.pop("__init__", None)
    return found


def _given(node: ast.AST, takers: dict[str, int]) -> Iterator[ast.expr]:
    """The expressions that stand where a code is wanted."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        if name in takers and len(node.args) > takers[name]:
            yield node.args[takers[name]]
        if name in takers or name in ("dict",):
            yield from (word.value for word in node.keywords if word.arg == "code")
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "code":
                yield value


def _literals(node: ast.expr) -> Iterator[str]:
    """The strings that an expression may be: both sides of a conditional."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _literals(node.body)
        yield from _literals(node.orelse)
