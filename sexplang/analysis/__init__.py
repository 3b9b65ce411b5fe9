"""Static analysis of a program: diagnostics, effects and bounds on model calls."""

from sexplang.analysis.interpreter.interpreter import Costs
from sexplang.analysis.report import Report, Row, analyse, too_many

__all__ = ["Costs", "Report", "Row", "analyse", "too_many"]
