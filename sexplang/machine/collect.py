"""Lists for frames: what a prelude function is given, and what it has collected so far."""

from typing import Any

from sexplang.terms.brief import shown
from sexplang.terms.equality import firsts
from sexplang.terms.rope import TEXTS, whole_text
from sexplang.terms.sequences import LONG, whole_list
from sexplang.terms.value import Fault, Procedure, Value


def items_of(name: str, value: Value) -> tuple[Value, ...]:
    """The list that `name` was given, as a tuple. Raises Fault `wrong-type`."""
    if type(value) is tuple:
        return value
    if type(value) in LONG:
        return whole_list(value)
    hint = "`keys`, `values` and `string-split` give lists"
    if isinstance(value, Procedure):
        hint = f"the function comes first: `({name} {_FIRST.get(name, 'f xs')})`"
        hint = "the function comes last: `(sort xs f)`" if name == "sort" else hint
    raise Fault("wrong-type", f"`{name}` goes through a list, not {shown(value)}", hint=hint)


_FIRST = {"fold": "f init xs", "reduce": "f init xs", "apply": "f x … xs"}
"""What the functions are given that take more than a function and a list."""


def unlink(collected: Any, count: int) -> tuple[Value, ...]:
    """The values of a linked list, oldest first."""
    values: list[Value] = [None] * count
    for at in range(count - 1, -1, -1):
        collected, values[at] = collected
    return tuple(values)


def grouped(results: tuple[Value, ...], extra: Any) -> Value:
    """The items in groups of equal results, in the order of the first of each."""
    groups: dict[int, list[Value]] = {}
    for first, item in zip(firsts(results), extra[0], strict=True):
        groups.setdefault(first, []).append(item)
    return tuple([(results[first], tuple(members)) for first, members in groups.items()])


def by_keys(results: tuple[Value, ...], extra: Any) -> Value:
    items, span = extra
    numbers = all(type(key) in (int, float) for key in results)
    if not numbers and not all(type(key) in TEXTS for key in results):
        fault = Fault("wrong-type", "`sort-by` needs keys that are all numbers or all strings")
        fault.span = span
        raise fault
    if not numbers:
        results = tuple(map(whole_text, results))
    order = sorted(range(len(items)), key=results.__getitem__)
    return tuple([items[at] for at in order])
