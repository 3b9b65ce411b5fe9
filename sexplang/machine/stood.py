"""Where the code stood when it failed, kept until somebody asks for the calls it was in.

Nothing is kept for this while a program runs. What the machine calls on Python's own stack, such
as a function that cannot wait, has no frame; Python's traceback still has its environment.
"""

from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from sexplang.machine.stack import Closure, Frame, Segment
from sexplang.terms.node import node
from sexplang.terms.source import Span
from sexplang.terms.value import Fault

_PACKAGE = __name__.rpartition(".")[0] + "."
_WALKING = _PACKAGE + "walking"


@node(eq=False)
class Inside:
    """A call of Python in a step: the environment it had, the place it knew, and the code of a
    program's function that it was calling."""

    env: tuple[Any, ...] | None
    span: Span | None
    callee: Any


@node(eq=False)
class Failure:
    """A step that raised: the code at work, its register, and what was raised."""

    fault: Fault
    fn: Any
    a: Any


@node(eq=False)
class Stood:
    """The registers of the step that failed, and the calls of Python in it, outermost first. `k`
    and `s` are what stands below."""

    fn: Any
    a: Any
    k: Frame
    s: Segment
    inside: tuple[Inside, ...] = ()


def inside(traceback: TracebackType | None) -> tuple[Inside, ...]:
    """What the calls of a step held, from the traceback of what ended it; the first is the loop."""
    frames = [frame for frame in _frames(traceback) if _is_ours(frame)][1:]
    held = [frame.f_locals for frame in frames]
    made = []
    for at, local in enumerate(held):
        env, span = local.get("env"), local.get("span")
        made.append(
            Inside(
                env if type(env) is tuple and env else None,
                span if isinstance(span, Span) else None,
                _callee(frames[at], local, held[at + 1] if at + 1 < len(held) else {}),
            )
        )
    return tuple(made)


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith(_PACKAGE)


def _callee(frame: FrameType, local: dict[str, Any], onward: dict[str, Any]) -> Any:
    """The code of the program's function that is called here, on Python's stack."""
    if frame.f_code.co_qualname.startswith("_pure_call."):
        below = local["env"], onward.get("env")
        return local.get("body") if below[0] is not below[1] else None
    called, env = local.get("function"), onward.get("env")
    if frame.f_globals.get("__name__") != _WALKING or not isinstance(called, Closure):
        return None
    is_its = type(env) is tuple and env and env[0] is called.env
    return called.code.pure if is_its else None
