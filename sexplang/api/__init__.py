"""The Python API: program text or a file to a value, in one call or step by step."""

from sexplang.api.building import build, check
from sexplang.api.running import arun, freeze, run, start, thaw
from sexplang.api.values import TaskResult, error, result
from sexplang.machine import Done, Failed, Limits, Outcome, Suspended
from sexplang.runtime import Permissions
from sexplang.runtime.events import Event, Finished, Progressed, Retrying, Started, Withdrawn
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.effect import Request
from sexplang.terms.program import Program

__all__ = [
    "Diagnostic",
    "Diagnostics",
    "Done",
    "Event",
    "Failed",
    "Finished",
    "Limits",
    "Outcome",
    "Permissions",
    "Program",
    "Progressed",
    "Request",
    "Retrying",
    "Started",
    "Suspended",
    "TaskResult",
    "Withdrawn",
    "arun",
    "build",
    "check",
    "error",
    "freeze",
    "result",
    "run",
    "start",
    "thaw",
]
