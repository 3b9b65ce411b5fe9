"""Binary arithmetic on integers without a call: the primitive decides everything else.

Each maker takes the primitive's own function, which is asked where an operand is not an exact
integer, so that floats, errors and bounds are its business alone. Three shapes are worth their
lines: a variable and a constant, two variables, anything. A sum of two large integers goes to the
primitive as well, which has a bound; one with a constant cannot grow fast enough to matter.
"""

from collections.abc import Callable
from typing import Any

from sexplang.machine.simple import Env, Simple
from sexplang.terms.value import Value

MOST = 1 << 1000
LEAST = -MOST

Slow = Callable[[Env, Value, Value], Value]


def add_constant(index: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[index]
        return a + c if a.__class__ is int else slow(env, a, c)

    return run


def subtract_constant(index: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[index]
        return a - c if a.__class__ is int else slow(env, a, c)

    return run


def less_constant(index: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[index]
        return a < c if a.__class__ is int else slow(env, a, c)

    return run


def more_constant(index: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[index]
        return a > c if a.__class__ is int else slow(env, a, c)

    return run


def equal_constant(index: int, c: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a = env[index]
        return a == c if a.__class__ is int else slow(env, a, c)

    return run


def add_locals(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        if a.__class__ is int and b.__class__ is int:
            made = a + b
            if LEAST < made < MOST:
                return made
        return slow(env, a, b)

    return run


def subtract_locals(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        if a.__class__ is int and b.__class__ is int:
            made = a - b
            if LEAST < made < MOST:
                return made
        return slow(env, a, b)

    return run


def less_locals(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        return a < b if a.__class__ is int and b.__class__ is int else slow(env, a, b)

    return run


def more_locals(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        return a > b if a.__class__ is int and b.__class__ is int else slow(env, a, b)

    return run


def equal_locals(i: int, j: int, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = env[i], env[j]
        return a == b if a.__class__ is int and b.__class__ is int else slow(env, a, b)

    return run


def add_any(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = left(env), right(env)
        if a.__class__ is int and b.__class__ is int:
            made = a + b
            if LEAST < made < MOST:
                return made
        return slow(env, a, b)

    return run


def subtract_any(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = left(env), right(env)
        if a.__class__ is int and b.__class__ is int:
            made = a - b
            if LEAST < made < MOST:
                return made
        return slow(env, a, b)

    return run


def less_any(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = left(env), right(env)
        return a < b if a.__class__ is int and b.__class__ is int else slow(env, a, b)

    return run


def more_any(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = left(env), right(env)
        return a > b if a.__class__ is int and b.__class__ is int else slow(env, a, b)

    return run


def equal_any(left: Simple, right: Simple, slow: Slow) -> Simple:
    def run(env: Env) -> Value:
        a, b = left(env), right(env)
        return a == b if a.__class__ is int and b.__class__ is int else slow(env, a, b)

    return run


CONSTANT: dict[str, Any] = {
    "+": add_constant,
    "-": subtract_constant,
    "<": less_constant,
    ">": more_constant,
    "=": equal_constant,
}
LOCALS: dict[str, Any] = {
    "+": add_locals,
    "-": subtract_locals,
    "<": less_locals,
    ">": more_locals,
    "=": equal_locals,
}
ANY: dict[str, Any] = {
    "+": add_any,
    "-": subtract_any,
    "<": less_any,
    ">": more_any,
    "=": equal_any,
}
