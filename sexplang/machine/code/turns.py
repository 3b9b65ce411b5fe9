"""Turns of loops: `(if test value (recur …))`, the shape of most loops, in one step of Python.

Each maker does the work of the separate pieces and saves a call a turn.
"""

from typing import Any

from sexplang.machine.stack import Frame, Run, Segment, Step


def turn(test: Any, value: Any, holder: Any, simples: list[Any]) -> Run | None:
    """Return code that ends with `value` or jumps, for one to three arguments; else None."""
    maker = _BY_COUNT.get(len(simples))
    made: Run | None = maker(test, value, holder, *simples) if maker is not None else None
    return made


def _one(test: Any, value: Any, holder: Any, first: Any) -> Run:
    def run(env: Any, k: Frame, s: Segment) -> Step:
        decided = test(env)
        if decided is not False and decided is not None:
            return k[0], value(env), k, s
        return holder.body, (env[0], first(env)), k, s

    return run


def _two(test: Any, value: Any, holder: Any, first: Any, second: Any) -> Run:
    def run(env: Any, k: Frame, s: Segment) -> Step:
        decided = test(env)
        if decided is not False and decided is not None:
            return k[0], value(env), k, s
        return holder.body, (env[0], first(env), second(env)), k, s

    return run


def _three(test: Any, value: Any, holder: Any, first: Any, second: Any, third: Any) -> Run:
    def run(env: Any, k: Frame, s: Segment) -> Step:
        decided = test(env)
        if decided is not False and decided is not None:
            return k[0], value(env), k, s
        return holder.body, (env[0], first(env), second(env), third(env)), k, s

    return run


_BY_COUNT: dict[int, Any] = {1: _one, 2: _two, 3: _three}
