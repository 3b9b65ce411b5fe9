"""What goes wrong to its place in the program: the nearest one that somebody knows.

No step keeps its place for this: whatever may fail holds on to the span that it fails with, and
that is looked for in what the code at work closes over, and then in the frames below it. A call
from a program into the library leaves a frame with its place, so that what goes wrong in the
library is said to be where the program called it.
"""

from contextlib import suppress
from typing import Any

from sexplang.machine.stack import BASE, Frame, Segment, Step
from sexplang.terms.source import Span, is_library
from sexplang.terms.value import Record, Value

_FRAMES = 200
"""How many frames and segments are looked at."""
_LEVELS = 4
"""How deep functions are looked at that functions close over."""


def place_of(step: Step) -> Span | None:
    """The place of a step, outside of the language's own library."""
    fn, _, k, s = step
    found = _in_code(fn)
    for _ in range(_FRAMES):
        if found is not None or s is None:
            break
        if k is None and s[0] is BASE:  # goes on where the branch began
            k, s = (None, None) if s[4] is None else (s[4].k, s[4].s)
        elif k is None:
            k, s = s[1], s[2]
        else:
            found = next((_own(item) for item in k[2:] if _own(item)), None) or _in_code(k[0])
            k = k[1]
    return found


def _in_code(fn: Any) -> Span | None:
    """The nearest span that a function has or closes over."""
    level = [fn]
    for _ in range(_LEVELS):
        inner: list[Any] = []
        for item in level:
            found = _own(item) or _own(getattr(item, "__dict__", {}).get("span"))
            if found is not None:
                return found
            for cell in getattr(item, "__closure__", None) or ():
                with suppress(ValueError):  # an empty one
                    inner.append(cell.cell_contents)
        level = inner
    return None


def _own(item: Any) -> Span | None:
    return item if isinstance(item, Span) and not item.source.is_library else None


# -- Calls into the library ---------------------------------------------------------------------


def calling(span: Span | None, k: Frame, env: tuple[Any, ...] = ()) -> Frame:
    """The frames below what the library does for a call in the program: two such calls in a row,
    the second in tail position, take no more than one. `env` is the environment of the call, if
    that is known."""
    if span is None or span.source.is_library:
        return k
    if k[0] is not returned:
        return (returned, k, span, env)
    return k if k[2] is span else (returned, k[1], span, env)


def returned(value: Value, k: Frame, s: Segment) -> Step:
    """The resume of a frame that keeps the place of a call and its environment."""
    below = k[1]
    return below[0], value, below, s


def blamed(error: Record, k: Frame, s: Segment, fn: Any = None) -> Record:
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
