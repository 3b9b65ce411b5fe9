"""A unit to the variables that have no slot where they stand: none, if the compiler is right.

An environment is the tuple of the sizes of the activations around, innermost last.
"""

from typing import Any

from attrs import fields

from sexplang.terms.core import (
    CallKnown,
    Handle,
    InputValue,
    Known,
    Lambda,
    Let,
    Local,
    Loop,
    Recur,
)
from sexplang.terms.program import Bind, Unit


def misplaced(unit: Unit, slots: int = 1) -> list[str]:
    """What is wrong, in words."""
    functions = {function.index: function for function in unit.functions}
    wrong: list[str] = []
    seen: set[Any] = set()
    work: list[tuple[Any, tuple[int, ...], int | None]] = []
    for item in unit.items:
        if isinstance(item, Bind):
            work.append((item.value, (slots,), None))
            slots += 1
        else:
            work.append((item, (slots,), None))
    if slots != unit.slots:
        wrong.append(f"the unit has {slots} slots, not {unit.slots}")
    while work:
        core, env, loop = work.pop()
        if isinstance(core, Local):
            if core.depth >= len(env) or not 0 < core.index < env[-1 - core.depth]:
                wrong.append(f"{core} in {env}")
        elif isinstance(core, (Known, CallKnown, Lambda)):
            depth = 0 if isinstance(core, Lambda) else core.depth
            function = functions[core.function]
            outside = env[: len(env) - depth]
            if not outside:
                wrong.append(f"{core} in {env}")
            elif (core.function, outside) not in seen:
                seen.add((core.function, outside))
                for at, param in enumerate(function.params):
                    if param.default is not None:
                        work.append((param.default, (*outside, 1 + at), None))
                size = 1 + len(function.params) + (function.rest is not None)
                work.append((function.body, (*outside, size), None))
            if isinstance(core, CallKnown):
                work.extend((one, env, None) for one in core.arguments)
                if len(core.arguments) != len(function.params) or function.rest:
                    wrong.append(f"{core} does not fill {function}")
        elif isinstance(core, Let):
            work.extend((one, env, None) for one in core.values)
            work.append((core.body, (*env[:-1], env[-1] + len(core.values)), loop))
        elif isinstance(core, Loop):
            work.extend((one, env, None) for one in core.inits)
            work.append((core.body, (*env, 1 + len(core.inits)), len(core.inits)))
        elif isinstance(core, Recur):
            if len(core.arguments) != loop:
                wrong.append(f"{core} in a loop of {loop}")
            work.extend((one, env, None) for one in core.arguments)
        elif isinstance(core, Handle):
            work.append((core.body, env, None))
            for clause in core.clauses:
                size = env[-1] + len(clause.params) + 1
                work.append((clause.body, (*env[:-1], size), None))
            if core.returns is not None:
                work.append((core.returns, (*env[:-1], env[-1] + 1), None))
        elif isinstance(core, InputValue):
            work.extend([(core.default, env, None)] if core.default is not None else [])
        else:
            for each in fields(type(core)):
                part = getattr(core, each.name)
                for one in part if isinstance(part, tuple) else (part,):
                    if hasattr(one, "span") and not isinstance(one, type):
                        work.append((one, env, loop))
    return wrong
