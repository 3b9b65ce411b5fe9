"""The limits of a run, from `--limit steps=N,…` and `[limits]` of a `sexplang.toml`.

The command line and the person's own configuration may raise or lower a limit. A project's
configuration may only lower it, because it may come with the program.
"""

import os
import re
from typing import TYPE_CHECKING

from sexplang.hosts.settings.configuration import NAME, Files, sections, wrong
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.quota import MOST_DEPTH

if TYPE_CHECKING:
    from sexplang.machine import Limits

NAMES = (
    *("steps", "frames", "allocation", "branches", "memory"),
    *("model_calls", "subtasks", "max_task_depth", "places"),
    *("subagent_seconds", "subagent_calls", "plan_steps", "plan_frames"),
    *("subplan_subtasks", "subplan_depth", "subplan_nodes", "subplan_decompositions"),
    *("subplan_seconds", "subplan_factor"),
)
"""The names of limits, as `Limits` has them."""

DEPTH = "max_task_depth"


def limits_of(settings: Settings, folder: str | None) -> "Limits":
    """Return the limits of a run. Raises Diagnostics.

    The memory that the process holds already does not count.
    """
    from sexplang.machine import Limits
    from sexplang.package.process import growth

    said = {**read_configured(folder, Limits()), **parse_limits(settings.limit)}
    return Limits(**said, held=growth())


def parse_limits(text: str | None) -> dict[str, int]:
    """Return the limits that `--limit` names. Raises Diagnostics."""
    found = {}
    for part in text.split(",") if text is not None else ():
        name, _, amount = part.partition("=")
        wrong = ""
        if name not in NAMES:
            wrong = f"there is no limit `{name}`"
            hint = (
                "for example --limit steps=1000000000,memory=4000000000; they are " + _list_limits()
            )
        elif not re.fullmatch("[0-9]{1,18}", amount, re.ASCII) or int(amount) < 1:
            wrong = f"the limit `{name}` is a whole number from 1 on, not `{amount}`"
            hint = f"for example --limit {name}=100"
        elif name == DEPTH and int(amount) > MOST_DEPTH:
            wrong = f"the limit `{name}` is at most {MOST_DEPTH}, not `{amount}`"
            hint = f"for example --limit {name}={MOST_DEPTH}"
        elif name in found:
            wrong, hint = f"the limit `{name}` is given twice", f"give {name}= once"
        if wrong:
            raise Diagnostics([Diagnostic("bad-input", wrong, hint=hint)])
        found[name] = int(amount)
    return found


def read_configured(folder: str | None, usual: "Limits", files: Files = None) -> dict[str, int]:
    """Return the limits that configurations name. Raises Diagnostics."""
    said: dict[str, int] = {}
    for table, is_own in sections("limits", folder or os.getcwd(), files):
        for name, most in table.items():
            if name not in NAMES or type(most) is not int or most < 1:
                raise wrong(NAME, f"`limits` holds numbers from 1 on: {_list_limits()}")
            if name == DEPTH and most > MOST_DEPTH:
                raise wrong(NAME, f"`{name}` of `limits` is at most {MOST_DEPTH}")
            before = said.get(name, getattr(usual, name))
            if not is_own and most > max(before, getattr(usual, name)):
                words = f"`{name}` of `limits` may only be lower than {before:,}"
                raise wrong(NAME, f"{words}; the command line raises it: --limit {name}={most}")
            said[name] = most if is_own else min(before, most)
    return said


def _list_limits() -> str:
    return ", ".join(NAMES)
