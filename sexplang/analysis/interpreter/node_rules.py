"""Nodes that choose, bind and make values, followed."""

from functools import reduce

from sexplang.analysis.domain.bounds import least, number, plus
from sexplang.analysis.domain.effects_and_calls import Elsewhere, Work, either, together
from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.handler_stack import Handling
from sexplang.analysis.domain.handler_stack import push_budget as budgeted_place
from sexplang.analysis.domain.primitive_results import part_of, result_of
from sexplang.analysis.domain.values import ANY, Abstract, Exact, Given, Table
from sexplang.analysis.interpreter.interpreter import At, Follower, Seen, Steps, follows, nothing
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


@follows(Const)
def const(m: Follower, node: Const, at: At) -> Seen:
    return nothing(m.values.exact(node.value))


@follows(Local)
def local(m: Follower, node: Local, at: At) -> Seen:
    environment: Environment | None = at.environment
    for _ in range(node.depth):
        environment = environment.enclosing if environment is not None else None
    slot = environment.slot(node.index) if environment is not None else None
    return nothing(slot or ANY)


@follows(Known)
def follow_known(m: Follower, node: Known, at: At) -> Seen:
    return nothing(m.closure(node.function, at.environment, node.depth))


@follows(Lambda)
def lambda_(m: Follower, node: Lambda, at: At) -> Seen:
    return nothing(m.closure(node.function, at.environment))


@follows(If)
def if_(m: Follower, node: If, at: At) -> Steps:
    test, before = yield m.look(node.test, at)
    m.notes.value(node.test, test)
    if isinstance(test, Exact) and isinstance(node.test, Const):
        value, after = yield m.look(node.then if truth(test.value) else node.otherwise, at)
        return value, together(before, after)
    then, left = yield m.look(node.then, at)
    otherwise, right = yield m.look(node.otherwise, at)
    return m.values.join(then, otherwise), together(before, either(left, right))


@follows(And)
@follows(Or)
def chain(m: Follower, node: And | Or, at: At) -> Steps:
    seen, work = yield m.each(node.items, at)
    value: Abstract = seen[-1]
    for item, each in zip(node.items, seen, strict=True):
        m.notes.value(item, each)
    for each in seen[:-1]:
        # What does not decide is not the value: nil and false for `or`, all else for `and`.
        if not (isinstance(node, Or) and isinstance(each, Exact) and not truth(each.value)):
            value = m.values.join(value, each if isinstance(node, Or) else m.values.exact(None))
    return value, work


@follows(Seq)
def seq(m: Follower, node: Seq, at: At) -> Steps:
    seen, work = yield m.each(node.items, at)
    return seen[-1], work


@follows(Let)
def let(m: Follower, node: Let, at: At) -> Steps:
    seen, before = yield m.each(node.values, at)
    value, work = yield m.look(node.body, at.bound(m.values, seen))
    return value, together(before, work)


@follows(CallPrimitive)
def call_primitive(m: Follower, node: CallPrimitive, at: At) -> Steps:
    seen, work = yield m.each(node.arguments, at)
    m.notes.call(node, None, seen)
    return result_of(m.values, node.primitive.name, seen, at.place(node)), work


@follows(MakeTable)
def make_table(m: Follower, node: MakeTable, at: At) -> Steps:
    seen, work = yield m.each(node.values, at)
    return m.values.table(dict(zip(node.keys, seen, strict=True))), work


@follows(Path)
def path(m: Follower, node: Path, at: At) -> Steps:
    value, work = yield m.look(node.base, at)
    m.notes.value(node.base, value)
    for key in node.fields:
        value = part_of(m.values, value, key)
    return value, work


@follows(Par)
def par(m: Follower, node: Par, at: At) -> Steps:
    seen, work = yield m.each(node.branches, at)
    return result_of(m.values, "list", seen, at.place(node)), work


@follows(Race)
def race(m: Follower, node: Race, at: At) -> Steps:
    seen, work = yield m.each(node.branches, at)
    return reduce(m.values.join, seen), work


@follows(Timed)
def follow_timed(m: Follower, node: Timed, at: At) -> Steps:
    seen, work = yield m.each((node.seconds, node.body), at)
    return seen[1], work


@follows(Budgeted)
def follow_budget(m: Follower, node: Budgeted, at: At) -> Steps:
    """`calls` bounds the model calls on behalf of the body; what is refused is not made."""
    limits, before = yield m.look(node.limits, at)
    calls = calls_of(limits)
    if calls is None:
        value, work = yield m.look(node.body, at)
        return value, together(before, work)
    inside = budgeted_place(m.number(), at.handling, at.environment)
    value, work = yield m.look(node.body, at.inside(inside))
    return value, together(before, within_budget(work, calls, inside, at.place(node)))


def calls_of(limits: Abstract) -> int | None:
    """How many model calls a budget allows, where that is written."""
    calls = dict(limits.fields).get("calls") if isinstance(limits, Table) else None
    return calls.value if isinstance(calls, Exact) and type(calls.value) is int else None


def within_budget(work: Work, calls: int, inside: Handling, span: Span) -> Work:
    """What a budget leaves of some work: as many model calls as it has, and those of continuations
    that have left it."""
    beyond = [
        bound
        for key, bound in work.counts.items()
        if isinstance(key, Elsewhere) and inside.number not in key.budgets
    ]
    bound = least(work.of("model"), reduce(plus, beyond, number(calls)), span)
    return Work({**work.without("model").counts, **({} if bound.is_zero else {"model": bound})})


@follows(InputValue)
def input_value(m: Follower, node: InputValue, at: At) -> Steps:
    value: Abstract = m.values.make(Given, node.name, (), node.name in m.integers)
    if node.default is None:
        return nothing(value)
    default, work = yield m.look(node.default, at)
    # A default that is computed is not among the inputs that a bound is told of.
    if not isinstance(node.default, Const):
        value = m.values.within((default,))
    return value, work
