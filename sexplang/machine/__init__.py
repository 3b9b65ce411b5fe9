"""Core to an Outcome: what to do next, and nothing else."""

from sexplang.machine.ends import Done, Failed
from sexplang.machine.higher import HIGHER
from sexplang.machine.link import Standing
from sexplang.machine.loop import STEPPING, STOPPED, Interruption, Limits
from sexplang.machine.outcome import SETTLING, Outcome, Suspended, proceed, start

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
    "Standing",
    "Suspended",
    "proceed",
    "start",
]
