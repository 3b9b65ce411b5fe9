"""The compiler: forms to core. It resolves names, lowers special forms and checks calls."""

from sexplang.compiler.forms.shapes import RESERVED
from sexplang.compiler.unit import Layout, compile_unit, operations_in, unknown_effect
from sexplang.compiler.unit_interface import Load

__all__ = ["RESERVED", "Layout", "Load", "compile_unit", "operations_in", "unknown_effect"]
