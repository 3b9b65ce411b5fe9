"""Prelude functions that call back, as frames: whatever they call may be captured and resumed.

What they have collected so far is a linked list `(earlier, value)`: a frame is never changed.
"""

from typing import Any

from sexplang.machine.apply import ENTRIES, apply
from sexplang.machine.collect import by_keys, grouped, items_of, unlink
from sexplang.machine.control import fail, let_go
from sexplang.machine.delegating import make_result, match_task, run_step, run_task, task_of
from sexplang.machine.errors import raised, user_error
from sexplang.machine.exits import Forked
from sexplang.machine.plans import run_plan
from sexplang.machine.sorting import sort
from sexplang.machine.stack import Closure, Continuation, Frame, Segment, Step
from sexplang.terms.allowance import charge
from sexplang.terms.brief import shown
from sexplang.terms.source import Span
from sexplang.terms.value import (
    Fault,
    Higher,
    Primitive,
    Record,
    Symbol,
    Value,
    truth,
)

# -- Calling a function on each element -----------------------------------------------------------


def each(
    function: Value,
    rows: tuple[tuple[Value, ...], ...],
    finish: Any,
    extra: Any,
    k: Frame,
    s: Segment,
) -> Step:
    """Calls `function` on each row in turn; `finish(results, extra)` goes to `k`."""
    if not rows:
        return k[0], finish((), extra), k, s
    call = direct(function, len(rows[0]))
    if call is not None:
        charge(len(rows))
        return k[0], finish(tuple([call(*row) for row in rows]), extra), k, s
    frame = (_each_next, k, function, rows, 1, None, finish, extra)
    return apply(function, rows[0], frame, s)


def direct(function: Value, count: int) -> Any:
    """A Python function that does what calling `function` with `count` values does, where that
    needs no frame: for primitives and for functions whose body is simple."""
    if type(function) is Primitive:
        _check_primitive(function, count)
        return function.function
    if type(function) is not Closure:
        return None
    code, env = function.code, function.env
    pure = code.pure
    if pure is None or not code.simple or code.size != count:
        return None
    if count == 1:
        return lambda value: pure((env, value))
    return lambda *values: pure((env, *values))


def _check_primitive(function: Primitive, count: int) -> None:
    if count < function.least or (function.most is not None and count > function.most):
        raise Fault("wrong-arity", f"`{function.name}` is called with {count} arguments here")


def _each_next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, rows, at, collected, finish, extra = k
    collected = (collected, value)
    if at == len(rows):
        charge(at)
        return below[0], finish(unlink(collected, at), extra), below, s
    frame = (_each_next, below, function, rows, at + 1, collected, finish, extra)
    return apply(function, rows[at], frame, s)


def _rows(name: str, lists: tuple[Value, ...]) -> tuple[tuple[Value, ...], ...]:
    return tuple(zip(*[items_of(name, value) for value in lists], strict=False))


def _same(results: tuple[Value, ...], _: Any) -> Value:
    return results


def _map(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return each(arguments[0], _rows("map", arguments[1:]), _same, None, k, s)


def _nothing(results: tuple[Value, ...], _: Any) -> Value:
    return None


def _for_each(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return each(arguments[0], _rows("for-each", arguments[1:]), _nothing, None, k, s)


def _kept(results: tuple[Value, ...], items: tuple[Value, ...]) -> Value:
    return tuple([item for item, keep in zip(items, results, strict=True) if truth(keep)])


def _filter(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    items = items_of("filter", arguments[1])
    return each(arguments[0], tuple([(item,) for item in items]), _kept, items, k, s)


def _group_by(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    items = items_of("group-by", arguments[1])
    return each(arguments[0], tuple([(item,) for item in items]), grouped, items, k, s)


def _sort_by(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    items = items_of("sort-by", arguments[1])
    rows = tuple([(item,) for item in items])
    return each(arguments[0], rows, by_keys, (items, span), k, s)


# -- Folding and searching ------------------------------------------------------------------------


def _fold(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    function, value, items = arguments
    return _fold_on(function, value, items_of("fold", items), 0, k, s)


def _reduce(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    function, value, items = arguments
    return _fold_on(function, value, items_of("reduce", items), 0, k, s)


def _fold_on(
    function: Value, value: Value, items: tuple[Value, ...], at: int, k: Frame, s: Segment
) -> Step:
    call = direct(function, 2) if at == 0 else None
    if call is not None:
        for item in items:
            value = call(value, item)
        at = len(items)
    if at == len(items):
        return k[0], value, k, s
    frame = (_fold_next, k, function, items, at + 1)
    return apply(function, (value, items[at]), frame, s)


def _fold_next(value: Value, k: Frame, s: Segment) -> Step:
    return _fold_on(k[2], value, k[3], k[4], k[1], s)


def _any(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return _seek(arguments[0], items_of("any?", arguments[1]), 0, True, k, s)


def _all(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return _seek(arguments[0], items_of("all?", arguments[1]), 0, False, k, s)


def _seek(
    function: Value, items: tuple[Value, ...], at: int, wanted: bool, k: Frame, s: Segment
) -> Step:
    if at == len(items):
        return k[0], not wanted, k, s
    call = direct(function, 1) if at == 0 else None
    if call is not None:
        return k[0], any(truth(call(item)) is wanted for item in items) is wanted, k, s
    frame = (_seek_next, k, function, items, at + 1, wanted)
    return apply(function, (items[at],), frame, s)


def _seek_next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, at, wanted = k
    if truth(value) is wanted:
        return below[0], wanted, below, s
    return _seek(function, items, at, wanted, below, s)


# -- The rest -------------------------------------------------------------------------------------


def _apply(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    *first, last = arguments[1:]
    return apply(arguments[0], (*first, *items_of("apply", last)), k, s, span)


def _update(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    table, key, function = arguments
    if isinstance(table, Record):
        table = table.fields
    if not isinstance(table, dict) or not isinstance(key, (str, Symbol)):
        raise Fault("wrong-type", "`update` takes a table, a key and a function")
    name = key if isinstance(key, str) else key.name
    return apply(function, (table.get(name),), (_updated, k, table, name), s)


def _updated(value: Value, k: Frame, s: Segment) -> Step:
    below = k[1]
    return below[0], {**k[2], k[3]: value}, below, s


def _raise(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return fail(raised(arguments[0], span), k, s)


def _error(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return fail(user_error(arguments, span), k, s)


def _abandon(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    continuation = arguments[0]
    if not isinstance(continuation, Continuation):
        raise Fault("wrong-type", f"`abandon` takes a continuation, not {shown(continuation)}")
    return let_go(continuation, k, s)


def _start(call: tuple[Value, Value], k: Frame, s: Segment) -> Step:
    return apply(call[0], (call[1],), k, s)


def _fork_map(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(fork-map f xs limit)`: what `par-map` is made of."""
    function, xs, limit = arguments
    items = items_of("par-map", xs)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise Fault("wrong-type", "`limit:` of `par-map` is an integer from 1 on")
    if not items:
        return k[0], (), k, s
    raise Forked(tuple([(_start, (function, item)) for item in items]), k, s, limit)


_TABLE: tuple[tuple[str, int, int | None, Any, str], ...] = (
    ("map", 2, None, _map, "(map f xs …): f of each element, to the shortest list"),
    ("for-each", 2, None, _for_each, "(for-each f xs …): f of each element; nil"),
    ("filter", 2, 2, _filter, "(filter p xs): the elements for which p holds"),
    ("group-by", 2, 2, _group_by, "(group-by f xs): list of [key items]"),
    ("sort-by", 2, 2, _sort_by, "(sort-by f xs): by f of each, stable"),
    ("fold", 3, 3, _fold, "(fold f init xs): calls (f acc x) from the left"),
    ("reduce", 3, 3, _reduce, "(reduce f init xs): calls (f acc x) from the left"),
    ("any?", 2, 2, _any, "(any? p xs): whether p holds for some element"),
    ("all?", 2, 2, _all, "(all? p xs): whether p holds for every element"),
    ("sort", 2, 2, sort, "(sort xs less?): stable"),
    ("apply", 2, None, _apply, "(apply f x … xs): calls f with x … and the elements of xs"),
    ("update", 3, 3, _update, "(update t k f): t with f of its value at k"),
    ("raise", 1, 1, _raise, "(raise x): performs error"),
    ("error", 1, None, _error, '(error "text" x …): raises a USER_ERROR'),
    ("abandon", 1, 1, _abandon, "(abandon k): leaves the scopes that k holds"),
    ("fork-map", 3, 3, _fork_map, "(fork-map f xs limit): f of each element, in branches"),
    ("run-plan", 4, 4, run_plan, "(run-plan text inputs allow budget): a model's program"),
    ("match-task", 1, 1, match_task, "(match-task request): the task for a SubtaskRequest"),
    ("task-of", 1, 1, task_of, "(task-of subtype): the one task of a subtype, or nil"),
    ("run-task", 3, 3, run_task, "(run-task task inputs overrides): calls a task"),
    ("run-step", 3, 3, run_step, "(run-step f x overrides): calls f, a task with overrides"),
    ("task-result", 1, 1, make_result, "(task-result fields): a TaskResult"),
)

HIGHER: dict[str, Higher] = {
    name: Higher(name, least, most, doc) for name, least, most, _, doc in _TABLE
}
"""The prelude functions that call back, by name."""

ENTRIES.update({name: entry for name, _, _, entry, _ in _TABLE})
