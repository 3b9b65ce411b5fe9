"""Function tools: functions of the program as tools of a model, called with inputs by name.

A handler of `tool` takes them like any other tool. If none does, or each forwards it, the function
is called where the conversation asks for it.
"""

from typing import Any

from sexplang.machine.code.application import fill
from sexplang.machine.errors import return_value
from sexplang.machine.exits import AskHost
from sexplang.machine.handlers import plain_arguments
from sexplang.machine.stack import Code, Frame, Linked, Segment, Step, leave, make_closure
from sexplang.machine.tasks.conversation import FUNCTION, TOLD
from sexplang.terms.values.value import Fault


def _tool(env: Any, k: Frame, s: Segment) -> Step:
    """The default of `tool`. The host is asked for tools that are not the program's."""
    _, *arguments = env
    linked: Linked = s[3].linked
    function = linked.tools.get(arguments[0]) if s[0] is FUNCTION else None
    if function is None:
        span = k[2] if k[0] is return_value else None
        return leave, AskHost("tool", plain_arguments(tuple(arguments)), k, s, span), k, s
    given, code = dict(arguments[1]), linked.codes[function.index]
    rest = given.pop(function.rest, ())
    env = _environment(linked, code, k, s)
    # The host answers a `tool` that the function itself performs.
    return fill(code, (env,), given, rest, k, (TOLD, *s[1:]))


def _environment(linked: Linked, code: Code, k: Frame, s: Segment) -> tuple[Any, ...]:
    """Return the program's environment, which is in the frame of the form that is being
    evaluated."""
    while s is not None:
        while k is not None:
            if k[0] is linked.top:
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
            f"the tool `{code.name}` is called before all is defined that it needs",
            hint=f"move the call of the task below what `{code.name}` mentions",
        )
    return env


_CODE = Code("tool", -1, ("name", "inputs"), False, is_library=True)
_CODE.body = _tool

TOOL = make_closure(_CODE, ())
"""The default of `tool` in a program whose functions are tools."""
