"""`null? first rest cons append` on lists, without a call of the primitive in the usual cases.

Most list loops consist of one step of a walk and of one item added to a list.
"""

from collections.abc import Callable
from typing import Any

from sexplang.machine.code.simple import Env, Simple
from sexplang.terms.values.sequences import CHUNK, PLAIN, ROOM, Long, View
from sexplang.terms.values.value import Value

Slow = Callable[[Value, Value, Env], Value]


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


ON_ONE: dict[str, Callable[[int, Simple], Simple]] = {
    "null?": is_null,
    "first": first,
    "car": first,
    "rest": rest,
    "cdr": rest,
}
"""The makers of primitives on one variable of this activation, by name."""


def cons(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        item, items = left(env), right(env)
        if items.__class__ is tuple:
            if len(items) < PLAIN:
                return (item,) + items
        elif items.__class__ is Long and len(items.head) < CHUNK and items.middle.size < ROOM:
            made = Long()
            made.head = (item,) + items.head
            made.middle = items.middle
            made.tail = items.tail
            return made
        return slow(item, items, env)

    return run


def cons_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        items = env[j]
        if items.__class__ is Long and len(items.head) < CHUNK and items.middle.size < ROOM:
            made = Long()
            made.head = (env[i],) + items.head
            made.middle = items.middle
            made.tail = items.tail
            return made
        if items.__class__ is tuple and len(items) < PLAIN:
            return (env[i],) + items
        return slow(env[i], items, env)

    return run


def append(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        items, more = left(env), right(env)
        if more.__class__ is tuple:
            if items.__class__ is tuple:
                if len(items) + len(more) <= PLAIN:
                    return items + more
            elif (
                items.__class__ is Long
                and len(items.tail) + len(more) <= CHUNK
                and items.middle.size < ROOM
            ):
                made = Long()
                made.head = items.head
                made.middle = items.middle
                made.tail = items.tail + more
                return made
        return slow(items, more, env)

    return run


ON_TWO: dict[str, dict[str, Any]] = {
    "cons": {"near near": cons_near, "any any": cons},
    "append": {"any any": append},
}
"""The makers of primitives on two lists, by name and shape."""
