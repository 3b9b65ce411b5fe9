"""Checks of the API's arguments: a TypeError says what the function takes."""

import os
from collections.abc import Iterable, Mapping, Set
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from sexplang.machine import Limits
from sexplang.runtime import Permissions
from sexplang.runtime.journal.doubts import DECISIONS
from sexplang.terms.classes.node import attributes
from sexplang.terms.program import Program
from sexplang.terms.quota import MOST_DEPTH

if TYPE_CHECKING:
    from sexplang.api.run_start import Settings


def check(given: "Settings") -> None:
    """Check the arguments of `run` and of similar functions. Raises TypeError."""
    model: Any = given.model
    is_list = isinstance(model, Iterable) and not isinstance(model, (bytes, Set))
    if not (model is None or callable(model) or is_list):
        raise wrong("model", "a name, a table of names, a function or a list of replies", model)
    if model == "":
        raise unfit("model", "a name, such as 'local' or 'anthropic:ID'", model)
    if isinstance(model, Mapping):
        by_name("model", model)
        for name, each in model.items():
            several = each if isinstance(each, (list, tuple)) and each else [each]
            if not name or not all(isinstance(one, str) and one for one in several):
                raise unfit(f"model[{name!r}]", "a name, such as 'local' or 'anthropic:ID'", each)
    for name in ("inputs", "effects", "primitives", "mcp"):
        by_name(name, getattr(given, name))
    tools(given.tools)
    bounds(given.limits, given.budget)
    permissions(given.permissions)
    for name in ("memory", "record", "store"):
        if getattr(given, name) is not None:
            place(name, getattr(given, name))
    if not (given.trace is None or hasattr(given.trace, "get_tracer")):
        place("trace", given.trace, "a path, an address or a TracerProvider")
    for name in ("run_id", "traceparent"):
        if getattr(given, name) is not None:
            text(name, getattr(given, name))
    if given.store is not None and given.run_id is not None:
        from sexplang.runtime.journal.run_store import RUN_ID, RUN_ID_WORDS

        if not RUN_ID.fullmatch(given.run_id):
            raise unfit("run_id", RUN_ID_WORDS, given.run_id)


def tools(given: Any) -> None:
    """Check a list of functions or a table of them. Raises TypeError."""
    if isinstance(given, Mapping):
        by_name("tools", given)
    elif isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise wrong("tools", "functions, or a table of them by name", given)


def permissions(given: Any) -> None:
    """Check Permissions. Raises TypeError."""
    if not (given is None or isinstance(given, Permissions)):
        raise wrong("permissions", "Permissions(read=[…], …)", given)


def string(what: str, given: Any) -> None:
    """Check a text. Raises TypeError."""
    if not isinstance(given, str):
        raise wrong(what, "a text", given)


def text(what: str, given: Any) -> None:
    """Check a text that is not empty. Raises TypeError."""
    string(what, given)
    if not given:
        raise unfit(what, "a text that is not empty", given)


def place(what: str, given: Any, takes: str = "a path") -> None:
    """Check a path. Raises TypeError."""
    path = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(path, str):
        raise wrong(what, takes, given)
    if not path or "\0" in path or not _is_encoded(path):
        raise unfit(what, takes, path)


def patterns(what: str, given: Any) -> None:
    """Check a list of patterns. Raises TypeError."""
    if isinstance(given, (str, bytes)) or not isinstance(given, (list, tuple, Set)):
        raise wrong(what, "a list of patterns", given)
    for one in given:
        if not isinstance(one, str):
            raise wrong(f"a pattern of {what}", "a text", one)


def _is_encoded(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def bounds(limits: Any, budget: Any) -> None:
    """Check the types of limits and budget. Raises TypeError."""
    if not (limits is None or isinstance(limits, Limits)):
        raise wrong("limits", "Limits(steps=…, …)", limits)
    for name, most in attributes(limits).items() if limits is not None else ():
        if name == "held":
            if not (most is None or callable(most)):
                raise wrong("limits.held", "a function that gives a number of bytes", most)
        elif type(most) is not int or most < 1:
            raise unfit(f"limits.{name}", "an integer from 1 on", most)
        elif name == "max_task_depth" and most > MOST_DEPTH:
            raise unfit(f"limits.{name}", f"an integer from 1 to {MOST_DEPTH}", most)
    if not (budget is None or isinstance(budget, Mapping)):
        raise wrong("budget", "a table such as {'calls': 20}", budget)


def by_name(what: str, table: Any) -> None:
    """Check a table by names. Raises TypeError."""
    if table is None:
        return
    if not isinstance(table, Mapping):
        raise wrong(what, "a table by name", table)
    for name in table:
        if not isinstance(name, str):
            raise TypeError(f"the names in {what} are str, not {type(name).__name__}")


def decision(what: str, given: Any) -> None:
    """Check a decision on requests in doubt. Raises TypeError."""
    if given not in DECISIONS:
        raise unfit(what, "'safe', 'ask' or 'never'", given)


def decisions(what: str, given: Any) -> None:
    """Check a table of decisions. Raises TypeError."""
    by_name(what, given)
    for name, each in (given or {}).items():
        decision(f"{what}[{name!r}]", each)


def changes(given: Any) -> None:
    """Check what agrees to a changed program. Raises TypeError."""
    if not (given is None or isinstance(given, bool) or callable(given)):
        raise wrong("changes", "True, or a function of an Announcement", given)


def table(what: str, given: Any) -> None:
    """Check a table by names, not None. Raises TypeError."""
    if given is None:
        raise wrong(what, "a table by name", given)
    by_name(what, given)


def drive_options(
    parallel: Any,
    single_flight: Any,
    on_event: Any,
    event_content: Any = False,
    pause: Any = (),
) -> None:
    """Check the arguments by which a run is driven. Raises TypeError."""
    if type(parallel) is not int or parallel < 1:
        raise unfit("parallel", "an integer from 1 on", parallel)
    if type(single_flight) is not bool:
        raise wrong("single_flight", "True or False", single_flight)
    if type(event_content) is not bool:
        raise wrong("event_content", "True or False", event_content)
    if isinstance(pause, str) or not all(isinstance(each, str) for each in pause):
        raise wrong("pause", 'a list of operations, such as ["ask-user"]', pause)
    listeners = on_event if isinstance(on_event, (list, tuple)) else [on_event]
    if on_event is not None and not all(map(callable, listeners)):
        raise wrong("on_event", "a function, or a list of them, called with each event", on_event)
    if any(map(iscoroutinefunction, listeners)):
        raise TypeError("on_event is called and not awaited: give a function that is not async")


def key(given: Any) -> None:
    """Check the key of a seal. Raises TypeError."""
    if given is not None and not (isinstance(given, bytes) and given):
        raise wrong("key", "bytes, at least one", given)


def check_program(program: Any) -> None:
    """Check a Program. Raises TypeError."""
    if not isinstance(program, Program):
        raise wrong("program", "what build gives", program)


def unfit(what: str, takes: str, given: object) -> TypeError:
    """Return the error for an argument of the right type with a wrong value."""
    return TypeError(f"{what} is {takes}, not {given!r}"[:200])


def wrong(what: str, takes: str, given: object) -> TypeError:
    """Return the error for an argument of the wrong type."""
    return TypeError(f"{what} is {takes}, not {type(given).__name__}")
