"""Core to an Outcome: what to do next, and nothing else."""

from sexplang.machine.higher import HIGHER
from sexplang.machine.loop import Limits
from sexplang.machine.outcome import Done, Failed, Outcome, Suspended, start

__all__ = ["HIGHER", "Done", "Failed", "Limits", "Outcome", "Suspended", "start"]
