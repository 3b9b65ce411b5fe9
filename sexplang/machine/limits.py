"""Limits of the interpreter: the account that counts steps and elements, and the errors of a run or
of a program from a model at a limit."""

from collections.abc import Callable
from typing import Any

from sexplang.machine.errors import limit
from sexplang.machine.exits import LimitReached
from sexplang.terms.classes.node import frozen
from sexplang.terms.values.value import Record


@frozen
class Limits:
    """The limits of a run. A program cannot catch reaching one.

    `steps` counts calls of functions, turns of loops and elements, over all branches. `frames`
    bounds the stack of each branch; it is checked every now and then, so a run may exceed it a
    little. `allocation` bounds the elements and characters of all larger lists, tables and strings
    made between two waits, even those that are gone again. `branches` bounds the branches that have
    begun and not ended. `model_calls` bounds the model calls asked of the host, failed ones
    included. `subtasks` bounds the requests for subtasks, however they are answered.
    `max_task_depth`, at most 10, bounds the depth of a task, the outermost counted. `places` (at
    least 1) is the number of permits: further jobs wait, and none fails. A subagent has
    `subagent_seconds` and at most 10 `subagent_calls` of a model. `PlanLimits` describes the
    `subplan_` limits.

    `memory` bounds the bytes that `held`, if given, returns for the run: a safety valve, which
    depends on the rest of the process. A program from a model has `plan_steps` and `plan_frames`; a
    limit reached in it ends that program and not the run.
    """

    steps: int = 100_000_000
    frames: int = 2_000_000
    allocation: int = 2_000_000_000
    branches: int = 100_000
    model_calls: int = 10_000
    subtasks: int = 100
    max_task_depth: int = 5
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
    """The charges of a branch until it waits. It ends the run at a limit."""

    ticks: Any
    """The steps that are left of a turn."""
    beyond: int
    """The steps that may follow this turn."""
    over = 0
    """The steps taken in this turn beyond its last; below 0, the steps that were left when it
    ended."""
    is_over = False
    """Whether a turn ended because too much was made."""
    unseen = 0
    """The elements made since the last look at memory."""
    _walk: Any = iter(())
    """The elements that are visited at once."""
    _walked = 0
    """The number of these elements."""
    _effort = 0
    """The elements made and the work done since the visit began."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.left = limits.allocation
        """The elements that may still be made."""

    def charge(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise LimitReached(too_much_made(self._limits.allocation))
        self._see(size)

    def work(self, count: int) -> None:
        left = self.ticks.__length_hint__() - count
        if left >= 0:
            self.ticks.__setstate__(LONG - left)
        else:
            self._end(left)
            if self.over > self.beyond:
                raise LimitReached(too_many_steps(self._limits.steps))
        self._see(count * _HARD)

    def walk(self, items: tuple[Any, ...], start: int) -> Any:
        """Return the next elements from `start` on, for one turn of the loop. They end after an
        element that took much work, so they are the same wherever a slice ends."""
        chunk = items[start : start + _AT_ONCE]
        self._walk, self._walked, self._effort = iter(chunk), len(chunk), 0
        return self._walk

    def count_walked(self, known: int = 1) -> int:
        """Return how many of the elements have been begun, and count them as steps but for `known`.
        By default the first is known: it is the step that was taken to go on."""
        done: int = self._walked - self._walk.__length_hint__()
        if done > known:
            self.work(done - known)
        return done

    def _see(self, size: int) -> None:
        self._effort += size
        if self._effort > _UNSEEN:
            self._walked -= self._walk.__length_hint__()
            self._walk.__setstate__(_AT_ONCE)
        self.unseen += size
        if self.unseen > _UNSEEN:
            self.unseen = 0
            broken = look(self._limits)
            if broken is not None:
                raise LimitReached(broken)
            self.is_over = True
            self.stop()

    def stop(self) -> None:
        """End the turn with the current step."""
        self._end(self.ticks.__length_hint__())

    def _end(self, left: int) -> None:
        """End the turn with the current step."""
        self.ticks.__setstate__(LONG)
        self.over -= left


def look(limits: Limits) -> Record | None:
    """Return the error of a run that holds too much memory, if it does."""
    if limits.held is not None and limits.held() > limits.memory:
        return too_much_held(limits.memory)
    return None


def too_many_steps(most: int) -> Record:
    """Return the error of a run with too many steps."""
    return limit(
        "limit-steps",
        f"the program took more than {most:,} steps",
        f"look for a loop that does not end, or {_raise_hint('steps', most)}",
    )


def plan_too_long(most: int, of_all: int) -> Record:
    """Return the error of a plan with too many steps: by its own budget, or by `of_all`."""
    more = f"raise `steps:` of its `budget:` to {2 * most}"
    return limit(
        "limit-steps",
        f"the plan took more than {most:,} steps",
        "look for a loop that does not end, or "
        + (_raise_hint("plan_steps", most) if most >= of_all else more),
    )


def too_many_frames(most: int) -> Record:
    """Return the error of a run with too many nested calls."""
    return limit(
        "limit-frames",
        f"calls are nested more than {most:,} deep",
        "make the recursive call the last thing a function does, or " + _raise_hint("frames", most),
    )


def plan_too_deep(most: int) -> Record:
    """Return the error of a plan with too many nested calls."""
    return limit(
        "limit-frames",
        f"calls of the plan are nested more than {most:,} deep",
        "make the recursive call the last thing a function does, or "
        + _raise_hint("plan_frames", most),
    )


def _raise_hint(name: str, most: int) -> str:
    """Return the hint that doubles a limit."""
    return f"raise the limit: --limit {name}={2 * most}"


def too_much_made(most: int) -> Record:
    """Return the error of a run that makes too many elements and characters."""
    return limit(
        "limit-allocation",
        f"the program made lists, tables and strings of more than {most:,} parts",
        "look for a whole list, table or text that is made again at each turn, or "
        + _raise_hint("allocation", most),
    )


def too_many_branches(most: int, depth: int | None) -> Record:
    """Return the error of a run with too many branches, or (`depth`) too many inside each other."""
    if depth is not None:
        words = f"more than {depth:,} branches are inside each other"
        return limit("limit-branches", words, "look for a `par` that forks without end")
    return limit(
        "limit-branches",
        f"more than {most:,} branches run at the same time",
        "give `par-map` a `limit:`, look for a `par` that forks without end, or "
        + _raise_hint("branches", most),
    )


def too_many_model_calls(most: int) -> Record:
    """Return the error of a run that asks for too many model calls."""
    return limit(
        "limit-model-calls",
        f"the run asked for more than {most:,} model calls",
        "look for a retry or a loop that does not end, or " + _raise_hint("model_calls", most),
    )


def too_many_scopes(most: int) -> Record:
    """Return the error of a run that nests scopes without end."""
    return limit(
        "limit-frames",
        f"deadlines, budgets and jobs are nested more than {most:,} deep",
        "open one around the whole loop, not in each of its turns",
    )


def too_much_held(most: int) -> Record:
    """Return the error of a run that holds too many bytes."""
    return limit(
        "limit-memory",
        f"the program holds more than {most:,} bytes",
        "keep less at a time, or " + _raise_hint("memory", most),
    )


NO_MEMORY = limit(
    "limit-memory",
    "there is no more memory",
    "keep less at a time, or run it where there is more; --limit memory=BYTES ends it sooner",
)
"""The error of a run without memory. It is made in advance."""

LONG = 20_000
"""The greatest number of steps of a turn."""

_AT_ONCE = 4_096
"""The greatest number of elements in one step of Python."""

_UNSEEN = 500_000
"""The elements made between two looks at the memory that the process holds and at the clock."""

_HARD = 16
"""The elements that are made in about the time of a step."""
