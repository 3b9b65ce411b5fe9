"""A program that has failed to the calls it was in and the variables it had there, innermost
first: made when somebody asks, from where it stood (`stood.py`).
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from sexplang.machine.environments import Environments, named
from sexplang.machine.owners import Owner, owners_of
from sexplang.machine.stack import BASE, Frame
from sexplang.machine.stood import Stood
from sexplang.terms.brief import shown
from sexplang.terms.node import define, field, frozen
from sexplang.terms.program import Function, Program
from sexplang.terms.source import Span
from sexplang.terms.value import Fault, Record

MOST_CALLS, MOST_VARIABLES = 16, 12

_LOOKED = 500
"""How many frames are looked at."""

_LEVELS = 1_000
"""How many environments may stand in one another."""


@frozen
class Trail:
    """`calls`: `{function span times}` each, innermost first, function nil at the top level; empty
    where no function was called. `variables`: those of the innermost call, a few words of each."""

    calls: tuple[dict[str, Any], ...] = ()
    variables: dict[str, str] = field(factory=dict)


@define
class _Call:
    """A call of a function of the program, or its top level (None): its place, its environment
    where that is known, and how far outward the call is known to wait."""

    function: int | None
    span: Span | None
    env: Any = None
    outermost: Span | None = None


def trail_of(stood: Stood, error: Record, setting: Any) -> Trail:
    """The trail of where a program stood. `setting` says which program, with what tasks."""
    program: Program = setting.program
    functions = {each.index: each for each in program.functions}
    finder = _Finder(functions, owners_of(program, setting.tasks), _root(stood))
    calls = finder.calls(stood, _place(error, program))
    told: list[dict[str, Any]] = []
    for call in calls:
        name = None if call.function is None else functions[call.function].name
        span = _place_of(call, functions)
        if told and told[-1]["function"] == name and told[-1]["span"] == span:
            told[-1]["times"] += 1
        elif len(told) < MOST_CALLS:
            told.append({"function": name, "span": span, "times": 1})
        else:
            break
    is_called = any(call["function"] is not None for call in told)
    return Trail(tuple(told) if is_called else (), _variables(calls, program))


def _place_of(call: _Call, functions: dict[int, Function]) -> dict[str, Any] | None:
    """The place of a call; where it is not known, its function is."""
    span = call.span
    if call.function is not None:
        around = functions[call.function].span
        if span is None or not _is_in(span, around):
            span = around
    return None if span is None else span.plain()


def _variables(calls: list[_Call], program: Program) -> dict[str, str]:
    call = calls[0] if calls else None
    if call is None or call.span is None or call.env is None:
        return {}
    scope = Environments(program).at(call.function, call.span, call.env)
    found: dict[str, str] = {}
    for name, value in named(scope, call.env) if scope is not None else ():
        if len(found) == MOST_VARIABLES:
            break
        try:
            found[name] = shown(value)
        except Fault:  # it cannot be written
            found[name] = f"a {type(value).__name__.lower()}"
    return found


def _place(error: Record, program: Program) -> Span | None:
    """The place that an error has, if it is one of the program."""
    place = error.fields.get("span")
    fields = place if isinstance(place, dict) else {}
    for source in program.sources:
        if source.name == fields.get("source"):
            try:
                start = source.offset(fields["line"], fields["column"])
                return Span(source, start, source.offset(fields["end_line"], fields["end_column"]))
            except (LookupError, TypeError):  # somebody made it up
                return None
    return None


def _root(stood: Stood) -> Any:
    """The table of inputs, in which every environment of the run ends; None if it is not found."""
    found = None
    for frame in _frames(stood):
        if _places(frame) is not None:
            found = frame[2][0]
    return found


def _frames(stood: Stood) -> Iterator[Frame]:
    """The frames below, innermost first."""
    k: Any = stood.k
    s = stood.s
    while s is not None:
        while k is not None:
            yield k
            k = k[1]
        if s[0] is BASE:  # goes on where the branch began
            k, s = (None, None) if s[4] is None else (s[4].k, s[4].s)
        else:
            k, s = s[1], s[2]


def _places(frame: Frame) -> Any:
    """The places of the items of a program, if it waits there for one of them."""
    return getattr(frame[0], "__dict__", {}).get("places")


@frozen
class _Finder:
    """What is known of a program to find its calls with."""

    functions: dict[int, Function]
    owners: dict[int, Owner]
    root: Any

    def calls(self, stood: Stood, place: Span | None) -> list[_Call]:
        """The calls of the program, innermost first; the first is at the place of the error."""
        waiting = [self._waiting(frame) for frame in islice(_frames(stood), _LOOKED)]
        found = [*self._inside(stood), *[call for call in waiting if call is not None]]
        env = found[0].env if found and not self._is_library(found[0]) else None
        calls = _merged([call for call in found if not self._is_library(call)])
        if place is None:
            return calls
        function = self._around(place)
        if calls and calls[0].function == function:
            calls[0].span = place
        else:  # called on Python's stack, as what `map` is given
            calls.insert(0, _Call(function, place, env))
        return calls

    def _inside(self, stood: Stood) -> list[_Call]:
        """Those of the step that failed: functions that Python's own stack was in."""
        found = []
        if id(stood.fn) in self.owners:
            found.append(_call(self.owners[id(stood.fn)], self._env(stood.a)))
        for held in stood.inside:
            if found:
                current = found[-1]
                current.env = self._env(held.env) or current.env
                if held.span is not None and self._around(held.span) == current.function:
                    current.span = held.span
            if id(held.callee) in self.owners:
                found.append(_call(self.owners[id(held.callee)]))
        return found[::-1]

    def _waiting(self, frame: Frame) -> _Call | None:
        """The call that waits in a frame."""
        places = _places(frame)
        if places is not None:
            return _Call(None, places[frame[3]], frame[2])
        if id(frame[0]) in self.owners:
            env = self._env(frame[2]) if len(frame) > 2 else None
            return _call(self.owners[id(frame[0])], env)
        spans = [part for part in frame[2:] if isinstance(part, Span)]
        return _Call(self._around(spans[0]), spans[0]) if spans else None

    def _env(self, value: Any) -> Any:
        """The value, if it is an environment: no list ends in the table of inputs."""
        inner = value
        for _ in range(_LEVELS):
            if type(inner) is not tuple or not inner:
                break
            inner = inner[0]
        return value if inner is self.root and inner is not None else None

    def _is_library(self, call: _Call) -> bool:
        span = call.span if call.function is None else self.functions[call.function].span
        return span is None or span.source.is_library

    def _around(self, place: Span) -> int | None:
        """The innermost function that a place is in."""
        found = [each for each in self.functions.values() if _is_in(place, each.span)]
        found.sort(key=lambda each: each.span.end - each.span.start)
        return found[0].index if found else None


def _call(owner: Owner, env: Any = None) -> _Call:
    function, node = owner
    return _Call(function, None if node is None else node.span, env)


def _merged(calls: list[_Call]) -> list[_Call]:
    """One of each call: expressions in one another that wait in it are one."""
    made: list[_Call] = []
    for call in calls:
        last = made[-1] if made else None
        if last is not None and last.function == call.function and _may_be(last, call):
            last.span = last.span or call.span
            last.env = last.env or call.env
            last.outermost = call.span or last.outermost
        else:
            call.outermost = call.span
            made.append(call)
    return made


def _may_be(last: _Call, call: _Call) -> bool:
    """Whether what waits may be the same call, further outward."""
    if call.function is None or call.span is None or last.outermost is None:
        return True
    return _is_in(last.outermost, call.span) and not _is_in(call.span, last.outermost)


def _is_in(place: Span, around: Span) -> bool:
    same = place.source is around.source
    return same and around.start <= place.start and place.end <= around.end
