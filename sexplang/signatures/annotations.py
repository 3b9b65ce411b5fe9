"""Annotations of Python, as far as their text says which data they take.

A name that the file imports may stand for any class: only the file itself, when it runs, knows.
"""

import ast
from collections.abc import Mapping
from typing import TypeAlias

from sexplang.signatures.imported_names import Origin
from sexplang.terms.classes.node import define, field

TYPES = "str, int, float, bool, list, dict, Optional, Literal, a dataclass, a TypedDict or a " + (
    "pydantic model"
)

_DEEPEST = 30
"""The types in each other that are read."""

_BUILTIN = frozenset({"str", "int", "float", "bool", "list", "tuple", "dict", "object", "None"})
_LISTS = frozenset({"list", "List", "Sequence"})
_TABLES = frozenset({"dict", "Dict", "Mapping"})
_MARKS = frozenset({"Annotated", "Required", "NotRequired"})
_KNOWN: Mapping[str, frozenset[str]] = {
    "typing": _LISTS
    | _TABLES
    | _MARKS
    | {"Any", "Optional", "Union", "Literal", "Tuple", "TypedDict"},
    "collections.abc": frozenset({"Sequence", "Mapping"}),
    "datetime": frozenset({"date", "datetime", "time"}),
}
_ALIASES = {"typing_extensions": "typing"}

Misfit: TypeAlias = str | None
"""The part of an annotation that cannot be read, as it is written; None if there is none."""


@define(eq=False)
class Annotations:
    """The annotations of one file: its classes, its names for types, and its imports."""

    classes: Mapping[str, ast.ClassDef]
    aliases: Mapping[str, ast.expr]
    imports: Mapping[str, Origin]
    _misfits: dict[str, Misfit] = field(factory=dict)
    """Those of the names for types. A name inside of its own type is one."""

    def misfit_of(self, node: ast.expr, depth: int = 0) -> Misfit:
        """Return the part of an annotation that is no type with a schema."""
        if depth > _DEEPEST:
            return "one inside of more than thirty others"
        if isinstance(node, ast.Constant):
            return self._of_constant(node, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._first([node.left, node.right], depth)
        if isinstance(node, ast.Subscript):
            return self._of_subscript(node, depth)
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Attribute):
            word = self.word_of(node)
            return _write(node) if word == "" else None
        return _write(node)

    def _first(self, nodes: list[ast.expr], depth: int) -> Misfit:
        found = (self.misfit_of(each, depth + 1) for each in nodes)
        return next((each for each in found if each is not None), None)

    def _of_constant(self, node: ast.Constant, depth: int) -> Misfit:
        if node.value is None:
            return None
        if not isinstance(node.value, str):
            return _write(node)
        try:
            written = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _write(node)
        return self.misfit_of(written, depth + 1)

    def _of_name(self, name: str, depth: int) -> Misfit:
        defined = self.classes.get(name)
        if defined is not None:
            return None if defined.bases or defined.decorator_list else name
        alias = self.aliases.get(name)
        if alias is not None:
            if name not in self._misfits:
                self._misfits[name] = name
                self._misfits[name] = self.misfit_of(alias, depth + 1)
            return self._misfits[name]
        return name if self._find_word(name) == "" else None

    def _of_subscript(self, node: ast.Subscript, depth: int) -> Misfit:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        word = self.word_of(node.value)
        if word is None:  # of a class of elsewhere
            return None
        if word == "Literal":
            return next((_write(each) for each in parts if not _is_literal(each)), None)
        if word == "Annotated":
            return self.misfit_of(parts[0], depth + 1)
        if word in _TABLES:
            fits = len(parts) == 2 and self._is_text(parts[0])
            return self.misfit_of(parts[1], depth + 1) if fits else _write(node)
        if word in ("tuple", "Tuple"):
            return self._first([each for each in parts if not _is_ellipsis(each)], depth)
        if word in _LISTS | _MARKS | {"Optional"}:
            return self._first(parts, depth) if len(parts) == 1 else _write(node)
        return self._first(parts, depth) if word == "Union" else _write(node)

    def _is_text(self, node: ast.expr) -> bool:
        return self.word_of(node) == "str"

    def word_of(self, node: ast.expr) -> str | None:
        """Return the known word that a name stands for, "" if there is no such name or it is no
        type here, and None for a name of elsewhere."""
        if isinstance(node, ast.Name):
            return "" if node.id in self.classes else self._find_word(node.id)
        if isinstance(node, ast.Attribute):
            origin = self._module_of(node.value)
            return "" if origin is None else _word(origin, node.attr)
        return ""

    def _find_word(self, name: str) -> str | None:
        origin = self.imports.get(name)
        if origin is not None:
            return "" if origin.name is None else _word(origin.module, origin.name)
        return name if name in _BUILTIN else ""

    def _module_of(self, node: ast.expr) -> str | None:
        """Return the name of the module that `a` or `a.b` stands for."""
        if isinstance(node, ast.Attribute):
            around = self._module_of(node.value)
            return None if around is None else f"{around}.{node.attr}"
        origin = self.imports.get(node.id) if isinstance(node, ast.Name) else None
        if origin is None:
            return None
        return origin.module if origin.name is None else f"{origin.module}.{origin.name}"


def _word(module: str, name: str) -> str | None:
    known = _KNOWN.get(_ALIASES.get(module, module))
    if known is None:
        return name if module == "builtins" and name in _BUILTIN else None
    return name if name in known else ""


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and type(node.operand.value) is int
    return isinstance(node, ast.Constant) and type(node.value) in (str, int, bool, type(None))


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _write(node: ast.expr) -> str:
    """Return the text of an expression, shortened."""
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return type(node).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"
