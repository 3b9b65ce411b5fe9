"""`null? first rest` of a variable of this activation without a call: the primitive decides
whatever is not here."""

from collections.abc import Callable
from typing import Any

from sexplang.machine.simple import Env, Simple
from sexplang.terms.sequences import PLAIN, Long, View
from sexplang.terms.value import Value


def is_null(i: int, slow: Simple) -> Simple:
    def run(env: Env) -> Value:
        items = env[i]
        return items is None or (items.__class__ is tuple and not items)

    return run


def first(i: int, slow: Simple) -> Simple:
    def run(env: Env) -> Value:
        items = env[i]
        if items.__class__ is View:
            return items.items[items.start]
        if items and items.__class__ is tuple:
            return items[0]
        return slow(env)

    return run


def rest(i: int, slow: Simple) -> Simple:
    def run(env: Env) -> Value:
        items: Any = env[i]
        if items.__class__ is View:
            start = items.start + 1
            if start <= items.last:
                made = View()
                made.items = items.items
                made.start = start
                made.last = items.last
                return made
        elif items.__class__ is tuple:
            if 0 < len(items) <= PLAIN:
                return items[1:]
        elif items.__class__ is Long and len(items.head) > 1 and items.middle.size > PLAIN:
            shorter = Long()
            shorter.head = items.head[1:]
            shorter.middle = items.middle
            shorter.tail = items.tail
            return shorter
        return slow(env)

    return run


SHAPES: dict[str, Callable[[int, Simple], Simple]] = {
    "null?": is_null,
    "first": first,
    "car": first,
    "rest": rest,
    "cdr": rest,
}
"""The makers, by the primitive's name."""
