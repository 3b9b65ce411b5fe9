"""Handlers around branches: a clause from beyond a branch's base runs in the branch.

The branch's own stack is set aside meanwhile. What a clause may do there is read from its text:
one that only ever resumes last, or forwards, may cross; one that never resumes ends the branches
first and runs in the branch that forked.
"""

from sexplang.machine.exits import Aborted
from sexplang.machine.leaving import (
    Taking,
    abandon_all,
    base_of,
    environment,
    not_resumable,
)
from sexplang.machine.stack import BASE, BOTTOM, Frame, Kind, Parent, Segment, Step
from sexplang.terms.value import Procedure, Value


class Crossing:
    """A branch's stack, set aside while a clause from beyond its base runs in the branch."""

    __slots__ = ("k", "level", "node", "resumable", "s")

    def __init__(self, k: Frame, s: Segment, node: Segment, level: int, resumable: bool) -> None:
        self.k = k
        self.s = s
        self.node = node
        self.level = level
        self.resumable = resumable


class _Across(Procedure):
    """The continuation of a clause that runs in a branch: only ever called last."""

    __slots__ = ()
    name = "continuation"


ACROSS = _Across()


def cross(
    clause: Taking,
    operation: str,
    arguments: tuple[Value, ...],
    node: Segment,
    level: int,
    k: Frame,
    s: Segment,
    resumable: bool,
) -> Step:
    values = clause.bind(operation, arguments)
    if clause.kind == "never":
        raise Aborted(level, node, ("clause", clause, values), k, s)
    context = s[3].naming(node[2][3])
    beyond = (BASE, BOTTOM, None, base_of(s)[3], Parent(node[2], level))
    crossing = (CROSS, BOTTOM, beyond, context, Crossing(k, s, node, level, resumable))
    return clause.body, (*environment(node), *values, ACROSS), BOTTOM, crossing


def resume_across(value: Value, k: Frame, s: Segment) -> Step:
    """A crossing clause resumes: the branch's own stack is back."""
    data = s[4]
    if not data.resumable:
        raise not_resumable()
    k = data.k
    return k[0], value, k, data.s


def _leave_cross(value: Value, s: Segment) -> Step:
    data = s[4]
    raise Aborted(data.level, data.node, ("value", value), data.k, data.s)


def _leave_cut_cross(value: Value, s: Segment) -> Step:
    return abandon_all(s[4].k, s[4].s, s[2][3], value)


CROSS = Kind("cross", _leave_cross, cleanup=True)
CROSS.stripped = Kind("cut", _leave_cut_cross, cleanup=True)
