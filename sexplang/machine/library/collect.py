"""Lists for frames: the list argument of a prelude function, and the results collected so far."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.equality import firsts
from sexplang.terms.values.sequences import LONG, whole_list
from sexplang.terms.values.value import Fault, Procedure, Value


def items_of(name: str, value: Value) -> tuple[Value, ...]:
    """Return the list given to `name` as a tuple. Raises Fault `wrong-type`."""
    if type(value) is tuple:
        return value
    if type(value) in LONG:
        return whole_list(value)
    hint = "`keys`, `values` and `string-split` give lists"
    if isinstance(value, Procedure):
        hint = f"the function comes first: `({name} {_FIRST.get(name, 'f xs')})`"
        hint = "the function comes last: `(sort xs f)`" if name == "sort" else hint
    raise Fault("wrong-type", f"`{name}` goes through a list, not {abbreviate(value)}", hint=hint)


_FIRST = {"fold": "f init xs", "reduce": "f init xs", "apply": "f x … xs"}
"""The usage of functions that take more than a function and a list."""


def unlink(collected: Any, count: int) -> tuple[Value, ...]:
    """Return the values of a linked list, oldest first."""
    values: list[Value] = [None] * count
    for at in range(count - 1, -1, -1):
        collected, values[at] = collected
    return tuple(values)


def iterate_chain(collected: Any) -> Iterator[Value]:
    """Return an iterator of the values of a linked list of lists, oldest first."""
    found = []
    while collected is not None:
        collected, chunk = collected
        found.append(chunk)
    return chain.from_iterable(reversed(found))


def group(results: tuple[Value, ...], extra: Any) -> Value:
    """Return the items in groups of equal results, ordered by the first of each."""
    groups: dict[int, list[Value]] = {}
    for first, item in zip(firsts(results), extra[0], strict=True):
        groups.setdefault(first, []).append(item)
    return tuple([(results[first], tuple(members)) for first, members in groups.items()])
