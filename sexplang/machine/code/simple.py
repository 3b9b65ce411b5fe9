"""Core that cannot call, suspend or capture, to functions of the environment.

That is most of the work of most programs, and it needs no frames. A piece is `(env) -> value`; it
may raise Fault, which leaves with the span of the primitive call that failed. How deep pieces
nest is bounded by `generate`, because this is where Python's own stack is used.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sexplang.machine.stack import Code
from sexplang.terms.source import Span
from sexplang.terms.values.value import Fault, Record, Value

if TYPE_CHECKING:
    from sexplang.machine.exits import Uncaught

Env: TypeAlias = tuple[Any, ...]
Simple: TypeAlias = Callable[[Env], Value]

Placed = TypeVar("Placed", bound="Fault | Uncaught")


def constant(value: Value) -> Simple:
    return lambda env: value


def local(depth: int, index: int) -> Simple:
    if depth == 0:
        return itemgetter(index)  # without a call of Python's
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
    """The environment `depth` levels up."""
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
    pairs = tuple(zip(keys, values, strict=True))
    return lambda env: {key: value(env) for key, value in pairs}


def path(base: Simple, fields: tuple[str, ...], span: Span, needed: bool) -> Simple:
    """Nested field access: nil through nil, and where there is no such field; unless needed."""

    def run(env: Env) -> Value:
        return follow(base(env), fields, span, needed, env)

    return run


def follow(value: Value, fields: tuple[str, ...], span: Span, needed: bool, env: Env) -> Value:
    for field in fields:
        if value is None and not needed:
            return None
        table = value.fields if isinstance(value, Record) else value
        if not isinstance(table, dict):
            words = f"`.{field}` reads a field of a table or a record"
            raise locate(Fault("wrong-type", words), span, env)
        if needed and field not in table:
            words = f"this leads nowhere: there is no field `{field}`"
            raise locate(Fault("wrong-type", words), span, env)
        value = table.get(field)
    return value


def locate(error: Placed, span: Span | None, env: Env | None = None) -> Placed:
    """The error, placed at `span` and in its environment unless it has its place already. One that
    has come out of a call has the place of that call then."""
    if error.span is None:
        error.span, error.env = span, env
    elif error.calls:
        error.calls = (*error.calls, span)
    return error


def add_call(error: Placed, function: Code) -> Placed:
    """The error, which comes out of a call of this function on Python's stack."""
    error.calls = (*error.calls, function)
    return error


def listing(items: tuple[Simple, ...]) -> Simple:
    """`(list …)` and `[…]`, by far the commonest construction."""
    if len(items) == 1:
        (only,) = items
        return lambda env: (only(env),)
    return lambda env: tuple([item(env) for item in items])
