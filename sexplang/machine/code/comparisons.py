"""`= < > <= >=` on integers without a call: the primitive decides everything else."""

from collections.abc import Callable
from operator import eq, ge, gt, le, lt
from typing import Any

from sexplang.machine.code.arithmetic import Slow
from sexplang.machine.code.simple import Env, Simple
from sexplang.terms.values.value import Value


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


def comparing(holds: Callable[[int, int], bool]) -> dict[str, Any]:
    """Comparisons of what has to be evaluated."""

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


SHAPES: dict[str, dict[str, Any]] = {
    "<": {**comparing(lt), "near constant": less_constant, "near near": less_near},
    ">": {**comparing(gt), "near constant": more_constant, "near near": more_near},
    "=": {**comparing(eq), "near constant": equal_constant, "near near": equal_near},
    "<=": comparing(le),
    ">=": comparing(ge),
}
