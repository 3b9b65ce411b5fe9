"""Core to an Outcome: what to do next, and nothing else."""

from sexplang.machine.ends import Done, Failed, told_of
from sexplang.machine.higher import HIGHER
from sexplang.machine.link import Standing
from sexplang.machine.loop import STEPPING, STOPPED, Interruption, Limits
from sexplang.machine.outcome import (
    SETTLING,
    Outcome,
    Suspended,
    advance,
    halt,
    hold_attempt,
    proceed,
    start,
    state_of,
)
from sexplang.machine.scheduler.slices import Pause, Slice

__all__ = [
    "HIGHER",
    "SETTLING",
    "STEPPING",
    "STOPPED",
    "Done",
    "Failed",
    "Interruption",
    "Limits",
    "Outcome",
    "Pause",
    "Slice",
    "Standing",
    "Suspended",
    "advance",
    "halt",
    "hold_attempt",
    "proceed",
    "start",
    "state_of",
    "told_of",
]
