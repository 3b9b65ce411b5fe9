"""The place of an error: the nearest one that is known, of code at work or of a frame below it.

A step keeps no place for this. An error that is raised on Python's stack is given its place by the
piece of code that it passes first; code and frames have theirs in the site table. A call from a
program into the library leaves a frame with its place: an error of the library is said to be where
the program called it.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from sexplang.machine.positions.sites import Sites
from sexplang.machine.stack import BASE, Frame, Segment, Step
from sexplang.terms.classes.node import node
from sexplang.terms.source import Span, is_library
from sexplang.terms.values.value import Fault, Record, Value

_FRAMES = 200
"""How many frames are looked at."""


@node(eq=False)
class Failure:
    """A step that raised: the code at work, its register, and the fault."""

    fault: Fault
    fn: Any
    a: Any


@node(eq=False)
class FailureSite:
    """The registers of the step that failed, and what its error knows of it: the environment, and
    the calls on Python's stack that it came out of."""

    fn: Any
    a: Any
    k: Frame
    s: Segment
    env: Any = None
    calls: tuple[Any, ...] = ()


def frames(k: Frame | None, s: Segment) -> Iterator[tuple[Frame, Sites]]:
    """The frames from here on, innermost first, each with the table that its code is in."""
    while s is not None:
        sites = s[3].linked.sites
        while k is not None:
            yield k, sites
            k = k[1]
        if s[0] is BASE:  # goes on where the branch began
            k, s = (None, None) if s[4] is None else (s[4].k, s[4].s)
        else:
            k, s = s[1], s[2]


def place_of(step: Step) -> Span | None:
    """The place of a step, outside of the language's own library."""
    fn, _, k, s = step
    found = None if s is None else _own(s[3].linked.sites.span(fn))
    for frame, sites in islice(frames(k, s), _FRAMES):
        if found is not None:
            break
        found = _own(span_in_frame(frame)) or _own(sites.span(frame[0]))
    return found


def span_in_frame(frame: Frame) -> Span | None:
    """The place that a frame of the machine's own holds."""
    return next((part for part in frame[2:] if isinstance(part, Span)), None)


def _own(place: Span | None) -> Span | None:
    return None if place is None or place.source.is_library else place


# -- Calls into the library ---------------------------------------------------------------------


def call_frame(span: Span | None, k: Frame, env: tuple[Any, ...] = ()) -> Frame:
    """The frames below what the library does for a call in the program: two such calls in a row,
    the second in tail position, take no more than one. `env` is the environment of the call, if
    that is known."""
    if span is None or span.source.is_library:
        return k
    if k[0] is not return_value:
        return (return_value, k, span, env)
    return k if k[2] is span else (return_value, k[1], span, env)


def return_value(value: Value, k: Frame, s: Segment) -> Step:
    """The resume of a frame that keeps the place of a call and its environment."""
    below = k[1]
    return below[0], value, below, s


def blame(error: Record, k: Frame, s: Segment, fn: Any = None) -> Record:
    """An error without a place, or of the library, has the place of the call in the program, if
    that is known: its span then also says where it is in the library. `fn` is the code at work."""
    place = error.fields.get("span")
    if place is not None and not _is_in_library(place):
        return error
    caller = place_of((fn, None, k, s))
    if caller is None:
        return error
    span = caller.plain()
    if place is not None:
        span["library"] = f"{place['source']}:{place.get('line')}:{place.get('column')}"
    return Record(error.kind, {**error.fields, "span": span})


def _is_in_library(place: Value) -> bool:
    return isinstance(place, dict) and is_library(str(place.get("source")))
