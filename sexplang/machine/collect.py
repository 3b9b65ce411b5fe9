"""Lists for frames: what a prelude function is given, and what it has collected so far."""

from typing import Any

from sexplang.terms.text import written
from sexplang.terms.value import Fault, Value


def items_of(name: str, value: Value) -> tuple[Value, ...]:
    """The list that `name` was given. Raises Fault `wrong-type`."""
    if type(value) is tuple:
        return value
    raise Fault(
        "wrong-type",
        f"`{name}` goes through a list, not {written(value)[:80]}",
        hint="`keys`, `values` and `string-split` give lists",
    )


def unlink(collected: Any, count: int) -> tuple[Value, ...]:
    """The values of a linked list, oldest first."""
    values: list[Value] = [None] * count
    for at in range(count - 1, -1, -1):
        collected, values[at] = collected
    return tuple(values)
