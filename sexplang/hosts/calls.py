"""The calls that a program failed in, and its variables there, to what a person reads of them."""

from collections.abc import Iterator
from typing import Any


def told(trail: Any) -> Iterator[tuple[str, str]]:
    """The word and the lines of each part of a Trail that there is."""
    if trail is None:
        return
    if trail.calls:
        yield "calls", "\n".join(map(_line, trail.calls))
    if trail.variables:
        yield "values", "\n".join([f"{name} = {value}" for name, value in trail.variables.items()])


def _line(call: dict[str, Any]) -> str:
    words = "the top level" if call["function"] is None else f"`{call['function']}`"
    span = call["span"]
    at = "" if span is None else f" at {span['source']}:{span['line']}:{span['column']}"
    times = call["times"]
    return f"{words}{at}" + (f", {times} times" if times > 1 else "")
