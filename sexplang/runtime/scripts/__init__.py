"""The performer of `run-script`: no shell, only permitted executables, no surviving processes.

Scripts run on Linux only: other systems lack the means to end all processes of a script.
"""

from typing import Any

from sexplang.runtime.driver.requests import Performer
from sexplang.runtime.permissions import Permissions
from sexplang.terms.effect import Request


def make_run_script(permissions: Permissions) -> Performer:
    """Return the performer of `run-script`."""

    def perform(request: Request) -> Any:
        from sexplang.runtime.scripts.script_request import MOST_BYTES, script_of
        from sexplang.runtime.scripts.script_runner import run_script

        script = script_of(request, permissions)
        return run_script(script.command, script.given, MOST_BYTES)

    return perform


def list_named_files(given: Any, permissions: Permissions) -> Any:
    """Return the files that a command of `list-files` names."""
    from sexplang.runtime.scripts.file_commands import run_file_command

    return run_file_command(given, permissions)
