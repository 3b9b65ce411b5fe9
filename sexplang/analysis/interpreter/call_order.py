"""Arity of calls, and a deterministic order of callees."""

from collections.abc import Iterable
from typing import Any

from sexplang.analysis.domain.primitive_results import result_of
from sexplang.analysis.domain.values import Abstract, Closure, Constant, Param, Resume
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.terms.program import Function
from sexplang.terms.values.value import Higher, Primitive


def in_order(found: Iterable[Any]) -> list[Any]:
    """Sort callees. The order of messages must not depend on addresses in memory."""
    return sorted(found, key=_order)


_KINDS = (Constant, Closure, Param, Resume)
"""The order of callees of different kinds."""


def _order(callee: Any) -> tuple[int, int, str]:
    value = getattr(callee, "value", None)
    name = getattr(value, "name", getattr(callee, "name", ""))
    return _KINDS.index(type(callee)), getattr(callee, "function", 0), name


def is_uncertain(callee: Abstract) -> bool:
    """Return whether a value may be something else than one function."""
    return not isinstance(callee, (Constant, Closure, Param, Resume))


def takes(shape: Primitive | Higher, count: int) -> bool:
    """Return whether a call with this many arguments fits."""
    return shape.least <= count and (shape.most is None or count <= shape.most)


def slots_of(
    m: AbstractInterpreter,
    function: Function,
    arguments: tuple[Abstract, ...],
    labels: tuple[str, ...],
) -> tuple[Abstract | None, ...] | None:
    """Return the value of each parameter (None: its default), or None if the call does not fit."""
    count = len(arguments) - len(labels)
    named = dict(zip(labels, arguments[count:], strict=True))
    size = len(function.params)
    slots: list[Abstract | None] = list(arguments[: min(count, size)])
    for param in function.params[len(slots) :]:
        given = named.get(param.name)
        if given is None and param.default is None:
            return None
        slots.append(given)
    if function.rest is not None:
        slots.append(result_of(m.values, "list", arguments[size:count], function.span))
    elif count > size:
        return None
    return tuple(slots)
