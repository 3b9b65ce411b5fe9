"""Prelude functions that call back, followed: how often they call what, with what."""

from typing import Any

from sexplang.analysis.bounds import Bound, number, times, unbounded
from sexplang.analysis.calls import HIGHER, SHIPPED, apply
from sexplang.analysis.conversing import any_task, converse
from sexplang.analysis.following import Follower, Steps, nothing
from sexplang.analysis.handlers import perform
from sexplang.analysis.nodes import within_budget
from sexplang.analysis.results import item_of, part_of, size_of
from sexplang.analysis.stack import Handling, solid
from sexplang.analysis.values import ANY, DATA, Abstract, Exact, Sized
from sexplang.analysis.work import NOTHING, repeated, together
from sexplang.terms.source import Span
from sexplang.terms.value import Symbol, Task

Arguments = tuple[Abstract, ...]


def _shortest(lists: Arguments, span: Span) -> Bound:
    sizes = [size_of(one, span) for one in lists]
    known = [size for size in sizes if size.constant is not None]
    if known:
        return min(known, key=lambda size: size.constant or 0)
    return next((size for size in sizes if size.is_bounded), sizes[0])


def _map(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """f of each element, to the shortest list."""
    function, *lists = given
    size = _shortest(tuple(lists), span)
    items = tuple([item_of(m.values, one) for one in lists])
    value, work = yield apply(m, function, items, (), handling, span)
    return m.values.sized(size, value), repeated(work, size)


def _fork_map(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    return _map(m, given[:2], labels, handling, span)


def _for_each(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    _, work = yield _map(m, given, labels, handling, span)
    return m.values.exact(None), work


def _filter(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """The list itself, or less of it."""
    _, work = yield _map(m, given, labels, handling, span)
    return m.values.sized(size_of(given[1], span), item_of(m.values, given[1])), work


def _seek(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    _, work = yield _map(m, given, labels, handling, span)
    return DATA, work


def _group_by(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    keys, work = yield _map(m, given, labels, handling, span)
    inside = m.values.within((keys, item_of(m.values, given[1])))
    return m.values.sized(size_of(given[1], span), inside), work


def _sort(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """Every comparison of a merge sort is fewer than all pairs."""
    items, less = given
    size, item = size_of(items, span), item_of(m.values, items)
    _, work = yield apply(m, less, (item, item), (), handling, span)
    known = size.constant
    pairs = times(size, size)
    if known is not None:
        pairs = number(known * max(1, (known - 1).bit_length()) if known > 1 else 0)
    return m.values.sized(size, item), repeated(work, pairs)


def _fold(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """`(f acc x)` from the left: the accumulator is whatever f gave."""
    function, start, items = given
    size, item = size_of(items, span), item_of(m.values, items)
    if size.is_zero:
        return nothing(start)
    so_far = start
    for _ in range(3):
        value, work = yield apply(m, function, (so_far, item), (), handling, span)
        if m.values.covers(so_far, value):
            break
        so_far = m.values.widen(m.values.within((so_far,)), value)
    else:
        so_far, work = yield apply(m, function, (ANY, item), (), handling, span)
        so_far = m.values.widen(so_far, start)
    return so_far, repeated(work, size)


def _apply(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    function, *first, last = given
    size = last.size.constant if isinstance(last, Sized) else None
    if size is not None and size <= 20:
        rest = (item_of(m.values, last),) * size
        return (yield from apply(m, function, (*first, *rest), (), handling, span))
    # How many there are is not known: what is called takes what it takes.
    return (yield from _spread(m, function, (*first, item_of(m.values, last)), handling, span))


def _spread(
    m: Follower, function: Abstract, given: Arguments, handling: Handling | None, span: Span
) -> Steps:
    from sexplang.analysis.values import Fn

    inside = m.values.within(given)
    count = len(given)
    if isinstance(function, Fn):
        code = m.functions[function.function]
        if code.rest is not None:
            return ANY, m.anything("nobody knows how many arguments there are", span, handling)
        count = len(code.params)
    value, work = yield apply(m, function, (inside,) * count, (), handling, span)
    return m.values.join(value, inside), work


def _update(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    table, key, function = given
    name = getattr(key.value, "name", key.value) if isinstance(key, Exact) else None
    old = part_of(m.values, table, name) if isinstance(name, str) else m.values.within((table,))
    value, work = yield apply(m, function, (old,), (), handling, span)
    return m.values.within((table, value)), work


def _raise(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    return (yield from perform(m, "error", given, handling, span))


def _abandon(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Any:
    """What is left by it is followed where it stands."""
    return nothing(m.values.exact(None))


def _match_task(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Any:
    """The task of a request, if it is named, else any."""
    name = part_of(m.values, given[0], "name")
    found = _named(m, name)
    if found is not None:
        return nothing(m.values.exact(found))
    return nothing(m.values.exact(ANY_TASK))


def _task_of(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Any:
    """The one task of a subtype, or nil."""
    subtype = given[0].value if isinstance(given[0], Exact) else None
    found = [task for task in m.program.tasks if task.template.subtype == subtype]
    return nothing(m.values.exact(found[0] if len(found) == 1 else None))


ANY_TASK = Symbol("\x01any task")
"""Stands for a task that nobody knows before the program runs; no program can write it."""


def _named(m: Follower, value: Abstract) -> Task | None:
    if not isinstance(value, Exact):
        return None
    if isinstance(value.value, Task):
        return value.value
    name = getattr(value.value, "name", value.value)
    return next((task for task in m.program.tasks if task.name == name), None)


def _run_task(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """`(run-task task inputs overrides)`; overrides can only lower limits."""
    task, _, overrides = given
    paths = part_of(m.values, overrides, "file_paths")
    reads = not (isinstance(paths, Exact) and paths.value is None)
    known = _named(m, task)
    if known is not None:
        return (yield from converse(m, known, handling, span, reads))
    if isinstance(task, Exact) and task.value is not ANY_TASK:
        # No such task: it fails.
        return nothing(DATA)
    return (yield from any_task(m, handling, span, True))


def _run_step(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """`(run-step function value overrides)`: what a task is given of earlier steps asks nobody."""
    return (yield from apply(m, given[0], (given[1],), (), handling, span))


def _task_result(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Any:
    return nothing(m.values.within(given))


def _run_plan(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """`(run-plan text inputs allow budget)`: any number of the operations that are allowed, and
    of model calls as many as the budget has."""
    allow, budget = given[2:]
    words = allow.words if isinstance(allow, Sized) else None
    if isinstance(allow, Exact):
        words = (str(getattr(allow.value, "name", allow.value)),)
    if words is None:
        return DATA, m.anything("this plan may perform nobody knows what", span, handling)
    why = unbounded("a plan may perform what it is allowed any number of times", span)
    works = []
    for operation in words:
        _, work = yield perform(m, operation, (ANY,), handling, span)
        works.append(repeated(work, why))
    return DATA, within_budget(together(*works), budget, span)


HIGHER.update(
    {
        "map": _map,
        "fork-map": _fork_map,
        "for-each": _for_each,
        "filter": _filter,
        "any?": _seek,
        "all?": _seek,
        "group-by": _group_by,
        "sort-by": _filter,
        "sort": _sort,
        "fold": _fold,
        "reduce": _fold,
        "apply": _apply,
        "update": _update,
        "raise": _raise,
        "error": _raise,
        "abandon": _abandon,
        "run-plan": _run_plan,
        "match-task": _match_task,
        "task-of": _task_of,
        "run-task": _run_task,
        "run-step": _run_step,
        "task-result": _task_result,
    }
)


def _run_cells(
    m: Follower, given: Arguments, labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """`(run-cells cells body)`: each put resumes its continuation exactly once, in a loop, which
    following it would not show."""
    if len(given) != 2:
        return nothing(DATA)
    inside = Handling(m.number(), handling, m.values.environment(None, ()))
    inside.given = {"get-cell": ANY, "put-cell": m.values.exact(None)}
    inside.solid = inside
    value, work = yield apply(m, given[1], (), (), inside, span)
    assert solid(inside) is inside
    return m.values.table({"value": value, "cells": ANY}), together(work, NOTHING)


SHIPPED[("std/state", "run-cells")] = _run_cells
