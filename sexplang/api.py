"""The Python API: program text or a file to a value, in one call or step by step."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from sexplang import machine, pipeline
from sexplang.machine import Done, Failed, Limits, Outcome, Suspended
from sexplang.runtime import Journal, Permissions, Settings, adrive, drive, performers
from sexplang.runtime.sources import finding
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.text import plain, value_of
from sexplang.terms.value import Record, Value

__all__ = [
    "Diagnostics",
    "Done",
    "Failed",
    "Limits",
    "Permissions",
    "Program",
    "Suspended",
    "TaskResult",
    "arun",
    "build",
    "run",
    "start",
]


@frozen
class TaskResult:
    """An atomic task's result; its text is its content.

    `status` is COMPLETE, CONTINUATION or FAILED; `usage` holds `input_tokens` and
    `output_tokens`.
    """

    status: str
    content: str
    parsed_content: Any = None
    notes: dict[str, Any] = field(factory=dict)
    usage: dict[str, Any] = field(factory=dict)

    def __str__(self) -> str:
        return self.content


def run(
    source: str | os.PathLike[str] | Program,
    *,
    inputs: Mapping[str, Any] | None = None,
    model: str | None = None,
    permissions: Permissions | None = None,
    journal: Journal | None = None,
    limits: Limits | None = None,
    parallel: int = 16,
) -> Any:
    """Runs a program and gives its value as plain Python data (a TaskResult as one).

    A str is program text, a path is a file; works inside a running event loop too. `model` is
    named as on the command line. Permissions are refused unless given; a file may read below its
    own folder. Raises Diagnostics if it is no program, Failed with the error that ended it.
    """
    program, allowed = _prepared(source, permissions)
    outcome = start(program, inputs=inputs, limits=limits)
    if isinstance(outcome, Suspended):
        journal = journal or Journal()
        table = performers(_settings(journal, allowed, model))
        outcome = drive(outcome, table, journal=journal, parallel=parallel)
    return _result(outcome)


async def arun(
    source: str | os.PathLike[str] | Program,
    *,
    inputs: Mapping[str, Any] | None = None,
    model: str | None = None,
    permissions: Permissions | None = None,
    journal: Journal | None = None,
    limits: Limits | None = None,
    parallel: int = 16,
) -> Any:
    """`run` for a caller that has an event loop."""
    program, allowed = _prepared(source, permissions)
    outcome = start(program, inputs=inputs, limits=limits)
    if isinstance(outcome, Suspended):
        journal = journal or Journal()
        table = performers(_settings(journal, allowed, model))
        outcome = await adrive(outcome, table, journal=journal, parallel=parallel)
    return _result(outcome)


def build(source: str | os.PathLike[str], *, permissions: Permissions | None = None) -> Program:
    """The program that a text (str) or a file (path) makes. Raises Diagnostics."""
    return _prepared(source, permissions)[0]


def start(
    program: Program,
    *,
    inputs: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
) -> Outcome:
    """Runs a program until it is Done, Failed or Suspended: no I/O at all."""
    given = {name: value_of(value) for name, value in (inputs or {}).items()}
    return machine.start(program, given, pipeline.tasks(), limits)


def _prepared(
    source: str | os.PathLike[str] | Program, permissions: Permissions | None
) -> tuple[Program, Permissions]:
    allowed = permissions or Permissions()
    if isinstance(source, Program):
        return source, allowed
    if isinstance(source, str):
        return pipeline.build(Source("<string>", source), finding(allowed)), allowed
    path = Path(source)
    if permissions is None:
        allowed = Permissions(folder=path.parent)
    return pipeline.build(Source(str(path), path.read_text("utf-8")), finding(allowed)), allowed


def _settings(journal: Journal, permissions: Permissions, model: str | None) -> Settings:
    return Settings(
        run_id=journal.run_id, permissions=permissions, model=model, write=_write, log=_log
    )


def _write(text: str) -> None:
    import sys

    sys.stdout.write(text)


def _log(level: str, text: str) -> None:
    import logging

    logging.getLogger("sexplang").log(_LEVELS.get(level, logging.INFO), "%s", text)


_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def _result(outcome: Outcome) -> Any:
    if isinstance(outcome, Done):
        return _python(outcome.value)
    assert isinstance(outcome, Failed)
    raise outcome


def _python(value: Value) -> Any:
    if isinstance(value, Record) and value.kind == "TaskResult":
        return TaskResult(**plain(value))
    return plain(value)
