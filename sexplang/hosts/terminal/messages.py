"""Diagnostics and errors to the text that a person reads, in the colours of the stream."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from sexplang.hosts.cli.explain import codes, has_page
from sexplang.hosts.terminal.show import FindSource, no_source, paint_for, show, show_error
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.values.value import Record

MOST = 50
"""Nobody reads more than some; of many, errors come first."""


def diagnostics_text(found: Sequence[Diagnostic], stream: TextIO) -> str:
    """The diagnostics as they look on a stream, with an empty line between them."""
    paint = paint_for(stream, os.environ)
    pages = frozenset(codes())
    first, more = found, len(found) - MOST
    if more > 0:
        first = sorted(found, key=lambda each: each.severity != "error")[:MOST]
    shown = [show(each, paint, each.code in pages) for each in first]
    if more > 0:
        shown.append(f"and {more:,} more")
    return "\n\n".join(shown)


def error_text(
    error: Record, stream: TextIO, find: FindSource = no_source, trail: Any = None
) -> str:
    """An error that ended a program as it looks on a stream, with the calls that it failed in."""
    return show_error(error, find, paint_for(stream, os.environ), has_page, trail_lines(trail))


def error_note(error: Record, find: FindSource = no_source, trail: Any = None) -> str:
    """The same inside of a diagnostic, which has the colours."""
    return show_error(error, find, more=trail_lines(trail))


def trail_lines(trail: Any) -> Iterator[tuple[str, str]]:
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
