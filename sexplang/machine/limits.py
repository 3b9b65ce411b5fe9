"""Limits of the interpreter, and the errors of a run or of a program from a model at a limit."""

from collections.abc import Callable

from sexplang.machine.errors import limit
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
