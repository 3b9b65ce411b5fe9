"""Calls of continuations, followed, and continuations that are lost sight of.

How often a clause calls its continuation is counted where it calls it, by whatever name: what is
bound to it, or a function that it is given to. That is exact for as long as it stays in the clause.
One that leaves it, in a value, an error or the answer of another, or among more functions than are
told apart, has escaped: it may be called any number of times.
"""

from sexplang.analysis.domain.bounds import no_bound
from sexplang.analysis.domain.effects_and_calls import EffectCounts, ResumedCall, once, together
from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.handler_stack import Activation, ActiveHandle, is_counted
from sexplang.analysis.domain.values import (
    ANY,
    Abstract,
    Closure,
    Resume,
    SizedList,
    Table,
    Top,
)
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter, Seen
from sexplang.terms.source import Span

ELSEWHERE = "a continuation is called inside another handler, or outside a budget"


def resume(
    m: AbstractInterpreter,
    callee: Resume,
    arguments: tuple[Abstract, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Seen:
    """What a continuation does is counted where it was captured; see `handlers`."""
    activation = callee.activation
    given = arguments[0] if arguments else m.values.constant(None)
    escape(*arguments)
    old = activation.resumed
    activation.resumed = given if old is None else m.values.join(old, given)
    if not is_counted(handling, activation.handling.outer):
        return ANY, elsewhere(m, activation, span, handling)
    return activation.handling.assumed, once(ResumedCall(activation.number), span)


def elsewhere(
    m: AbstractInterpreter, activation: Activation, span: Span, handling: ActiveHandle | None
) -> EffectCounts:
    """A call of a continuation where what it does is not what it was when it was captured."""
    called = EffectCounts({ResumedCall(activation.number): no_bound(ELSEWHERE, span)})
    return together(called, m.anything(ELSEWHERE, span, handling))


def escape(*values: Abstract | None) -> None:
    """The continuations in these values may be called from anywhere."""
    for one in continuations(*values):
        one.escaped = True


def continuations(*values: Abstract | None) -> set[Activation]:
    """Those that values are, hold or are closed over."""
    found: set[Activation] = set()
    seen: set[int] = set()
    work: list[Abstract | Environment | None] = [*values]
    while work:
        value = work.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Resume):
            found.add(value.activation)
        elif isinstance(value, Closure):
            work.append(value.environment)
        elif isinstance(value, Environment):
            work += [value.enclosing, value.before, *value.slots]
        elif isinstance(value, SizedList):
            work.append(value.item)
        elif isinstance(value, Table):
            work += [item for _, item in value.fields]
        elif isinstance(value, Top):
            work += value.functions or ()
    return found
