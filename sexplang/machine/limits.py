"""Limits of the interpreter, and the errors of a run or of a program from a model at a limit."""

from collections.abc import Callable

from sexplang.machine.errors import limit
from sexplang.terms.classes.node import frozen
from sexplang.terms.values.value import Record


@frozen
class Limits:
    """What bounds a run from inside. A program cannot catch reaching them.

    `steps` counts calls of functions, turns of loops and elements, over all branches; `frames`
    bounds the stack of each branch and is looked at every now and then, so a run may pass it by a
    little.
    `allocation` bounds the elements and characters of all larger lists, tables and strings made
    between two waits, whether or not they are still there; `branches` those that have begun and
    not ended; `model_calls` the model calls that the host is asked for, failed ones too, and
    `subtasks` the requests for subtasks, whoever answers them. A task is no deeper than
    `max_task_depth`, at most 10, the outermost counted. `places` (at least 1) is how many
    jobs are done at a time: others wait, and nothing fails because of it. A subagent has
    `subagent_seconds` and, at most 10, `subagent_calls` of a model; of the `subplan_` limits
    `PlanLimits` speaks. `memory` bounds the bytes that `held`, if given, says the run holds: a
    safety valve, which depends on what else the process does. A program from a model has
    `plan_steps` and `plan_frames`: any limit reached there ends that program and not the run.
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
    """What ends a run that takes more steps than it may."""
    return limit(
        "limit-steps",
        f"the program took more than {most:,} steps",
        f"look for a loop that does not end, or {_raise_hint('steps', most)}",
    )


def plan_too_long(most: int, of_all: int) -> Record:
    """What ends a plan that takes more steps than it may: as the program says, or as `of_all`."""
    more = f"raise `steps:` of its `budget:` to {2 * most}"
    return limit(
        "limit-steps",
        f"the plan took more than {most:,} steps",
        "look for a loop that does not end, or "
        + (_raise_hint("plan_steps", most) if most >= of_all else more),
    )


def too_many_frames(most: int) -> Record:
    """What ends a run whose calls are nested too deep."""
    return limit(
        "limit-frames",
        f"calls are nested more than {most:,} deep",
        "make the recursive call the last thing a function does, or " + _raise_hint("frames", most),
    )


def plan_too_deep(most: int) -> Record:
    """What ends a plan whose calls are nested too deep."""
    return limit(
        "limit-frames",
        f"calls of the plan are nested more than {most:,} deep",
        "make the recursive call the last thing a function does, or "
        + _raise_hint("plan_frames", most),
    )


def _raise_hint(name: str, most: int) -> str:
    """What to type to have twice as much."""
    return f"raise the limit: --limit {name}={2 * most}"


def too_much_made(most: int) -> Record:
    """What ends a run that makes more elements and characters than it may."""
    return limit(
        "limit-allocation",
        f"the program made lists, tables and strings of more than {most:,} parts",
        "look for a whole list, table or text that is made again at each turn, or "
        + _raise_hint("allocation", most),
    )


def too_many_branches(most: int, depth: int | None) -> Record:
    """What ends a run that has more branches than it may, or (`depth`) more inside each other."""
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
    """What ends a run that asks the host for more model calls than it may."""
    return limit(
        "limit-model-calls",
        f"the run asked for more than {most:,} model calls",
        "look for a retry or a loop that does not end, or " + _raise_hint("model_calls", most),
    )


def too_many_scopes(most: int) -> Record:
    """What ends a run that opens scopes in scopes without end."""
    return limit(
        "limit-frames",
        f"deadlines, budgets and jobs are nested more than {most:,} deep",
        "open one around the whole loop, not in each of its turns",
    )


def too_much_held(most: int) -> Record:
    """What ends a run that holds more bytes than it may."""
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
"""Made before there is none."""
