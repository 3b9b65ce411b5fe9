"""Core to an Outcome: what to do next, and nothing else."""

from sexplang.machine.higher import HIGHER
from sexplang.machine.link import Standing
from sexplang.machine.loop import Limits
from sexplang.machine.outcome import Done, Failed, Outcome, Suspended, proceed, start

__all__ = [
    "HIGHER",
    "Done",
    "Failed",
    "Limits",
    "Outcome",
    "Standing",
    "Suspended",
    "proceed",
    "start",
]
