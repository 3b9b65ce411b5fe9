"""`(in-place f)`: a job, which is done as soon as it has a place."""

from typing import Any

from sexplang.machine.apply import apply
from sexplang.machine.exits import Asked, Broken, Placed
from sexplang.machine.reached import too_many_scopes
from sexplang.machine.simple import at
from sexplang.machine.stack import Frame, Segment, Step
from sexplang.terms.source import Span
from sexplang.terms.value import Fault, Value


def in_place(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """Leaves the loop until there is a place."""
    if len(s[3].jobs or ()) >= _DEEPEST:
        raise Broken(too_many_scopes(_DEEPEST))
    raise Placed(arguments[0], k, s, span)


def begin(job: tuple[Value, Span | None], k: Frame, s: Segment) -> Step:
    """The job has its first place."""
    function, span = job
    try:
        return apply(function, (), k, s, span)
    except Fault as fault:
        raise at(fault, span) from None


def ask_again(asked: tuple[Any, ...], k: Frame, s: Segment) -> Step:
    """The job had no place when it asked, and has one now."""
    operation, arguments, span = asked
    raise Asked(operation, arguments, k, s, span)


_DEEPEST = 2_000
"""How deep jobs may stand in jobs: each knows all around it."""
