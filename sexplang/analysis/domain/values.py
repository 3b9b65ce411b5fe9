"""Abstract values.

Constant   the value itself: a literal, a primitive, an operation, a task
Closure    a function of the program with its abstract environment
Resume     the continuation of a clause
Param      any value of a parameter, where a function is analysed by itself
SizedList  a list of `least` to `size` items, each at most `item`
Table      a table with these keys
UpperBound a number of at most `most`
Symbolic   an input or a part of it
Typed      a value of a type: the answer of a task, an input, what `as` gives, or a part of one
Result     the TaskResult of a task
Attempted  one of these two, or a FAILED TaskResult
Top        any value whose functions are among `functions`; None: any function

Law: values are interned, so equal values are the same object at any depth.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from sexplang.analysis.domain.bounds import (
    GREATEST,
    ZERO,
    Atom,
    Bound,
    atom,
    maximum,
    no_bound,
    number,
)
from sexplang.analysis.domain.environments import OWN, Environment
from sexplang.schemas.type_parts import Pointer, list_of
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.core import CallPrimitive
from sexplang.terms.program import Input
from sexplang.terms.source import Span
from sexplang.terms.values.value import Primitive, Procedure, Task

MANY = 16
"""The number of functions in a value from which on it may be any function."""

NO_COUNT = "nothing bounds this count"

DEEPEST = 3
"""The number of levels of lists and tables that are distinguished."""


@frozen(eq=False)
class Constant:
    value: Any


@frozen(eq=False)
class Closure:
    function: int
    environment: Environment


@frozen(eq=False)
class Resume:
    activation: Any


@frozen(eq=False)
class Param:
    name: str
    fields: tuple[str, ...] = ()
    is_whole: bool = False

    @property
    def input(self) -> str:
        """The name by which the parameter determines sizes, as an input does."""
        return self.name


@frozen(eq=False)
class SizedList:
    size: Bound
    item: "Abstract"
    words: tuple[str, ...] | None = None
    """The items, if they are names that are written in the program."""
    least: int = 0


@frozen(eq=False)
class Table:
    fields: "tuple[tuple[str, Abstract], ...]"


@frozen(eq=False)
class UpperBound:
    most: Bound


@frozen(eq=False)
class Symbolic:
    declared: Input
    fields: tuple[str, ...] = ()

    @property
    def input(self) -> str:
        """The name of the input."""
        return self.declared.name

    @property
    def is_whole(self) -> bool:
        """Whether it is an integer."""
        return self.declared.type == "integer" and not self.fields


@frozen(eq=False)
class Top:
    functions: "frozenset[Callable] | None" = field(default=frozenset())


@frozen(eq=False)
class Typed:
    source: "TypeSource"
    pointer: Pointer = ()
    """The part of the source's type that it is of."""

    @property
    def task(self) -> Task | None:
        """The task whose answer it is."""
        return self.source if isinstance(self.source, Task) and not self.pointer else None


@frozen(eq=False)
class Result:
    task: Task


@frozen(eq=False)
class Attempted:
    value: Typed | Result


Callable: TypeAlias = Constant | Closure | Resume | Param
Abstract: TypeAlias = (
    Constant
    | Closure
    | Resume
    | Param
    | SizedList
    | Table
    | UpperBound
    | Symbolic
    | Typed
    | Result
    | Attempted
    | Top
)

TypeSource: TypeAlias = Task | Input | CallPrimitive
"""The source of a value's type: a task, an input, or a call of `as`."""

Free: TypeAlias = Symbolic | Param
"""A value from outside the interpreted part."""


def number_of(free: Free) -> Atom:
    """Return the atom for the value as a number."""
    return Atom(free.input, free.fields, "value", whole=free.is_whole)


DATA = Top()
"""Any value without a function."""
ANY = Top(None)
NEVER = Top()
"""The value of an expression that yields none: an error, or the next turn of a loop."""


class Values:
    """An interning factory of abstract values."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}
        self.parts: dict[tuple[Typed, str | None], Abstract] = {}
        """The fields and the items of values of a type."""

    def make(self, kind: Any, *parts: Any) -> Any:
        key = (kind, *parts)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = kind(*parts)
        return found

    def constant(self, value: Any, depth: int = 0) -> Abstract:
        """Return the abstract value of a literal."""
        if isinstance(value, (tuple, dict)) and depth > DEEPEST:
            return self.within([self.constant(one) for one in _procedures(value)])
        if isinstance(value, tuple):
            return self.list_of([self.constant(one, depth + 1) for one in value])
        if isinstance(value, dict):
            return self.table({key: self.constant(one, depth + 1) for key, one in value.items()})
        if isinstance(value, Procedure):
            key: Any = id(value)
            # The reference keeps the procedure alive, so its identity is not reused.
            self._made.setdefault(("kept", key), value)
        else:
            key = (type(value).__name__, value)
        found = self._made.get((Constant, key))
        if found is None:
            found = self._made[(Constant, key)] = Constant(value)
        return found

    def list_of_size(
        self, size: Bound, item: Abstract, words: tuple[str, ...] | None = None, least: int = 0
    ) -> Abstract:
        """Return a list of at most `size` items."""
        if not size.is_bounded and isinstance(item, Typed):
            return self.make(Typed, item.source, list_of(item.pointer))  # type: ignore[no-any-return]
        if not size.is_bounded or _depth(item) > DEEPEST:
            return self.within((item,))
        return self.make(SizedList, size, item, words, least)  # type: ignore[no-any-return]

    def list_of(self, items: "list[Abstract]") -> Abstract:
        """Return a list of these items."""
        item: Abstract | None = None
        names: list[str] = []
        for one in items:
            item = one if item is None else self.join(item, one)
            name = getattr(one.value, "name", one.value) if isinstance(one, Constant) else None
            if isinstance(name, str) and len(items) <= MANY:
                names.append(name)
        words = tuple(names) if len(names) == len(items) else None
        inside = DATA if item is None else item
        return self.list_of_size(number(len(items)), inside, words, len(items))

    def table(self, fields: "dict[str, Abstract]") -> Abstract:
        """Return a table with these keys."""
        if any(_depth(item) > DEEPEST for item in fields.values()):
            return self.within(fields.values())
        return self.make(Table, tuple(fields.items()))  # type: ignore[no-any-return]

    def within(self, values: Iterable[Abstract]) -> Abstract:
        """Return a value that is made of these values."""
        values = tuple(values)
        found: set[Callable] = set()
        for value in values:
            inside = functions(value)
            if inside is None or len(found | inside) > MANY:
                from sexplang.analysis.interpreter.resume_rules import escape

                escape(*values)
                return ANY
            found |= inside
        return self.make(Top, frozenset(found)) if found else DATA

    def join(self, left: Abstract, right: Abstract) -> Abstract:
        """Return the join of two values."""
        if left is right or right is NEVER:
            return left
        if left is NEVER:
            return right
        if isinstance(left, SizedList) and isinstance(right, SizedList):
            item = self.join(left.item, right.item) if left.item is not right.item else left.item
            if left.size.is_zero or right.size.is_zero:
                item = right.item if left.size.is_zero else left.item
            return self.list_of_size(maximum(left.size, right.size), item)
        for one, other in ((left, right), (right, left)):
            # Nil and booleans are neither lists nor counts.
            if isinstance(one, (SizedList, UpperBound, Symbolic, Param)) and _is_no_number(other):
                return one
            if isinstance(one, Free) and isinstance(other, SizedList):
                size = atom(Atom(one.input, one.fields), other.size.span)
                return self.list_of_size(maximum(size, other.size), self.within((one, other.item)))
            # A table is no list, but both may hold functions.
            if isinstance(one, SizedList) and isinstance(other, Table):
                holds = functions(other) != frozenset()
                return self.list_of_size(
                    one.size, self.within((one.item, other)) if holds else one.item
                )
            if isinstance(one, Free) and isinstance(other, Table):
                return self.list_of_size(
                    atom(Atom(one.input, one.fields)), self.within((one, other))
                )
        return self.within((left, right))

    def covers(self, wide: Abstract, narrow: Abstract) -> bool:
        """Return whether `wide` covers every value of `narrow`."""
        if wide is narrow:
            return True
        if not isinstance(wide, Top):
            return False
        inside = functions(narrow)
        return wide.functions is None or (inside is not None and inside <= wide.functions)

    def widen(self, left: Abstract, right: Abstract) -> Abstract:
        """Return a value that covers both. After a few steps that is Top."""
        return left if left is right else self.within((left, right))

    def widen_environment(self, a: Environment | None, b: Environment | None) -> Environment:
        """Return the widening of two environments of one place in the text."""
        levels: list[tuple[Abstract, ...]] = []
        while a is not None and b is not None and a is not b:
            levels.append(tuple(map(self.widen, a.all(), b.all())))
            a, b = a.enclosing, b.enclosing
        whole = a if a is b else None
        for slots in reversed(levels):
            whole = self.environment(whole, slots)
        assert whole is not None
        return whole

    def environment(self, around: Environment | None, slots: tuple[Abstract, ...]) -> Environment:
        return self.wider(self.make(Environment, around), slots)

    def wider(self, inner: Environment, slots: tuple[Abstract, ...]) -> Environment:
        """Return the environment of the same activation with more slots."""
        while True:
            left = OWN - len(inner.slots)
            own, slots = inner.slots + slots[:left], slots[left:]
            inner = self.make(Environment, inner.enclosing, own, inner.before, inner.start)
            if not slots:
                return inner
            inner = self.make(Environment, inner.enclosing, (), inner, inner.size)


def count_of(value: Abstract, span: Span) -> Bound:
    """Return the greatest value of a number. A negative number counts as zero."""
    if isinstance(value, Constant):
        found = value.value
        if isinstance(found, float) and not abs(found) < GREATEST:
            return no_bound(NO_COUNT, span)
        return number(int(-(-found // 1))) if isinstance(found, (int, float)) else ZERO
    if isinstance(value, UpperBound):
        return value.most
    if isinstance(value, Free):
        return atom(number_of(value), span)
    return no_bound(NO_COUNT, span)


def upper(values: Values, bound: Bound) -> Abstract:
    """Return an abstract number of at most `bound`."""
    return values.make(UpperBound, bound) if bound.is_bounded else DATA


def _procedures(value: Any) -> list[Any]:
    """Return the functions in a value, at any depth."""
    found, work = [], [value]
    while work:
        value = work.pop()
        if isinstance(value, (tuple, dict)):
            work.extend(value if isinstance(value, tuple) else value.values())
        elif isinstance(value, Procedure):
            found.append(value)
    return found


def _is_no_number(value: Abstract) -> bool:
    return isinstance(value, Constant) and (value.value is None or isinstance(value.value, bool))


def _depth(value: Abstract) -> int:
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        depth, level = depth + 1, [inner for one in level for inner in _inside(one)]
    return depth


def _inside(value: Abstract) -> list[Abstract]:
    if isinstance(value, SizedList):
        return [value.item]
    return [item for _, item in value.fields] if isinstance(value, Table) else []


def functions(value: Abstract) -> "frozenset[Callable] | None":
    """Return the functions that a value is or holds; None if they are not known.

    A primitive only computes a value, so it counts as data.
    """
    found: set[Callable] = set()
    work: list[Abstract] = [value]
    while work:
        value = work.pop()
        if isinstance(value, Constant):
            if isinstance(value.value, Procedure) and not isinstance(value.value, Primitive):
                found.add(value)
        elif isinstance(value, (Closure, Resume, Param)):
            found.add(value)
        elif isinstance(value, SizedList):
            work.append(value.item)
        elif isinstance(value, Table):
            work.extend(item for _, item in value.fields)
        elif isinstance(value, Top):
            if value.functions is None:
                return None
            found |= value.functions
    return frozenset(found)
