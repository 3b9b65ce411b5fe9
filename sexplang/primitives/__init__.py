"""Names to what every program has: pure functions, and the operations that the host answers."""

from sexplang.primitives.names import PRIMITIVES
from sexplang.primitives.operations import OPERATIONS

__all__ = ["OPERATIONS", "PRIMITIVES"]
