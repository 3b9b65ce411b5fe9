"""What ends a run, or a program from a model in it, that reaches a limit of the interpreter."""

from sexplang.machine.errors import limit
from sexplang.terms.value import Record


def too_many_steps(most: int) -> Record:
    """What ends a run that takes more steps than it may."""
    return limit(
        "limit-steps",
        f"the program took more than {most:,} steps",
        f"look for a loop that does not end, or {_raised('steps', most)}",
    )


def plan_too_long(most: int, of_all: int) -> Record:
    """What ends a plan that takes more steps than it may: as the program says, or as `of_all`."""
    more = f"raise `steps:` of its `budget:` to {2 * most}"
    return limit(
        "limit-steps",
        f"the plan took more than {most:,} steps",
        "look for a loop that does not end, or "
        + (_raised("plan_steps", most) if most >= of_all else more),
    )


def too_many_frames(most: int) -> Record:
    """What ends a run whose calls are nested too deep."""
    return limit(
        "limit-frames",
        f"calls are nested more than {most:,} deep",
        "make the recursive call the last thing a function does, or " + _raised("frames", most),
    )


def plan_too_deep(most: int) -> Record:
    """What ends a plan whose calls are nested too deep."""
    return limit(
        "limit-frames",
        f"calls of the plan are nested more than {most:,} deep",
        "make the recursive call the last thing a function does, or "
        + _raised("plan_frames", most),
    )


def _raised(name: str, most: int) -> str:
    """What to type to have twice as much."""
    return f"raise the limit: --limit {name}={2 * most}"


def too_much_made(most: int) -> Record:
    """What ends a run that makes more elements and characters than it may."""
    return limit(
        "limit-allocation",
        f"the program made lists, tables and strings of more than {most:,} parts",
        "look for a whole list, table or text that is made again at each turn, or "
        + _raised("allocation", most),
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
        + _raised("branches", most),
    )


def too_many_model_calls(most: int) -> Record:
    """What ends a run that asks the host for more model calls than it may."""
    return limit(
        "limit-model-calls",
        f"the run asked for more than {most:,} model calls",
        "look for a retry or a loop that does not end, or " + _raised("model_calls", most),
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
        "keep less at a time, or " + _raised("memory", most),
    )


NO_MEMORY = limit(
    "limit-memory",
    "there is no more memory",
    "keep less at a time, or run it where there is more; --limit memory=BYTES ends it sooner",
)
"""Made before there is none."""
