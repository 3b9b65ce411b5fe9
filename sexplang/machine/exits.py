"""Ways out of the loop: what somebody outside decides before it goes on."""

from typing import Any

from sexplang.machine.positions.error_positions import Failure, FailureSite
from sexplang.machine.stack import Exit, Frame, Run, Segment, Step
from sexplang.terms.classes.node import node
from sexplang.terms.values.value import Fault, Record, Value
from sexplang.terms.work import Work


class AskHost(Exit):
    """A request that nobody in the program answers."""

    __slots__ = ("arguments", "k", "operation", "s", "span")  # made twice as fast without a dict

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

    At most `limit` of them run at a time. In a race the first value that is not `Lost` goes to
    `k` instead. With `after` they are nodes of a graph: each begins when those that it comes after
    have their values.
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
    """What a branch of a race ends with that failed."""

    error: Record


@node(eq=False)
class Settled:
    """What a node of a graph ends with; one that `ends` the graph leaves the others without."""

    value: Value
    ends: bool


class JudgePlan(Exit):
    """A plan to be judged: what is said about it goes to `k`."""

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
    """A value is about to leave the form of a deadline or a budget, the segment on top."""

    def __init__(self, value: Value, s: Segment) -> None:
        self.value = value
        self.s = s


class AcquirePermit(Exit):
    """A job to begin: `function` is called as soon as it has a place."""

    def __init__(self, function: Value, k: Frame, s: Segment, span: Any) -> None:
        self.function = function
        self.k = k
        self.s = s
        self.span = span


class ReadLimits(Exit):
    """Somebody asks for the limits of a subagent."""

    def __init__(self, k: Frame, s: Segment) -> None:
        self.k = k
        self.s = s


class BeginSpan(Exit):
    """A piece of work that is traced is to begin: goes on with `fn` of it and `data`."""

    def __init__(
        self,
        fn: Any,
        data: tuple[Any, ...],
        k: Frame,
        s: Segment,
        kind: str,
        name: str,
    ) -> None:
        self.fn = fn
        self.data = data
        self.k = k
        self.s = s
        self.kind = kind
        self.name = name


class RequestSubtask(Exit):
    """Somebody asks for a subtask: goes on with `step`, unless it is one too many."""

    def __init__(self, step: Step) -> None:
        self.step = step


class EndSpan(Exit):
    """A piece of work that is traced is over: goes on with `step`."""

    def __init__(self, work: Work, error: Record | None, step: Step) -> None:
        self.work = work
        self.error = error
        self.step = step


class AbortHandler(Exit):
    """A handle expression of another branch, `level` levels deep in the tree, is ended.

    `node` is its segment there; `then` what its end is (see `control.finish`). `k` and `s` are
    those of the branch that says so.
    """

    def __init__(self, level: int, node: Segment, then: Any, k: Frame, s: Segment) -> None:
        self.level = level
        self.node = node
        self.then = then
        self.k = k
        self.s = s


class Uncaught(Exit):
    """An error that no handler takes. `span`, `env` and `calls` are as those of a Fault; `stood`
    says where, if that is known."""

    span: Any = None
    env: Any = None
    calls: tuple[Any, ...] = ()
    failure_site: FailureSite | None = None

    def __init__(self, error: Record, k: Frame, s: Segment) -> None:
        self.error = error
        self.k = k
        self.s = s

    def record_step(self, fn: Any, a: Any, k: Frame, s: Segment) -> None:
        """The step that it ends: of one that fails because another did, that one."""
        placed: Fault | Uncaught = self
        if a.__class__ is Failure:
            fn, a, placed = a.fn, a.a, a.fault
        self.failure_site = FailureSite(fn, a, self.k, self.s, placed.env, placed.calls)


ERRORS = (Fault, Uncaught)
"""Errors on Python's stack: a piece of code that they pass says where it is."""


class StepInterrupt(Exit):
    """The loop was left in the midst of a step, from outside; `step` is to be taken again."""

    def __init__(self, step: Step) -> None:
        self.step = step


class SliceEnd(Exit):
    """A slice of steps is over; `step` is the next, and `rest` how many more frames there may be
    at least, and how many more elements."""

    def __init__(self, step: Step, rest: tuple[int, int]) -> None:
        self.step = step
        self.rest = rest


class LimitReached(Exit):
    """A limit of the interpreter: nothing catches it and no `finally` runs.

    `step` is the one that was at work, if one was.
    """

    def __init__(self, error: Record, step: Step | None = None) -> None:
        self.error = error
        self.step = step

    def record_step(self, fn: Any, a: Any, k: Frame, s: Segment) -> None:
        """The step that it ends."""
        self.step = fn, a, k, s


ENDS = frozenset([Uncaught, LimitReached])
"""Those that are told the step that they end: `stand` is called with it."""
