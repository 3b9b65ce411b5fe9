"""Rules for nodes that choose, bind and construct values."""

from functools import reduce

from sexplang.analysis.domain.bounds import add, minimum, number
from sexplang.analysis.domain.effects_and_calls import (
    EffectCounts,
    EscapedCall,
    add_counts,
    max_counts,
)
from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.handler_stack import ActiveHandle
from sexplang.analysis.domain.handler_stack import push_budget as budgeted_place
from sexplang.analysis.domain.primitive_results import part_of, result_of
from sexplang.analysis.domain.typed_values import is_typing
from sexplang.analysis.domain.values import ANY, Abstract, Constant, Symbolic, Table, Typed
from sexplang.analysis.interpreter.interpreter import (
    AbstractInterpreter,
    Location,
    Seen,
    Steps,
    rule_for,
    without_effects,
)
from sexplang.terms.core import (
    And,
    Budgeted,
    CallPrimitive,
    Const,
    If,
    InputValue,
    Known,
    Lambda,
    Let,
    Local,
    MakeTable,
    Or,
    Par,
    Path,
    Race,
    Seq,
    Timed,
)
from sexplang.terms.source import Span
from sexplang.terms.values.value import truth


@rule_for(Const)
def const(m: AbstractInterpreter, node: Const, at: Location) -> Seen:
    return without_effects(m.values.constant(node.value))


@rule_for(Local)
def local(m: AbstractInterpreter, node: Local, at: Location) -> Seen:
    environment: Environment | None = at.environment
    for _ in range(node.depth):
        environment = environment.enclosing if environment is not None else None
    slot = environment.slot(node.index) if environment is not None else None
    return without_effects(slot or ANY)


@rule_for(Known)
def follow_known(m: AbstractInterpreter, node: Known, at: Location) -> Seen:
    return without_effects(m.closure(node.function, at.environment, node.depth))


@rule_for(Lambda)
def lambda_(m: AbstractInterpreter, node: Lambda, at: Location) -> Seen:
    return without_effects(m.closure(node.function, at.environment))


@rule_for(If)
def if_(m: AbstractInterpreter, node: If, at: Location) -> Steps:
    test, before = yield m.evaluate(node.test, at)
    m.observations.value(node.test, test)
    if isinstance(test, Constant) and isinstance(node.test, Const):
        value, after = yield m.evaluate(node.then if truth(test.value) else node.otherwise, at)
        return value, add_counts(before, after)
    then, left = yield m.evaluate(node.then, at)
    otherwise, right = yield m.evaluate(node.otherwise, at)
    return m.values.join(then, otherwise), add_counts(before, max_counts(left, right))


@rule_for(And)
@rule_for(Or)
def chain(m: AbstractInterpreter, node: And | Or, at: Location) -> Steps:
    seen, work = yield m.each(node.items, at)
    value: Abstract = seen[-1]
    for item, each in zip(node.items, seen, strict=True):
        m.observations.value(item, each)
    for each in seen[:-1]:
        # The value of a test that does not decide is not the result: nil and false for `or`, any
        # other for `and`.
        if not (isinstance(node, Or) and isinstance(each, Constant) and not truth(each.value)):
            value = m.values.join(value, each if isinstance(node, Or) else m.values.constant(None))
    return value, work


@rule_for(Seq)
def seq(m: AbstractInterpreter, node: Seq, at: Location) -> Steps:
    seen, work = yield m.each(node.items, at)
    return seen[-1], work


@rule_for(Let)
def let(m: AbstractInterpreter, node: Let, at: Location) -> Steps:
    seen, before = yield m.each(node.values, at)
    value, work = yield m.evaluate(node.body, at.with_slots(m.values, seen))
    return value, add_counts(before, work)


@rule_for(CallPrimitive)
def call_primitive(m: AbstractInterpreter, node: CallPrimitive, at: Location) -> Steps:
    seen, work = yield m.each(node.arguments, at)
    m.observations.call(node, None, seen)
    if is_typing(node):
        return m.values.make(Typed, node, ()), work
    return result_of(m.values, node.primitive.name, seen, at.place(node)), work


@rule_for(MakeTable)
def make_table(m: AbstractInterpreter, node: MakeTable, at: Location) -> Steps:
    seen, work = yield m.each(node.values, at)
    return m.values.table(dict(zip(node.keys, seen, strict=True))), work


@rule_for(Path)
def path(m: AbstractInterpreter, node: Path, at: Location) -> Steps:
    value, work = yield m.evaluate(node.base, at)
    m.observations.value(node.base, value)
    for key in node.fields:
        value = part_of(m.values, value, key)
    return value, work


@rule_for(Par)
def par(m: AbstractInterpreter, node: Par, at: Location) -> Steps:
    seen, work = yield m.each(node.branches, at.under(m.branch(at.handling)))
    return result_of(m.values, "list", seen, at.place(node)), work


@rule_for(Race)
def race(m: AbstractInterpreter, node: Race, at: Location) -> Steps:
    seen, work = yield m.each(node.branches, at.under(m.branch(at.handling)))
    return reduce(m.values.join, seen), work


@rule_for(Timed)
def follow_timed(m: AbstractInterpreter, node: Timed, at: Location) -> Steps:
    seen, work = yield m.each((node.seconds, node.body), at)
    return seen[1], work


@rule_for(Budgeted)
def follow_budget(m: AbstractInterpreter, node: Budgeted, at: Location) -> Steps:
    """`calls` bounds the model calls on behalf of the body. A refused call is not made."""
    limits, before = yield m.evaluate(node.limits, at)
    calls = calls_of(limits)
    if calls is None:
        value, work = yield m.evaluate(node.body, at)
        return value, add_counts(before, work)
    inside = budgeted_place(m.number(), at.handling, at.environment)
    value, work = yield m.evaluate(node.body, at.under(inside))
    return value, add_counts(before, within_budget(work, calls, inside, at.place(node)))


def calls_of(limits: Abstract) -> int | None:
    """Return the number of model calls that a budget allows, if it is a literal."""
    calls = dict(limits.fields).get("calls") if isinstance(limits, Table) else None
    return calls.value if isinstance(calls, Constant) and type(calls.value) is int else None


def within_budget(work: EffectCounts, calls: int, inside: ActiveHandle, span: Span) -> EffectCounts:
    """Return the counts under a budget: at most `calls` model calls, and those of continuations
    that have left the budget."""
    beyond = [
        bound
        for key, bound in work.counts.items()
        if isinstance(key, EscapedCall) and inside.number not in key.budgets
    ]
    bound = minimum(work.of("model"), reduce(add, beyond, number(calls)), span)
    return EffectCounts(
        {**work.without("model").counts, **({} if bound.is_zero else {"model": bound})}
    )


@rule_for(InputValue)
def input_value(m: AbstractInterpreter, node: InputValue, at: Location) -> Steps:
    value: Abstract = m.values.make(Symbolic, m.inputs[node.name], ())
    if node.default is None:
        return without_effects(value)
    default, work = yield m.evaluate(node.default, at)
    # A bound is evaluated without computed defaults.
    if not isinstance(node.default, Const):
        value = m.values.within((default,))
    return value, work
