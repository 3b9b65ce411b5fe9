"""The names that bodies of the program bind around a frame, and their values.

They are read from the program's core on demand.
"""

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from sexplang.machine.link import link_program
from sexplang.machine.positions.environments import Scope, list_variables
from sexplang.machine.positions.error_positions import return_value
from sexplang.machine.positions.sites import ITEMS, SECOND, Sites
from sexplang.machine.stack import Frame, Linked
from sexplang.terms.classes.node import frozen
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
from sexplang.terms.program import Program
from sexplang.terms.source import Span
from sexplang.terms.task import TaskSystem
from sexplang.terms.values.value import Task, Value

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
