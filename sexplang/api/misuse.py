"""Arguments that a function of the API does not take → a TypeError that says what it takes."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import fields_dict

from sexplang.machine import Limits
from sexplang.runtime import Permissions
from sexplang.terms.program import Program

if TYPE_CHECKING:
    from sexplang.api.beginning import Settings


def check(given: "Settings") -> None:
    """Raises TypeError for what a call of `run` or one of its kin was given of another type."""
    model: Any = given.model
    if not (model is None or callable(model) or isinstance(model, (str, Iterable))):
        raise wrong("model", "a name, a function or a list of replies", model)
    for name in ("inputs", "effects", "primitives", "mcp"):
        by_name(name, getattr(given, name))
    tools: Any = given.tools
    if isinstance(tools, Mapping):
        by_name("tools", tools)
    elif isinstance(tools, str) or not isinstance(tools, Iterable):
        raise wrong("tools", "functions, or a table of them by name", tools)
    bounds(given.limits, given.budget)
    permissions: Any = given.permissions
    if not (permissions is None or isinstance(permissions, Permissions)):
        raise wrong("permissions", "Permissions(read=[…], …)", permissions)


def bounds(limits: Any, budget: Any) -> None:
    """Raises TypeError for limits or a budget of another type."""
    if not (limits is None or isinstance(limits, Limits)):
        raise wrong("limits", "Limits(steps=…, …)", limits)
    for name in fields_dict(Limits) if limits is not None else ():
        most = getattr(limits, name)
        if name != "held" and (type(most) is not int or most < 1):
            raise TypeError(f"limits.{name} is an integer from 1 on, not {most!r}"[:200])
    if not (budget is None or isinstance(budget, Mapping)):
        raise wrong("budget", "a table such as {'calls': 20}", budget)


def by_name(what: str, table: Any) -> None:
    """Raises TypeError for what is no table by names."""
    if table is None:
        return
    if not isinstance(table, Mapping):
        raise wrong(what, "a table by name", table)
    for name in table:
        if not isinstance(name, str):
            raise TypeError(f"the names in {what} are str, not {type(name).__name__}")


def width(parallel: Any) -> None:
    """Raises TypeError for what is no number of calls."""
    if type(parallel) is not int or parallel < 1:
        raise TypeError(f"parallel is an integer from 1 on, not {parallel!r}"[:200])


def built(program: Any) -> None:
    """Raises TypeError for what is no Program."""
    if not isinstance(program, Program):
        raise wrong("program", "what build gives", program)


def wrong(what: str, takes: str, given: object) -> TypeError:
    """`what` is something else than what was given."""
    return TypeError(f"{what} is {takes}, not {type(given).__name__}")
