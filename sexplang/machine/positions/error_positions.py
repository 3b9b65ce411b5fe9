"""The position of an error: the nearest known place, of the code at work or of a frame below it.

A step stores no place for this. The code that an error passes first on Python's stack locates it.
Other code and frames are located by the site table. A call from a program into the library leaves a
frame with its place: an error of the library is located at the call in the program.
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
"""The greatest number of frames that are searched."""


@node(eq=False)
class Failure:
    """A step that raised: the code at work, its register, and the fault."""

    fault: Fault
    fn: Any
    a: Any


@node(eq=False)
class FailureSite:
    """The registers of the step that failed, with the environment of the error and the calls on
    Python's stack that it came out of."""

    fn: Any
    a: Any
    k: Frame
    s: Segment
    env: Any = None
    calls: tuple[Any, ...] = ()


def frames(k: Frame | None, s: Segment) -> Iterator[tuple[Frame, Sites]]:
    """Yield the frames from here on, innermost first, each with the site table of its code."""
    while s is not None:
        sites = s[3].linked.sites
        while k is not None:
            yield k, sites
            k = k[1]
        if s[0] is BASE:  # go on where the branch began
            k, s = (None, None) if s[4] is None else (s[4].k, s[4].s)
        else:
            k, s = s[1], s[2]


def place_of(step: Step) -> Span | None:
    """Return the place of a step outside the library."""
    fn, _, k, s = step
    found = None if s is None else _own(s[3].linked.sites.span(fn))
    for frame, sites in islice(frames(k, s), _FRAMES):
        if found is not None:
            break
        found = _own(span_in_frame(frame)) or _own(sites.span(frame[0]))
    return found


def span_in_frame(frame: Frame) -> Span | None:
    """Return the place that a frame of the machine's own holds."""
    return next((part for part in frame[2:] if isinstance(part, Span)), None)


def _own(place: Span | None) -> Span | None:
    return None if place is None or place.source.is_library else place


# -- Calls into the library ---------------------------------------------------------------------


def call_frame(span: Span | None, k: Frame, env: tuple[Any, ...] = ()) -> Frame:
    """Return the frames below a library call in the program. Two such calls in a row, the second in
    tail position, take no more than one. `env` is the environment of the call, if it is known."""
    if span is None or span.source.is_library:
        return k
    if k[0] is not return_value:
        return (return_value, k, span, env)
    return k if k[2] is span else (return_value, k[1], span, env)


def return_value(value: Value, k: Frame, s: Segment) -> Step:
    """Resume a frame that holds the place of a call and its environment."""
    below = k[1]
    return below[0], value, below, s


def blame(error: Record, k: Frame, s: Segment, fn: Any = None) -> Record:
    """Return an error located in the program. An error without a place, or of the library, gets the
    place of the call in the program, if that is known; its span then also gives the place in the
    library. `fn` is the code at work."""
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
