"""Rules for loops, and proofs of their number of turns.

A loop is bounded if one of its variables is a counter: it starts at a number, every `recur` moves
it in the same direction, and every `recur` is behind a test against its end. A loop is also bounded
if every `recur` shortens one of its lists.
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
"""The number of turns up to which a loop over floats is simulated."""


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
            # A variable that is still not stable may have any value.
            escape(*turning.wanted)
            pairs = zip(known, turning.wanted, strict=True)
            turning.variables = tuple([old if old is new else ANY for old, new in pairs])
    if again is None:
        return value, together(before, always, last or NOTHING)
    recurs, turns = _turns(m, node, inits, at)
    rest = repeat_work(again, recurs), last or NOTHING
    return value, together(before, repeat_work(always, turns), *rest)


Ways: TypeAlias = tuple[EffectCounts, EffectCounts | None, EffectCounts | None]
"""The counts of a turn before a `recur`, and of the last turn; None if there is none. The first
part is done in every turn."""


def _ways(
    m: AbstractInterpreter, node: Any, at: Location, leading: frozenset[int]
) -> Generator[Any, Any, tuple[Abstract, Ways]]:
    """Interpret a body in tail position. Return its value, and its counts by exit."""
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
    """Return the identities of the nodes of a body that lead to a `recur` of this loop."""
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
    """Return the counts of two branches with the same exit."""
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
    """Return how often `recur` is reached, and how often the body is evaluated."""
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
                # With several step sizes a variable may skip the end.
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
    """Return how often `recur` is reached and the body evaluated, if the test holds before
    `recur`."""
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
    """Return the same for floats, which are rounded at each step: simulate the loop."""
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
    """Return the end that a test compares with: a number, or a variable from outside the loop."""
    if type(node) is Const:
        return m.values.constant(node.value)
    if type(node) is not Local or node.depth == 0:
        return None
    environment: Any = at.environment
    for _ in range(node.depth - 1):
        environment = environment.enclosing if environment is not None else None
    return environment.slot(node.index) if environment is not None else None
