"""Rules for loops, and proofs of their number of turns.

A loop is bounded if one of its variables is a counter: it starts at a number, every `recur` moves
it in the same direction, and every `recur` is behind a test against its end. A loop is also bounded
if every `recur` shortens one of its lists.
"""

from collections.abc import Generator, Iterator
from itertools import count
from operator import ge, gt, le, lt
from typing import Any, TypeAlias, TypeGuard

from sexplang.analysis.domain.bounds import GREATEST, Bound, add, atom, no_bound, number
from sexplang.analysis.domain.effects_and_calls import (
    NOTHING,
    EffectCounts,
    add_counts,
    max_counts,
    repeat_work,
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
from sexplang.analysis.interpreter.resume_rules import escape
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.core import And, CallPrimitive, Const, If, Let, Local, Loop, Or, Recur, Repeat
from sexplang.terms.core import Seq as Sequence
from sexplang.terms.source import Span

TESTS = 40
"""The number of tests on the way to a `recur` that are recorded."""


@frozen
class Test:
    """A fact about a slot of the loop at a `recur`: `slot < end` and the like. The relation
    `filled` says that the list is not empty."""

    slot: int
    relation: str
    end: Any = None


Tests: TypeAlias = tuple[Test, ...]
Names: TypeAlias = dict[int, Any]
"""The values of names that a `let` in the loop's body has bound, by slot."""


def recurs(loop: Loop) -> Iterator[tuple[tuple[Any, ...], Tests]]:
    """Yield the arguments of every `recur` of this loop, with the facts that hold there."""
    work: list[tuple[Any, Tests, Names, int]] = [(loop.body, (), {}, len(loop.inits) + 1)]
    while work:
        node, tests, names, size = work.pop()
        kind = type(node)
        if kind is Recur:
            yield tuple([_resolve(one, names) for one in node.arguments]), tests
        elif kind is If:
            work.append((node.then, (tests + _tests_of(node.test, True))[-TESTS:], names, size))
            work.append(
                (node.otherwise, (tests + _tests_of(node.test, False))[-TESTS:], names, size)
            )
        elif kind is Let:
            inner = {**names, **dict(enumerate(node.values, size))}
            work.append((node.body, tests, inner, size + len(node.values)))
        elif kind is Sequence:
            work.append((node.items[-1], tests, names, size))
        elif kind is And or kind is Or:
            held = tuple(test for item in node.items[:-1] for test in _tests_of(item, kind is And))
            work.append((node.items[-1], tests + held, names, size))
        elif kind is not Loop:
            work += [(one, (), {}, size) for one in children(node)]


def _resolve(node: Any, names: Names) -> Any:
    """Return the value of an argument, with names resolved, also in the arguments of a call."""
    node = _resolve_name(node, names)
    if type(node) is not CallPrimitive:
        return node
    return evolve(node, arguments=tuple([_resolve_name(one, names) for one in node.arguments]))


def _resolve_name(node: Any, names: Names) -> Any:
    while slot_of(node) in names:
        node = names[slot_of(node)]
    return node


def _tests_of(node: Any, outcome: bool) -> Tests:
    """Return the facts about slots that follow from the outcome of a test."""
    if type(node) is (And if outcome else Or):
        return tuple(test for item in node.items for test in _tests_of(item, outcome))
    if type(node) is not CallPrimitive:
        return ()
    relation = node.primitive.name
    if relation == "not":
        return _tests_of(node.arguments[0], not outcome)
    if relation in ("empty?", "null?"):
        return () if outcome else (Test(slot_of(node.arguments[0]), "filled"),)
    if len(node.arguments) != 2:
        return ()
    if not outcome:
        relation = _OPPOSITE.get(relation, "")
    left, right = node.arguments
    found = []
    if slot_of(left) and relation in _TURNED:
        found.append(Test(slot_of(left), relation, right))
    if slot_of(right) and relation in _TURNED:
        found.append(Test(slot_of(right), _TURNED[relation], left))
    if relation in _FILLED and _is_call(left, "length") and _is_count(right, _FILLED[relation]):
        found.append(Test(slot_of(left.arguments[0]), "filled"))
    return tuple(found)


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "!=": "=", "equal?": "!="}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_FILLED = {">": 0, ">=": 1, "=": 1, "equal?": 1}
"""A list is not empty if its length compares like this with at least this number."""


def slot_of(node: Any) -> int:
    """Return the slot of a loop variable, or 0 for any other node."""
    return node.index if type(node) is Local and node.depth == 0 else 0


def _is_call(node: Any, *names: str) -> TypeGuard[CallPrimitive]:
    return type(node) is CallPrimitive and node.primitive.name in names


def _is_count(node: Any, least: int) -> bool:
    return type(node) is Const and type(node.value) is int and node.value >= least


def is_shorter(node: Any, slot: int, tests: Tests) -> bool:
    """Return whether a `recur` passes the variable's own list without its first items."""
    if not _is_call(node, "rest", "cdr", "drop") or slot_of(node.arguments[0]) != slot:
        return False
    if node.primitive.name != "drop":
        return True
    return _is_count(node.arguments[1], 1) and Test(slot, "filled") in tests


def step_of(node: Any, slot: int) -> float:
    """Return the step by which a `recur` moves the variable, or 0 if it is not known."""
    if not _is_call(node, "+", "-") or len(node.arguments) != 2:
        return 0
    left, right = node.arguments
    name = node.primitive.name
    if name == "+" and type(left) is Const:
        left, right = right, left
    if slot_of(left) != slot or type(right) is not Const or type(right.value) not in (int, float):
        return 0
    step: float = right.value
    return step if name == "+" else -step


ROUNDS = 5
BY_HAND = 10_000
"""The number of turns up to which a loop over floats is simulated."""


@rule_for(Repeat)
def repeat(m: AbstractInterpreter, node: Repeat, at: Location) -> Steps:
    count, before = yield m.evaluate(node.count, at)
    value, work = yield m.evaluate(node.body, at)
    return m.values.within((value,)), add_counts(
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
        value, (always, again, last) = yield _split_by_exit(m, node.body, inside, leading)
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
        return value, add_counts(before, always, last or NOTHING)
    recurs, turns = _turns(m, node, inits, at)
    rest = repeat_work(again, recurs), last or NOTHING
    return value, add_counts(before, repeat_work(always, turns), *rest)


CountsByExit: TypeAlias = tuple[EffectCounts, EffectCounts | None, EffectCounts | None]
"""The counts of a turn before a `recur`, and of the last turn; None if there is none. The first
part is done in every turn."""


def _split_by_exit(
    m: AbstractInterpreter, node: Any, at: Location, leading: frozenset[int]
) -> Generator[Any, Any, tuple[Abstract, CountsByExit]]:
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
        value, (always, again, last) = yield _split_by_exit(m, inner, inside, leading)
        return value, (add_counts(before, always), again, last)
    if kind is If and id(node) in leading:
        _, before = yield m.evaluate(node.test, at)
        left, one = yield _split_by_exit(m, node.then, at, leading)
        right, other = yield _split_by_exit(m, node.otherwise, at, leading)
        return m.values.join(left, right), (
            before,
            _combine_exit(one, other, 1),
            _combine_exit(one, other, 2),
        )
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


def _combine_exit(one: CountsByExit, other: CountsByExit, which: int) -> EffectCounts | None:
    """Return the counts of two branches with the same exit."""
    works = [add_counts(ways[0], way) for ways in (one, other) if (way := ways[which]) is not None]
    return max_counts(*works) if works else None


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
                return size, add(size, number(1))
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
        return add(end.most, number(more)), add(end.most, number(more + 1))
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
