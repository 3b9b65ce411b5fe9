"""The environment of a program's functions, for a call that no form of the program makes."""

from typing import Any

from sexplang.machine.stack import Code, Frame, Run, Segment
from sexplang.terms.values.value import Fault


def environment_of(top: Run | None, code: Code, k: Frame, s: Segment) -> tuple[Any, ...]:
    """Return the environment of a function at the top of a program: it is in the frame of the form
    that is being evaluated. Raises Fault if a name that the function needs is not defined yet.

    `top` is the resume of the frame in which the program waits for one of its forms.
    """
    while s is not None:
        while k is not None:
            if k[0] is top:
                return _visible_environment(code, k[2])
            k = k[1]
        if s[2] is None and s[4] is not None:  # go on where the branch began
            k, s = s[4].k, s[4].s
        else:
            k, s = s[1], s[2]
    return _visible_environment(code, ({},))


def _visible_environment(code: Code, env: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(env) < code.outer:
        raise Fault(
            "used-before-defined",
            f"`{code.name}` is called before all is defined that it needs",
            hint=f"move the call of the task below what `{code.name}` mentions",
        )
    return env
