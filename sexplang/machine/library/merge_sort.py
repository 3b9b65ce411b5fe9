"""`(sort xs less?)`: a merge sort whose comparisons are calls of the program.

Each comparison is a step. If the comparison needs no frame, many are made in one turn of the loop,
as in `iteration`. Both ways make the same comparisons in the same order.
"""

from collections.abc import Callable
from typing import Any

from sexplang.machine.code.application import apply
from sexplang.machine.code.simple import locate as placed
from sexplang.machine.library.iteration import (
    add_caller,
    direct,
    each,
    items_of,
    iterate_chain,
    same,
    unlink,
)
from sexplang.machine.stack import Closure, Frame, Segment, Step
from sexplang.terms.quota import account, work
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.rope import TEXTS, whole_text
from sexplang.terms.values.sequences import LISTS, whole_list
from sexplang.terms.values.value import Fault, Primitive, Procedure, Value, truth


def sort(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    items, less = items_of("sort", arguments[0]), arguments[1]
    runs = tuple([(item,) for item in items])
    if len(runs) > 1 and direct(less, 2) is not None:
        return _merge_some, None, (_merge_more, k, less, runs, 0, None, 0, 0, None, span), s
    return _merge_runs(less, runs, 0, None, k, s)


def _merge_runs(less: Value, runs: Any, at: int, merged: Any, k: Frame, s: Segment) -> Step:
    """Merge neighbouring runs, pass by pass, until one is left. The sort is stable. `merged` is a
    linked list of the merged runs before `at`."""
    while True:
        if at + 1 < len(runs):
            return _merge(less, 0, 0, None, (runs, at, merged), k, s)
        runs = (*unlink(merged, at // 2), *runs[at:])
        at, merged = 0, None
        if len(runs) <= 1:
            return k[0], (runs[0] if runs else ()), k, s


def _merge(less: Value, i: int, j: int, out: Any, rest: Any, k: Frame, s: Segment) -> Step:
    runs, at, merged = rest
    left, right = runs[at], runs[at + 1]
    if i == len(left) or j == len(right):
        run = unlink(out, i + j) + left[i:] + right[j:]
        return _merge_runs(less, runs, at + 2, (merged, run), k, s)
    return apply(less, (right[j], left[i]), (_merge_next, k, less, i, j, out, rest), s)


def _merge_next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, less, i, j, out, rest = k
    runs, at, _ = rest
    if truth(value):
        return _merge(less, i, j + 1, (out, runs[at + 1][j]), rest, below, s)
    return _merge(less, i + 1, j, (out, runs[at][i]), rest, below, s)


# -- Without frames ------------------------------------------------------------------------------


def _merge_some(_: Value, k: Frame, s: Segment) -> Step:
    """Make the next comparisons. `out` is a linked list of the results of earlier turns for this
    run."""
    _, below, less, runs, at, merged, i, j, out, span = k
    is_less = _comparison(less)
    made: list[Value] = []
    counted = account()
    walk = counted.walk(_COMPARED, 0)
    try:
        while at + 1 < len(runs):
            left, right = runs[at], runs[at + 1]
            for _ in walk:
                ahead, behind = right[j], left[i]
                value = is_less(ahead, behind)
                if value is not False and value is not None:
                    made.append(ahead)
                    j += 1
                    if j == len(right):
                        break
                else:
                    made.append(behind)
                    i += 1
                    if i == len(left):
                        break
            else:
                break
            merged = (merged, (*iterate_chain(out), *made, *left[i:], *right[j:]))
            at, i, j, out, made = at + 2, 0, 0, None, []
            if at + 1 >= len(runs):
                runs = (*unlink(merged, at // 2), *runs[at:])
                at, merged = 0, None
    except Fault as fault:
        raise add_caller(fault, less, span) from None
    finally:
        counted.count_walked()
    if len(runs) == 1:
        return below[0], runs[0], below, s
    frame = (_merge_more, below, less, runs, at, merged, i, j, (out, tuple(made)), span)
    return _merge_some, None, frame, s


def _merge_more(_: Value, k: Frame, s: Segment) -> Step:
    return _merge_some, None, k, s


_COMPARED = (None,) * 1_024
"""The greatest number of comparisons in one turn of the loop."""


# -- By keys -------------------------------------------------------------------------------------


def sort_by(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(sort-by f xs [order])`: compute all keys, then order the items."""
    if len(arguments) > 2 and isinstance(arguments[1], Procedure):
        title = f"`sort-by` goes through a list, not {abbreviate(arguments[1])}"
        raise Fault("wrong-type", title, hint="the order comes last: `(sort-by f xs >)`")
    items = items_of("sort-by", arguments[1])
    order = arguments[2] if len(arguments) > 2 else None
    return each(arguments[0], items, 1, same, None, (_by_keys, k, items, order, span), s, span)


def _by_keys(keys: Value, k: Frame, s: Segment) -> Step:
    _, below, items, order, span = k
    try:
        keys = _comparable(keys, order)
    except Fault as fault:
        raise placed(fault, span) from None
    if len(items) <= _SORTED_AT_ONCE:
        order = sorted(range(len(items)), key=keys.__getitem__)
        return below[0], tuple([items[at] for at in order]), below, s
    return _sort_some, 0, (_sort, below, items, keys, None), s


def _comparable(keys: tuple[Value, ...], order: Value) -> tuple[Value, ...]:
    """Return the keys as Python compares them, in the order that is wanted. Raises Fault."""
    if not keys or not LISTS.issuperset(map(type, keys)):
        return _column(keys, _is_down(order))
    rows = [whole_list(key) for key in keys]
    work(len(rows) * len(rows[0]))
    if len({len(row) for row in rows}) > 1:
        raise Fault("wrong-type", "`sort-by` needs keys that are lists of one length")
    wanted = whole_list(order) if type(order) in LISTS else (order,) * len(rows[0])
    if len(wanted) != len(rows[0]):
        raise Fault(
            "wrong-type",
            f"`sort-by` has {len(rows[0])} keys of an item, and the order of {len(wanted)}",
            hint=_ORDER,
        )
    columns = [
        _column(column, _is_down(one))
        for column, one in zip(zip(*rows, strict=True), wanted, strict=True)
    ]
    return tuple(zip(*columns, strict=True)) if columns else keys


_ORDER = "`<` is upward and `>` downward: `(sort-by f xs >)`, of two keys `(sort-by f xs [> <])`"


def _is_down(order: Value) -> bool:
    if order is None:
        return False
    if type(order) is Primitive and order.name in ("<", ">"):
        return order.name == ">"
    raise Fault(
        "wrong-type",
        f"`sort-by` takes `<` or `>` as its order, not {abbreviate(order)}",
        hint=_ORDER,
    )


def _column(keys: tuple[Value, ...], down: bool) -> tuple[Value, ...]:
    """Return keys that are all numbers, all strings or all booleans."""
    kinds = set(map(type, keys))
    if kinds <= _NUMBERS:
        return tuple([-key for key in keys]) if down else keys
    if kinds <= _BOOLEANS:
        return tuple([key is not down for key in keys])
    if not kinds <= TEXTS:
        raise Fault(
            "wrong-type",
            "`sort-by` needs keys that are all numbers or all strings, or lists of such",
            hint="`(lambda (row) [row.city row.price])` sorts by two keys",
        )
    texts = tuple(map(whole_text, keys))
    if not down:
        return texts
    places = {text: -place for place, text in enumerate(sorted(set(texts)))}
    return tuple([places[text] for text in texts])


_NUMBERS = frozenset((int, float))
_BOOLEANS = frozenset((bool,))

_SORTED_AT_ONCE = 8_192
"""How many items are sorted in one step of Python; runs of this size are merged."""


def _sort_some(start: int, k: Frame, s: Segment) -> Step:
    """Sort the next run, as indexes of items; the runs before it are a linked list."""
    _, below, items, keys, runs = k
    end = min(start + _SORTED_AT_ONCE, len(items))
    work(end - start - 1)
    runs = (runs, tuple(sorted(range(start, end), key=keys.__getitem__)))
    if end < len(items):
        return _sort_some, end, (_sort, below, items, keys, runs), s
    less = Primitive("sort-by", lambda a, b: bool(keys[a] < keys[b]), 2, 2)
    all_runs = unlink(runs, -(-end // _SORTED_AT_ONCE))
    ended = (_sort, below, items, keys, None)
    return _merge_some, None, (_merge_more, ended, less, all_runs, 0, None, 0, 0, None, None), s


def _sort(order: Value, k: Frame, s: Segment) -> Step:
    _, below, items, _, _ = k
    return below[0], tuple([items[at] for at in order]), below, s


def _comparison(less: Value) -> Callable[[Value, Value], Value]:
    """Return the comparison of `direct`, with one Python call less for a closure."""
    found = direct(less, 2)
    assert found is not None
    if type(less) is not Closure:
        return found
    body, env = less.code.pure, less.env
    assert body is not None
    return lambda a, b: body((env, a, b))
