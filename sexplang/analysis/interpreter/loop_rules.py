"""Loops, followed; how often their body is evaluated, where that can be proved.

A loop is bounded if one of its variables counts: it starts at a number, every `recur` moves it the
same way, and every `recur` stands behind a test that it has not yet reached its end; or if one is a
list that every `recur` shortens.
"""

from collections.abc import Generator
from itertools import count
from operator import ge, gt, le, lt
from typing import Any, TypeAlias

from sexplang.analysis.domain.bounds import GREATEST, Bound, atom, no_bound, number, plus
from sexplang.analysis.domain.effects_and_calls import (
    NOTHING,
    EffectCounts,
    either,
    repeat_work,
    together,
)
from sexplang.analysis.domain.handler_stack import ActiveLoop
from sexplang.analysis.domain.primitive_results import size_of
from sexplang.analysis.domain.values import (
    ANY,
    NEVER,
    Abstract,
    Constant,
    Free,
    UpperBound,
    count_of,
    number_of,
)
from sexplang.analysis.interpreter.interpreter import (
    AbstractInterpreter,
    Location,
    Steps,
    children,
    rule_for,
)
from sexplang.analysis.interpreter.recur_facts import Test, is_shorter, recurs, step_of
from sexplang.analysis.interpreter.resume_rules import escape
from sexplang.terms.classes.node import evolve
from sexplang.terms.core import Const, If, Let, Local, Loop, Recur, Repeat
from sexplang.terms.core import Seq as Sequence
from sexplang.terms.source import Span

ROUNDS = 5
BY_HAND = 10_000
"""How many turns of a loop over floats are counted."""


@rule_for(Repeat)
def repeat(m: AbstractInterpreter, node: Repeat, at: Location) -> Steps:
    count, before = yield m.evaluate(node.count, at)
    value, work = yield m.evaluate(node.body, at)
    return m.values.within((value,)), together(
        before, repeat_work(work, count_of(count, at.place(node)))
    )


@rule_for(Loop)
def loop(m: AbstractInterpreter, node: Loop, at: Location) -> Steps:
    inits, before = yield m.each(node.inits, at)
    turning = ActiveLoop(inits, inits)
    leading = _leading(node.body)
    for round in count():
        turning.turns = 0
        turning.wanted = turning.variables
        slots = m.values.environment(at.environment, turning.variables)
        inside = evolve(at, environment=slots, loop=turning)
        value, (always, again, last) = yield _ways(m, node.body, inside, leading)
        if turning.wanted == turning.variables:
            break
        known = turning.variables
        turning.variables = turning.wanted
        if round >= ROUNDS:
            # What is still not all that a variable may be, may be anything.
            escape(*turning.wanted)
            pairs = zip(known, turning.wanted, strict=True)
            turning.variables = tuple([old if old is new else ANY for old, new in pairs])
    if again is None:
        return value, together(before, always, last or NOTHING)
    recurs, turns = _turns(m, node, inits, at)
    rest = repeat_work(again, recurs), last or NOTHING
    return value, together(before, repeat_work(always, turns), *rest)


Ways: TypeAlias = tuple[EffectCounts, EffectCounts | None, EffectCounts | None]
"""What is done in every turn, before a `recur`, and in the last turn; None where there is none."""


def _ways(
    m: AbstractInterpreter, node: Any, at: Location, leading: frozenset[int]
) -> Generator[Any, Any, tuple[Abstract, Ways]]:
    """The value of a body in tail position, and its work by where it leads."""
    kind = type(node)
    if kind is Recur:
        value, work = yield m.evaluate(node, at)
        return value, (NOTHING, work, None)
    if kind is Let or kind is Sequence:
        first = node.values if kind is Let else node.items[:-1]
        seen, before = yield m.each(first, at)
        inner = node.body if kind is Let else node.items[-1]
        inside = at.with_slots(m.values, seen) if kind is Let else at
        value, (always, again, last) = yield _ways(m, inner, inside, leading)
        return value, (together(before, always), again, last)
    if kind is If and id(node) in leading:
        _, before = yield m.evaluate(node.test, at)
        left, one = yield _ways(m, node.then, at, leading)
        right, other = yield _ways(m, node.otherwise, at, leading)
        return m.values.join(left, right), (before, _way(one, other, 1), _way(one, other, 2))
    value, work = yield m.evaluate(node, at)
    if id(node) in leading:
        return value, (work, NOTHING, NOTHING)
    return value, (NOTHING, None, work)


def _leading(body: Any) -> frozenset[int]:
    """The nodes of a body from which a `recur` of the loop's own is reached, by identity."""
    found: set[int] = set()
    work: list[tuple[Any, Any]] = [(body, None)]
    while work:
        node, above = work.pop()
        if type(node) is Recur:
            link: Any = (node, above)
            while link is not None and id(link[0]) not in found:
                found.add(id(link[0]))
                link = link[1]
        elif type(node) is not Loop:
            work += [(one, (node, above)) for one in children(node)]
    return frozenset(found)


def _way(one: Ways, other: Ways, which: int) -> EffectCounts | None:
    """The work of two branches that lead the same way."""
    works = [together(ways[0], way) for ways in (one, other) if (way := ways[which]) is not None]
    return either(*works) if works else None


@rule_for(Recur)
def recur(m: AbstractInterpreter, node: Recur, at: Location) -> Steps:
    seen, work = yield m.each(node.arguments, at)
    if at.loop is not None:
        at.loop.turns += 1
        at.loop.wanted = tuple(map(m.values.widen, at.loop.wanted, seen))
    return NEVER, work


def _turns(
    m: AbstractInterpreter, node: Loop, inits: tuple[Abstract, ...], at: Location
) -> tuple[Bound, Bound]:
    """How often `recur` is reached, and how often the body is evaluated."""
    tested = list(recurs(node))
    for slot, init in enumerate(inits if tested else (), 1):
        given = [arguments[slot - 1] for arguments, _ in tested]
        if all(is_shorter(arguments[slot - 1], slot, tests) for arguments, tests in tested):
            size = size_of(init, at.place(node))  # of an empty list there is no rest: that fails
            if size.is_bounded:
                return size, plus(size, number(1))
        if not isinstance(init, Constant) or type(init.value) not in (int, float):
            continue
        steps = {step_of(one, slot) for one in given}
        step = min(steps, key=abs)
        if step * max(steps) <= 0 or step * min(steps) <= 0:
            continue
        bounds = []
        for _, tests in tested:
            found = [
                bound
                for test in tests
                # Of several steps one may go past a single number.
                if test.slot == slot and (test.relation != "!=" or len(steps) == 1)
                for bound in [_least(m, test, init.value, step, at, at.place(node))]
                if bound is not None
            ]
            if not found:
                break
            bounds.append(found[0])
        else:
            if len(set(bounds)) == 1:
                return bounds[0]
    endless = no_bound("nothing bounds how often this loop goes round", at.place(node))
    return endless, endless


def _least(
    m: AbstractInterpreter, test: Test, start: float, step: float, at: Location, span: Span
) -> tuple[Bound, Bound] | None:
    """How often `recur` is reached and the body evaluated if the test holds before `recur`."""
    end = _end(m, test.end, at)
    relation = test.relation
    if isinstance(end, Constant) and type(end.value) in (int, float):
        far = end.value
        if not type(start) is type(step) is type(far) is int:
            return _by_hand(start, step, relation, far)
        if relation == "!=":
            apart = far - start
            if apart * step < 0 or apart % step:
                return None
            return number(apart // step), number(apart // step + 1)
        far += {"<=": 1, ">=": -1}.get(relation, 0)
        if (step > 0) is not (relation in ("<", "<=")):
            return None
        recurs = max(0, -((start - far) // step))
        return number(recurs), number(recurs + 1)
    if step < 1 or relation not in ("<", "<=") or not 0 <= start < GREATEST:
        return None
    start = int(start)  # from there it takes no fewer
    more = 1 if relation == "<=" else 0
    if isinstance(end, Free):
        first = evolve(number_of(end), shift=more - start)
        return atom(first, span), atom(evolve(first, shift=more - start + 1, least=1), span)
    if isinstance(end, UpperBound):
        return plus(end.most, number(more)), plus(end.most, number(more + 1))
    return None


def _by_hand(start: float, step: float, relation: str, end: float) -> tuple[Bound, Bound] | None:
    """The same for floats, which are rounded at each step: they are counted as the loop does."""
    holds = _RELATIONS.get(relation)
    if holds is None or max(abs(start), abs(step), abs(end)) > GREATEST:
        return None
    for turns in range(BY_HAND):
        if not holds(start, end):
            return number(turns), number(turns + 1)
        start += step
    return None


_RELATIONS: dict[str, Any] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def _end(m: AbstractInterpreter, node: Any, at: Location) -> Abstract | None:
    """What a test compares with, if it is a number or a variable from outside the loop."""
    if type(node) is Const:
        return m.values.constant(node.value)
    if type(node) is not Local or node.depth == 0:
        return None
    environment: Any = at.environment
    for _ in range(node.depth - 1):
        environment = environment.enclosing if environment is not None else None
    return environment.slot(node.index) if environment is not None else None
