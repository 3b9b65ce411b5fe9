"""Rules for calls of continuations, and for continuations that escape.

A clause's calls of its continuation are counted at the call, under any name: a binding, or a
parameter of a called function. The count is exact while the continuation stays in the clause. A
continuation escapes in a value, an error or the answer of another clause, or in a set of more than
`MANY` functions. An escaped continuation may be called any number of times.
"""

from sexplang.analysis.domain.bounds import no_bound
from sexplang.analysis.domain.effects_and_calls import (
    EffectCounts,
    ResumedCall,
    add_counts,
    one_count,
)
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

OTHER_CONTEXT = "a continuation is called inside another handler, or outside a budget"


def resume(
    m: AbstractInterpreter,
    callee: Resume,
    arguments: tuple[Abstract, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Seen:
    """Interpret a resume. The effects of a continuation are counted at its capture; see
    `handler_rules`."""
    activation = callee.activation
    given = arguments[0] if arguments else m.values.constant(None)
    escape(*arguments)
    old = activation.resumed
    activation.resumed = given if old is None else m.values.join(old, given)
    if not is_counted(handling, activation.handling.outer):
        return ANY, recount_resume(m, activation, span, handling)
    return activation.handling.assumed, one_count(ResumedCall(activation.number), span)


def recount_resume(
    m: AbstractInterpreter, activation: Activation, span: Span, handling: ActiveHandle | None
) -> EffectCounts:
    """Return the effects of a resume under other handlers or budgets than at capture: they are
    counted again."""
    called = EffectCounts({ResumedCall(activation.number): no_bound(OTHER_CONTEXT, span)})
    return add_counts(called, m.anything(OTHER_CONTEXT, span, handling))


def escape(*values: Abstract | None) -> None:
    """Mark the continuations in these values as callable from anywhere."""
    for one in continuations(*values):
        one.escaped = True


def continuations(*values: Abstract | None) -> set[Activation]:
    """Return the continuations that the values are, hold or close over."""
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
