"""Exits: the reasons for which the loop returns to the scheduler."""

from typing import Any

from sexplang.machine.errors import Failure, FailureSite
from sexplang.machine.stack import Exit, Frame, Run, Segment, Step
from sexplang.terms.classes.node import node
from sexplang.terms.values.value import Fault, Record, Value
from sexplang.terms.work import Work


class AskHost(Exit):
    """A request that no handler of the program answers."""

    __slots__ = ("arguments", "k", "operation", "s", "span")  # half the time without a dict

    def __init__(
        self, operation: str, arguments: tuple[Value, ...], k: Frame, s: Segment, span: Any
    ) -> None:
        self.operation = operation
        self.arguments = arguments
        self.k = k
        self.s = s
        self.span = span


class Fork(Exit):
    """Branches to start, each `(fn, a)`; the list of their values goes to `k`.

    At most `limit` of them run at a time. In a race the first value that is not `Lost` goes to `k`
    instead. With `after` they are nodes of a graph. Each node begins when its predecessors have
    their values.
    """

    def __init__(
        self,
        starts: tuple[tuple[Any, Any], ...],
        k: Frame,
        s: Segment,
        limit: int | None = None,
        race: bool = False,
        after: tuple[tuple[int, ...], ...] | None = None,
    ) -> None:
        self.starts = starts
        self.k = k
        self.s = s
        self.limit = len(starts) if limit is None else limit
        self.race = race
        self.after = after


@node(eq=False)
class Lost:
    """The value of a branch of a race that failed."""

    error: Record


@node(eq=False)
class Settled:
    """The value of a node of a graph. If it `ends` the graph, unfinished nodes have no value."""

    value: Value
    ends: bool


class JudgePlan(Exit):
    """A plan to judge; the verdict goes to `k`."""

    def __init__(self, plan: Value, limits: Value, k: Frame, s: Segment) -> None:
        self.plan = plan
        self.limits = limits
        self.k = k
        self.s = s


class EnterScope(Exit):
    """A scope to open: a deadline or a budget, then `body` in `env`."""

    def __init__(
        self, settings: dict[str, Value], body: Run, env: Any, k: Frame, s: Segment, span: Any
    ) -> None:
        self.settings = settings
        self.body = body
        self.env = env
        self.k = k
        self.s = s
        self.span = span


class LeaveScope(Exit):
    """A value that is about to leave the scope on top."""

    def __init__(self, value: Value, s: Segment) -> None:
        self.value = value
        self.s = s


class AcquirePermit(Exit):
    """A job to begin: `function` is called when the job has a permit."""

    def __init__(self, function: Value, k: Frame, s: Segment, span: Any) -> None:
        self.function = function
        self.k = k
        self.s = s
        self.span = span


class ClaimShared(Exit):
    """A claim to a shared value: the value, or nil for the claim, goes to `k`."""

    def __init__(self, key: Any, k: Frame, s: Segment) -> None:
        self.key = key
        self.k = k
        self.s = s


class PutShared(Exit):
    """A shared value, in a tuple, or None if the branch releases its claim."""

    def __init__(self, key: Any, value: tuple[Value] | None, k: Frame, s: Segment) -> None:
        self.key = key
        self.value = value
        self.k = k
        self.s = s


class ReadLimits(Exit):
    """A request for the limits of a subagent."""

    def __init__(self, k: Frame, s: Segment) -> None:
        self.k = k
        self.s = s


class BeginSpan(Exit):
    """A piece of traced work to begin: it goes on with `fn`, the work and `data`.

    `extra` are the steps that a run without traces does not take here, `fn` included.
    """

    def __init__(
        self,
        fn: Any,
        data: tuple[Any, ...],
        k: Frame,
        s: Segment,
        kind: str,
        name: str,
        extra: int,
    ) -> None:
        self.extra = extra
        self.fn = fn
        self.data = data
        self.k = k
        self.s = s
        self.kind = kind
        self.name = name


class RequestSubtask(Exit):
    """A request for a subtask: it goes on with `step`, unless there are too many."""

    def __init__(self, step: Step) -> None:
        self.step = step


class EndSpan(Exit):
    """A piece of traced work that is over: it goes on with `step`.

    `extra` are the steps that a run without traces does not take here.
    """

    def __init__(self, work: Work, error: Record | None, step: Step, extra: int) -> None:
        self.extra = extra
        self.work = work
        self.error = error
        self.step = step


class AbortHandler(Exit):
    """The end of a handle expression of another branch, `level` levels deep in the tree.

    `node` is its segment there; `then` says how it ends (see `unwind.finish`). `k`
    and `s` are those of the branch that aborts it.
    """

    def __init__(self, level: int, node: Segment, then: Any, k: Frame, s: Segment) -> None:
        self.level = level
        self.node = node
        self.then = then
        self.k = k
        self.s = s


class Uncaught(Exit):
    """An error that no handler takes. `span`, `env` and `calls` are as those of a Fault;
    `failure_site` is the place of the failure, if it is known."""

    span: Any = None
    env: Any = None
    calls: tuple[Any, ...] = ()
    failure_site: FailureSite | None = None

    def __init__(self, error: Record, k: Frame, s: Segment) -> None:
        self.error = error
        self.k = k
        self.s = s

    def record_step(self, fn: Any, a: Any, k: Frame, s: Segment) -> None:
        """Record the step that failed. If a fault was raised as an error, it is the step of the
        fault."""
        placed: Fault | Uncaught = self
        if a.__class__ is Failure:
            fn, a, placed = a.fn, a.a, a.fault
        self.failure_site = FailureSite(fn, a, self.k, self.s, placed.env, placed.calls, (k, s))


ERRORS = (Fault, Uncaught)
"""The errors on Python's stack. Code that they pass locates them."""


class StepInterrupt(Exit):
    """An interruption from outside in the midst of a step; `step` is to be taken again."""

    def __init__(self, step: Step) -> None:
        self.step = step


class SliceEnd(Exit):
    """The end of a slice of steps. `step` is the next; `rest` is the least number of frames and of
    elements that are left."""

    def __init__(self, step: Step, rest: tuple[int, int]) -> None:
        self.step = step
        self.rest = rest


class LimitReached(Exit):
    """A limit of the interpreter. Nothing catches it and no `finally` runs.

    `step` is the step at work, if there was one.
    """

    def __init__(self, error: Record, step: Step | None = None) -> None:
        self.error = error
        self.step = step

    def record_step(self, fn: Any, a: Any, k: Frame, s: Segment) -> None:
        """Record the step that reached the limit."""
        self.step = fn, a, k, s


ENDS = frozenset([Uncaught, LimitReached])
"""The exits that record the step that they end."""
