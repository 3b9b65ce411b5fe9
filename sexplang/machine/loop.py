"""The loop: registers to an Exit, within the limits of steps and frames.

CPython 3.11 to 3.13 keep Python frames in small chunks and map and unmap one whenever a call
crosses the border between two, which makes the same work many times slower at unlucky depths of
the caller's stack. A function whose code asks for a large stack gets a chunk of its own; entering
it costs some ten microseconds, so a short turn does without.
"""

from collections.abc import Callable
from contextvars import ContextVar
from itertools import repeat
from types import FunctionType
from typing import Any

from sexplang.machine.control import fail
from sexplang.machine.errors import limit
from sexplang.machine.exits import Broken, Interrupted
from sexplang.machine.finding import blamed
from sexplang.machine.leaving import SCOPE
from sexplang.machine.stack import Exit, Frame, Segment, Step
from sexplang.terms.allowance import ACCOUNT
from sexplang.terms.node import frozen
from sexplang.terms.task import error_of
from sexplang.terms.value import Fault, Record

_SHORT = 64
_LONG = 500_000
_UNSEEN = 4_000_000
"""Elements made before somebody looks how much the process holds."""


class Interruption(KeyboardInterrupt):
    """A host raises it in the midst of a step when it wants the run to be cancelled, having seen
    to it that STOPPED says so."""


STOPPED: ContextVar[Callable[[], bool]] = ContextVar("stopped", default=lambda: False)
"""Whether the host wants the run to be cancelled: it is asked before a branch goes on."""


@frozen
class Limits:
    """What bounds a run from inside. A program cannot catch reaching them.

    `steps` counts turns of the machine's loop, over all branches, and what is done many times in
    one turn, such as calling a simple function on each element of a list; `frames` bounds the
    stack of each branch and is looked at every now and then, so a run may pass it by a little.
    `allocation` bounds the elements and characters of all larger lists, tables and strings made
    between two waits, whether or not they are still there; `branches` those that have begun and
    not ended, and `subtasks` the conversations begun on behalf of another. `places` (at least 1)
    is how many jobs are done at a time: others wait, and nothing fails because of it. A subagent
    has `subagent_seconds` and, at most 10, `subagent_calls` of a model; of the `subplan_` limits
    `PlanLimits` speaks. `memory` bounds the bytes that `held`, if given, says the run holds: a
    safety valve, which depends on what else the process does. A program from a model has
    `plan_steps` and `plan_frames`: any limit reached there ends that program and not the run.
    """

    steps: int = 100_000_000
    frames: int = 2_000_000
    allocation: int = 2_000_000_000
    branches: int = 100_000
    subtasks: int = 100
    places: int = 3
    subagent_seconds: float = 60
    subagent_calls: int = 10
    subplan_subtasks: int = 10
    subplan_depth: int = 3
    subplan_nodes: int = 100
    subplan_decompositions: int = 3
    subplan_seconds: float = 300
    subplan_factor: int = 2
    memory: int = 2_000_000_000
    plan_steps: int = 10_000_000
    plan_frames: int = 100_000
    held: Callable[[], int] | None = None


class Account:
    """What a branch is charged until it waits; ends the run where it is too much."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.allocation
        self._unseen = 0
        self.room = 0
        """How many steps the turns so far have left."""
        self.worked = 0
        """How many steps were taken besides the turns."""

    def charge(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise Broken(_allocation(self._limits))
        self._see(size)

    def work(self, count: int) -> None:
        self.worked += count
        if self.worked > self.room:
            raise Broken(_steps(self._limits.steps))
        self._see(count)

    def _see(self, size: int) -> None:
        self._unseen += size
        if self._unseen > _UNSEEN:
            self.look()

    def look(self) -> None:
        """Raises Broken if the process holds too much."""
        self._unseen = 0
        broken = look(self._limits)
        if broken is not None:
            raise Broken(broken)


def run(
    step: Step, limits: Limits, used: int, plan: tuple[str, int] | None = None
) -> tuple[Exit, int]:
    """Runs until the loop is left. Gives the exit and the number of steps used so far.

    `plan` names the scope of a program from a model that this is a part of, and says how many
    steps are left for it.
    """
    account = Account(limits)
    outer = ACCOUNT.set(account)
    most = limits.steps if plan is None else min(limits.steps, used + plan[1])
    length = _SHORT
    turn: Callable[..., Any] = _turn
    try:
        while True:
            account.room = most - used
            length = min(length, account.room - account.worked)
            if length <= 0:
                return Broken(_steps(limits.steps), step), used + account.worked
            ticks = repeat(None, length)
            try:
                step = turn(*step, ticks)
                account.look()
            except Exit as left:
                if isinstance(left, Broken) and left.step is None:
                    left.step = step
                # Its traceback would keep every Python frame of the step alive: a fifth of the
                # time of a request.
                used += length - ticks.__length_hint__()
                return left.with_traceback(None), used + account.worked
            except Interruption:
                return Interrupted(step), used + account.worked
            used += length
            if STOPPED.get()():  # while we looked
                return Interrupted(step), used + account.worked
            room = limits.frames - _depth(step[2], step[3])
            if room < 0:
                return Broken(_frames(limits.frames), step), used + account.worked
            if plan is not None:
                inside = limits.plan_frames - _depth_above(plan[0], step[2], step[3])
                if inside < 0:
                    return Broken(_plan_frames(limits.plan_frames), step), used + account.worked
                room = min(room, inside)
            turn = _roomy_turn
            length = max(_LONG // 10, min(_LONG, room))
    finally:
        ACCOUNT.reset(outer)


def _turn(fn: Any, a: Any, k: Frame, s: Segment, ticks: Any) -> Step:
    while True:
        try:
            for _ in ticks:
                fn, a, k, s = fn(a, k, s)
            return fn, a, k, s
        except Fault as fault:
            fn, a, k, s = _failed, (fault, fn), k, s
        except Interruption:
            raise Interrupted((fn, a, k, s)) from None
        except Broken as broken:
            broken.step = fn, a, k, s
            raise
        except MemoryError:
            fn, a, k, s = _out_of_memory, (fn, a), k, s


def _failed(failure: tuple[Fault, Any], k: Frame, s: Segment) -> Step:
    return fail(blamed(error_of(failure[0]), k, s, failure[1]), k, s, resumable=False)


def _out_of_memory(_: Any, k: Frame, s: Segment) -> Step:
    raise Broken(_NO_MEMORY)


_roomy_turn = FunctionType(_turn.__code__.replace(co_stacksize=600_000), globals(), "_roomy_turn")

STEPPING = frozenset([_turn.__code__, _roomy_turn.__code__])
"""The code in whose frames steps are taken, and nothing else is done."""


def _depth(k: Frame | None, s: Segment) -> int:
    """How many frames and segments there are."""
    count = 0
    while True:
        while k is not None:
            k = k[1]
            count += 1
        if s is None:
            return count
        k, s = s[1], s[2]


def _depth_above(scope: str, k: Frame | None, s: Segment) -> int:
    """How many frames and segments there are above the form of a scope; 0 where it is not here."""
    count = 0
    while s is not None:
        while k is not None:
            k = k[1]
            count += 1
        if s[4] == scope and s[0] is SCOPE:
            return count
        k, s = s[1], s[2]
    return 0


def _steps(most: int) -> Record:
    return limit(
        "limit-steps",
        f"the program took more than {most:,} steps",
        f"look for a loop that does not end, or {_raised('steps', most)}",
    )


def plan_too_long(most: int | None) -> Record:
    """What ends a plan that takes more steps than it may."""
    return limit(
        "limit-steps",
        f"the plan took more than {most:,} steps",
        "look for a loop that does not end",
    )


def _frames(most: int) -> Record:
    return limit(
        "limit-frames",
        f"calls are nested more than {most:,} deep",
        "make the recursive call the last thing a function does, or " + _raised("frames", most),
    )


def _plan_frames(most: int) -> Record:
    return limit(
        "limit-frames",
        f"calls of the plan are nested more than {most:,} deep",
        "make the recursive call the last thing a function does",
    )


def _raised(name: str, most: int) -> str:
    """What to type to have twice as much."""
    return f"raise the limit: --limit {name}={2 * most}"


def _allocation(limits: Limits) -> Record:
    return limit(
        "limit-allocation",
        f"the program made lists, tables and strings of more than {limits.allocation:,} parts",
        "look for what is copied again and again, or " + _raised("allocation", limits.allocation),
    )


def look(limits: Limits) -> Record | None:
    """What ends the run if it holds too much."""
    if limits.held is not None and limits.held() > limits.memory:
        return _memory(limits)
    return None


def too_many_branches(limits: Limits) -> Record:
    """What ends a run that has more branches than it may."""
    return limit(
        "limit-branches",
        f"more than {limits.branches:,} branches run at the same time, or 2,000 inside each other",
        "give `par-map` a `limit:`, or look for a `par` that forks without end",
    )


def too_many_scopes(most: int) -> Record:
    """What ends a run that opens scopes in scopes without end."""
    return limit(
        "limit-frames",
        f"deadlines, budgets and jobs are nested more than {most:,} deep",
        "open one around the whole loop, not in each of its turns",
    )


def _memory(limits: Limits) -> Record:
    return limit(
        "limit-memory",
        f"the program holds more than {limits.memory:,} bytes",
        "keep less at a time, or " + _raised("memory", limits.memory),
    )


_NO_MEMORY = limit("limit-memory", "there is no more memory", "keep less at a time")
"""Made before there is none."""
