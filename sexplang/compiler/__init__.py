"""Forms to core: every name is resolved, every special form lowered, every call checked."""

from sexplang.compiler.imports import Load
from sexplang.compiler.mentions import operations_in, unknown_effect
from sexplang.compiler.shapes import RESERVED
from sexplang.compiler.unit import Layout, compile_unit

__all__ = ["RESERVED", "Layout", "Load", "compile_unit", "operations_in", "unknown_effect"]
