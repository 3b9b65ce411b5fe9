"""Arithmetic and comparisons of integers without a call: the primitive decides everything else.

Each maker takes the primitive's own function, which is asked where an operand is not an exact
integer. So floats, errors and bounds are its business alone. So are large integers, because they
have a bound; a sum with a constant cannot grow fast enough to matter. CPython compares integers of
up to thirty bits faster than others, so those are tried first.

The shapes of variables and constants repeat each other with another operator: a call of it would
add a tenth to their time. Where an operand has to be evaluated, the call costs a thirtieth.
"""

from collections.abc import Callable
from operator import add, eq, floordiv, ge, gt, le, lt, mod, sub
from typing import Any

from sexplang.machine.code.simple import Env, Simple
from sexplang.terms.values.value import Value

MOST = 1 << 1000
LEAST = -MOST

Slow = Callable[[Value, Value, Env], Value]


def add_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a + c if a.__class__ is int else slow(a, c, env)

    return run


def subtract_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a - c if a.__class__ is int else slow(a, c, env)

    return run


def add_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        if a.__class__ is int and b.__class__ is int:
            made = a + b
            if -0x3FFFFFFF < made < 0x3FFFFFFF or LEAST < made < MOST:
                return made
        return slow(a, b, env)

    return run


def subtract_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        if a.__class__ is int and b.__class__ is int:
            made = a - b
            if -0x3FFFFFFF < made < 0x3FFFFFFF or LEAST < made < MOST:
                return made
        return slow(a, b, env)

    return run


def multiply_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        if a.__class__ is int and b.__class__ is int:
            if -0x3FFFFFFF < a < 0x3FFFFFFF and -0x3FFFFFFF < b < 0x3FFFFFFF:
                return a * b
            if LEAST < a < MOST and LEAST < b < MOST:
                return a * b
        return slow(a, b, env)

    return run


def multiply_any(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = left(env), right(env)
        if a.__class__ is int and b.__class__ is int:
            if -0x3FFFFFFF < a < 0x3FFFFFFF and -0x3FFFFFFF < b < 0x3FFFFFFF:
                return a * b
            if LEAST < a < MOST and LEAST < b < MOST:
                return a * b
        return slow(a, b, env)

    return run


def make_sums(combine: Callable[[int, int], int]) -> dict[str, Any]:
    """Return the maker of a sum or difference whose operands have to be evaluated."""

    def of_any(left: Simple, right: Simple, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a, b = left(env), right(env)
            if a.__class__ is int and b.__class__ is int:
                made = combine(a, b)
                if -0x3FFFFFFF < made < 0x3FFFFFFF or LEAST < made < MOST:
                    return made
            return slow(a, b, env)

        return run

    return {"any any": of_any}


def make_divisions(divide: Callable[[int, int], int]) -> dict[str, Any]:
    """Return the makers of a division. They divide an integer from 0 on by one from 1 on, where
    all kinds of division agree."""

    def by_constant(i: int, c: int, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a = env[i]
            if a.__class__ is int and (0 <= a < 0x3FFFFFFF or 0 <= a < MOST) and c > 0:
                return divide(a, c)
            return slow(a, c, env)

        return run

    def by_any(left: Simple, right: Simple, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a, b = left(env), right(env)
            if a.__class__ is int and b.__class__ is int and 0 <= a < MOST and b > 0:
                return divide(a, b)
            return slow(a, b, env)

        return run

    return {"near constant": by_constant, "any any": by_any}


SHAPES: dict[str, dict[str, Any]] = {
    "+": {**make_sums(add), "near constant": add_constant, "near near": add_near},
    "-": {**make_sums(sub), "near constant": subtract_constant, "near near": subtract_near},
    "*": {"near near": multiply_near, "any any": multiply_any},
    "quotient": make_divisions(floordiv),
    "remainder": make_divisions(mod),
    "modulo": make_divisions(mod),
}


# -- Comparisons ----------------------------------------------------------------------------------


def less_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a < c if a.__class__ is int else slow(a, c, env)

    return run


def more_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a > c if a.__class__ is int else slow(a, c, env)

    return run


def equal_constant(i: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[i]
        return a == c if a.__class__ is int else slow(a, c, env)

    return run


def less_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        return a < b if a.__class__ is int and b.__class__ is int else slow(a, b, env)

    return run


def more_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        return a > b if a.__class__ is int and b.__class__ is int else slow(a, b, env)

    return run


def equal_near(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        return a == b if a.__class__ is int and b.__class__ is int else slow(a, b, env)

    return run


def make_comparisons(holds: Callable[[int, int], bool]) -> dict[str, Any]:
    """Return the makers of a comparison whose left operand has to be evaluated."""

    def with_constant(left: Simple, c: int, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a = left(env)
            return holds(a, c) if a.__class__ is int else slow(a, c, env)

        return run

    def with_any(left: Simple, right: Simple, slow: Slow) -> Simple:
        def run(env: Env) -> Value:
            a, b = left(env), right(env)
            return holds(a, b) if a.__class__ is int and b.__class__ is int else slow(a, b, env)

        return run

    return {"any constant": with_constant, "any any": with_any}


def is_integer(left: Simple, c: int, slow: Slow) -> Simple:
    """`(equal? x 2)`."""

    def run(env: Env) -> Value:
        a = left(env)
        return a == c if a.__class__ is int else slow(a, c, env)

    return run


COMPARISONS: dict[str, dict[str, Any]] = {
    "<": {**make_comparisons(lt), "near constant": less_constant, "near near": less_near},
    ">": {**make_comparisons(gt), "near constant": more_constant, "near near": more_near},
    "=": {**make_comparisons(eq), "near constant": equal_constant, "near near": equal_near},
    "<=": make_comparisons(le),
    ">=": make_comparisons(ge),
}
