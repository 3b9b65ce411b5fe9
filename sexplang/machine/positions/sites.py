"""The site table: from a piece of code to its place in the program, and back.

A maker enters each piece of code that a register, a frame or a segment may hold, with its node and
its role. A site is that pair. Its name is the function, the number of the node in it, and the role;
it does not depend on how the code was made. Entries are resolved on demand.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.terms.classes.node import node
from sexplang.terms.core import Core
from sexplang.terms.program import Function, Item, Unit
from sexplang.terms.source import Span

if TYPE_CHECKING:
    from sexplang.machine.positions.environments import Environments

Entry: TypeAlias = tuple[Core | None, int]
"""A node and a role. The node is None for all items of a program together."""

Name: TypeAlias = tuple[int, int, int]
"""A function (-1 for the top level), a node in it by number, a role."""

CODE, SECOND, KIND, STRIPPED, ITEMS, CLAUSE = -1, -2, -3, -4, -5, -6
"""The roles, beside those from 0 on: what a piece of code is for, and what its frame holds.

    0 …     waits for this part of the node: `(resume, next frame, environment, …)`
    CODE    evaluates the node in an environment
    SECOND  waits for the second of two values: `(resume, next frame, the first value)`
    KIND    the kind of the node's segment; STRIPPED is what is left of it in an abandoned one
    ITEMS   waits for an item of the program: `(resume, next frame, environment, item)`
    CLAUSE  a clause of the handler, and the others below: `CLAUSE - 1` is the second
"""

_TOP = -1


@node(eq=False)
class Site:
    """The site of a piece of code. The function is None at the top level."""

    node: Core | None
    role: int
    function: int | None


class Sites:
    """The sites of one linked program, with these functions and units."""

    def __init__(
        self,
        functions: tuple[Function, ...] = (),
        units: tuple[Unit, ...] = (),
        entered: Iterable[tuple[Core | None, int, Any]] = (),
    ) -> None:
        self.functions = functions
        self.units = units
        self.entered = list(entered)
        self._entries: dict[int, Entry] = {}
        self._resolved = 0
        """The number of resolved entries."""

    def enter(self, node: Core | None, role: int, made: Any) -> Any:
        """Enter a piece of code and return it."""
        self.entered.append((node, role, made))
        return made

    @cached_property
    def environments(self) -> "Environments":
        """The names of the slots at each node."""
        # Most runs do not need it.
        from sexplang.machine.positions.environments import Environments

        return Environments(self.functions, self.units)

    def of(self, made: Any) -> Site | None:
        """Return the site of a piece of code of the program; None for any other object."""
        found = self._entry(made)
        if found is None:
            return None
        node, role = found
        return Site(node, role, None if node is None else self.environments.place(node)[0])

    def span(self, made: Any) -> Span | None:
        """Return the place of a piece of code of the program."""
        found = self._entry(made)
        return None if found is None or found[0] is None else found[0].span

    def place_of_work(self, node: Core, function: int | None) -> Span:
        """Return the place of a node at work in this function. What follows a `bind`, or the first
        clause of a `cond`, is a part of its node and outside of its place. Then work may be
        anywhere in the function."""
        if function is not None:
            extent, around = self.environments.extent(node), self.by_index[function].span
            if around.holds(extent) and not node.span.holds(extent):
                return around
        return node.span

    def name(self, made: Any) -> Name | None:
        """Return the name of the site of a piece of code."""
        found = self._entry(made)
        return None if found is None else self._name(*found)

    def code(self, name: Name) -> Any:
        """Return the piece of code at the site of a name. Raises LookupError."""
        return self._codes[name]

    @cached_property
    def digest(self) -> str:
        """The digest of all sites: their names, and the kinds of their nodes. Another compiler
        that numbers nodes in another way has another one."""
        from hashlib import sha256  # only frozen runs need it

        sites = [(*self._name(node, role), type(node).__name__) for node, role, _ in self.entered]
        return sha256(repr(sorted(sites)).encode()).hexdigest()

    @cached_property
    def _codes(self) -> dict[Name, Any]:
        return {self._name(node, role): code for node, role, code in self.entered}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items of the program, in order."""
        return tuple([item for unit in self.units for item in unit.items])

    @cached_property
    def by_index(self) -> dict[int, Function]:
        """The functions of the program by index."""
        return {each.index: each for each in self.functions}

    def function(self, place: Span) -> int | None:
        """Return the innermost function around a place."""
        around = [each for each in self.functions if each.span.holds(place)]
        if not around:
            return None
        return min(around, key=lambda each: each.span.end - each.span.start).index

    def _entry(self, made: Any) -> Entry | None:
        count = len(self.entered)
        if self._resolved < count:
            new = self.entered[self._resolved : count]
            self._entries.update({id(code): (node, role) for node, role, code in new})
            self._resolved = count
        return self._entries.get(id(made))

    def _name(self, node: Core | None, role: int) -> Name:
        if node is None:
            return _TOP, 0, role
        function, number = self.environments.place(node)
        return _TOP if function is None else function, number, role
