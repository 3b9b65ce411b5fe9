"""Static analysis of a program: diagnostics, effects and bounds on model calls.

The names are imported at their first use: `run` needs only the quick slips.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sexplang.analysis.interpreter.interpreter import Costs
    from sexplang.analysis.name_types import NameType
    from sexplang.analysis.report import Report, Row, analyse, too_many

__all__ = ["Costs", "NameType", "Report", "Row", "analyse", "too_many"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "interpreter.interpreter" if name == "Costs" else "report"
    return getattr(import_module(f"sexplang.analysis.{module}"), name)
