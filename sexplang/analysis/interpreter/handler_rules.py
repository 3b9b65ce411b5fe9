"""Rules for handlers.

A clause is interpreted at the perform that it takes, with the handlers outside its handle. The rest
after the perform is interpreted once, for the join of the answers. A clause that resumes more than
once multiplies the counts of the whole handle expression. A clause that never resumes is
interpreted after the handled expression, since it runs at most once.
"""

from typing import Any

from sexplang.analysis.domain.bounds import Bound, no_bound, number
from sexplang.analysis.domain.effects_and_calls import (
    NOTHING,
    EffectCounts,
    FollowedCall,
    ResumedCall,
    add_counts,
    max_counts,
    one_count,
    repeat_work,
)
from sexplang.analysis.domain.handler_stack import (
    Activation,
    ActiveHandle,
    answering_handler,
    enter_clause,
    find_branch,
    is_counted,
)
from sexplang.analysis.domain.values import (
    ANY,
    DATA,
    NEVER,
    Abstract,
    Attempted,
    Closure,
    Constant,
    Result,
    Resume,
    Table,
    Typed,
    UpperBound,
    functions,
)
from sexplang.analysis.interpreter.call_rules import SHAPES, apply
from sexplang.analysis.interpreter.interpreter import (
    AbstractInterpreter,
    Location,
    Steps,
    rule_for,
    without_effects,
)
from sexplang.analysis.interpreter.resume_counts import count_resumes
from sexplang.analysis.interpreter.resume_rules import continuations, escape, recount_resume
from sexplang.terms.core import Attempt, Clause, Finally, Forward, Handle, PerformOp
from sexplang.terms.source import Span
from sexplang.terms.values.value import Operation

ROUNDS = 3
FEW = 20
"""The number of performs with two answers whose product is computed."""


@rule_for(Handle)
def handle(m: AbstractInterpreter, node: Handle, at: Location) -> Steps:
    # Each iteration over an enclosing expression starts with the results of the one before.
    # Starting with nothing would need three iterations for each of three, for each level.
    before, found = m.before, m.found
    assumed, inside = before.get(node, (DATA, {}))
    value: Abstract = DATA
    for round in range(ROUNDS):
        if round == ROUNDS - 1:
            escape(assumed, value)
            assumed = ANY
        m.before, m.found = inside, {}
        value, work = yield _follow_once(m, node, at, assumed)
        inside = m.found
        if m.values.covers(assumed, m.values.within((value,))):
            break
        assumed = m.values.within((assumed, value))
    m.before, m.found = before, found
    found[node] = assumed, inside
    return value, work


def _follow_once(m: AbstractInterpreter, node: Handle, at: Location, assumed: Abstract) -> Steps:
    """Interpret the whole expression once; `assumed` is the result of `(resume …)`."""
    handling = _open(m, node, at, assumed)
    value, work = yield m.evaluate(node.body, at.under(handling))
    if node.returns is not None:
        value, after = yield m.evaluate(node.returns, _inside(m, at, (value,)))
        work = add_counts(work, after)
    ends = []
    for clause, arguments in handling.ended.items():
        if clause.operation == "error":
            arguments = (m.raised,)
        ended, after = yield m.evaluate(clause.body, _inside(m, at, (*arguments, DATA)))
        value = m.values.join(value, ended)
        ends.append(after)
    for clause in handling.clauses.get("error", ()):
        if clause.kind != "never":
            # An error without continuation, such as a primitive's, adds one run of a clause.
            _, after = yield follow_clause(m, handling, clause, (m.raised,), handling, clause.span)
            ends.append(after.without(*_shots_of(handling, after)))
    if handling.value is not None:
        value = m.values.join(value, handling.value)
    work = add_counts(work, max_counts(*ends) if ends else NOTHING)
    return value, _multiply(handling, work)


def _open(m: AbstractInterpreter, node: Handle, at: Location, assumed: Abstract) -> ActiveHandle:
    clauses: dict[str, tuple[Clause, ...]] = {}
    for clause in node.clauses:
        clauses[clause.operation] = (*clauses.get(clause.operation, ()), clause)
        m.handled.setdefault(clause, clause.operation == "error")
    handling = ActiveHandle(m.number(), at.handling, at.environment, clauses, assumed=assumed)
    handling.site = at.site
    handling.answering = handling if handling.is_answering() else answering_handler(at.handling)
    # Any evaluation may fail.
    for clause in clauses.get("error", ()):
        if clause.kind == "never":
            handling.ended[clause] = (m.raised,)
    return handling


def _inside(m: AbstractInterpreter, at: Location, slots: tuple[Abstract, ...]) -> Location:
    return at.with_slots(m.values, slots).under(at.handling)


def _shots_of(handling: ActiveHandle, work: EffectCounts) -> list[FollowedCall]:
    return [
        key for key in work.counts if isinstance(key, FollowedCall) and key.what == -handling.number
    ]


def _multiply(handling: ActiveHandle, work: EffectCounts) -> EffectCounts:
    """Return the counts of a handle expression whose performs have several answers."""
    keys = _shots_of(handling, work)
    factor = 1
    endless: Bound | None = None
    for key in keys:
        bound = work.of(key)
        times = bound.constant
        if key.shots is None or times is None or times > FEW:
            endless = no_bound("what follows may be resumed any number of times", bound.span)
        else:
            factor *= key.shots**times
    return repeat_work(work.without(*keys), endless or number(factor))


@rule_for(Finally)
def finally_(m: AbstractInterpreter, node: Finally, at: Location) -> Steps:
    inside = at.under(at.handling)
    value, work = yield m.evaluate(node.body, inside)
    _, after = yield m.evaluate(node.cleanup, inside)
    return value, add_counts(work, after)


@rule_for(Attempt)
def attempt(m: AbstractInterpreter, node: Attempt, at: Location) -> Steps:
    """`attempt` takes every error, as a `try` does."""
    handling = ActiveHandle(m.number(), at.handling, at.environment, {"error": ()}, assumed=DATA)
    handling.answering = answering_handler(at.handling)
    value, work = yield m.evaluate(node.body, at.under(handling))
    if isinstance(value, UpperBound) and functions(m.raised) == frozenset():
        return value, work  # a FAILED TaskResult is no count
    if isinstance(value, (Typed, Result)) and functions(m.raised) == frozenset():
        return m.values.make(Attempted, value), work
    failed = m.values.table({**dict.fromkeys(_RESULT, DATA), "notes": m.values.within((m.raised,))})
    return m.values.join(value, failed), work


_RESULT = ("status", "content", "parsed_content", "notes", "usage")
"""The fields of a FAILED TaskResult; its error may hold the raised value."""


@rule_for(PerformOp)
def perform_op(m: AbstractInterpreter, node: PerformOp, at: Location) -> Steps:
    seen, before = yield m.each(node.arguments, at)
    value, work = yield perform(m, node.operation, seen, at.handling, at.place(node))
    return value, add_counts(before, work)


@rule_for(Forward)
def forward(m: AbstractInterpreter, node: Forward, at: Location) -> Steps:
    """`forward` performs at the next handler outward. A default runs at the performer."""
    resume, _ = yield m.evaluate(node.continuation, at)
    seen, before = yield m.each(node.arguments, at)
    if not isinstance(resume, Resume):
        escape(*seen)
        return ANY, m.anything("it is forwarded nobody knows where", at.place(node), at.handling)
    activation = resume.activation
    outer, performer = activation.handling.outer, activation.performer
    start = None if node.fails else (outer,)
    value, work = yield perform(m, node.operation, seen, performer, at.place(node), start=start)
    old = activation.resumed
    activation.resumed = value if old is None else m.values.join(old, value)
    if is_counted(at.handling, outer):
        work = add_counts(work, one_count(ResumedCall(activation.number), at.place(node)))
    else:
        work = add_counts(work, recount_resume(m, activation, at.place(node), at.handling))
    return activation.handling.assumed, add_counts(before, work)


def perform(
    m: AbstractInterpreter,
    operation: str,
    arguments: tuple[Abstract, ...],
    handling: ActiveHandle | None,
    span: Span,
    start: tuple[ActiveHandle | None] | None = None,
) -> Steps:
    """Interpret a perform. The nearest clause outward from `start` answers; else the default; else
    the host."""
    if operation == "error":
        value, work = yield interpret_failure(m, arguments, handling, span, start, NEVER)
        return value, add_counts(one_count("error", span), work)
    node = handling if start is None else start[0]
    while node is not None:
        if operation in node.given:
            branch = find_branch(node, handling)
            if branch is not None and operation not in node.tail:
                m.cross(operation, span, None, branch)
            escape(*arguments)
            return without_effects(node.given[operation])
        clauses = node.clauses.get(operation)
        if clauses:
            branch = find_branch(node, handling)
            if branch is not None and clauses[0].kind in ("calls", "kept"):
                m.cross(operation, span, clauses[0], branch)
            return (yield from follow_clause(m, node, clauses[0], arguments, handling, span))
        node = node.outer
    default = m.program.defaults.get(operation)
    if default is None:
        value, work = yield interpret_failure(m, (), handling, span)
        return value, add_counts(one_count(operation, span), work)
    # A function that serves as a default closes over no values of its own module.
    empty = m.values.environment(None, ())
    callee = m.values.make(Closure, getattr(default.core, "function", -1), empty)
    value, work = yield apply(m, callee, arguments, (), handling, span)
    return value, add_counts(one_count(operation, span), work)


def follow_clause(
    m: AbstractInterpreter,
    handling: ActiveHandle,
    clause: Clause,
    arguments: tuple[Abstract, ...],
    performer: ActiveHandle | None,
    span: Span,
) -> Steps:
    """Interpret a clause for one perform."""
    m.handled[clause] = True
    if clause.operation != "error" and any(map(_is_there, arguments[len(clause.params) :])):
        m.narrow[clause] = len(arguments)
    given = (*arguments, *[m.values.constant(None)] * len(clause.params))[: len(clause.params)]
    if clause.kind == "never":
        escape(*given)
        old = handling.ended.get(clause, given)
        handling.ended[clause] = tuple(map(m.values.join, old, given))
        return without_effects(DATA)
    activation = Activation(m.number(), handling, performer, span)
    resume: Any = m.values.make(Resume, activation)
    place = enter_clause(m.number(), handling, performer)
    inside = Location(handling.environment, place, site=handling.site)
    value, work = yield m.evaluate(clause.body, inside.with_slots(m.values, (*given, resume)))
    handling.value = value if handling.value is None else m.values.join(handling.value, value)
    if activation in continuations(value):
        activation.escaped = True
    if m.conversing and activation.resumed is not None:
        m.answered.setdefault(clause, []).append(activation.resumed)
    called = ResumedCall(activation.number)
    count = count_resumes(clause, handling.environment.size + len(clause.params) + 1)
    if count is None and not activation.escaped:
        count = work.of(called).constant
    work = work.without(called)
    if count is None or count > 1:
        work = add_counts(work, one_count(FollowedCall(-handling.number, count), span))
    if activation.escaped:
        return ANY, work
    return (DATA if activation.resumed is None else activation.resumed), work


def _is_there(value: Abstract) -> bool:
    """Return whether a value is never nil."""
    return isinstance(value, (Table, Closure)) or (
        isinstance(value, Constant) and value.value is not None
    )


def interpret_failure(
    m: AbstractInterpreter,
    raised: tuple[Abstract, ...],
    handling: ActiveHandle | None,
    span: Span,
    start: tuple[ActiveHandle | None] | None = None,
    given: Abstract = DATA,
) -> Steps:
    """Return the result of an expression that may fail: its value, or the value that a clause
    resumes with.

    A `catch` is not interpreted here: it runs at most once, after the body of the `try`.
    """
    if raised:
        escape(*raised)
        m.raised = m.values.join(m.raised, m.values.within(raised))
    node = handling if start is None else start[0]
    while node is not None:
        clauses = node.clauses.get("error")
        if clauses == () or (clauses and any(_is_last(clause) for clause in clauses)):
            break
        if clauses and clauses[0].kind != "never":
            value, work = yield follow_clause(m, node, clauses[0], (m.raised,), handling, span)
            return m.values.join(given, value), work
        node = node.outer
    return without_effects(given)


def _is_last(clause: Clause) -> bool:
    """Return whether errors go no further outward than to this clause."""
    return clause.kind == "never" and not clause.words


def _operation(
    m: AbstractInterpreter,
    shape: Operation,
    arguments: tuple[Abstract, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    return perform(m, shape.name, arguments, handling, span)


SHAPES[Operation] = _operation
