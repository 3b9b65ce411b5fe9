"""Names that are never read.

Declarations for others are not reported: parameters, inputs, exports of a module, patterns, and any
name that begins with `_`.
"""

from typing import Any

from sexplang.analysis.interpreter.interpreter import children
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import (
    CallKnown,
    Const,
    Handle,
    Known,
    Lambda,
    Let,
    Local,
    Loop,
)
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Bind, Function, Program, Unit
from sexplang.terms.source import Made, Span


@define(eq=False)
class Name:
    """A name that the program binds, and its span."""

    text: str
    span: Span
    used: bool = False


Names = tuple[Name | None, ...]


@define(eq=False)
class Scope:
    """The first `size` slots of an activation. None stands for a name that is not checked.

    All scopes of an activation share its list. The walk binds the names of a body just before it
    visits the body, and it leaves the body before it binds others there.
    """

    enclosing: "Scope | None"
    slots: list[Name | None] = field(factory=list)
    size: int = 0

    def bind(self, names: Names) -> None:
        """Replace the slots after those of this scope."""
        self.slots[self.size :] = names

    def extend(self, count: int) -> "Scope":
        """Return the scope with `count` more slots."""
        return Scope(self.enclosing, self.slots, self.size + count)

    def up(self, depth: int) -> "Scope | None":
        found: Scope | None = self
        for _ in range(depth):
            found = found.enclosing if found is not None else None
        return found


def find_unused(program: Program) -> list[Diagnostic]:
    """Return a diagnostic for each binding in the program's own files that is never read."""
    walk = _Walk({function.index: function for function in program.functions})
    walk.referred.update([each.index for unit in program.units for each in unit.tools.values()])
    walk.referred.update([each.index for each in program.validators.values()])
    scope = Scope(None)
    named = [unit for unit in program.units if not unit.name.startswith("std/")]
    shown: list[Name] = []
    for unit in program.units:
        before = scope.size
        for item in unit.items:
            if isinstance(item, Bind):
                walk.node(item.value, scope)
                scope.bind((walk.name(item.name, item.value.span, item.span),))
                scope = scope.extend(1)
            else:
                walk.node(item, scope)
        if not unit.name.startswith("std/"):
            shown += walk.top(unit, scope.slots[before : scope.size])
    walk.rest(scope)
    inner = [name for name in walk.inner if not name.used]
    functions = [_function(function) for unit in named for function in walk.alone(unit)]
    found = [*inner, *[name for name in shown if not name.used], *functions]
    return [_finding(name) for name in found if not name.span.source.name.startswith("std/")]


Visit = tuple[Any, Scope, int]
"""A node, or names to bind, with the scope there and the index of the enclosing function."""


@define(eq=False)
class _Walk:
    """A walk over every node, once, with the names of the slots around it."""

    functions: dict[int, Function]
    inner: list[Name] = field(factory=list)
    tops: dict[tuple[str, int], Name] = field(factory=dict)
    referred: set[int] = field(factory=set)
    """Functions that another part of the program mentions."""
    entered: set[int] = field(factory=set)
    stray: set[str] = field(factory=set)

    def name(self, text: str, value: Span, whole: Span) -> Name | None:
        """Return a binding that may be unused, or None for one that is not checked."""
        if text.startswith("_") or not text.isprintable() or isinstance(whole, Made):
            return None
        start = whole.source.text.rfind(text, whole.start, value.start)
        if start < 0 or isinstance(value, Made):
            return None
        return Name(text, Span(whole.source, start, start + len(text)))

    def node(self, node: Any, scope: Scope, within: int = -1) -> None:
        """Visit a node and the functions that it mentions; `within` is the enclosing function."""
        work: list[Visit] = [(node, scope, within)]
        while work:
            node, scope, within = work.pop()
            kind = type(node)
            if kind is Local:
                self._read(node, scope)
            elif kind is Const:
                continue
            elif kind is tuple:
                scope.bind(node)
            elif kind is Let:
                names = [
                    self._inner(text, value.span, node.span)
                    for text, value in zip(node.names, node.values, strict=False)
                ]
                names += [None] * (len(node.values) - len(names))
                work += [(value, scope, within) for value in node.values]
                work += _body_with(tuple(names), node.body, scope, within)
            elif kind is Handle:
                work.append((node.body, scope, within))
                for clause in node.clauses:
                    slots = (None,) * (len(clause.params) + 1)
                    work += _body_with(slots, clause.body, scope, within)
                if node.returns is not None:
                    work += _body_with((None,), node.returns, scope, within)
            elif kind is Loop:
                work += [(one, scope, within) for one in node.inits]
                work.append((node.body, _scope_without_names(scope, len(node.inits)), within))
            else:
                if kind in (Known, CallKnown, Lambda):
                    if node.function != within:
                        self.referred.add(node.function)
                    work += self._body(node.function, scope.up(getattr(node, "depth", 0)))
                work += [(one, scope, within) for one in children(node)]

    def _inner(self, text: str, value: Span, whole: Span) -> Name | None:
        name = self.name(text, value, whole)
        if name is not None:
            self.inner.append(name)
        return name

    def _read(self, node: Local, scope: Scope) -> None:
        found = scope.up(node.depth)
        if found is None or not 0 < node.index <= found.size:
            self.stray.add(node.name)
            return
        name = found.slots[node.index - 1]
        if name is not None:
            name.used = True

    def _body(self, index: int, scope: Scope | None) -> list[Visit]:
        """Return the body of a function, once, with the scope of its definition."""
        function = self.functions.get(index)
        if function is None or index in self.entered:
            return []
        self.entered.add(index)
        count = len(function.params) + (function.rest is not None)
        inside = _scope_without_names(scope, count)
        defaults = [(p.default, inside, index) for p in function.params if p.default is not None]
        return [*defaults, (function.body, inside, index)]

    def rest(self, scope: Scope) -> None:
        """Visit functions that are never mentioned. Their scope is not always known."""
        for function in self.functions.values():
            for node, inside, index in self._body(function.index, scope):
                self.node(node, inside, index)
        for name in [*self.inner, *self.tops.values()]:
            name.used = name.used or name.text in self.stray

    def top(self, unit: Unit, names: list[Name | None]) -> list[Name]:
        """Return the bindings at the top of a program that may be unused. A file of definitions is
        a module for others."""
        if not _is_program(unit):
            return []
        items = [item for item in unit.items if isinstance(item, Bind)]
        pairs = zip(items, names, strict=True)
        found = [name for item, name in pairs if name is not None and not _is_input(item)]
        self.tops.update({(name.text, name.span.start): name for name in found})
        return found

    def alone(self, unit: Unit) -> list[Function]:
        """Return the named functions that are mentioned by themselves only."""
        tops = {getattr(export.core, "function", -1) for export in unit.exports.values()}
        return [
            function
            for function in unit.functions
            if function.index not in self.referred
            and (function.index not in tops or _is_program(unit))
            and not function.name.startswith("_")
            and function.name.isprintable()
            and not isinstance(function.span, Made)
        ]


def _scope_without_names(enclosing: Scope | None, count: int) -> Scope:
    """Return the scope of an activation that begins with `count` names that are not checked."""
    return Scope(enclosing, [None] * count, count)


def _body_with(names: Names, body: Any, scope: Scope, within: int) -> list[Visit]:
    """Return the visits of a body with more names. The last one, which binds them, comes first."""
    return [(body, scope.extend(len(names)), within), (names, scope, within)]


def _is_input(item: Bind) -> bool:
    return type(item.value).__name__ == "InputValue"


def _is_program(unit: Unit) -> bool:
    """Return whether a file has more than definitions."""
    return unit.main and any(
        not isinstance(item, Bind) and not (type(item) is Const and item.value is None)
        for item in unit.items
    )


def _function(function: Function) -> Name:
    span = function.span
    start = span.source.text.find(function.name, span.start, span.end)
    if start < 0:
        return Name(function.name, span)
    return Name(function.name, Span(span.source, start, start + len(function.name)))


def _finding(name: Name) -> Diagnostic:
    return Diagnostic(
        "unused-binding",
        f"nobody reads `{name.text}`",
        (Label(name.span, "bound here"),),
        hint=f"leave it out, or call it `_{name.text}` if it is meant to be there",
        severity="warning",
    )
