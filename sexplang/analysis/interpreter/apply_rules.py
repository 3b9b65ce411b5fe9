"""Rules for `apply`: calls with the items of a list, whose number may be unknown."""

from typing import Any

from sexplang.analysis.domain.bounds import add, number
from sexplang.analysis.domain.effects_and_calls import EffectCounts, max_counts, repeat_work
from sexplang.analysis.domain.handler_stack import ActiveHandle
from sexplang.analysis.domain.primitive_results import item_of, least_of, size_of
from sexplang.analysis.domain.values import ANY, NEVER, Abstract, Closure, Constant, functions
from sexplang.analysis.interpreter.call_rules import HIGHER, apply, call_with_slots, in_order
from sexplang.analysis.interpreter.higher_order_rules import shortest
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter, Steps
from sexplang.analysis.interpreter.resume_rules import escape
from sexplang.terms.classes.node import frozen
from sexplang.terms.source import Span
from sexplang.terms.values.value import Higher, Operation

Arguments = tuple[Abstract, ...]

FEW = 20
"""The number of list items that are distinguished as arguments."""


@frozen(eq=False)
class SpreadArguments:
    """The arguments of one call: leading arguments and the items of a list."""

    first: Arguments
    last: Abstract
    item: Abstract
    least: int
    most: int | None
    """The greatest number of arguments; None: any number."""

    def so_many(self, count: int) -> Arguments:
        """Return the first `count` arguments."""
        return (*self.first, *(self.item,) * (count - len(self.first)))[:count]

    def counts(self, most: int) -> range:
        """Return the possible numbers of arguments, up to `most`."""
        return range(self.least, (most if self.most is None else min(most, self.most)) + 1)


def _apply(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """Interpret `apply`. If the number of arguments is not known, interpret each possible number;
    defaults stand for omitted arguments."""
    function, *first, last = given
    size, least = size_of(last, span).constant, least_of(last)
    item = item_of(m.values, last)
    count = len(first)
    most = None if size is None else count + size
    spread = SpreadArguments(tuple(first), last, item, count + least, most)
    found = functions(function)
    if found is None or (size == least and size <= FEW):
        known = spread.so_many(count + least) if size == least else (*first, item)
        return (yield from apply(m, function, known, (), handling, span))
    value = m.values.within((*first, item))
    works: list[EffectCounts] = []
    for one in in_order(found):
        one_value, work = yield _to(m, one, spread, handling, span)
        value = m.values.join(value, one_value)
        works.append(work)
    return value, max_counts(*works)


def _to(
    m: AbstractInterpreter,
    callee: Any,
    spread: SpreadArguments,
    handling: ActiveHandle | None,
    span: Span,
) -> Any:
    """Interpret a call of one function."""
    if isinstance(callee, Closure):
        return _enter(m, callee, spread, handling, span)
    shape = callee.value if isinstance(callee, Constant) else None
    if isinstance(shape, Higher):
        if shape.most is not None:
            return _each(m, callee, spread, shape.most, handling, span)
        return _any_number(m, callee, spread, handling, span)
    # A continuation, an operation or a task has the same effects for any arguments.
    wanted = len(shape.params) if isinstance(shape, Operation) else 1
    known = spread.so_many(max(spread.least, wanted))
    return apply(m, callee, known, (), handling, span)


def _each(
    m: AbstractInterpreter,
    callee: Any,
    spread: SpreadArguments,
    most: int,
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """Interpret the call with every number of arguments up to `most`."""
    value: Abstract = NEVER
    works: list[EffectCounts] = []
    for count in spread.counts(most):
        given, work = yield apply(m, callee, spread.so_many(count), (), handling, span)
        value = m.values.join(value, given)
        works.append(work)
    return value, max_counts(*works)


def _enter(
    m: AbstractInterpreter,
    callee: Closure,
    spread: SpreadArguments,
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """Interpret a function of the program. Each argument that may be absent may be a default."""
    code = m.functions[callee.function]
    count = len(code.params)
    if code.rest is None:
        return (yield from _each(m, callee, spread, count, handling, span))
    value, work = yield _each(m, callee, spread, count - 1, handling, span)
    if spread.most is not None and spread.most < count:
        return value, work
    beyond = spread.first[count:]
    item = spread.item
    for one in beyond:
        item = m.values.join(item, one)
    rest = m.values.list_of_size(add(number(len(beyond)), size_of(spread.last, span)), item)
    given, all_given = yield call_with_slots(
        m, callee, (*spread.so_many(count), rest), handling, span
    )
    return m.values.join(value, given), max_counts(work, all_given)


def _any_number(
    m: AbstractInterpreter,
    callee: Any,
    spread: SpreadArguments,
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """Interpret a callee with any number of arguments: `map`, `for-each`, `apply`, `error`."""
    inside = m.values.within((*spread.first, spread.item))
    known = spread.so_many(max(len(spread.first) + 1, callee.value.least))
    if functions(inside) == frozenset():
        return (yield from apply(m, callee, known, (), handling, span))
    if callee.value.name not in ("map", "for-each"):
        escape(*known)
        return ANY, m.anything("nobody knows how many arguments there are", span, handling)
    # A call for each row, which has as many items as there are lists.
    function, *lists = known
    items = [item_of(m.values, one) for one in lists[:-1]]
    row = m.values.within((lists[-1],))
    value, work = yield _apply(m, (function, *items, row), (), handling, span)
    return m.values.within((value,)), repeat_work(work, shortest(tuple(lists), span))


HIGHER["apply"] = _apply
