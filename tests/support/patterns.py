"""Random patterns and values, and a small matcher that says which fit."""

from collections.abc import Iterator
from random import Random
from typing import Any

from attrs import frozen

from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Record, Symbol


@frozen
class Any_:
    """`_`."""


@frozen
class Named:
    name: str


@frozen
class Plain:
    value: Any


@frozen
class Items:
    items: tuple[Any, ...]
    rest: Any = None


@frozen
class Keys:
    items: tuple[tuple[str, Any], ...]


@frozen
class Predicate:
    predicate: str
    pattern: Any


PREDICATES = {
    "number?": lambda value: type(value) in (int, float),
    "list?": lambda value: isinstance(value, tuple),
    "table?": lambda value: isinstance(value, (dict, Record)),
    "not": lambda value: value is None or value is False,
    "(lambda (v) (equal? v 1))": lambda value: same(value, 1),
}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, Record) or isinstance(b, Record):
        return type(a) is type(b) and a.kind == b.kind and same(a.fields, b.fields)
    if type(a) in (int, float) and type(b) in (int, float):
        return a == b
    return type(a) is type(b) and a == b


def fit(pattern: Any, value: Any, found: dict[str, Any]) -> bool:
    """Whether it fits; puts what the names stand for into `found`."""
    match pattern:
        case Any_():
            return True
        case Named(name):
            found[name] = value
            return True
        case Plain(wanted):
            return same(wanted, value)
        case Predicate(predicate, inner):
            return PREDICATES[predicate](value) and fit(inner, value, found)
        case Items(items, rest):
            if not isinstance(value, tuple) or len(value) < len(items):
                return False
            if rest is None and len(value) > len(items):
                return False
            left = value[len(items) :]
            return all(fit(p, v, found) for p, v in zip(items, value, strict=False)) and (
                rest is None or fit(rest, left, found)
            )
        case Keys(items):
            fields = value.fields if isinstance(value, Record) else value
            return isinstance(fields, dict) and all(
                key in fields and fit(inner, fields[key], found) for key, inner in items
            )
    raise AssertionError(pattern)


def text_of(pattern: Any) -> str:
    match pattern:
        case Any_():
            return "_"
        case Named(name):
            return name
        case Plain(value):
            return to_source(value)
        case Predicate(predicate, inner):
            return f"(? {predicate} {text_of(inner)})"
        case Items(items, rest):
            tail = "" if rest is None else f" . {text_of(rest)}"
            return f"[{' '.join(map(text_of, items))}{tail}]"
        case Keys(items):
            return "{" + " ".join(f"{key}: {text_of(inner)}" for key, inner in items) + "}"
    raise AssertionError(pattern)


ATOMS = [0, 1, 1.0, 2, "", "a", None, True, False, Symbol("a"), Symbol("b"), ()]


def a_pattern(random: Random, depth: int, names: Iterator[str]) -> Any:
    kind = random.randrange(9 if depth else 4)
    if kind == 0:
        return Any_()
    if kind < 3:
        return Named(next(names))
    if kind == 3:
        return Plain(random.choice(ATOMS))
    if kind == 4:
        return Predicate(random.choice(list(PREDICATES)), a_pattern(random, depth - 1, names))
    if kind == 5:
        keys = random.sample("abc", random.randrange(3))
        return Keys(tuple((key, a_pattern(random, depth - 1, names)) for key in keys))
    items = tuple(a_pattern(random, depth - 1, names) for _ in range(random.randrange(4)))
    return Items(items, a_pattern(random, depth - 1, names) if random.random() < 0.3 else None)


def a_value(random: Random, depth: int) -> Any:
    kind = random.randrange(4) if depth else 0
    if kind < 2:
        return random.choice(ATOMS)
    if kind == 2:
        return tuple(a_value(random, depth - 1) for _ in range(random.randrange(4)))
    fields = {key: a_value(random, depth - 1) for key in random.sample("abc", random.randrange(4))}
    return Record("error", fields) if random.random() < 0.3 else fields


def a_fitting_value(random: Random, pattern: Any) -> Any:
    """A value that probably fits."""
    if random.random() < 0.05:
        return a_value(random, 2)
    match pattern:
        case Plain(value):
            return value
        case Predicate(_, inner):
            return a_fitting_value(random, inner) if random.random() < 0.7 else 1
        case Items(items, rest):
            left = a_fitting_value(random, rest) if rest is not None else ()
            inner = tuple(a_fitting_value(random, item) for item in items)
            return inner + (left if isinstance(left, tuple) else ())
        case Keys(items):
            fields = {key: a_fitting_value(random, inner) for key, inner in items}
            more = {"d": 1} if random.random() < 0.3 else {}
            return Record("error", fields | more) if random.random() < 0.3 else fields | more
    return a_value(random, 2)


def names_of(pattern: Any) -> list[str]:
    """The names of a pattern, in the order of its text."""
    match pattern:
        case Named(name):
            return [name]
        case Predicate(_, inner):
            return names_of(inner)
        case Items(items, rest):
            return [name for item in (*items, rest) for name in names_of(item)]
        case Keys(items):
            return [name for _, item in items for name in names_of(item)]
    return []
