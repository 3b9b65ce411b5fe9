"""Rules for higher-order prelude functions: how often they call their argument, and with which
values."""

from collections.abc import Generator
from typing import Any

from sexplang.analysis.domain.bounds import Bound, multiply, number
from sexplang.analysis.domain.effects_and_calls import (
    NOTHING,
    EffectCounts,
    ResumedCall,
    add_counts,
    one_count,
    repeat_work,
)
from sexplang.analysis.domain.handler_stack import ActiveHandle, answering_handler, is_counted
from sexplang.analysis.domain.primitive_results import item_of, part_of, size_of
from sexplang.analysis.domain.values import ANY, DATA, Abstract, Constant, Resume, functions
from sexplang.analysis.interpreter.call_rules import HIGHER, SHIPPED, apply
from sexplang.analysis.interpreter.handler_rules import perform
from sexplang.analysis.interpreter.interpreter import (
    AbstractInterpreter,
    Seen,
    Steps,
    without_effects,
)
from sexplang.analysis.interpreter.resume_rules import OTHER_CONTEXT, escape, recount_resume
from sexplang.terms.source import Span

Arguments = tuple[Abstract, ...]


def shortest(lists: Arguments, span: Span) -> Bound:
    sizes = [size_of(one, span) for one in lists]
    known = [size for size in sizes if size.constant is not None]
    if known:
        return min(known, key=lambda size: size.constant or 0)
    return next((size for size in sizes if size.is_bounded), sizes[0])


def _map(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """f of each element, up to the shortest list."""
    function, *lists = given
    size = shortest(tuple(lists), span)
    items = tuple([item_of(m.values, one) for one in lists])
    value, work = yield apply(m, function, items, (), handling, span)
    return m.values.list_of_size(size, value), repeat_work(work, size)


def _fork_map(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    return _map(m, given[:2], labels, m.branch(handling), span)


def _for_each(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    _, work = yield _map(m, given, labels, handling, span)
    return m.values.constant(None), work


def _filter(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """The list itself, or a part of it."""
    work = yield from _choose(m, given, labels, handling, span)
    return m.values.list_of_size(size_of(given[1], span), item_of(m.values, given[1])), work


def _choose(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Generator[Any, Any, EffectCounts]:
    """Interpret a test of each element."""
    function, items = given
    value, work = yield apply(m, function, (item_of(m.values, items),), (), handling, span)
    m.observations.test(span, value)
    return repeat_work(work, size_of(items, span))


def _sort_by(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """The list itself in another order."""
    _, work = yield _map(m, given, labels, handling, span)
    return m.values.list_of_size(size_of(given[1], span), item_of(m.values, given[1])), work


def _seek(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    work = yield from _choose(m, given, labels, handling, span)
    return DATA, work


def _group_by(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    keys, work = yield _map(m, given, labels, handling, span)
    inside = m.values.within((keys, item_of(m.values, given[1])))
    return m.values.list_of_size(size_of(given[1], span), inside), work


def _sort(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """A merge sort makes fewer comparisons than there are pairs."""
    items, less = given
    size, item = size_of(items, span), item_of(m.values, items)
    _, work = yield apply(m, less, (item, item), (), handling, span)
    known = size.constant
    pairs = multiply(size, size)
    if known is not None:
        pairs = number(known * max(1, (known - 1).bit_length()) if known > 1 else 0)
    return m.values.list_of_size(size, item), repeat_work(work, pairs)


def _fold(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(f acc x)` from the left. The accumulator is any result of f."""
    function, start, items = given
    size, item = size_of(items, span), item_of(m.values, items)
    if size.is_zero:
        return without_effects(start)
    so_far = start
    for _ in range(3):
        value, work = yield apply(m, function, (so_far, item), (), handling, span)
        if m.values.covers(so_far, value):
            break
        so_far = m.values.widen(m.values.within((so_far,)), value)
    else:
        escape(so_far, value)
        so_far, work = yield apply(m, function, (ANY, item), (), handling, span)
        so_far = m.values.widen(so_far, start)
    return so_far, repeat_work(work, size)


def _update(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    table, key, function = given
    name = getattr(key.value, "name", key.value) if isinstance(key, Constant) else None
    old = part_of(m.values, table, name) if isinstance(name, str) else m.values.within((table,))
    value, work = yield apply(m, function, (old,), (), handling, span)
    return m.values.within((table, value)), work


def _raise(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    return (yield from perform(m, "error", given, handling, span))


def _abandon(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Any:
    """The abandoned part was interpreted at its capture; see `resume_counts`."""
    found = functions(given[0])
    works = [
        one_count(ResumedCall(one.activation.number), span)
        if is_counted(handling, one.activation.handling.outer)
        else recount_resume(m, one.activation, span, handling)
        for one in found or ()
        if isinstance(one, Resume)
    ]
    if found is None:
        works.append(m.anything(OTHER_CONTEXT, span, handling))
    return m.values.constant(None), add_counts(*works)


def _put_shared(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Seen:
    escape(*given)
    return given[1], NOTHING


def _make_call_rule(at: int) -> Any:
    """Return a rule that calls one argument, a function without parameters, once."""

    def follow(
        m: AbstractInterpreter,
        given: Arguments,
        labels: Any,
        handling: ActiveHandle | None,
        span: Span,
    ) -> Steps:
        return (yield from apply(m, given[at], (), (), handling, span))

    return follow


HIGHER.update(
    {
        "map": _map,
        "fork-map": _fork_map,
        "for-each": _for_each,
        "filter": _filter,
        "any?": _seek,
        "all?": _seek,
        "group-by": _group_by,
        "sort-by": _sort_by,
        "sort": _sort,
        "fold": _fold,
        "reduce": _fold,
        "update": _update,
        "raise": _raise,
        "error": _raise,
        "abandon": _abandon,
        "as-work": _make_call_rule(2),
        "with-permit": _make_call_rule(0),
        "in-place": _make_call_rule(0),
        "subagent-limits": lambda *_: without_effects(DATA),
        "claim-shared": lambda *_: without_effects(DATA),
        "put-shared": _put_shared,
        "release-shared": lambda m, *_: without_effects(m.values.constant(None)),
    }
)


def _run_cells(
    m: AbstractInterpreter, given: Arguments, labels: Any, handling: ActiveHandle | None, span: Span
) -> Steps:
    """`(run-cells cells f)`: each put resumes its continuation exactly once, in a loop.
    Interpreting the loop would lose that count."""
    if len(given) != 2:
        return without_effects(DATA)
    inside = ActiveHandle(m.number(), handling, m.values.environment(None, ()))
    inside.given = {"get-cell": ANY, "put-cell": m.values.constant(None)}
    inside.answering, inside.tail = inside, frozenset(("get-cell",))
    value, work = yield apply(m, given[1], (), (), inside, span)
    assert answering_handler(inside) is inside
    return m.values.table({"value": value, "cells": ANY}), add_counts(work, NOTHING)


SHIPPED[("std/state", "run-cells")] = _run_cells
