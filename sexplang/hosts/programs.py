"""Sources and what they may import to programs, and programs to their first outcome."""

from typing import Any

from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.value import Value


def built(source: Source, folder: str | None, allowed: tuple[str, ...] = ()) -> Program:
    """The program. Raises Diagnostics.

    It imports what lies below its own folder or is allowed; text that is no file of its own
    (`folder` is None) imports only what is allowed.
    """
    from sexplang.pipeline import build

    def find(path: str, importer: str) -> tuple[Source, ...]:
        # Most short programs import nothing and start without the runtime.
        from sexplang.runtime import Permissions
        from sexplang.runtime.sources import finding

        return finding(Permissions(read=allowed, folder=folder))(path, importer)

    return build(source, find)


def outcome_of(program: Program, inputs: dict[str, Value]) -> Any:
    """Done, Failed or Suspended: the program has run until it ended or waits."""
    from sexplang.machine import Limits, start
    from sexplang.pipeline import tasks
    from sexplang.process import held

    return start(program, inputs, tasks() if program.tasks else None, Limits(held=held))
