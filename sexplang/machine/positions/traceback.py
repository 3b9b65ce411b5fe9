"""The traceback of a failed program: its calls and its variables, innermost first.

It is read from the site table on demand.
"""

from itertools import islice, takewhile
from typing import Any

from sexplang.machine.errors import FailureSite, frames, span_in_frame
from sexplang.machine.positions.environments import Scope, list_variables
from sexplang.machine.positions.sites import CODE, ITEMS, SECOND, Sites
from sexplang.machine.stack import Code, Frame
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.core import Core
from sexplang.terms.program import Program
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Record

MOST_CALLS, MOST_VARIABLES = 16, 12

_LOOKED = 500
"""The greatest number of frames that are searched."""


@frozen
class Trail:
    """The traceback as data.

    `calls` are `{function span times}`, innermost first, with function nil at the top level; empty
    if no function was called. `variables` are those of the innermost call, abbreviated.
    """

    calls: tuple[dict[str, Any], ...] = ()
    variables: dict[str, str] = field(factory=dict)


@define
class _Call:
    """A call of a function of the program, or its top level (None): its place, its environment if
    it is known, and the outermost place at which it is known to wait."""

    function: int | None
    span: Span | None
    env: Any = None
    outermost: Span | None = None

    @classmethod
    def at_work(
        cls, function: int | None, node: Core | None, sites: Sites, env: Any = None
    ) -> "_Call":
        """Return the call whose code at this node is at work."""
        if node is None:
            return cls(function, None, env)
        place = sites.place_of_work(node, function)
        return cls(function, place, env, sites.environments.extent(node))

    def is_around(self, waiting: "_Call | None") -> bool:
        """Return whether an expression that waits is a part of this one, which is at work."""
        if waiting is None or waiting.function != self.function:
            return False
        around, place = self.outermost, waiting.span
        return around is not None and place is not None and around.holds(place)


def trail_in(stood: FailureSite | Trail | None, error: Any, program: Program) -> Trail | None:
    """Return the trail of a failure. A thawed run has the trail alone."""
    return _trail(stood, error, program) if isinstance(stood, FailureSite) else stood


def _trail(failure: FailureSite, error: Record, program: Program) -> Trail:
    sites = failure.s[3].linked.outermost.sites
    calls = _calls(failure, _place(error, program), sites)
    told: list[dict[str, Any]] = []
    for call in calls:
        name, span = None, call.span
        if call.function is not None:
            function = sites.by_index[call.function]
            name = function.name
            if span is None or not function.span.holds(span):
                span = function.span
        place = None if span is None else span.plain()
        if told and told[-1]["function"] == name and told[-1]["span"] == place:
            told[-1]["times"] += 1
        elif len(told) < MOST_CALLS:
            told.append({"function": name, "span": place, "times": 1})
        else:
            break
    is_called = any(call["function"] is not None for call in told)
    return Trail(tuple(told) if is_called else (), _variables(calls, sites))


def _variables(calls: list[_Call], sites: Sites) -> dict[str, str]:
    call = calls[0] if calls else None
    scope: Scope | None = None
    if call is not None and call.span is not None and call.env is not None:
        scope = sites.environments.at(call.function, call.span, call.env)
    found: dict[str, str] = {}
    for name, value in (
        list_variables(scope, call.env) if call is not None and scope is not None else ()
    ):
        if len(found) == MOST_VARIABLES:
            break
        try:
            found[name] = abbreviate(value)
        except Fault:  # it cannot be written
            found[name] = f"a {type(value).__name__.lower()}"
    return found


def _place(error: Record, program: Program) -> Span | None:
    """Return the place of an error, if it is in the program."""
    place = error.fields.get("span")
    fields = place if isinstance(place, dict) else {}
    for source in program.sources:
        if source.name == fields.get("source"):
            try:
                start = source.offset(fields["line"], fields["column"])
                return Span(source, start, source.offset(fields["end_line"], fields["end_column"]))
            except (LookupError, TypeError):  # the program made it up
                return None
    return None


def _calls(failure: FailureSite, place: Span | None, sites: Sites) -> list[_Call]:
    """Return the calls of the program, innermost first. The first is at the place of the error."""
    at_work = _at_work(failure, sites)
    waiting = [_waiting(*each, sites) for each in islice(frames(failure.k, failure.s), _LOOKED)]
    if at_work:
        own = islice(waiting, failure.count_own_frames(_LOOKED))
        del waiting[: sum(1 for _ in takewhile(at_work[-1].is_around, own))]
    found = [*at_work, *[call for call in waiting if call is not None]]
    env = found[0].env if found and not _is_library(found[0], sites) else None
    calls = _merge([call for call in found if not _is_library(call, sites)])
    if place is None:
        return calls
    function = sites.function(place)
    if calls and calls[0].function == function:
        calls[0].span = place
    else:  # called by the machine's own code
        calls.insert(0, _Call(function, place, env))
    return calls


def _at_work(failure: FailureSite, sites: Sites) -> list[_Call]:
    """Return the calls of the step that failed: of its code, and of the functions on Python's
    stack."""
    site, found = sites.of(failure.fn), []
    if site is not None:
        env = failure.a if site.role == CODE else None
        found.append(_Call.at_work(site.function, site.node, sites, env))
    for part in reversed(failure.calls):
        if isinstance(part, Code):
            body = sites.by_index[part.index].body
            found.append(_Call.at_work(part.index, body, sites))
        elif found and sites.function(part) == found[-1].function:
            found[-1].span = part
    if found and failure.env is not None:
        found[-1].env = failure.env
    return found[::-1]


def _waiting(frame: Frame, own: Sites, sites: Sites) -> _Call | None:
    """Return the call that waits in a frame; None for a call of a program from a model."""
    if own is not sites:
        return None
    site = sites.of(frame[0])
    if site is None:
        place = span_in_frame(frame)
        return None if place is None else _Call(sites.function(place), place)
    if site.role == ITEMS:
        return _Call(None, sites.items[frame[3]].span, frame[2])
    env = None if site.role == SECOND else frame[2]
    return _Call(site.function, None if site.node is None else site.node.span, env)


def _is_library(call: _Call, sites: Sites) -> bool:
    span = call.span
    if call.function is not None:
        span = sites.by_index[call.function].span
    return span is None or span.source.is_library


def _merge(calls: list[_Call]) -> list[_Call]:
    """Return one of each call. Nested expressions that wait in one call are one."""
    made: list[_Call] = []
    for call in calls:
        last = made[-1] if made else None
        if last is not None and last.function == call.function and _may_be(last, call):
            last.span = last.span or call.span
            last.env = last.env or call.env
            last.outermost = call.span or last.outermost
        else:
            call.outermost = call.outermost or call.span
            made.append(call)
    return made


def _may_be(last: _Call, call: _Call) -> bool:
    """Return whether a waiting expression may be of the same call, further outward."""
    if call.function is None or call.span is None or last.outermost is None:
        return True
    return call.span.holds(last.outermost) and not last.outermost.holds(call.span)
