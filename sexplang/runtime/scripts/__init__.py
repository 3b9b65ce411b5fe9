"""`run-script` → what a script says: no shell, only what is permitted, and nothing is left behind.

Elsewhere than on Linux nothing is run: what ends a script with all that it started is missing.
"""

from typing import Any

from sexplang.runtime.answers import Performer
from sexplang.runtime.permissions import Permissions
from sexplang.terms.effect import Request


def running(permissions: Permissions) -> Performer:
    """The performer of `run-script`."""

    def perform(request: Request) -> Any:
        from sexplang.runtime.scripts.asking import MOST_BYTES, script_of
        from sexplang.runtime.scripts.performing import ran

        script = script_of(request, permissions)
        return ran(script.command, script.given, MOST_BYTES)

    return perform


def naming(given: Any, permissions: Permissions) -> Any:
    """The files that a command of `list-files` names."""
    from sexplang.runtime.scripts.listing import named

    return named(given, permissions)
