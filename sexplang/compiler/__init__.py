"""The compiler: forms to core. It resolves names, lowers special forms and checks calls."""

from sexplang.compiler.forms.shapes import RESERVED
from sexplang.compiler.unit import Layout, compile_unit, operations_in, unknown_effect
from sexplang.compiler.unit_interface import Load, flaw_of_validator

__all__ = [
    "RESERVED",
    "Layout",
    "Load",
    "compile_unit",
    "flaw_of_validator",
    "operations_in",
    "unknown_effect",
]
