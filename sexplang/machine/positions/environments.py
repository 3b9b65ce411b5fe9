"""The names of environment slots, by place in a program, and those that are bound around a frame.

They are read from its core on demand, since running code needs no names.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args
from weakref import WeakKeyDictionary

from sexplang.machine.errors import return_value
from sexplang.machine.link import link_program
from sexplang.machine.positions.sites import ITEMS, SECOND, Sites
from sexplang.machine.stack import Frame, Linked
from sexplang.terms import core
from sexplang.terms.classes.node import attributes, define, field, frozen
from sexplang.terms.core import (
    Call,
    CallKnown,
    CallPrimitive,
    Const,
    Core,
    Known,
    Let,
    MakeTable,
)
from sexplang.terms.program import Bind, Function, Program, Unit
from sexplang.terms.source import Span
from sexplang.terms.task import TaskSystem
from sexplang.terms.values.value import Task, Value

_LEVELS = 1_000
"""The greatest number of levels of environments that are searched."""

_NODES = frozenset((*get_args(core.Core), core.Clause))


@define(eq=False)
class Activation:
    """The activation of a function, a loop or the program. The level around it is known once its
    definition is found."""

    function: int | None
    around: "Scope | None" = None
    mentioned: dict[int, str] = field(factory=dict)
    """The names of slots by the variables that read them. The slots of a loop have no other
    names."""


@frozen(eq=False)
class Scope:
    """The slots at a place, from 1: their names (None for none), the slots that a body binds (not
    parameters), and the code that gives the values of these."""

    activation: Activation
    names: tuple[str | None, ...]
    bound: frozenset[int] = frozenset()
    given: Mapping[int, core.Core] = field(factory=dict)

    def more(
        self,
        names: Iterable[str | None],
        is_bound: bool = False,
        values: Iterable[core.Core] = (),
    ) -> "Scope":
        every = (*self.names, *names)
        added = range(len(self.names) + 1, len(every) + 1) if is_bound else ()
        given = {**self.given, **dict(enumerate(values, len(self.names) + 1))}
        return Scope(self.activation, every, self.bound.union(added), given)

    def origin(self, read: core.Local) -> core.Core | None:
        """Return the code that gives the value of a variable read here, if a body binds it."""
        there = self.up(read.depth)
        return there.given.get(read.index) if there is not None else None

    def up(self, depth: int) -> "Scope | None":
        found: Scope | None = self
        for _ in range(depth):
            found = found.activation.around if found is not None else None
        return found


class Environments:
    """The scopes of the functions and units of one program."""

    def __init__(self, functions: Iterable[Function], units: Iterable[Unit]) -> None:
        self._found: dict[int | None, list[tuple[Any, Scope]]] = {}
        self._places: dict[int, tuple[int | None, int]] = {}
        self._known: dict[tuple[int | None, Span, int], Scope | None] = {}
        self._bodies = {each.index: Activation(each.index) for each in functions}
        top = Scope(Activation(None), ())
        for unit in units:
            for item in unit.items:
                self._walk(item.value if isinstance(item, Bind) else item, top)
                if isinstance(item, Bind):
                    name = "_" if item.span.source.is_library else item.name
                    top = top.more([name], is_bound=unit.main, values=[item.value])
        self.top = top
        for each in functions:
            own = self._bodies[each.index]
            names = [None if param.is_pattern else param.name for param in each.params]
            rest = [each.rest] if each.rest is not None else []
            self._walk(each.body, Scope(own, (*names, *rest)))
            for at, param in enumerate(each.params):
                if param.default is not None:
                    self._walk(param.default, Scope(own, tuple(names[:at])))

    def place(self, node: core.Core) -> tuple[int | None, int]:
        """Return the function that a node is in, and its number there. Raises LookupError."""
        return self._places[id(node)]

    @staticmethod
    def list_parts(node: Any) -> list[Any]:
        """Return the inner nodes of a node."""
        if isinstance(node, core.Const):
            return []
        found: list[Any] = []
        for held in attributes(node).values():
            found += held if type(held) is tuple else (held,)
        return [part for part in found if type(part) in _NODES]

    def extent(self, node: core.Core) -> Span:
        """Return the span of a node and of all nodes inside of it."""
        source, start, end = node.span.source, node.span.start, node.span.end
        work: list[Any] = [node]
        while work:
            each = work.pop()
            if each.span.source is source:
                start, end = min(start, each.span.start), max(end, each.span.end)
            work.extend(self.list_parts(each))
        return Span(source, start, end)

    def at(self, function: int | None, place: Span, env: tuple[Any, ...]) -> Scope | None:
        """Return the innermost scope around a place in a function, if it has the slots of `env`."""
        key = function, place, len(env) - 1
        if key not in self._known:
            self._known[key] = self._at(*key)
        return self._known[key]

    def calls(self) -> Iterator[tuple[core.Call | core.CallPrimitive, Scope]]:
        """Yield the calls of anything but a named function of the program, each with its scope."""
        for found in self._found.values():
            for node, scope in found:
                if isinstance(node, (core.Call, core.CallPrimitive)):
                    yield node, scope

    def _at(self, function: int | None, place: Span, size: int) -> Scope | None:
        fitting = [
            scope
            for node, scope in self._found.get(function, ())
            if len(scope.names) == size and node.span.holds(place)
        ]
        return fitting[-1] if fitting else None

    def _walk(self, root: Any, scope: Scope) -> None:
        work = [(root, scope)]
        while work:
            node, scope = work.pop()
            function = scope.activation.function
            found = self._found.setdefault(function, [])
            self._places[id(node)] = function, len(found)
            found.append((node, scope))
            if isinstance(node, core.Local):
                there = scope.up(node.depth)
                if there is not None:
                    there.activation.mentioned.setdefault(node.index, node.name)
            elif isinstance(node, (core.Lambda, core.Known, core.CallKnown)):
                depth = 0 if isinstance(node, core.Lambda) else node.depth
                self._bodies[node.function].around = scope.up(depth)
            work.extend(reversed(list(_inner(node, scope))))


def _inner(node: Any, scope: Scope) -> Iterator[tuple[Any, Scope]]:
    """Yield the inner nodes of a node, each with its scope."""
    if isinstance(node, core.Let):
        names = node.names or (None,) * len(node.values)
        yield from [(value, scope) for value in node.values]
        yield node.body, scope.more(names, is_bound=True, values=node.values)
    elif isinstance(node, core.Loop):
        yield from [(init, scope) for init in node.inits]
        own = Activation(scope.activation.function, scope)
        yield node.body, Scope(own, (None,) * len(node.inits))
    elif isinstance(node, core.Clause):
        yield node.body, scope.more((*node.params, None))
    elif isinstance(node, core.Handle):
        yield node.body, scope
        yield from [(clause, scope) for clause in node.clauses]
        if node.returns is not None:
            yield node.returns, scope.more((None,))
    else:
        yield from [(part, scope) for part in Environments.list_parts(node)]


def list_variables(scope: Scope, env: Any, is_bound: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield the variables of an environment and of those around it, the innermost of each name,
    without those of the program unless it starts there. With `is_bound`, yield only the bindings of
    bodies."""
    seen = set()
    found: Scope | None = scope
    for _ in range(_LEVELS):
        if found is None or type(env) is not tuple or len(env) <= len(found.names):
            return
        activation = found.activation
        for at in range(len(found.names), 0, -1):
            name = found.names[at - 1] or activation.mentioned.get(at)
            if is_bound and at not in found.bound:
                continue
            if name is not None and name != "_" and name not in seen:
                seen.add(name)
                yield name, env[at]
        found, env = activation.around, env[0]
        if found is not None and found.activation.function is None:
            return


# -- The names that bodies bind around a frame ----------------------------------------------------

_known: WeakKeyDictionary[Linked, "Names"] = WeakKeyDictionary()


def names_of(program: Program, tasks: TaskSystem | None) -> "Names":
    """Return the names of a program, linked with these tasks."""
    _, linked, _ = link_program(program, tasks)
    found = _known.get(linked)
    if found is None:
        found = _known[linked] = Names(linked.sites)
    return found


@frozen(eq=False)
class Names:
    """The index of a program's bindings."""

    sites: Sites

    def bound(self, frame: Frame) -> Iterator[tuple[str, Value]]:
        """Yield the bindings around the place that waits in a frame, innermost first. The arguments
        so far of a waiting call have the name of the callee."""
        if frame[0] is return_value:
            _, _, span, env = frame
            yield from self._around(self.sites.function(span), span, env)
            return
        site = self.sites.of(frame[0])
        if site is None:
            return
        if site.role == ITEMS:
            yield from self._topmost(frame)
            return
        node, is_library = site.node, self._is_library(site.function)
        assert node is not None
        if site.role == SECOND:
            if not is_library:
                yield from self._parts_with_names(node, (frame[2],))
            return
        if isinstance(node, Let) and len(frame) > 3:  # its values so far
            yield from zip(node.names, frame[3], strict=False)
        elif len(frame) > 3 and not is_library:
            yield from self._parts_with_names(node, frame[3])
        yield from self._around(site.function, node.span, frame[2])

    def _parts_with_names(
        self, node: Core, values: tuple[Value, ...]
    ) -> Iterator[tuple[str, Value]]:
        """Yield the values so far of the parts of a node that have names: for a table, its keys."""
        if isinstance(node, MakeTable):
            rows = zip(node.keys, node.values, values, strict=False)
            yield from [(key, value) for key, part, value in rows if _is_made(part)]
            return
        if isinstance(node, CallPrimitive):
            name, parts = node.primitive.name, node.arguments
        elif isinstance(node, CallKnown):  # the environment is the first value
            name, parts = self.sites.by_index[node.function].name, (node, *node.arguments)
            values = (None, *values[1:])
        elif isinstance(node, Call) and isinstance(node.callee, (Const, Known)):
            callee = node.callee
            is_task = isinstance(callee, Const) and isinstance(callee.value, Task)
            parts = node.arguments if is_task else (callee, *node.arguments)
            known = (
                callee.value if isinstance(callee, Const) else self.sites.by_index[callee.function]
            )
            name = getattr(known, "name", "")
        else:
            return
        rows_made = zip(parts, values, strict=False)
        found = tuple([value for part, value in rows_made if part is not node and _is_made(part)])
        if found and name:
            yield name, found

    def _around(
        self, function: int | None, place: Span, env: tuple[Any, ...]
    ) -> Iterator[tuple[str, Value]]:
        scope = self.sites.environments.at(function, place, env) if env else None
        if scope is not None and not self._is_library(function):
            yield from list_variables(scope, env, is_bound=True)

    def _topmost(self, frame: Frame) -> Iterator[tuple[str, Value]]:
        """Yield the top-level bindings of a program that waits for one of its items."""
        top, env = self.sites.environments.top, frame[2]
        size = len(env) - 1
        here = {at for at in top.bound if at <= size}
        yield from list_variables(
            Scope(top.activation, top.names[:size], frozenset(here)), env, True
        )

    def _is_library(self, function: int | None) -> bool:
        return function is not None and self.sites.by_index[function].span.source.is_library


def _is_made(part: Core) -> bool:
    """Return whether a call of a function or a task makes the value. Such a value may have cost
    money."""
    work = [part]
    while work:
        part = work.pop()
        if isinstance(part, (Call, CallKnown)):
            return True
        if isinstance(part, (CallPrimitive, MakeTable)):
            work += part.arguments if isinstance(part, CallPrimitive) else part.values
    return False
