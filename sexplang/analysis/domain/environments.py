"""What is known of the slots around a place.

A program may have tens of thousands of slots at its top, and each of its parts an environment of
its own: what comes after the first `OWN` slots is kept apart, so that they are never copied again.
"""

from typing import TYPE_CHECKING

from sexplang.terms.classes.node import frozen

if TYPE_CHECKING:
    from sexplang.analysis.domain.values import Abstract

OWN = 200
"""How many slots an environment holds itself."""


@frozen(eq=False)
class Environment:
    """`(enclosing, slot, slot, …)` as in core: its own slots, and those before them."""

    enclosing: "Environment | None"
    slots: "tuple[Abstract, ...]" = ()
    before: "Environment | None" = None
    start: int = 0
    """How many slots are before its own."""

    @property
    def size(self) -> int:
        return self.start + len(self.slots)

    def slot(self, index: int) -> "Abstract | None":
        """What a variable stands for, counted from 1 as in core; None if it is not known."""
        place = index - 1
        if not 0 <= place < self.size:
            return None
        holds = self
        while place < holds.start:
            assert holds.before is not None
            holds = holds.before
        return holds.slots[place - holds.start]

    def all(self) -> "tuple[Abstract, ...]":
        """All slots, its own at the end."""
        parts, holds = [self.slots], self.before
        while holds is not None:
            parts.append(holds.slots)
            holds = holds.before
        return tuple([slot for part in reversed(parts) for slot in part])
