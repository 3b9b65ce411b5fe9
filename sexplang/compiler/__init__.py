"""The compiler: forms to core. It resolves names, lowers special forms and checks calls."""

from sexplang.compiler.forms.shapes import RESERVED
from sexplang.compiler.units.imports import Load
from sexplang.compiler.units.mentions import operations_in, unknown_effect
from sexplang.compiler.units.unit import Layout, compile_unit

__all__ = ["RESERVED", "Layout", "Load", "compile_unit", "operations_in", "unknown_effect"]
