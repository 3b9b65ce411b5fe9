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
from sexplang.machine.tasks.program_environment import environment_of


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
    env = environment_of(linked.top, code, k, s)
    # The host answers a `tool` that the function itself performs.
    return fill(code, (env,), given, rest, k, (TOLD, *s[1:]))


_CODE = Code("tool", -1, ("name", "inputs"), False, is_library=True)
_CODE.body = _tool

TOOL = make_closure(_CODE, ())
"""The default of `tool` in a program whose functions are tools."""
