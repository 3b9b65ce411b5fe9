"""Facts about the `recur` forms of a loop: the arguments, and the tests that hold there."""

from collections.abc import Iterator
from typing import Any, TypeAlias, TypeGuard

from sexplang.analysis.interpreter.interpreter import children
from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.core import And, CallPrimitive, Const, If, Let, Local, Loop, Or, Recur
from sexplang.terms.core import Seq as Sequence

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
