"""Simple code: core that cannot call, suspend or capture, as functions of the environment.

Most of the work of most programs is simple and needs no frames. A simple piece is `(env) -> value`.
It may raise Fault, which has the span of the primitive call that failed. The maker bounds how deep
pieces nest, because they use Python's own stack.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sexplang.machine.stack import Code
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Record, Value

if TYPE_CHECKING:
    from sexplang.machine.exits import Uncaught

Env: TypeAlias = tuple[Any, ...]
Simple: TypeAlias = Callable[[Env], Value]

AnyError = TypeVar("AnyError", bound="Fault | Uncaught")


def constant(value: Value) -> Simple:
    return lambda env: value


def local(depth: int, index: int) -> Simple:
    if depth == 0:
        return itemgetter(index)  # no Python function is called
    if depth == 1:
        return lambda env: env[0][index]
    if depth == 2:
        return lambda env: env[0][0][index]

    def far(env: Env) -> Value:
        for _ in range(depth):
            env = env[0]
        return env[index]

    return far


def outer(depth: int) -> Callable[[Env], Env]:
    """Return a function that gives the environment `depth` levels up."""
    if depth == 0:
        return lambda env: env
    if depth == 1:
        return lambda env: env[0]

    def far(env: Env) -> Env:
        for _ in range(depth):
            env = env[0]
        return env

    return far


def choose(test: Simple, then: Simple, otherwise: Simple) -> Simple:
    def run(env: Env) -> Value:
        value = test(env)
        if value is not False and value is not None:
            return then(env)
        return otherwise(env)

    return run


def every(items: tuple[Simple, ...]) -> Simple:
    *first, last = items
    if len(first) == 1:
        (only,) = first

        def both(env: Env) -> Value:
            value = only(env)
            return value if value is False or value is None else last(env)

        return both

    if len(first) == 2:
        one, two = first

        def three(env: Env) -> Value:
            value = one(env)
            if value is False or value is None:
                return value
            value = two(env)
            return value if value is False or value is None else last(env)

        return three

    def run(env: Env) -> Value:
        for item in first:
            value = item(env)
            if value is False or value is None:
                return value
        return last(env)

    return run


def some(items: tuple[Simple, ...]) -> Simple:
    *first, last = items

    def run(env: Env) -> Value:
        for item in first:
            value = item(env)
            if value is not False and value is not None:
                return value
        return last(env)

    return run


def sequence(items: tuple[Simple, ...]) -> Simple:
    *first, last = items

    def run(env: Env) -> Value:
        for item in first:
            item(env)
        return last(env)

    return run


def binding(values: tuple[Simple, ...], body: Simple) -> Simple:
    if len(values) == 1:
        (only,) = values
        return lambda env: body(env + (only(env),))
    return lambda env: body(env + tuple([value(env) for value in values]))


def table(keys: tuple[str, ...], values: tuple[Simple, ...]) -> Simple:
    if len(keys) == 2:
        (a, b), (one, two) = keys, values
        return lambda env: {a: one(env), b: two(env)}
    if len(keys) == 3:
        (a, b, c), (one, two, three) = keys, values
        return lambda env: {a: one(env), b: two(env), c: three(env)}
    pairs = tuple(zip(keys, values, strict=True))
    return lambda env: {key: value(env) for key, value in pairs}


def path(base: Simple, fields: tuple[str, ...], span: Span, needed: bool) -> Simple:
    """Return nested field access. A missing field, or a field of nil, is nil unless it is
    `needed`."""

    def run(env: Env) -> Value:
        return follow(base(env), fields, span, needed, env)

    return run


def follow(value: Value, fields: tuple[str, ...], span: Span, needed: bool, env: Env) -> Value:
    for field in fields:
        if value is None and not needed:
            return None
        table = value.fields if isinstance(value, Record) else value
        if not isinstance(table, dict):
            from sexplang.package.habits import find_field_hint

            words = f"`.{field}` reads a field of a table or a record, not of {abbreviate(value)}"
            fault = Fault("wrong-type", words, hint=find_field_hint(field))
            raise locate(fault, span, env)
        if needed and field not in table:
            words = f"this leads nowhere: there is no field `{field}`"
            raise locate(Fault("wrong-type", words), span, env)
        value = table.get(field)
    return value


def locate(error: AnyError, span: Span | None, env: Env | None = None) -> AnyError:
    """Return the error, located at `span` and `env` unless it has a place. An error that came out
    of a call locates that call instead."""
    if error.span is None:
        error.span, error.env = span, env
    elif error.calls:
        error.calls = (*error.calls, span)
    return error


def add_call(error: AnyError, function: Code) -> AnyError:
    """Return the error with one more call of a function on Python's stack."""
    error.calls = (*error.calls, function)
    return error


def listing(items: tuple[Simple, ...]) -> Simple:
    """Return the constructor of `(list …)` and `[…]`."""
    if len(items) == 1:
        (only,) = items
        return lambda env: (only(env),)
    if len(items) == 2:
        left, right = items
        return lambda env: (left(env), right(env))
    if len(items) == 3:
        one, two, three = items
        return lambda env: (one(env), two(env), three(env))
    return lambda env: tuple([item(env) for item in items])
