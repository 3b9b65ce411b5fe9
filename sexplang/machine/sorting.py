"""`(sort xs less?)`: a merge sort whose comparisons are calls of the program."""

from typing import Any

from sexplang.machine.apply import apply
from sexplang.machine.collect import items_of, unlink
from sexplang.machine.stack import Frame, Segment, Step
from sexplang.terms.source import Span
from sexplang.terms.value import Value, truth


def sort(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    items, less = items_of("sort", arguments[0]), arguments[1]
    return _merge_runs(less, tuple([(item,) for item in items]), (), k, s)


def _merge_runs(less: Value, runs: Any, merged: Any, k: Frame, s: Segment) -> Step:
    """Merges neighbouring runs, pass by pass, until one is left. Stable."""
    while True:
        if len(runs) > 1:
            return _merge(less, runs[0], runs[1], 0, 0, None, runs[2:], merged, k, s)
        runs, merged = merged + runs, ()
        if len(runs) <= 1:
            return k[0], (runs[0] if runs else ()), k, s


def _merge(
    less: Value,
    left: Any,
    right: Any,
    i: int,
    j: int,
    out: Any,
    runs: Any,
    merged: Any,
    k: Frame,
    s: Segment,
) -> Step:
    if i == len(left) or j == len(right):
        run = unlink(out, i + j) + left[i:] + right[j:]
        return _merge_runs(less, runs, (*merged, run), k, s)
    frame = (_merge_next, k, less, left, right, i, j, out, runs, merged)
    return apply(less, (right[j], left[i]), frame, s)


def _merge_next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, less, left, right, i, j, out, runs, merged = k
    if truth(value):
        return _merge(less, left, right, i, j + 1, (out, right[j]), runs, merged, below, s)
    return _merge(less, left, right, i + 1, j, (out, left[i]), runs, merged, below, s)
