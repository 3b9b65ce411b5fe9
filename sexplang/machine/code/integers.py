"""Arithmetic and comparisons of integers, without a call of the primitive.

Each maker takes the primitive's own function, `slow`. It is called for every operand that is not an
exact integer, so floats, errors and bounds are decided in one place. It is also called for large
integers, because the language bounds their size; a sum with a constant needs no such check.
CPython compares integers of up to thirty bits faster than others, so the code tries those first.

A template takes the operation as a function of `operator`. The shapes of counting loops and sums
have Python's own operators: they are 3 % of a run.
"""

from collections.abc import Callable
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, sub
from typing import Any

from sexplang.machine.code.simple import Env, Simple
from sexplang.terms.values.value import Value

MOST = 1 << 1000
LEAST = -MOST

Slow = Callable[[Value, Value, Env], Value]
Operate = Callable[[int, int], Any]


def _near_constant(operate: Operate) -> Any:
    def make(i: int, c: int, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a = env[i]
            return operate(a, c) if a.__class__ is int else slow(a, c, env)

        return run

    return make


def _any_constant(operate: Operate) -> Any:
    def make(left: Simple, c: int, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a = left(env)
            return operate(a, c) if a.__class__ is int else slow(a, c, env)

        return run

    return make


def _add_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a + c if a.__class__ is int else slow(a, c, env)

    return run


def _subtract_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a - c if a.__class__ is int else slow(a, c, env)

    return run


def _equal_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a == c if a.__class__ is int else slow(a, c, env)

    return run


def _add_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        if a.__class__ is int and b.__class__ is int:
            made = a + b
            if -0x3FFFFFFF < made < 0x3FFFFFFF or LEAST < made < MOST:
                return made
        return slow(a, b, env)

    return run


def _compare(operate: Operate) -> dict[str, Any]:
    """Return the makers of a comparison, by shape."""

    def on_any(left: Simple, right: Simple, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a, b = left(env), right(env)
            return operate(a, b) if a.__class__ is int and b.__class__ is int else slow(a, b, env)

        return run

    return {
        "near constant": _near_constant(operate),
        "any constant": _any_constant(operate),
        "any any": on_any,
    }


def _calculate(operate: Operate) -> dict[str, Any]:
    """Return the makers of a sum, a difference or a product, by shape."""

    def on_any(left: Simple, right: Simple, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a, b = left(env), right(env)
            if a.__class__ is int and b.__class__ is int:
                if -0x3FFFFFFF < a < 0x3FFFFFFF and -0x3FFFFFFF < b < 0x3FFFFFFF:
                    return operate(a, b)
                if LEAST < a < MOST and LEAST < b < MOST:
                    return operate(a, b)
            return slow(a, b, env)

        return run

    return {"any any": on_any}


def _divide(operate: Operate) -> dict[str, Any]:
    """Return the makers of a division. All its kinds agree for `0 <= a` and `0 < b`."""

    def by_any(left: Simple, right: Simple, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a, b = left(env), right(env)
            if a.__class__ is int and b.__class__ is int and 0 <= a < MOST and b > 0:
                return operate(a, b)
            return slow(a, b, env)

        return run

    return {"any any": by_any}


is_integer = _any_constant(eq)
"""The maker of `(equal? x 2)`."""

SHAPES: dict[str, dict[str, Any]] = {
    "+": {**_calculate(add), "near constant": _add_constant, "near near": _add_near},
    "-": {**_calculate(sub), "near constant": _subtract_constant},
    "*": _calculate(mul),
    "quotient": _divide(floordiv),
    "remainder": _divide(mod),
    "modulo": _divide(mod),
    "<": _compare(lt),
    ">": _compare(gt),
    "=": {**_compare(eq), "near constant": _equal_constant},
    "<=": _compare(le),
    ">=": _compare(ge),
}
"""The makers by primitive and by the shape of the operands (see `operands`)."""
