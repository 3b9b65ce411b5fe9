"""`(sort xs less?)`: a merge sort whose comparisons are calls of the program."""

from typing import Any

from sexplang.machine.apply import apply
from sexplang.machine.collect import items_of, unlink
from sexplang.machine.stack import Frame, Segment, Step
from sexplang.terms.source import Span
from sexplang.terms.value import Value, truth


def sort(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    items, less = items_of("sort", arguments[0]), arguments[1]
    return _merge_runs(less, tuple([(item,) for item in items]), 0, None, k, s)


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
