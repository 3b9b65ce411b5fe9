"""The prelude: pure functions, and the operations that the host answers."""

from sexplang.primitives.operations import OPERATIONS
from sexplang.primitives.roster import PRIMITIVES

__all__ = ["OPERATIONS", "PRIMITIVES"]
