"""`run-script` → what a script says: no shell, only what is permitted, and nothing is left behind.

Elsewhere than on Linux nothing is run: what ends a script with all that it started is missing.
"""

from typing import Any

from sexplang.runtime.answers import Performer
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import refused
from sexplang.terms.effect import Request


def running(permissions: Permissions) -> Performer:
    """The performer of `run-script`."""

    def perform(request: Request) -> Any:
        from sexplang.runtime.scripts.asking import script_of
        from sexplang.runtime.scripts.process import can_supervise

        script = script_of(request, permissions)
        if not can_supervise():
            raise refused(
                "not-available",
                "scripts are run on Linux alone: elsewhere their processes could not all be ended",
                hint="answer `run-script` with a handler, or with a function of the host",
            )
        return _run(script, permissions)

    return perform


async def _run(script: Any, permissions: Permissions) -> dict[str, Any]:
    from sexplang.runtime.scripts.listing import listed
    from sexplang.runtime.scripts.performing import ran

    reply = await ran(script.command, script.given, script.most)
    if script.lists:
        words = script.command.words
        reply["stdout"] = listed(words, reply["stdout"], reply["truncated"], permissions)
    return reply
