"""The Python API: run program text or a file, in one call or step by step."""

from sexplang.api.kept_runs import answer, questions
from sexplang.api.memory_index import Memory
from sexplang.api.program_source import build, check
from sexplang.api.python_files import operation, primitive, tool
from sexplang.api.python_values import TaskResult, error, replay, result
from sexplang.api.runner import aresume, arun, freeze, resume, run, start, thaw
from sexplang.api.task_dispatch import adispatch, dispatch
from sexplang.machine import Done, Failed, Limits, Outcome, Suspended
from sexplang.runtime import Permissions
from sexplang.runtime.driver.current_request import CurrentRequest, current_request
from sexplang.runtime.driver.events import (
    Event,
    Finished,
    Progressed,
    Queued,
    Retrying,
    Said,
    Started,
    Withdrawn,
)
from sexplang.runtime.driver.listeners import EventQueue
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.effect import Request
from sexplang.terms.program import Program

__all__ = [
    "CurrentRequest",
    "Diagnostic",
    "Diagnostics",
    "Done",
    "Event",
    "EventQueue",
    "Failed",
    "Finished",
    "Limits",
    "Memory",
    "Outcome",
    "Permissions",
    "Program",
    "Progressed",
    "Queued",
    "Request",
    "Retrying",
    "Said",
    "Started",
    "Suspended",
    "TaskResult",
    "Withdrawn",
    "adispatch",
    "answer",
    "aresume",
    "arun",
    "build",
    "check",
    "current_request",
    "dispatch",
    "error",
    "freeze",
    "operation",
    "primitive",
    "questions",
    "replay",
    "result",
    "resume",
    "run",
    "start",
    "thaw",
    "tool",
]
