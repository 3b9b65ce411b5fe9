"""Earlier values: the bindings that an error leaves behind, in its `details.partial_results`.

A program loses the bindings of a body when an error leaves the body. The names are looked up then.
Running code does not know them.
"""

from collections.abc import Iterator
from itertools import islice

from sexplang.machine.stack import BASE, Continuation, Frame, Segment
from sexplang.terms.program import Program
from sexplang.terms.values.abbreviation import LONGEST, MOST, part
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.text import text_size
from sexplang.terms.values.value import Fault, Procedure, Record, Value, has_failed

_LOOKED = 500
"""The greatest number of frames that are searched."""


def add_bound_values(error: Record, k: Frame, s: Segment, node: Segment = None) -> Record:
    """Return an error with the bindings around it, if the program has tasks. In other programs they
    cost nothing."""
    is_told = s[3].linked.known and isinstance(error.fields["details"], dict)
    return with_bound(error, k, s, node) if is_told else error


def with_bound(error: Record, k: Frame, s: Segment, node: Segment = None) -> Record:
    """Return the error with the bindings around the calls between here and `node` (None: around
    all), the innermost of each name. If a sequence or a list has reported its results, those stand
    alone."""
    details = error.fields["details"]
    before = details.get("partial_results", {})
    if not isinstance(before, dict):
        return error
    found: dict[str, Value] = {}
    for name, value in _bound(k, s, node):
        if len(found) + len(before) >= MOST:
            break
        if name not in found and name not in before and _is_result(value):
            found[name] = part(value)
    if not found:
        return error
    in_order = dict(reversed(found.items()))
    details = {**details, "partial_results": {**in_order, **before}}
    return Record(error.kind, {**error.fields, "details": details})


def _bound(k: Frame, s: Segment, node: Segment) -> Iterator[tuple[str, Value]]:
    """Yield the names and values in the frames, innermost first."""
    from sexplang.machine.library.iteration import partial_result
    from sexplang.machine.positions.bound_names import names_of  # only a failing run needs it

    linked = s[3].linked
    programs = [linked.program(), *linked.plans.values()]
    known = [names_of(each, linked.tasks) for each in programs if isinstance(each, Program)]
    for frame in islice(_frames(k, s, node), _LOOKED):
        if so_far := partial_result(frame):
            yield so_far
        for names in known:
            yield from names.bound(frame)


def _frames(k: Frame, s: Segment, node: Segment) -> Iterator[Frame]:
    """Yield the frames above `node`, innermost first, with those of the parent branches and of
    continuations that a clause holds."""
    while True:
        while k is not None:
            yield k
            k = k[1]
        if s is node:
            return
        if s[4].__class__ is Continuation:
            for _, held, _, _ in s[4].segments:
                while held is not None:
                    yield held
                    held = held[1]
        if s[0] is not BASE:
            k, s = s[1], s[2]
        elif s[4] is None:
            return
        else:
            k, s = s[4].k, s[4].s


def _is_result(value: Value) -> bool:
    """Return whether a value is data and not an earlier error."""
    if isinstance(value, Procedure) or has_failed(value):
        return False
    if isinstance(value, Record) and value.kind == "error":
        return False
    if text_size(value, LONGEST) > LONGEST:  # it is abbreviated
        return True
    try:
        plain(value)
    except Fault:  # it holds functions
        return False
    return True
