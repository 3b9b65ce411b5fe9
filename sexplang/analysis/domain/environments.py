"""Abstract environments: the abstract values of the slots at a place.

A program may have tens of thousands of slots at its top, and each of its parts has an environment.
The slots after the first `OWN` are stored in an enclosing object, so that they are not copied
again.
"""

from typing import TYPE_CHECKING

from sexplang.terms.classes.node import frozen

if TYPE_CHECKING:
    from sexplang.analysis.domain.values import Abstract

OWN = 200
"""The number of slots that an environment stores itself."""


@frozen(eq=False)
class Environment:
    """`(enclosing, slot, slot, …)` as in core: the own slots and the slots before them."""

    enclosing: "Environment | None"
    slots: "tuple[Abstract, ...]" = ()
    before: "Environment | None" = None
    start: int = 0
    """The number of slots before the own ones."""

    @property
    def size(self) -> int:
        return self.start + len(self.slots)

    def slot(self, index: int) -> "Abstract | None":
        """Return the value of a variable, or None if it is not known. `index` counts from 1, as in
        core."""
        place = index - 1
        if not 0 <= place < self.size:
            return None
        holds = self
        while place < holds.start:
            assert holds.before is not None
            holds = holds.before
        return holds.slots[place - holds.start]

    def all(self) -> "tuple[Abstract, ...]":
        """All slots; the own ones come last."""
        parts, holds = [self.slots], self.before
        while holds is not None:
            parts.append(holds.slots)
            holds = holds.before
        return tuple([slot for part in reversed(parts) for slot in part])
