"""Calls whose arguments can never fit: wrong kinds, and swapped arguments."""

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

from sexplang.analysis.domain.typed_values import task_of, words_of
from sexplang.analysis.domain.values import (
    Abstract,
    Closure,
    Constant,
    Result,
    Typed,
    functions,
)
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.interpreter.observations import CallNode
from sexplang.analysis.own_nodes import is_own
from sexplang.analysis.slips.certain import Certain, is_written
from sexplang.analysis.slips.kinds import (
    FUNCTION,
    LIBRARY,
    NAMES,
    RESULT,
    SAID,
    TAKES,
    THUNK,
    WORDS,
    Kinds,
    kind_of,
)
from sexplang.terms.classes.node import frozen
from sexplang.terms.core import Call, CallPrimitive
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made
from sexplang.terms.values.abbreviation import abbreviate, excerpt
from sexplang.terms.values.value import Higher, Primitive


def misfits(m: AbstractInterpreter, certain: Certain) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each call that is refused in every evaluation."""
    for node, given in m.observations.calls.items():
        if isinstance(node, CallPrimitive) and not is_written(node):
            continue
        if is_own(node.span) and not isinstance(node.span, Made):
            found = [_misfit(m, node, callee, values) for callee, values in given]
            misfit = found[0] if found else None
            if (
                misfit is not None
                and all(each == misfit for each in found)
                and certain.is_certain(node.arguments[misfit.at])
            ):
                yield _finding(node, misfit, given)


@frozen
class Misfit:
    """An argument of the wrong kind, the function, and the kinds that it takes there."""

    at: int
    name: str
    wants: Kinds
    kind: str
    order: tuple[int, ...] = ()
    """The positions of the arguments in an order in which they fit."""


def _misfit(
    m: AbstractInterpreter, node: CallNode, callee: Abstract | None, values: tuple[Abstract, ...]
) -> Misfit | None:
    found = _find_wanted(m, node, callee, len(values))
    if found is None:
        return None
    name, wanted = found
    kinds = [kind_of(one, value) for one, value in zip(node.arguments, values, strict=True)]
    for at, wants in enumerate(wanted):
        if wants == THUNK and kinds[at] is None and functions(values[at]) == frozenset():
            kinds[at] = "data"
    for at, wants in enumerate(wanted):
        kind = kinds[at]
        if wants is not None and kind is not None and not _fits(wants, kind):
            labels = node.labels if isinstance(node, Call) else ()
            return Misfit(at, name, wants, kind, () if labels else _order(wanted, kinds))
    return None


def _order(wanted: list[Kinds | None], kinds: list[str | None]) -> tuple[int, ...]:
    """Return the order nearest to the written one in which all arguments may fit; empty if there is
    none."""
    if len(kinds) > MOST_MOVED:
        return ()
    fitting = [
        order
        for order in permutations(range(len(kinds)))
        if all(_fits(wants, kinds[at]) for wants, at in zip(wanted, order, strict=True))
    ]
    return min(fitting, key=_count_swaps, default=())


MOST_MOVED = 4
"""The greatest number of arguments that are reordered."""


def _count_swaps(order: tuple[int, ...]) -> int:
    """Return the number of swapped pairs."""
    return sum(one > other for one, other in combinations(order, 2))


def _fits(wants: Kinds | None, kind: str | None) -> bool:
    if wants is None or kind is None:
        return True
    return kind in wants or (kind == "data" and wants not in (FUNCTION, THUNK))


def _find_wanted(
    m: AbstractInterpreter, node: CallNode, callee: Abstract | None, count: int
) -> tuple[str, list[Kinds | None]] | None:
    """Return the name of the callee, and the kinds that it takes at each argument."""
    shape: Any = None
    if isinstance(node, CallPrimitive):
        shape = node.primitive
    elif isinstance(callee, Constant) and isinstance(callee.value, (Primitive, Higher)):
        shape = callee.value
    if shape is not None:
        takes = TAKES.get(shape.name, ())
        return shape.name, [takes[at] if at < len(takes) else None for at in range(count)]
    if not isinstance(callee, Closure):
        return None
    function = m.functions[callee.function]
    params = LIBRARY.get(function.name)
    if params is None or is_own(function.span):
        return None
    labels = node.labels if isinstance(node, Call) else ()
    positions = [param.name for param in function.params][: count - len(labels)]
    return function.name, [params.get(name) for name in (*positions, *labels)]


def _finding(node: CallNode, misfit: Misfit, given: Any) -> Diagnostic:
    argument = node.arguments[misfit.at]
    values = dict.fromkeys([values[misfit.at] for _, values in given])
    (value, *others) = values
    what = NAMES[misfit.kind] if others else _words(value, misfit.kind)
    return Diagnostic(
        "wrong-type",
        f"`{misfit.name}` takes {WORDS[misfit.wants]}, not {what}",
        (Label(argument.span, NAMES[misfit.kind]),),
        hint=_hint(node, misfit, value),
    )


def _words(value: Abstract, kind: str) -> str:
    if isinstance(value, Typed):
        return words_of(value)
    if isinstance(value, Result):
        return f"a TaskResult of `{value.task.name}`"
    if isinstance(value, Constant):
        return abbreviate(value.value)
    return NAMES[kind]


def _hint(node: CallNode, misfit: Misfit, value: Abstract) -> str | None:
    written = [excerpt(one.span.text) for one in node.arguments]
    if misfit.name == "spawn-subagent":
        return 'write `(spawn-subagent "what to do")`, or `task: "what to do"` with other labels'
    if misfit.name == "run-parallel-subagents":
        return 'write `(run-parallel-subagents [{id: "a" task: "what to do"} …])`'
    if misfit.order:
        ordered = " ".join([written[at] for at in misfit.order])
        return f"write `({misfit.name} {ordered})`"
    task = task_of(value)
    if misfit.wants == RESULT and task is not None:
        return f"give what `(call-task {task.name} …)` gives: an answer keeps no conversation"
    if misfit.wants == SAID:
        return f'write `(continue {written[0]} "words")`'
    if misfit.wants == THUNK:
        return _suggest_thunk(node.arguments[misfit.at], written[misfit.at], value)
    if misfit.wants == FUNCTION:
        if task is not None:
            return f"give the task itself, `{task.name}`, or a lambda that calls it"
        return "give a function, such as `(lambda (x) …)`"
    return None


def _suggest_thunk(argument: Any, written: str, value: Abstract) -> str | None:
    """Return the hint for a call whose result is called again. A name has none."""
    if argument.span.text.startswith("("):
        return f"write `(lambda () {written})`"
    task = task_of(value)
    if task is not None:
        return f"write `(lambda () ({task.name} …))`: this name has what one call gave"
    return "give a function, such as `(lambda () …)`"
