"""`(sort xs less?)`: a merge sort whose comparisons are calls of the program.

Calling what needs no frame is no turn of the loop here either, as in `walking`: both ways make the
same comparisons, in the same order.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from sexplang.machine.apply import apply
from sexplang.machine.collect import items_of, unlink
from sexplang.machine.simple import at as placed
from sexplang.machine.stack import Closure, Frame, Segment, Step
from sexplang.machine.walking import AT_ONCE, direct
from sexplang.terms.allowance import work
from sexplang.terms.source import Span
from sexplang.terms.value import Fault, Value, truth


def sort(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    items, less = items_of("sort", arguments[0]), arguments[1]
    runs = tuple([(item,) for item in items])
    if len(runs) > 1 and direct(less, 2) is not None:
        return _merge_some(None, (_merge_some, k, less, runs, 0, None, 0, 0, None, span), s)
    return _merge_runs(less, runs, 0, None, k, s)


def _merge_runs(less: Value, runs: Any, at: int, merged: Any, k: Frame, s: Segment) -> Step:
    """Merges neighbouring runs, pass by pass, until one is left. Stable. `merged` is a linked
    list of what the runs before `at` have become."""
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
    """The next comparisons. `out` is a linked list of what earlier turns have made of this run."""
    _, below, less, runs, at, merged, i, j, out, span = k
    is_less = _comparison(less)
    made: list[Value] = []
    left_over = AT_ONCE
    try:
        while at + 1 < len(runs) and left_over:
            left, right = runs[at], runs[at + 1]
            while left_over and i < len(left) and j < len(right):
                left_over -= 1
                ahead, behind = right[j], left[i]
                value = is_less(ahead, behind)
                if value is not False and value is not None:
                    made.append(ahead)
                    j += 1
                else:
                    made.append(behind)
                    i += 1
            if i < len(left) and j < len(right):
                break
            merged = (merged, (*_chained(out), *made, *left[i:], *right[j:]))
            at, i, j, out, made = at + 2, 0, 0, None, []
            if at + 1 >= len(runs):
                runs = (*unlink(merged, at // 2), *runs[at:])
                at, merged = 0, None
    except Fault as fault:
        raise placed(fault, span) from None
    finally:
        work(AT_ONCE - left_over)
    if len(runs) == 1:
        return below[0], runs[0], below, s
    frame = (_merge_some, below, less, runs, at, merged, i, j, (out, tuple(made)), span)
    return _merge_some, None, frame, s


def _comparison(less: Value) -> Callable[[Value, Value], Value]:
    """What `direct` gives, a call of Python's shorter where it is a closure."""
    found = direct(less, 2)
    assert found is not None
    if type(less) is not Closure:
        return found
    body, env = less.code.pure, less.env
    assert body is not None
    return lambda a, b: body((env, a, b))


def _chained(linked: Any) -> Iterator[Value]:
    """The values of a linked list of lists, oldest first."""
    found = []
    while linked is not None:
        linked, chunk = linked
        found.append(chunk)
    return chain.from_iterable(reversed(found))
