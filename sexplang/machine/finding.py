"""A step that a limit ends to its place in the source: the nearest one that somebody knows.

No step keeps its place for this: whatever may fail holds on to the span that it fails with, and
that is looked for in what the code at work closes over, and then in the frames below it.
"""

from contextlib import suppress
from typing import Any

from sexplang.machine.stack import BASE, Step
from sexplang.terms.source import Span

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
            s = None if s[4] is None else s[4].s
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
    if isinstance(item, Span) and not item.source.name.startswith("std/"):
        return item
    return None
