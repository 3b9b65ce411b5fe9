"""A frame of a linked program to the names that bodies of the program bind there, and their values:
read from its core when somebody asks.
"""

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from sexplang.machine.environments import Environments, Scope, named
from sexplang.machine.finding import returned
from sexplang.machine.link import linked_program
from sexplang.machine.owners import Owner, owners_of
from sexplang.machine.stack import Frame, Linked
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
from sexplang.terms.node import frozen
from sexplang.terms.program import Function, Program
from sexplang.terms.source import Span
from sexplang.terms.task import TaskSystem
from sexplang.terms.value import Task, Value

_known: WeakKeyDictionary[Linked, "Names"] = WeakKeyDictionary()


def names_of(program: Program, tasks: TaskSystem | None) -> "Names":
    """The names of a program, as it is linked with these tasks."""
    _, linked, _ = linked_program(program, tasks)
    found = _known.get(linked)
    if found is None:
        functions = {each.index: each for each in program.functions}
        found = Names(functions, owners_of(program, tasks), Environments(program))
        _known[linked] = found
    return found


@frozen(eq=False)
class Names:
    """What is known of a program to find them with."""

    functions: dict[int, Function]
    owners: dict[int, Owner]
    environments: Environments

    def bound(self, frame: Frame) -> Iterator[tuple[str, Value]]:
        """What is bound around the place that waits in a frame, innermost first; and what a call
        that waits there has been given so far, by the name of what is called."""
        if frame[0] is returned:
            _, _, span, env = frame
            yield from self._around(self._function(span), span, env)
        elif id(frame[0]) in self.owners and _is_environment(frame[2]):
            function, node = self.owners[id(frame[0])]
            if node is None:
                yield from self._topmost(frame)
                return
            if isinstance(node, Let) and len(frame) > 3:  # its values so far
                yield from zip(node.names, frame[3], strict=False)
            elif len(frame) > 3 and not self._is_library(function):
                yield from self._given(node, frame[3])
            yield from self._around(function, node.span, frame[2])
        elif id(frame[0]) in self.owners and len(frame) == 3:  # the first of two
            function, node = self.owners[id(frame[0])]
            if isinstance(node, CallPrimitive) and not self._is_library(function):
                yield from self._given(node, (frame[2],))

    def _given(self, node: Core, values: tuple[Value, ...]) -> Iterator[tuple[str, Value]]:
        """What the parts of a node have come to that call something: of a table by its keys."""
        if isinstance(node, MakeTable):
            rows = zip(node.keys, node.values, values, strict=False)
            yield from [(key, value) for key, part, value in rows if _is_made(part)]
            return
        if isinstance(node, CallPrimitive):
            name, parts = node.primitive.name, node.arguments
        elif isinstance(node, CallKnown):  # the environment is the first value
            name, parts = self.functions[node.function].name, (node, *node.arguments)
            values = (None, *values[1:])
        elif isinstance(node, Call) and isinstance(node.callee, (Const, Known)):
            callee = node.callee
            is_task = isinstance(callee, Const) and isinstance(callee.value, Task)
            parts = node.arguments if is_task else (callee, *node.arguments)
            known = callee.value if isinstance(callee, Const) else self.functions[callee.function]
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
        scope = self.environments.at(function, place, env) if env else None
        if scope is not None and not self._is_library(function):
            yield from named(scope, env, is_bound=True)

    def _topmost(self, frame: Frame) -> Iterator[tuple[str, Value]]:
        """What the program itself has bound, where it waits for one of its items."""
        if hasattr(frame[0], "places"):
            top, env = self.environments.top, frame[2]
            size = len(env) - 1
            here = {at for at in top.bound if at <= size}
            yield from named(Scope(top.activation, top.names[:size], frozenset(here)), env, True)

    def _is_library(self, function: int | None) -> bool:
        return function is not None and self.functions[function].span.source.is_library

    def _function(self, place: Span) -> int | None:
        """The innermost function that a place is in."""
        around = [
            (each.span.end - each.span.start, each.index)
            for each in self.functions.values()
            if each.span.source is place.source
            and each.span.start <= place.start
            and place.end <= each.span.end
        ]
        return min(around)[1] if around else None


def _is_made(part: Core) -> bool:
    """Whether a function of the program or a task is called for a value: it may be paid for."""
    work = [part]
    while work:
        part = work.pop()
        if isinstance(part, (Call, CallKnown)):
            return True
        if isinstance(part, (CallPrimitive, MakeTable)):
            work += part.arguments if isinstance(part, CallPrimitive) else part.values
    return False


def _is_environment(value: Any) -> bool:
    """Whether it may be one: they end in the table of the inputs."""
    while type(value) is tuple and value:
        value = value[0]
    return type(value) is dict
